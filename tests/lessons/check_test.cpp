// `lesson check`: every kind of wrong lesson, with its line.
#include "lessons/check.h"

#include "core/temporary_folder.h"
#include "lesson_files.h"
#include "lessons/lesson_scope.h"

#include <algorithm>
#include <fstream>
#include <iterator>

using namespace headscope;
using namespace headscope::lessons;

namespace {

/// The line of the first line of the small lesson that contains the text.
int line_of(const std::string& text, const std::string& needle) {
  const std::size_t at = text.find(needle);
  REQUIRE(at != std::string::npos);
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

std::string told(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems) text += problem.error.where + " " + problem.error.key + "\n";
  return text;
}

Problems check(const std::string& text) {
  return check_lesson_text(text, "l.md", test::assets());
}

/// One change, the one problem that it makes, and a text on the line where it is told.
struct Spoiling {
  std::string old_text, new_text, key, at;
};

void check_spoiling(const Spoiling& spoiling) {
  INFO(spoiling.old_text << " -> " << spoiling.new_text);
  const std::string text = test::spoiled(spoiling.old_text, spoiling.new_text);
  const Problems problems = check(text);
  INFO(told(problems));
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].error.key == spoiling.key);
  CHECK(problems[0].line == line_of(text, spoiling.at));
  const std::string where =
      "l.md:" + std::to_string(problems[0].line) + ":" + std::to_string(problems[0].column);
  CHECK(problems[0].error.where == where);
}

}  // namespace

TEST_CASE("the small lesson is clean, so that its spoilings are the only problems", "[lessons][check]") {
  const Problems problems = check(test::kSmallLesson);
  INFO(told(problems));
  CHECK(problems.empty());
}

TEST_CASE("both shipped lessons check clean", "[lessons][check]") {
  const auto entries = list_lessons(test::english_lessons());
  REQUIRE(entries);
  REQUIRE(entries->size() >= 2);
  for (const LessonEntry& entry : *entries) {
    const Problems problems = check_lesson(entry.path, test::assets());
    INFO(told(problems));
    CHECK(problems.empty());
  }
}

TEST_CASE("a lesson that is malformed as a file is refused by line", "[lessons][check]") {
  const std::vector<Spoiling> table = {
      {"# A small lesson\n", "\n", "lesson.no_title", "\n"},
      {"The [[weights]].", "# Again\n\nThe [[weights]].", "lesson.title_twice", "# Again"},
      {"sentence = \"the cat", "sentence = the cat", "toml.syntax", "sentence = the"},
      {"# A small", "# A \x1b[2Jsmall", "lesson.control_character", "\x1b"},
      {"The [[weights]].", "The \u009b31m [[weights]].", "lesson.control_character", "\u009b"},
      {"The [[weights]].", "Caf\xe9 \xff.", "lesson.control_character", "Caf"},
      {"ask = \"Which?\"", "ask = \"\\u001b[2JWhich?\"", "lesson.control_character", "ask = \"\\u001b"},
      {"items = [\"scores\",", "items = [\"\\u0007\", \"scores\",", "lesson.control_character", "items ="},
      {"sentence = \"the cat sat on the mat\"\n", "", "lesson.missing_key", "```toml lesson"},
      {"seed = 47130\n", "", "lesson.missing_key", "[model]"},
      {"seed = 47130", "sead = 1\nseed = 47130", "lesson.unknown_key", "sead"},
      {"seed = 47130", "seed = -1", "lesson.seed", "[model]"},
      {"d_model = 8", "d_model = \"8\"", "lesson.expects_whole", "d_model"},
      {"d_model = 8", "d_model = 0", "config.range", "[model]"},
      {"n_heads = 2\nd_head = 4\n", "n_heads = 3\n", "config.d_head", "[model]"},
      {"embedding_deviation = 0.8", "embedding_deviation = inf", "lesson.embedding_deviation", "[model]"},
      {"embedding_deviation = 0.8", "embedding_deviation = -1", "lesson.embedding_deviation", "[model]"},
      {"d_model = 8", "d_model = 8\npositions = \"magic\"", "lesson.unknown_value", "magic"},
      {"d_model = 8", "d_model = 8\nbias = 1", "lesson.expects_truth", "bias"},
      {"embedding_deviation = 0.8", "embedding_deviation = \"0.8\"", "lesson.expects_number",
       "embedding_deviation"},
      {"first.json", "none.json", "lesson.vocabulary_missing", "none.json"},
      {"first.json", "../theme.toml", "lesson.vocabulary_name", "theme.toml"},
      {"```toml notes", "```toml hints", "lesson.unknown_block", "toml hints"},
      {"## Scores\n\n```toml step", "```toml notes\ntext = 'x'\n```\n\n## Scores\n\n```toml step",
       "lesson.block_outside_step", "toml notes"},
      {"The [[weights]].\n", "", "lesson.no_prose", "## Weights"},
      {"```toml step\nstop = \"weights\"\n```\n", "", "lesson.step_block_missing", "## Weights"},
      {"stop = \"weights\"", "stopp = \"weights\"\nstop = \"weights\"", "lesson.unknown_key", "stopp"},
      {"stop = \"weights\"", "stop = 5", "lesson.expects_text", "stop = 5"},
      {"show = [\"queries\", \"keys\", \"scores\"]", "show = \"scores\"", "lesson.expects_list", "show ="},
      {"kind = \"token\"", "kind = \"tokens\"", "lesson.unknown_value", "tokens"},
      {"ask = \"Which?\"", "ask = \"\"", "lesson.empty_text", "ask = \"\""},
      {"tolerance = 0.02\n", "", "lesson.tolerance", "```toml question\nkind = \"number\""},
      {"goal = \"weights[sat, cat] > 0.8\"\n", "", "lesson.missing_key", "```toml experiment"},
      {"items = [\"scores\", \"masked_scores\", \"weights\"]", "items = [\"scores\", \"weights\"]",
       "lesson.too_few_items", "```toml question\nkind = \"order\""},
      {"[[statement]]\ntext = \"Columns add up to 1.\"\nwhen = \"sum(weights[:, cat]) == 1\"\n", "",
       "lesson.too_few_statements", "```toml question\nkind = \"statements\""},
  };
  for (const Spoiling& spoiling : table) check_spoiling(spoiling);
}

TEST_CASE("a word's place in the lesson's sentence counts the begin token", "[lessons][check]") {
  const tests::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "vocabulary");
  tests::write_text(folder / "vocabulary/first.json",
                    R"(["<pad>", "<begin>", "<end>", "the", "cat", "sat", "on", "mat", "a", "dog", "ran"])");
  ParsedLesson parsed = parse_lesson(test::kSmallLesson, "01_small.md", folder.path());
  REQUIRE(parsed.lesson);
  core::Session session = test::session_of(*parsed.lesson);
  REQUIRE(session_words(session) == parsed.lesson->words);
  // "sat" is gone: the word that stands in its place is meant
  REQUIRE(session.set("a dog ran on the mat", {}));
  const auto expression = parse_expression("word(sat)");
  const auto value = evaluate(std::get<Expression>(expression), lesson_scope(*parsed.lesson, session, 0));
  REQUIRE(std::holds_alternative<Value>(value));
  CHECK(std::get<std::string>(std::get<Value>(value)) == "ran");
}

TEST_CASE("a misplaced front matter and a second block are told at their fence", "[lessons][check]") {
  const std::string misplaced = test::spoiled("```toml notes", "```toml lesson");
  const Problems first = check(misplaced);
  REQUIRE(first.size() == 1);
  CHECK(first[0].error.key == "lesson.front_matter_place");
  CHECK(first[0].line == line_of(misplaced, "Slowly") - 1);
  const std::string twice = test::spoiled("```toml notes", "```toml notes\ntext = 'x'\n```\n\n```toml notes");
  const Problems second = check(twice);
  REQUIRE(second.size() == 1);
  CHECK(second[0].error.key == "lesson.block_twice");
  CHECK(second[0].line == line_of(twice, "Slowly") - 1);
}

TEST_CASE("a block that is never closed is told where it opens", "[lessons][check]") {
  std::string text = test::kSmallLesson;
  text.resize(text.rfind("```"));
  const Problems problems = check(text);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].error.key == "lesson.unclosed_fence");
  CHECK(problems[0].line == line_of(text, "```toml notes"));
}

TEST_CASE("an open block is named without the control characters of its line", "[lessons][check]") {
  const ParsedLesson parsed = parse_lesson(
      "# A\n\n```toml lesson \x1b[31m, which nothing ever closes again\n", "01_open.md", test::assets());
  const auto open = std::find_if(parsed.problems.begin(), parsed.problems.end(), [](const Problem& problem) {
    return problem.error.key == "lesson.unclosed_fence";
  });
  REQUIRE(open != parsed.problems.end());
  CHECK(open->error.values.at(0).second == "toml lesson  [31m, which nothing ever closes again");
}

TEST_CASE("front matter or steps that are missing altogether are told", "[lessons][check]") {
  const Problems problems = check("# Title\n\nProse.\n");
  REQUIRE(problems.size() == 2);
  CHECK(told(problems) == "l.md:1:1 lesson.no_front_matter\nl.md:1:1 lesson.no_steps\n");
}

TEST_CASE("a key of too many parts is refused, not run into the end of the stack", "[lessons][check]") {
  std::string key = "a";
  for (int part = 0; part < 100000; ++part) key += ".a";
  for (const std::string& line : {key + " = 1", "[" + key + "]", "[[" + key + "]]"}) {
    const Problems problems = check(test::spoiled("stop = \"weights\"", line));
    REQUIRE_FALSE(problems.empty());
    CHECK(problems[0].error.key == "toml.syntax");
  }
}

TEST_CASE("a long lesson is read in time that grows with its length", "[lessons][check]") {
  std::string prose;
  for (int line = 0; line < 100000; ++line) prose += "[[scores]]\n";  // minutes if every link counts lines
  CHECK(check(test::spoiled("The [[weights]].", prose)).empty());
}

TEST_CASE("names, words and expressions are held against the model and the sentence", "[lessons][check]") {
  const std::vector<Spoiling> table = {
      {"sentence = \"the cat sat on the mat\"", "sentence = \"\\u200b\"", "text.empty", "sentence ="},
      {"inside = \"decoder.block0.self_attention\"", "inside = \"decoder.block0.self_atention\"",
       "lesson.unknown_scope", "self_atention"},
      {"stop = \"weights\"", "stop = \"weigths\"", "expression.unknown_tensor", "weigths"},
      {"\"queries\", \"keys\"", "\"querys\", \"keys\"", "expression.unknown_tensor", "querys"},
      {"\"queries\", \"keys\"", "\"weights\", \"keys\"", "lesson.shown_too_early", "\"weights\", \"keys\""},
      {"light = \"scores[on, sat]\"", "light = \"scores[on, :]\"", "lesson.light_no_cell", "light"},
      {"light = \"scores[on, sat]\"", "light = \"scores[on, sat]\"\nhead = 2", "lesson.head_range",
       "## Scores"},
      {"light = \"scores[on, sat]\"", "light = \"values[on, 0]\"", "lesson.light_not_shown", "light"},
      {"light = \"scores[on, sat]\"", "light = \"scores[on, sat\"", "expression.expected_at_end", "light"},
      {"[[scores|score]]", "[[skores|score]]", "expression.unknown_tensor", "[[skores"},
      {"`= scores[on, sat]`", "`= scores[on, dog]`", "expression.unknown_word", "dog"},
      {"`= scores[on, sat]`", "`= scores[on, the]`", "lesson.ambiguous_word", "on, the"},
      {"`= scores[on, sat]`", "`= scores[on, sat] +`", "expression.unexpected_end", "sat] +"},
      {"`= scores[on, sat]`", "`= given`", "lesson.given_outside_mistake", "= given`"},
      {"answer = \"argmax(scores[mat, :])\"", "answer = \"2\"", "lesson.literal", "answer = \"2\""},
      {"answer = \"argmax(scores[mat, :])\"", "answer = \"'sat'\"", "lesson.literal", "answer = \"'sat'\""},
      {"answer = \"argmax(scores[mat, :])\"", "answer = \"argmax(queries[mat, :])\"", "question.no_position",
       "argmax(queries"},
      {"answer = \"argmax(scores[mat, :])\"", "answer = \"n_tokens\"", "question.no_position",
       "answer = \"n_tokens"},
      {"answer = \"scaled_scores[on, sat]\"", "answer = \"1.45\"", "lesson.literal", "1.45"},
      {"answer = \"scaled_scores[on, sat]\"", "answer = \"masked_scores[on, mat]\"", "question.not_finite",
       "masked_scores[on, mat]"},
      {"answer = \"argmax(masked_scores)\"", "answer = \"argmax(masked_scores[on, :])\"", "question.no_cell",
       "argmax(masked_scores[on"},
      {"tensor = \"scaled_scores\"", "tensor = \"scaled\"", "expression.unknown_tensor",
       "tensor = \"scaled\""},
      {"when = \"sum(weights[mat, :]) == 1\"", "when = \"1 == 1\"", "lesson.literal", "1 == 1"},
      {"when = \"sum(weights[mat, :]) == 1\"", "when = \"sum(weights[mat, :])\"", "question.no_truth",
       "when = \"sum(weights[mat, :])"},
      {"when = \"sum(weights[mat, :]) == 1\"", "when = \"sum(weights[mat, :]) == 2\"", "question.none_true",
       "```toml question\nkind = \"statements\""},
      {"\"masked_scores\", \"weights\"]", "\"masked_scores\", \"w_query\"]", "lesson.item_not_computed",
       "w_query"},
      {"\"masked_scores\", \"weights\"]", "\"masked_scores\", \"scores\"]", "lesson.item_twice",
       "\"masked_scores\", \"scores\"]"},
      {"given == argmin(scores[mat, :])", "scores[mat, cat] > 100", "lesson.mistake_without_given", "> 100"},
      {"given == argmin(scores[mat, :])", "given == argmax(scores[mat, :])", "lesson.mistake_is_right",
       "given == argmax(scores[mat"},
      {"given == scores[on, sat] / d_head", "given == skores[on, sat]", "expression.unknown_tensor",
       "skores"},
      {"goal = \"weights[sat, cat] > 0.8\"", "goal = \"1 > 2\"", "lesson.literal", "1 > 2"},
      {"goal = \"weights[sat, cat] > 0.8\"", "goal = \"weights[sat, cat] > 0.01\"", "lesson.goal_reached",
       "0.01"},
      {"goal = \"weights[sat, cat] > 0.8\"", "goal = \"weights[sat, cat]\"", "question.no_truth", "goal = "},
  };
  for (const Spoiling& spoiling : table) check_spoiling(spoiling);
}

TEST_CASE("columns point into the line of the file", "[lessons][check]") {
  const Problems prose = check(test::spoiled("`= scores[on, sat]`", "`= scores[on, dog]`"));
  REQUIRE(prose.size() == 1);
  const std::string line = "Look at the [[scores|score]] `= scores[on, dog]`";
  CHECK(prose[0].column == static_cast<int>(line.find("dog")) + 1);
  const Problems block =
      check(test::spoiled("answer = \"argmax(scores[mat, :])\"", "answer = \"argmax(skores[mat, :])\""));
  REQUIRE(block.size() == 1);
  CHECK(block[0].column == static_cast<int>(std::string("answer = \"argmax(").size()) + 1);
  const Problems inner =
      check(test::spoiled("explain = \"It is `= max(scores[mat, :])`.\"",
                          "explain = \"\"\"\nFirst line.\nThen `= max(skores[mat, :])`.\n\"\"\""));
  REQUIRE(inner.size() == 1);
  CHECK(inner[0].error.key == "expression.unknown_tensor");
  CHECK(inner[0].line == line_of(test::kSmallLesson, "explain = \"It is") + 2);
  CHECK(inner[0].column == static_cast<int>(std::string("Then `= max(").size()) + 1);
}

TEST_CASE("several problems come sorted by line", "[lessons][check]") {
  std::string text = test::spoiled("stop = \"weights\"", "stop = \"weigths\"");
  const std::string answer = "argmax(scores[mat, :])";
  text.replace(text.find(answer), answer.size(), "2");
  const Problems problems = check(text);
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].error.key == "lesson.literal");
  CHECK(problems[1].error.key == "expression.unknown_tensor");
  CHECK(problems[0].line < problems[1].line);
}

TEST_CASE("a file that is not there is one problem", "[lessons][check]") {
  const Problems problems = check_lesson("/nowhere/lesson.md", test::assets());
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].error.key == "file.missing");
}

TEST_CASE("the example in docs/lesson-format.md is a clean lesson", "[lessons][check]") {
  std::ifstream file(test::source_folder() / "docs/lesson-format.md");
  const std::string page((std::istreambuf_iterator<char>(file)), {});
  const std::string fence = "````markdown\n";
  const std::size_t begin = page.find(fence) + fence.size();
  const Problems problems = check(page.substr(begin, page.find("\n````\n", begin) - begin + 1));
  INFO(told(problems));
  CHECK(problems.empty());
}

TEST_CASE("a lesson cut off or damaged anywhere is told, never a crash", "[lessons][check]") {
  for (std::size_t length = 0; length < test::kSmallLesson.size(); length += 7) {
    check(test::kSmallLesson.substr(0, length));
    std::string damaged = test::kSmallLesson;
    damaged[length] = static_cast<char>(0x80 + length % 64);
    check(damaged);
    damaged[length] = "`[#=\"\n"[length % 6];
    check(damaged);
  }
  CHECK(check(test::kSmallLesson).empty());
}
