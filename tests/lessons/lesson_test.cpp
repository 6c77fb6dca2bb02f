// Markdown to blocks, lesson files to steps, folders to lists of lessons.
#include "lessons/lesson.h"

#include "lesson_files.h"
#include "lessons/markdown.h"

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

using namespace headscope;
using namespace headscope::lessons;

namespace {

Run run(Run::Kind kind, std::string text, std::string target = "") {
  Run result;
  result.kind = kind;
  result.text = std::move(text);
  result.target = std::move(target);
  return result;
}

void check_runs(const Block& block, const std::vector<Run>& expected) {
  REQUIRE(block.runs.size() == expected.size());
  for (std::size_t index = 0; index < expected.size(); ++index) {
    INFO("run " << index << " \"" << block.runs[index].text << "\"");
    CHECK(block.runs[index].kind == expected[index].kind);
    CHECK(block.runs[index].text == expected[index].text);
    CHECK(block.runs[index].target == expected[index].target);
  }
}

/// How many words a reader reads, a link or live expression counting as it is written.
std::ptrdiff_t count_words(const std::vector<Block>& blocks) {
  std::istringstream text(plain_text(blocks));
  return std::distance(std::istream_iterator<std::string>(text), std::istream_iterator<std::string>());
}

}  // namespace

TEST_CASE("prose becomes runs: emphasis, code, links to tensors, live expressions", "[lessons][markdown]") {
  const auto blocks = parse_markdown(
      "The *one* and **two**, `code`, [[scores]], [[weights|its weight]], `= scores[on, sat]`, "
      "[site](https://a.b).");
  REQUIRE(blocks.size() == 1);
  using Kind = Run::Kind;
  check_runs(blocks[0],
             {run(Kind::text, "The "), run(Kind::text, "one"), run(Kind::text, " and "),
              run(Kind::text, "two"), run(Kind::text, ", "), run(Kind::code, "code"), run(Kind::text, ", "),
              run(Kind::tensor_link, "scores", "scores"), run(Kind::text, ", "),
              run(Kind::tensor_link, "its weight", "weights"), run(Kind::text, ", "),
              run(Kind::live, "= scores[on, sat]", "scores[on, sat]"), run(Kind::text, ", "),
              run(Kind::web_link, "site", "https://a.b"), run(Kind::text, ".")});
  CHECK(blocks[0].runs[1].emphasis);
  CHECK_FALSE(blocks[0].runs[1].strong);
  CHECK(blocks[0].runs[3].strong);
}

TEST_CASE("headings, lists, code blocks and rules keep their structure", "[lessons][markdown]") {
  const auto blocks = parse_markdown(
      "### Head\n\n1. one\n2. two\n   - inner\n\n     more\n\n---\n\n```text\na = b\nc\n```\n");
  REQUIRE(blocks.size() == 7);
  CHECK(blocks[0].kind == Block::Kind::heading);
  CHECK(blocks[0].level == 3);
  CHECK(blocks[1].kind == Block::Kind::list_item);
  CHECK(blocks[1].number == 1);
  CHECK(blocks[1].depth == 1);
  CHECK(blocks[2].number == 2);
  CHECK(blocks[3].number == 0);
  CHECK(blocks[3].depth == 2);
  CHECK(blocks[4].kind == Block::Kind::paragraph);
  CHECK(blocks[4].depth == 2);
  CHECK(blocks[5].kind == Block::Kind::rule);
  CHECK(blocks[6].kind == Block::Kind::code);
  CHECK(blocks[6].info == "text");
  CHECK(plain_text({blocks[6]}) == "a = b\nc");
}

TEST_CASE("links and live expressions know their line and column in the file", "[lessons][markdown]") {
  const auto blocks = parse_markdown("one\n\ntwo [[scores|x]]\nand `=  loss`", 10);
  REQUIRE(blocks.size() == 2);
  const auto find = [&](Run::Kind kind) {
    for (const Run& candidate : blocks[1].runs)
      if (candidate.kind == kind) return candidate;
    return Run{};
  };
  CHECK(find(Run::Kind::tensor_link).line == 12);
  CHECK(find(Run::Kind::tensor_link).column == 7);
  CHECK(find(Run::Kind::live).line == 13);
  CHECK(find(Run::Kind::live).column == 9);
}

TEST_CASE("raw HTML and images are text, entities are letters", "[lessons][markdown]") {
  CHECK(plain_text(parse_markdown("a <b>b</b> &amp; &#8722; ![cat](x.png)")) == "a <b>b</b> & − cat");
  CHECK(plain_text(parse_markdown("&#27;[2J &#x9b;31m &#0; &#10;")) == "\uFFFD[2J \uFFFD31m \uFFFD \uFFFD");
}

TEST_CASE("a lesson file becomes steps", "[lessons][lesson]") {
  const Lesson lesson = test::small_lesson();
  CHECK(lesson.title == "A small lesson");
  CHECK(lesson.name == "small");
  CHECK(lesson.number == 1);
  CHECK(lesson.words == std::vector<std::string>{"the", "cat", "sat", "on", "the", "mat"});
  CHECK(lesson.model.seed == 47130);
  CHECK(lesson.model.config.max_tokens == 64);
  REQUIRE(lesson.steps.size() == 2);
  const Step& step = lesson.steps[0];
  CHECK(step.title == "Scores");
  CHECK(step.stop.text == "scores");
  CHECK(step.show.size() == 3);
  REQUIRE(step.light);
  CHECK(step.light->expression.source == "scores[on, sat]");
  REQUIRE(step.questions.size() == 2);
  CHECK(step.questions[1].tolerance == 0.02);
  CHECK(plain_text(step.prose) == "Look at the score = scores[on, sat] of = word(on).");
  CHECK(lesson.steps[1].questions.size() == 3);
  CHECK(lesson.steps[1].experiments.size() == 1);
  CHECK(plain_text(lesson.steps[1].notes) == "Slowly.");
}

TEST_CASE("Windows line ends and a byte order mark change nothing", "[lessons][lesson]") {
  std::string text = "\xEF\xBB\xBF";
  for (char c : test::kSmallLesson) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const ParsedLesson parsed = parse_lesson(text, "01_small.md", test::assets());
  REQUIRE(parsed.lesson);
  CHECK(parsed.lesson->steps.size() == 2);
}

TEST_CASE("a fenced block of another kind is prose, headings in it are not steps", "[lessons][lesson]") {
  const std::string text = test::spoiled("The [[weights]].", "The [[weights]].\n\n```text\n## no step\n```");
  const ParsedLesson parsed = parse_lesson(text, "01_small.md", test::assets());
  REQUIRE(parsed.lesson);
  CHECK(parsed.lesson->steps.size() == 2);
  CHECK(plain_text(parsed.lesson->steps[1].prose) == "The weights.\n## no step");
}

TEST_CASE("lessons are found by name, number, stem and path", "[lessons][library]") {
  const auto entries = list_lessons(test::english_lessons());
  REQUIRE(entries);
  REQUIRE(entries->size() >= 2);
  CHECK(entries->at(0).name == "query-key-value");
  CHECK(entries->at(0).number == 1);
  CHECK(entries->at(0).title == "Query, key, value: three views of one word");
  CHECK(entries->at(1).title == "From scores to weights to a mixture");
  const std::filesystem::path second = test::english_lessons() / "02_scores_to_weights.md";
  for (const std::string& name :
       {std::string("scores-to-weights"), std::string("scores_to_weights"), std::string("2"),
        std::string("02"), std::string("02_scores_to_weights"), second.string()}) {
    const auto found = find_lesson(test::english_lessons(), name);
    INFO(name);
    REQUIRE(found);
    CHECK(*found == second);
  }
  const auto unknown = find_lesson(test::english_lessons(), "scores");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().key == "lesson.unknown");
  CHECK(list_lessons("/nowhere").error().key == "lesson.no_folder");
}

TEST_CASE("a language without lessons falls back on English", "[lessons][library]") {
  const auto content = test::source_folder() / "lessons/content";
  CHECK(language_folder(content, "en_GB.UTF-8") == content / "en");
  CHECK(language_folder(content, "xx") == content / "en");
  CHECK(language_folder(content, "../..") == content / "en");
  CHECK(language_folder(content, "") == content / "en");
}

TEST_CASE("every step of the shipped lessons has 40 to 120 words and no stray number", "[lessons][content]") {
  for (const char* name : {"1", "2"}) {
    const Lesson lesson = test::shipped(name);
    CHECK(lesson.steps.size() >= 7);
    CHECK(lesson.steps.size() <= 9);
    std::size_t n_questions = 0, n_experiments = 0, n_notes = 0;
    for (const Step& step : lesson.steps) {
      INFO(name << " " << step.title);
      CHECK(count_words(step.prose) >= 40);
      CHECK(count_words(step.prose) <= 120);
      n_questions += step.questions.size();
      n_experiments += step.experiments.size();
      if (!step.notes.empty()) ++n_notes;
      for (const Block& block : step.prose)
        for (const Run& text : block.runs)
          if (text.kind == Run::Kind::text) {
            // a decimal in prose would be a tensor's number that does not follow the learner's sentence
            const std::size_t point = text.text.find_first_of("0123456789");
            const bool is_decimal = point != std::string::npos && text.text.find('.', point) == point + 1 &&
                                    point + 2 < text.text.size() &&
                                    std::isdigit(static_cast<unsigned char>(text.text[point + 2]));
            CHECK_FALSE(is_decimal);
          }
    }
    CHECK(n_questions >= 2);
    CHECK(n_experiments == 1);
    CHECK(n_notes >= 2);
  }
}
