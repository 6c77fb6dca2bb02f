// The lesson in the terminal: what is typed, what is printed, and that it is the core's numbers.
#include "simulator/terminal/answer_text.h"
#include "simulator/terminal/input.h"
#include "simulator/terminal/reader.h"
#include "simulator/terminal/step_text.h"
#include "simulator/terminal/text_layout.h"

#include "lessons/number_format.h"
#include "tests/simulator/program.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <sstream>

namespace {

using namespace headscope;
using namespace headscope::simulator;
using namespace headscope::simulator::terminal;
using Catch::Matchers::Contains;
using test::lines_of;

const std::filesystem::path kSource = headscope::tests::source_folder();
const std::filesystem::path kLesson = kSource / "tests" / "simulator" / "data" / "99_terminal.md";

Words english() {
  core::Result<Words> words = Words::load(kSource / "assets", "en");
  REQUIRE(words);
  return *words;
}

AppState open(const std::filesystem::path& lesson = kLesson) {
  core::Result<AppState> state = open_lesson(kSource / "assets", lesson.parent_path(), lesson.string());
  if (!state) FAIL(english().text.error(state.error()));
  return *std::move(state);
}

/// Everything that is printed while `input` is typed.
std::string read(const std::string& input, const Screen& screen = {},
                 const std::filesystem::path& lesson = kLesson) {
  std::istringstream in(input);
  std::ostringstream out;
  read_lesson(open(lesson), english(), in, out, screen, Echo::yes);
  return out.str();
}

/// What is printed from the first prompt on: the step itself left out.
std::string replies(const std::string& input) {
  const std::string all = read(input);
  return all.substr(all.find("step 1> "));
}

std::string score_of(const std::string& cell) {
  const AppState state = open();
  const std::optional<CellAddress> address = find_cell(state, cell);
  REQUIRE(address);
  return lessons::format_number(state.session.trace().value(address->tensor, address->cell),
                                lessons::NumberKind::value);
}

}  // namespace

TEST_CASE("the width of text counts columns, not bytes", "[simulator][terminal]") {
  CHECK(display_width("cat") == 3);
  CHECK(display_width("−2.17") == 5);
  CHECK(display_width("猫") == 2);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("\x1b[1mbold\x1b[0m") == 4);
  CHECK(pad("猫", 4, Align::right) == "  猫");
  CHECK(shorten("attention", 5) == "atte…");
  CHECK(shorten("attention", 9) == "attention");
}

TEST_CASE("wrapping breaks at blanks, and inside a word only where it must", "[simulator][terminal]") {
  CHECK(wrap("one two three", 7) == std::vector<std::string>{"one two", "three"});
  CHECK(wrap("one two", 5, 2, 1) == std::vector<std::string>{"  one", " two"});
  CHECK(wrap("abcdefgh", 3) == std::vector<std::string>{"abc", "def", "gh"});
  CHECK(wrap("a\nb", 10) == std::vector<std::string>{"a", "b"});
  CHECK(wrap("", 10) == std::vector<std::string>{""});
  CHECK(wrap("猫猫猫", 4) == std::vector<std::string>{"猫猫", "猫"});
}

TEST_CASE("a word of a million letters is wrapped at once", "[simulator][terminal]") {
  const std::vector<std::string> lines = wrap(std::string(1000000, 'x'), 80);  // for ever if quadratic
  CHECK(lines.size() == 12500);
  CHECK(lines.back() == std::string(80, 'x'));
}

TEST_CASE("what is typed cannot steer the terminal, and is repeated shortly", "[simulator][terminal]") {
  const std::string text = replies("\x1b[2J\u009b31m\u202e\x07\xff\n" + std::string(1000000, 'y') + "\n");
  CHECK(text.find_first_of("\x1b\x07\xff") == std::string::npos);
  CHECK_THAT(text, !Contains("\u009b") && !Contains("\u202e"));
  CHECK(text.size() < 1000);
}

TEST_CASE("table columns are aligned whatever the script", "[simulator][terminal]") {
  const Table table{.columns = {Align::left, Align::right}, .rows = {{"猫", "−1.5"}, {"cat", "10.25"}}};
  CHECK(table_lines(table) == std::vector<std::string>{"猫    −1.5", "cat  10.25"});
}

TEST_CASE("formulas lose their markup and keep their meaning", "[simulator][terminal]") {
  CHECK(plain_formula("{scores:s}_{ij} = Σ_{c} {queries:q}_{ic} · {keys:k}_{jc}") ==
        "s_ij = Σ_c q_ic · k_jc");
  CHECK(plain_formula("E_{id(i), c}") == "E_(id(i), c)");
  CHECK(plain_formula("{values:w}^{V}_{dc}") == "w^V_dc");
  CHECK(plain_formula("\\{x\\}") == "{x}");
}

TEST_CASE("typed lines are taken apart", "[simulator][terminal]") {
  CHECK(std::get<Word>(parse_input("  n ")) == Word::next);
  CHECK(std::get<GoTo>(parse_input("step 3")).step == 3);
  CHECK(std::get<Reveal>(parse_input("r 2")).question == 2);
  CHECK(std::get<Edit>(parse_input("edit w_query[0, 1] = -2.5")).value == "-2.5");
  CHECK(std::get<Edit>(parse_input("edit w_query[0, 1] -2.5")).cell == "w_query[0, 1]");
  CHECK(std::get<AnswerText>(parse_input("a 2: on, sat")).text == "on, sat");
  CHECK(std::get<Sentence>(parse_input("sentence n q")).text == "n q");
  CHECK(std::get<FreeText>(parse_input("n n")).text == "n n");
  for (const char* bad :
       {"step", "step x", "head", "head -1", "r x", "edit", "edit w 2", "edit w[0]", "a", "sentence", "open"})
    CHECK(std::holds_alternative<Malformed>(parse_input(bad)));
}

TEST_CASE("a step is read out with its formula, its tables and its questions", "[simulator][terminal]") {
  const std::string out = read("");
  CHECK_THAT(out, Contains("It begins with an introduction"));
  CHECK_THAT(out, Contains("Step 1 of 2. How much does one word ask of another?"));
  CHECK_THAT(out, Contains("Formula: s_ij = Σ_c q_ic · k_jc"));
  CHECK_THAT(out, Contains("Table scores, head 0: query words i down, key words j across."));
  CHECK_THAT(out, Contains("The score of on and sat is " + score_of("scores[on, sat]") + "."));
  CHECK_THAT(out, Contains("Type scores[on, sat] to see where"));
  CHECK_THAT(out, Contains("Choices: 1 the, 2 cat, 3 sat, 4 on, 5 the, 6 mat"));
  CHECK_THAT(out, !Contains("‹"));
}

TEST_CASE("every printed score is the core's", "[simulator][terminal]") {
  const AppState state = open();
  const std::vector<std::string> lines = lines_of(read(""));
  const auto title =
      std::ranges::find_if(lines, [](const std::string& line) { return line.starts_with("Table scores"); });
  REQUIRE(lines.end() - title > 8);
  const core::TensorId scores = *find_tensor(state, "scores");
  for (std::int64_t i = 0; i < 6; ++i) {
    std::istringstream row(*(title + 2 + i));
    std::string word;
    row >> word;
    CHECK(word == state.session.token_at(static_cast<std::size_t>(i)).text);
    for (std::int64_t j = 0; j < 6; ++j) {
      row >> word;
      INFO("scores[" << i << "," << j << "]");
      CHECK(word == lessons::format_number(state.session.trace().value(scores, {0, 0, i, j}),
                                           lessons::NumberKind::value));
    }
  }
}

TEST_CASE("questions take words, numbers and cells, and say what was right", "[simulator][terminal]") {
  CHECK_THAT(replies("r\n"), Contains("The answer: "));
  CHECK_THAT(replies("zebra\n"), Contains("none of the choices"));
  CHECK_THAT(replies("the\n"), Contains("stands more than once"));
  CHECK_THAT(replies("r\n" + score_of("scores[on, sat]") + "\n"),
             Contains("Right: " + score_of("scores[on, sat]")));
  CHECK_THAT(replies("r\n77\n"), Contains("Not yet."));
  CHECK_THAT(replies("a 2: x\n"), Contains("not a number"));
  CHECK_THAT(replies("a 3: x\n"), Contains("the questions are 1 to 2"));
  CHECK_THAT(replies("n\nthe, the\n"), Contains("Right: "));
  CHECK_THAT(replies("n\nr 1\n1\n"), Contains("Right: 1."));
  CHECK_THAT(replies("n\nr 1\n2\n"), Contains("Not yet."));
  CHECK_THAT(replies("n\nr 1\nr 2\nr 3\na 1\n"), Contains("are answered"));
}

TEST_CASE("a likely mistake is named", "[simulator][terminal]") {
  const AppState state = open();
  const core::TensorId scores = *find_tensor(state, "scores");
  std::int64_t smallest = 0;
  for (std::int64_t j = 1; j < 6; ++j)
    if (state.session.trace().value(scores, {0, 0, 5, j}) <
        state.session.trace().value(scores, {0, 0, 5, smallest}))
      smallest = j;
  CHECK_THAT(replies(std::to_string(smallest + 1) + "\n"), Contains("That is the smallest number."));
}

TEST_CASE("a cell is explained, and its terms are followed and left again", "[simulator][terminal]") {
  const std::string out = replies("scores[on, sat]\n2\nb\nb\nb\n");
  CHECK_THAT(out, Contains("scores[on, sat] = " + score_of("scores[on, sat]")));
  CHECK_THAT(out, Contains("equals the stored value"));
  CHECK_THAT(out, Contains("It goes to:") && Contains("scaled_scores[on, sat]"));
  CHECK_THAT(out, Contains("queries[on, 1] = " + score_of("queries[on, 1]")));
  CHECK_THAT(out, Contains("No cell is being explained."));
  CHECK_THAT(replies("scores[on, sat]\n2 2\n"), Contains("keys[sat, 1] = " + score_of("keys[sat, 1]")));
  CHECK_THAT(replies("scores[on, sat]\n99\n"), Contains("leads nowhere"));
  CHECK_THAT(replies("scores[on, dog]\n"), Contains("is no cell"));
  CHECK_THAT(replies("scores[on\n"), Contains("is no cell"));
}

TEST_CASE("editing a cell recomputes, and undo takes it back", "[simulator][terminal]") {
  const std::string before = score_of("scores[on, sat]");
  const std::string out = replies("edit w_query[0, 0] 9\nscores[on, sat]\nundo\nscores[on, sat]\nundo\n");
  CHECK_THAT(out, Contains("w_query[0, 0] is now 9.00") || Contains("w_query[c 0, c 0] is now 9.00"));
  CHECK_THAT(out, Contains("There is nothing to undo."));
  const std::size_t first = out.find("scores[on, sat] = "), second = out.rfind("scores[on, sat] = " + before);
  REQUIRE(first != std::string::npos);
  CHECK(out.compare(first, 18 + before.size(), "scores[on, sat] = " + before) != 0);
  CHECK(second > first);
  CHECK_THAT(replies("edit scores[on, sat] 1\n"), Contains("undo") || Contains("computed"));
  CHECK_THAT(replies("edit w_query[0, 0] much\n"), Contains("is not a number"));
  CHECK_THAT(replies("edit w_query[0, 0] inf\n"), !Contains("is now"));
}

TEST_CASE("the sentence changes, with a word about unknown and left out words", "[simulator][terminal]") {
  const std::string out = replies("sentence the zyzzyva ran\nundo\n");
  CHECK_THAT(out, Contains("The sentence: the zyzzyva ran") && Contains("spare row: zyzzyva"));
  CHECK_THAT(out, Contains("The sentence: the cat sat on the mat"));
  std::string words;
  for (int word = 0; word < 70; ++word) words += " cat";
  CHECK_THAT(replies("sentence" + words + "\n"), Contains("Words left out at its end: 7"));
}

TEST_CASE("a head is answered by its own number, which counts from 0", "[simulator][terminal]") {
  lessons::QuestionView question;
  question.kind = lessons::QuestionKind::head;
  question.choices.resize(2);
  question.choices[0].label = "0";
  question.choices[1].label = "1";
  const AppState state = open();
  const core::Result<lessons::Given> second = read_answer(state, question, " 1 ");
  REQUIRE(second);
  CHECK(second->choices == std::vector<std::int64_t>{1});
  const core::Result<lessons::Given> none = read_answer(state, question, "2");
  REQUIRE_FALSE(none);
  CHECK(none.error().key == "answer.head");
}

TEST_CASE("heads, tables, steps and the ends of the lesson answer in one line", "[simulator][terminal]") {
  CHECK_THAT(replies("head 1\n"), Contains("Table scores, head 1:"));
  CHECK_THAT(replies("head 2\n"), Contains("the heads are 0 to 1"));
  CHECK_THAT(replies("step 9\n"), Contains("the steps are 1 to 2"));
  CHECK_THAT(replies("p\n"), Contains("first step already"));
  CHECK_THAT(replies("last\nn\n"), Contains("last step"));
  CHECK_THAT(replies("n\nhint\n"), Contains("Edit the embedding of on."));
  CHECK_THAT(replies("keys\n"),
             Contains("Table keys, head 0: key words j down, channels c of the head across."));
  CHECK_THAT(replies("weights\n"), Contains("not computed yet"));
  CHECK_THAT(replies("open nothing-like-it\n"), Contains("nothing-like-it"));
  CHECK_THAT(replies("help\n"), Contains("q: quit."));
}

TEST_CASE("after q nothing is read, and the end of input ends quietly", "[simulator][terminal]") {
  CHECK_THAT(replies("q\nn\n"), !Contains("Step 2"));
  CHECK_THAT(replies("n"), Contains("Step 2"));
  CHECK(read("").back() == '\n');
}

TEST_CASE("no line is wider than the screen, plain text has no escape", "[simulator][terminal]") {
  const std::string input =
      "n\nhelp\nscores[on, sat]\n1\nb\nhead 1\nsentence the "
      "extraordinarily-long-unbroken-word-that-goes-on-and-on-and-on sat\n"
      "token_embedding\nw_output\nhelp\nlessons\nr\nzebra\nstep 1\n";
  for (const std::size_t columns : {std::size_t{40}, std::size_t{80}}) {
    const std::string out = read(input, {.columns = columns});
    for (const std::string& line : lines_of(out)) {
      INFO(line);
      CHECK(display_width(line) <= columns);
    }
    CHECK(out.find('\x1b') == std::string::npos);
  }
  CHECK(read(input, {.styling = Styling::bold}).find("\x1b[1m") != std::string::npos);
  CHECK(read("\x1b[31mred\n").find('\x1b') ==
        std::string::npos);  // what is typed cannot colour what is printed
}

TEST_CASE("every shipped lesson is walked to its end by typing", "[simulator][terminal]") {
  std::size_t n_lessons = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "lessons" / "content" / "en")) {
    if (entry.path().extension() != ".md") continue;
    ++n_lessons;
    INFO(entry.path());
    const std::size_t n_steps = open(entry.path()).lesson().steps.size();
    std::string input;
    for (std::size_t step = 0; step < n_steps; ++step) input += "r\nr\nr\nn\n";
    const std::string out = read(input, {}, entry.path());
    const std::string count = std::to_string(n_steps);
    for (std::size_t step = 1; step <= n_steps; ++step)
      CHECK_THAT(out, Contains("Step " + std::to_string(step) + " of " + count + ". "));
    CHECK_THAT(out, Contains("This was the last step."));
    CHECK_THAT(out, !Contains("‹"));
    CHECK(out.find('\x1b') == std::string::npos);
    for (const std::string& line : lines_of(out)) {
      INFO(line);
      CHECK(display_width(line) <= 80);
    }
  }
  CHECK(n_lessons >= 2);
}
