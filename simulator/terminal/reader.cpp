// The loop: a line, an action, what it brought.
#include "simulator/terminal/reader.h"

#include "core/printable.h"
#include "lessons/number_format.h"
#include "simulator/actions.h"
#include "simulator/slice.h"
#include "simulator/tensor_facts.h"
#include "simulator/terminal/answer_text.h"
#include "simulator/terminal/cell_text.h"
#include "simulator/terminal/input.h"
#include "simulator/terminal/step_text.h"
#include "simulator/terminal/tensor_table.h"

#include <algorithm>
#include <istream>
#include <ostream>
#include <utility>

namespace headscope::simulator::terminal {
namespace {

using lessons::AnswerState;

enum class Session { goes_on, over };

/// What was typed, as an answer repeats it.
std::string repeated(std::string_view typed) {
  constexpr std::size_t kMostColumns = 60;
  return shorten(typed, kMostColumns);
}

class Reader {
 public:
  Reader(AppState state, const Words& words, std::istream& in, std::ostream& out, const Screen& screen,
         Echo echo)
      : state_(std::move(state)), words_(words), in_(in), out_(out), printer_(out, screen), echo_(echo) {}

  void run() {
    greet();
    std::string line;
    while (prompt(line))
      if (std::visit(*this, parse_input(line)) == Session::over) return;
  }

  Session operator()(const Nothing&) { return Session::goes_on; }
  Session operator()(Word word) {
    switch (word) {
      case Word::next:
        return next();
      case Word::previous:
        return previous();
      case Word::first:
        return go_to(0);
      case Word::last:
        return go_to(state_.lesson().steps.size() - 1);
      case Word::again:
        return show_step();
      case Word::hint:
        return hint();
      case Word::back:
        return back();
      case Word::undo:
        return take_back(Undo{}, !state_.undo.empty(), "terminal.nothing_to_undo");
      case Word::redo:
        return take_back(Redo{}, !state_.redo.empty(), "terminal.nothing_to_redo");
      case Word::restore:
        return restore();
      case Word::lessons:
        return list_lessons();
      case Word::help:
        return help();
      case Word::quit:
        break;
    }
    return Session::over;
  }
  Session operator()(const GoTo& input) {
    const std::size_t n_steps = state_.lesson().steps.size();
    if (input.step < 1 || input.step > n_steps)
      return say("terminal.no_such_step",
                 {{"step", std::to_string(input.step)}, {"count", std::to_string(n_steps)}});
    return go_to(input.step - 1);
  }
  Session operator()(const Head& input) {
    const std::int64_t n_heads = state_.session.config().n_heads;
    if (input.head >= n_heads)
      return say("terminal.no_such_head",
                 {{"head", std::to_string(input.head)}, {"last", std::to_string(n_heads - 1)}});
    if (!act(ChooseHead{input.head})) return Session::goes_on;
    return show_numbers();
  }
  Session operator()(const Open& input) {
    if (!act(OpenLesson{input.lesson})) return Session::goes_on;
    greet();
    return Session::goes_on;
  }
  Session operator()(const Reveal& input) {
    const std::optional<std::size_t> question = input.question ? input.question.value() - 1 : open_question();
    const std::size_t n_questions = view().questions.size();
    if (n_questions == 0) return say("terminal.no_question");
    if (!question) return say("terminal.all_answered");
    if (*question >= n_questions)
      return say("terminal.no_such_question", {{"count", std::to_string(n_questions)}});
    if (act(RevealAnswer{*question})) print_result(printer_, view().questions[*question], words_);
    return Session::goes_on;
  }
  Session operator()(const Sentence& input) {
    if (!act(SetSentence{input.text})) return Session::goes_on;
    describe_sentence();
    return show_numbers();
  }
  Session operator()(const Edit& input) {
    const std::optional<CellAddress> cell = find_cell(state_, input.cell);
    if (!cell) return say("terminal.no_such_cell", {{"text", repeated(input.cell)}});
    const std::optional<double> value = lessons::parse_number(input.value);
    if (!value) return say("terminal.no_number", {{"text", repeated(input.value)}});
    if (!act(SetCell{*cell, *value})) return Session::goes_on;
    const core::TensorSpec& spec = state_.session.graph().spec(cell->tensor);
    say("terminal.edited", {{"cell", short_name(spec) + address_text(state_.session, *cell)},
                            {"value", lessons::format_number(state_.trace().value(cell->tensor, cell->cell),
                                                             number_kind_of(spec))}});
    return show_numbers();
  }
  Session operator()(const AnswerText& input) {
    const std::size_t n_questions = view().questions.size();
    if (n_questions == 0) return say("terminal.no_question");
    if (input.question && (*input.question < 1 || *input.question > n_questions))
      return say("terminal.no_such_question", {{"count", std::to_string(n_questions)}});
    const std::optional<std::size_t> question = input.question ? *input.question - 1 : open_question();
    if (!question) return say("terminal.all_answered");
    return answer(*question, input.text);
  }
  Session operator()(const FreeText& input) {
    if (!state_.trail.empty() && follow_number(input.text)) return Session::goes_on;
    if (input.text.find('[') != std::string::npos) return show_cell(input.text);
    if (const std::optional<std::size_t> question = open_question()) {
      const lessons::QuestionView asked = view().questions[*question];
      const bool is_answer = read_answer(state_, asked, input.text).has_value();
      // what can be read as an answer is one; a tensor's name shows its table
      if (is_answer || !find_tensor(state_, input.text)) return answer(*question, input.text);
    }
    if (const std::optional<core::TensorId> tensor = find_tensor(state_, input.text)) {
      print_tensor(printer_, state_, *tensor, words_.text);
      return Session::goes_on;
    }
    return say("terminal.not_understood", {{"text", repeated(input.text)}});
  }
  Session operator()(const Malformed& input) { return say(input.usage); }

 private:
  lessons::StepView view() const { return lessons::view_step(state_.runner, state_.session); }

  Session say(const std::string& key, const lessons::TextValues& values = {}) {
    printer_.paragraph(words_.text.text(key, values));
    return Session::goes_on;
  }

  /// Applies; says what went wrong, if anything did.
  bool act(const Action& action) {
    apply_action(state_, action);
    if (!state_.message) return true;
    printer_.paragraph(words_.text.error(*state_.message));
    return false;
  }

  bool prompt(std::string& line) {
    const std::string place =
        state_.trail.empty()
            ? words_.text.text("terminal.prompt_step", {{"step", std::to_string(state_.runner.step + 1)}})
            : short_name(state_.session.graph().spec(state_.trail.back().tensor)) +
                  address_text(state_.session, state_.trail.back());
    out_ << place << "> " << std::flush;
    const bool has_line = static_cast<bool>(std::getline(in_, line));
    // nothing typed or piped may steer the terminal when it is repeated
    line = core::printable(line, core::Unprintable::blank);
    if (!has_line)
      out_ << "\n";
    else if (echo_ == Echo::yes)
      out_ << shorten(trim(line), printer_.columns() - std::min(printer_.columns(), display_width(place) + 3))
           << "\n";
    return has_line;
  }

  void greet() {
    printer_.heading(words_.text.text("terminal.lesson", {{"number", std::to_string(state_.lesson().number)},
                                                          {"title", state_.lesson().title}}));
    say("terminal.greeting");
    describe_sentence();
    for (const core::Error& warning : state_.session.warnings())
      printer_.paragraph(words_.text.error(warning));
    show_step();
  }

  Session show_step() {
    print_step(printer_, state_, words_);
    return Session::goes_on;
  }

  /// After a change of the numbers: what the step shows of them, and what they reached.
  Session show_numbers() {
    printer_.blank();
    print_tensors(printer_, state_, words_);
    const lessons::StepView now = view();
    print_notices(printer_, now, words_);
    print_experiments(printer_, now, words_);
    if (!state_.trail.empty()) print_cell(printer_, state_, state_.trail.back(), words_);
    return Session::goes_on;
  }

  Session next() {
    if (lessons::is_last_step(state_.runner)) return say("terminal.at_end");
    act(NextStep{});
    return show_step();
  }
  Session previous() {
    if (lessons::is_first_step(state_.runner)) return say("terminal.at_begin");
    act(PreviousStep{});
    return show_step();
  }
  Session go_to(std::size_t step) {
    act(GoToStep{step});
    return show_step();
  }

  Session hint() {
    bool has_hint = false;
    for (const lessons::ExperimentView& experiment : view().experiments) {
      printer_.prose(experiment.hint, 2);
      has_hint = has_hint || !experiment.hint.empty();
    }
    return has_hint ? Session::goes_on : say("terminal.no_hint");
  }

  Session back() {
    if (state_.trail.empty()) return say("terminal.no_cell");
    act(StepBack{});
    if (!state_.trail.empty()) print_cell(printer_, state_, state_.trail.back(), words_);
    return Session::goes_on;
  }

  Session take_back(const Action& action, bool is_possible, const std::string& nothing) {
    if (!is_possible) return say(nothing);
    if (!act(action)) return Session::goes_on;
    describe_sentence();
    return show_numbers();
  }

  Session restore() {
    act(RestoreSentence{});
    act(RestoreCells{});
    describe_sentence();
    return show_numbers();
  }

  Session list_lessons() {
    Table table{.columns = {Align::right, Align::left, Align::left}, .rows = {}};
    for (const lessons::LessonEntry& entry : state_.library)
      table.rows.push_back({std::to_string(entry.number), core::printable(entry.name), entry.title});
    printer_.table(table, 2);
    return say("terminal.how_to_open");
  }

  Session help() {
    for (const char* const key : {"move", "answer", "explain", "follow", "tensor", "edit", "sentence", "undo",
                                  "head", "hint", "open", "quit"})
      printer_.paragraph(words_.text.text(std::string("terminal.help.") + key), 2, 4);
    return Session::goes_on;
  }

  /// The sentence as its words; which of them are unknown or were cut.
  void describe_sentence() {
    std::string all, unknown;
    for (const core::Token& token : state_.session.sentence().tokens) {
      all += (all.empty() ? "" : " ") + repeated(token.text);
      if (token.is_unknown) unknown += (unknown.empty() ? "" : ", ") + repeated(token.text);
    }
    say("terminal.sentence", {{"sentence", all}});
    if (!unknown.empty()) say("terminal.unknown_words", {{"words", unknown}});
    if (state_.session.sentence().n_cut > 0)
      say("terminal.cut", {{"count", std::to_string(state_.session.sentence().n_cut)}});
  }

  /// The first question that waits for an answer.
  std::optional<std::size_t> open_question() const {
    const std::vector<lessons::QuestionView> questions = view().questions;
    for (std::size_t question = 0; question < questions.size(); ++question) {
      const AnswerState state = questions[question].state;
      if (!questions[question].error && (state == AnswerState::unanswered || state == AnswerState::wrong))
        return question;
    }
    return std::nullopt;
  }

  Session answer(std::size_t question, const std::string& text) {
    const core::Result<lessons::Given> given = read_answer(state_, view().questions[question], text);
    if (!given) {
      printer_.paragraph(words_.text.error(given.error()));
      return Session::goes_on;
    }
    if (act(AnswerQuestion{question, *given})) print_result(printer_, view().questions[question], words_);
    if (open_question() && *open_question() != question)
      say("terminal.next_question", {{"number", std::to_string(*open_question() + 1)}});
    return Session::goes_on;
  }

  Session show_cell(const std::string& text) {
    const std::optional<CellAddress> cell = find_cell(state_, text);
    if (!cell) return say("terminal.no_such_cell", {{"text", repeated(text)}});
    act(LockCell{*cell});
    print_cell(printer_, state_, *cell, words_);
    return Session::goes_on;
  }

  /// "3", or "3 2" for the second number of the third line. False where the text is something else.
  bool follow_number(const std::string& text) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::optional<std::size_t> term = parse_count(text.substr(0, blank));
    const std::string_view rest = trim(std::string_view(text).substr(blank));
    const std::optional<std::size_t> factor =
        rest.empty() ? std::optional<std::size_t>(0) : parse_count(rest);
    if (!term || !factor) return false;
    const std::optional<CellAddress> target = follow(state_, state_.trail.back(), *term, *factor, words_);
    if (!target) {
      say("terminal.no_such_term", {{"text", repeated(text)}});
      return true;
    }
    act(FollowCell{*target});
    print_cell(printer_, state_, *target, words_);
    return true;
  }

  AppState state_;
  const Words& words_;
  std::istream& in_;
  std::ostream& out_;
  Printer printer_;
  Echo echo_;
};

}  // namespace

void read_lesson(AppState state, const Words& words, std::istream& in, std::ostream& out,
                 const Screen& screen, Echo echo) {
  Reader(std::move(state), words, in, out, screen, echo).run();
}

}  // namespace headscope::simulator::terminal
