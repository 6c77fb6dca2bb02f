#include "simulator/command_line/explanation_writer.h"

#include "core/formats/json.h"
#include "simulator/command_line/cell_argument.h"
#include "simulator/tensor_facts.h"
#include "simulator/term_text.h"
#include "simulator/terminal/text_layout.h"
#include "simulator/words.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <set>
#include <string_view>
#include <vector>

namespace headscope::simulator {
namespace {

// Names of the enumerations' values, in their order, as they stand in JSON and in the text catalogue's keys.
constexpr std::array<std::string_view, 16> kAxes = {
    "batch",    "head",         "query",       "key",    "model", "head_channel", "concat",     "vocabulary",
    "position", "feed_forward", "class_label", "output", "edge",  "distance",     "token_type", "one"};
constexpr std::array<std::string_view, 6> kCombines = {"given",        "sum",    "share",
                                                       "inverse_root", "masked", "by_hand"};
constexpr std::array<std::string_view, 17> kForms = {
    "product",     "quotient", "exponential", "negative_log", "sine",       "cosine",
    "relu",        "gelu",     "gelu_tanh",   "relu_slope",   "gelu_slope", "gelu_tanh_slope",
    "mean_square", "error",    "decay",       "adam_step",    "random"};
constexpr std::array<std::string_view, 7> kQuantities = {"value",          "gradient",       "first_moment",
                                                         "second_moment",  "previous_value", "previous_first",
                                                         "previous_second"};
constexpr std::array<std::string_view, 3> kTakes = {"itself", "negated", "complement"};

static_assert(kAxes[static_cast<std::size_t>(core::Axis::one)] == "one");
static_assert(kCombines[static_cast<std::size_t>(core::Combine::by_hand)] == "by_hand");
static_assert(kForms[static_cast<std::size_t>(core::Form::random)] == "random");
static_assert(kQuantities[static_cast<std::size_t>(core::Quantity::previous_second)] == "previous_second");
static_assert(kTakes[static_cast<std::size_t>(core::Factor::Take::complement)] == "complement");

template <class Value, std::size_t kCount>
std::string name_of(Value value, const std::array<std::string_view, kCount>& names) {
  return std::string(names[static_cast<std::size_t>(value)]);
}

/// The shortest digits that read back as the same number.
std::string shortest(double value, Precision precision) {
  if (std::isnan(value)) return "nan";  // its sign means nothing
  std::array<char, 40> buffer{};
  char* const begin = buffer.data();
  char* const limit = begin + buffer.size();
  const auto written = precision == Precision::single ? std::to_chars(begin, limit, static_cast<float>(value))
                                                      : std::to_chars(begin, limit, value);
  return {begin, written.ptr};
}

/// JSON has no infinity: those become strings.
std::string json_number(double value, Precision precision = Precision::twofold) {
  const std::string text = shortest(value, precision);
  return std::isfinite(value) ? text : core::quote_json(text);
}

}  // namespace

std::string ExplanationWriter::say(const std::string& key, const lessons::TextValues& values) const {
  return text_.text("command.explain." + key, values);
}

std::string ExplanationWriter::digits(double value) const {
  return shortest(value, precision_);
}

/// "grad.decoder.block0.self_attention.scores[0,0,3,2]".
std::string ExplanationWriter::heading(const core::Explanation& explanation) const {
  const std::string cell =
      graph_.spec(explanation.tensor).name + index_list(explanation.cell, explanation.cell.rank());
  if (explanation.quantity == core::Quantity::gradient) return "grad." + cell;
  return text_.text("quantity." + name_of(explanation.quantity, kQuantities), {{"cell", cell}});
}

/// "queries[0,0,3,1]", "∂scores[0,0,1,2]", "(1 − weights[0,0,1,1])" or "√4".
std::string ExplanationWriter::symbol(const core::Factor& factor) const {
  if (!factor.tensor) return factor.symbol;
  std::string name = text_.text(
      "quantity." + name_of(factor.quantity, kQuantities),
      {{"cell", short_name(graph_.spec(*factor.tensor)) + index_list(factor.cell, factor.cell.rank())}});
  switch (factor.take) {
    case core::Factor::Take::itself:
      break;
    case core::Factor::Take::negated:
      return "(−" + name + ")";
    case core::Factor::Take::complement:
      return "(1 − " + name + ")";
  }
  return name;
}

/// The tensor whose gradient the term came through; empty for what is no gradient's term.
std::string ExplanationWriter::operation_name(const core::Term& term) const {
  return term.operation ? graph_.spec(core::result(graph_.operations()[*term.operation])).name : "";
}

std::string ExplanationWriter::json(const core::Factor& factor) const {
  std::string text = "{\"value\": " + json_number(factor.value);
  if (!factor.tensor) return text + ", \"symbol\": " + core::quote_json(factor.symbol) + "}";
  text += ", \"tensor\": " + core::quote_json(graph_.spec(*factor.tensor).name) +
          ", \"cell\": " + index_list(factor.cell, factor.cell.rank());
  if (factor.quantity != core::Quantity::value)
    text += ", \"quantity\": \"" + name_of(factor.quantity, kQuantities) + "\"";
  if (factor.take != core::Factor::Take::itself)
    text += ", \"take\": \"" + name_of(factor.take, kTakes) + "\"";
  return text + "}";
}

std::string ExplanationWriter::json(const core::Term& term) const {
  std::string text = "{\"form\": \"" + name_of(term.form, kForms) +
                     "\", \"index\": " + std::to_string(term.index) +
                     ", \"value\": " + json_number(term.value);
  if (term.operation) text += ", \"operation\": " + core::quote_json(operation_name(term));
  text += ", \"factors\": [";
  for (std::size_t place = 0; place < term.factors.size(); ++place)
    text += (place > 0 ? ", " : "") + json(term.factors[place]);
  return text + "]}";
}

std::string ExplanationWriter::json(const core::Explanation& explanation, const std::string& more) const {
  std::string text = "{\"tensor\": " + core::quote_json(graph_.spec(explanation.tensor).name) +
                     ", \"cell\": " + index_list(explanation.cell, explanation.cell.rank()) +
                     ", \"quantity\": \"" + name_of(explanation.quantity, kQuantities) +
                     "\", \"stored\": " + json_number(explanation.value, precision_) +
                     ", \"recombined\": " + json_number(explanation.combined()) + ", \"combine\": \"" +
                     name_of(explanation.combine, kCombines) + "\", \"over\": \"" +
                     name_of(explanation.over, kAxes) + "\"";
  if (explanation.combine == core::Combine::share)
    text += ", \"chosen\": " + std::to_string(explanation.chosen);
  text += ", \"n_masked\": " + std::to_string(explanation.n_masked) +
          ", \"n_by_hand\": " + std::to_string(explanation.n_by_hand) + ", \"terms\": [";
  for (std::size_t place = 0; place < explanation.terms.size(); ++place)
    text += (place > 0 ? ", " : "") + json(explanation.terms[place]);
  return text + "]" + more + "}";
}

std::string ExplanationWriter::json(const core::GradientCheck& check) const {
  return "{\"analytic\": " + json_number(check.analytic) + ", \"numeric\": " + json_number(check.numeric) +
         ", \"step\": " + json_number(check.step) +
         ", \"crosses_kink\": " + (check.crosses_kink ? "true" : "false") + "}";
}

/// The tables: one, or for a gradient one for each operation that sent something back.
void ExplanationWriter::print_terms(const core::Explanation& explanation, std::ostream& out) const {
  using terminal::Align;
  terminal::Table table{.columns = {Align::right, Align::left, Align::left, Align::left, Align::left,
                                    Align::right, Align::left},
                        .rows = {}};
  const auto flush = [&] {
    for (const std::string& line : terminal::table_lines(table)) out << line << "\n";
    table.rows.clear();
  };
  for (std::size_t place = 0; place < explanation.terms.size(); ++place) {
    const core::Term& term = explanation.terms[place];
    if (term.operation && (place == 0 || explanation.terms[place - 1].operation != term.operation)) {
      flush();
      out << step_title(graph_,
                        {.phase = core::Phase::backward, .operation = *term.operation, .parameter = {}},
                        text_)
          << " (" << operation_name(term) << ")\n";
    }
    const bool is_chosen = explanation.combine == core::Combine::share && place == explanation.chosen;
    table.rows.push_back(
        {term.index < 0 ? "" : std::to_string(term.index),
         joined_factors(term, [&](const core::Factor& factor) { return symbol(factor); }), "=",
         joined_factors(term, [&](const core::Factor& factor) { return digits(factor.value); }), "=",
         digits(term.value), is_chosen ? say("chosen") : ""});
  }
  flush();
}

void ExplanationWriter::print(const core::Explanation& explanation, std::ostream& out) const {
  const std::string combine = name_of(explanation.combine, kCombines);
  std::set<std::size_t> senders;
  for (const core::Term& term : explanation.terms)
    if (term.operation) senders.insert(*term.operation);
  const bool is_gradient_sum =
      explanation.quantity == core::Quantity::gradient && explanation.combine == core::Combine::sum;
  const bool is_over_nothing =
      explanation.combine == core::Combine::sum && explanation.over == core::Axis::one;
  const std::string how = is_gradient_sum ? "gradient_sum" : is_over_nothing ? "sum_alone" : combine;
  out << heading(explanation) << " = " << digits(explanation.value) << "\n"
      << say(how, {{"count", std::to_string(explanation.terms.size())},
                   {"operations", std::to_string(senders.size())},
                   {"over", say("over." + name_of(explanation.over, kAxes))}})
      << "\n";
  print_terms(explanation, out);
  if (explanation.n_masked > 0)
    out << say("n_masked", {{"count", std::to_string(explanation.n_masked)}}) << "\n";
  if (explanation.n_by_hand > 0)
    out << say("n_by_hand", {{"count", std::to_string(explanation.n_by_hand)}}) << "\n";
  if (explanation.terms.empty() && !is_gradient_sum) return;
  out << say(combine + "_result", {{"value", digits(explanation.combined())}}) << "\n"
      << say("stored", {{"value", digits(explanation.value)}}) << "\n";
}

void ExplanationWriter::print(const core::GradientCheck& check, std::ostream& out) const {
  const auto number = [](double value) { return shortest(value, Precision::twofold); };
  out << say("check.analytic", {{"value", number(check.analytic)}}) << "\n"
      << say("check.numeric", {{"value", number(check.numeric)}, {"step", number(check.step)}}) << "\n"
      << say("check.difference", {{"value", number(check.numeric - check.analytic)}}) << "\n";
  if (check.crosses_kink) out << say("check.kink") << "\n";
}

}  // namespace headscope::simulator
