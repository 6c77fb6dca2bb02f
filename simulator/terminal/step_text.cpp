#include "simulator/terminal/step_text.h"

#include "core/graph.h"
#include "simulator/slice.h"
#include "simulator/tensor_facts.h"
#include "simulator/terminal/tensor_table.h"

#include <algorithm>
#include <set>

namespace headscope::simulator::terminal {
namespace {

using lessons::AnswerState;
using lessons::QuestionKind;

/// The text between the braces at `place`, and the place behind them.
std::string_view braced(std::string_view markup, std::size_t& place) {
  const std::size_t end = std::min(markup.find('}', place), markup.size());
  const std::string_view inside = markup.substr(place + 1, end - place - 1);
  place = std::min(end + 1, markup.size());
  return inside;
}

/// A subscript of one word needs no brackets: s_ij; id(i), c does.
std::string script(char sign, std::string_view inside) {
  const bool is_word = inside.find_first_of(" ,()") == std::string_view::npos;
  const std::string text(inside);
  return is_word ? sign + text : sign + ("(" + text + ")");
}

void print_formula(Printer& printer, const AppState& state, const lessons::StepView& view,
                   const Words& words) {
  if (!view.stop) return;
  const core::Graph& graph = state.session.graph();
  const std::optional<std::size_t> operation = graph.producer(*view.stop);
  if (!operation) return;
  const std::string formula = forward_formula(graph, graph.operations()[*operation], words.formulas);
  if (formula.empty()) return;
  printer.paragraph(words.text.text("terminal.formula", {{"formula", plain_formula(formula)}}), 0, 4);
  const std::string key = text_key(graph.spec(*view.stop));
  if (words.text.has("tensor." + key + ".said"))
    printer.paragraph(words.text.text("tensor." + key + ".said"), 2, 2);
  printer.blank();
}

/// What a window lights up, a terminal can only name.
void print_lit_cell(Printer& printer, const AppState& state, const lessons::StepView& view,
                    const Words& words) {
  if (!view.lit_tensor || !view.lit_cell) return;
  const std::string cell = short_name(state.session.graph().spec(*view.lit_tensor)) +
                           address_text(state.session, {*view.lit_tensor, *view.lit_cell});
  printer.paragraph(words.text.text("terminal.lit", {{"cell", cell}}));
  printer.blank();
}

/// Token choices in one line, so that reading them aloud takes no longer than needed; statements line by
/// line.
void print_choices(Printer& printer, const lessons::QuestionView& question, const Words& words) {
  if (question.choices.empty()) return;
  const bool is_listed = question.kind == QuestionKind::statements || question.kind == QuestionKind::order;
  std::string line;
  for (std::size_t choice = 0; choice < question.choices.size(); ++choice) {
    const lessons::Choice& shown = question.choices[choice];
    const std::string number = std::to_string(choice + 1);
    if (is_listed) {
      std::string text = shown.label;
      for (const lessons::ProseBlock& block : shown.text)
        text += (text.empty() ? "" : " ") + printer.text_of(block.runs);
      printer.paragraph(number + "  " + text, 2, 2 + number.size() + 2);
    } else {
      const bool label_is_number = question.kind == QuestionKind::head;
      line += (line.empty() ? "" : ", ") + (label_is_number ? shown.label : number + " " + shown.label);
    }
  }
  if (!line.empty())
    printer.paragraph(words.text.text("terminal.question.choices", {{"choices", line}}), 2, 4);
}

std::string_view how_to_answer(QuestionKind kind) {
  switch (kind) {
    case QuestionKind::token:
      return "terminal.question.how_token";
    case QuestionKind::head:
      return "terminal.question.how_head";
    case QuestionKind::cell:
      return "terminal.question.how_cell";
    case QuestionKind::number:
      return "terminal.question.how_number";
    case QuestionKind::statements:
      return "terminal.question.how_statements";
    case QuestionKind::order:
      break;
  }
  return "terminal.question.how_order";
}

std::string answer_of(const lessons::QuestionView& question) {
  if (question.kind != QuestionKind::statements && question.kind != QuestionKind::order)
    return question.answer;
  std::string numbers;
  for (const std::int64_t choice : question.right_choices)
    numbers += (numbers.empty() ? "" : " ") + std::to_string(choice + 1);
  return numbers.empty() ? "0" : numbers;
}

}  // namespace

std::string plain_formula(std::string_view markup) {
  std::string text;
  for (std::size_t place = 0; place < markup.size();) {
    const char sign = markup[place];
    const bool opens_script =
        (sign == '_' || sign == '^') && place + 1 < markup.size() && markup[place + 1] == '{';
    if (sign == '\\' && place + 1 < markup.size()) {
      text += markup[place + 1];
      place += 2;
    } else if (opens_script) {
      ++place;
      text += script(sign, braced(markup, place));
    } else if (sign == '{') {
      const std::string_view inside = braced(markup, place);
      const std::size_t colon = inside.find(':');
      text += colon == std::string_view::npos ? inside : inside.substr(colon + 1);
    } else {
      text += sign;
      ++place;
    }
  }
  return text;
}

void print_tensors(Printer& printer, const AppState& state, const Words& words) {
  const lessons::StepView view = lessons::view_step(state.runner, state.session);
  std::set<core::TensorId> printed;
  for (const core::TensorId tensor : view.shown) {
    if (!printed.insert(tensor).second) continue;
    print_tensor(printer, state, tensor, words.text);
    printer.blank();
  }
}

void print_result(Printer& printer, const lessons::QuestionView& question, const Words& words) {
  const lessons::TextValues values{{"answer", answer_of(question)}};
  if (question.state == AnswerState::right)
    printer.paragraph(words.text.text("terminal.question.right", values), 2, 2);
  if (question.state == AnswerState::revealed)
    printer.paragraph(words.text.text("terminal.question.revealed", values), 2, 2);
  if (question.state == AnswerState::wrong) {
    printer.paragraph(words.text.text("terminal.question.wrong"), 2, 2);
    printer.prose(question.feedback, 2);
  }
  if (!question.explain.empty()) printer.prose(question.explain, 2);
}

void print_question(Printer& printer, const lessons::QuestionView& question, std::size_t number,
                    const Words& words) {
  printer.heading(words.text.text("terminal.question.heading", {{"number", std::to_string(number)}}));
  printer.prose(question.ask, 2);
  if (question.error) {
    printer.paragraph(words.text.error(*question.error), 2, 2);
    return;
  }
  print_choices(printer, question, words);
  if (question.state == AnswerState::unanswered)
    printer.paragraph(words.text.text(how_to_answer(question.kind)), 2, 2);
  else
    print_result(printer, question, words);
}

void print_experiments(Printer& printer, const lessons::StepView& view, const Words& words) {
  for (const lessons::ExperimentView& experiment : view.experiments) {
    printer.heading(words.text.text("terminal.experiment.heading"));
    printer.prose(experiment.task, 2);
    std::string_view key = "terminal.experiment.open";
    if (experiment.was_reached) key = "terminal.experiment.was_reached";
    if (experiment.is_reached) key = "terminal.experiment.reached";
    printer.paragraph(experiment.error ? words.text.error(*experiment.error) : words.text.text(key), 2, 2);
    printer.blank();
  }
}

void print_notices(Printer& printer, const lessons::StepView& view, const Words& words) {
  for (const core::Error& notice : view.notices) printer.paragraph(words.text.error(notice));
  if (!view.notices.empty()) printer.blank();
}

void print_step(Printer& printer, const AppState& state, const Words& words) {
  const lessons::StepView view = lessons::view_step(state.runner, state.session);
  printer.blank();
  if (!view.introduction.empty()) {
    printer.prose(view.introduction);
    printer.blank();
  }
  printer.heading(words.text.text("terminal.step", {{"step", std::to_string(view.step + 1)},
                                                    {"count", std::to_string(view.n_steps)},
                                                    {"title", view.title}}));
  printer.blank();
  printer.prose(view.prose);
  printer.blank();
  print_formula(printer, state, view, words);
  print_tensors(printer, state, words);
  print_lit_cell(printer, state, view, words);
  print_notices(printer, view, words);
  for (std::size_t question = 0; question < view.questions.size(); ++question) {
    print_question(printer, view.questions[question], question + 1, words);
    printer.blank();
  }
  print_experiments(printer, view, words);
}

}  // namespace headscope::simulator::terminal
