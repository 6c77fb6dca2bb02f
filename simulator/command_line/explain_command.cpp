// headscope explain: one cell's arithmetic, as a table for people or as JSON for machines.
#include "core/explain.h"
#include "core/formats/json.h"
#include "lessons/expression.h"
#include "simulator/command_line/commands.h"
#include "simulator/command_line/model_run.h"
#include "simulator/terminal/text_layout.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <ostream>
#include <string_view>

namespace headscope::simulator {
namespace {

std::string_view name_of(core::Axis axis) {
  switch (axis) {
    case core::Axis::batch:
      return "batch";
    case core::Axis::head:
      return "head";
    case core::Axis::query:
      return "query";
    case core::Axis::key:
      return "key";
    case core::Axis::model:
      return "model";
    case core::Axis::head_channel:
      return "head_channel";
    case core::Axis::concat:
      return "concat";
    case core::Axis::vocabulary:
      return "vocabulary";
    case core::Axis::position:
      return "position";
    case core::Axis::one:
      break;
  }
  return "one";
}

std::string_view name_of(core::Combine combine) {
  switch (combine) {
    case core::Combine::given:
      return "given";
    case core::Combine::sum:
      return "sum";
    case core::Combine::share:
      return "share";
    case core::Combine::masked:
      break;
  }
  return "masked";
}

std::string_view name_of(core::Form form) {
  switch (form) {
    case core::Form::product:
      return "product";
    case core::Form::quotient:
      return "quotient";
    case core::Form::exponential:
      return "exponential";
    case core::Form::negative_log:
      return "negative_log";
    case core::Form::sine:
      return "sine";
    case core::Form::cosine:
      break;
  }
  return "cosine";
}

/// "0,1,2,3", blanks and brackets allowed; nothing where it is anything else.
std::optional<core::Cell> parse_cell(std::string_view text) {
  std::vector<std::int64_t> indices;
  bool wants_number = true;
  for (std::size_t place = 0; place < text.size();) {
    const char sign = text[place];
    if (sign == ' ' || sign == '[' || sign == ']') {
      ++place;
    } else if (sign == ',' && !wants_number) {
      wants_number = true;
      ++place;
    } else if (wants_number) {
      std::int64_t index = 0;
      const auto [end, failure] = std::from_chars(text.data() + place, text.data() + text.size(), index);
      if (failure != std::errc() || indices.size() == core::kMaxRank) return std::nullopt;
      indices.push_back(index);
      place = static_cast<std::size_t>(end - text.data());
      wants_number = false;
    } else {
      return std::nullopt;
    }
  }
  if (wants_number) return std::nullopt;
  core::Cell cell;
  for (const std::int64_t index : indices) cell.push_back(index);
  return cell;
}

template <class Indices>
std::string list(const Indices& indices, int rank) {
  std::string text = "[";
  for (int axis = 0; axis < rank; ++axis) text += (axis > 0 ? "," : "") + std::to_string(indices[axis]);
  return text + "]";
}

/// The shortest digits that read back as the same number, in the precision of the pass.
std::string digits(double value, Precision precision) {
  if (std::isnan(value)) return "nan";  // its sign means nothing
  std::array<char, 40> buffer{};
  char* const begin = buffer.data();
  char* const limit = begin + buffer.size();
  const auto written = precision == Precision::single ? std::to_chars(begin, limit, static_cast<float>(value))
                                                      : std::to_chars(begin, limit, value);
  return {begin, written.ptr};
}

/// JSON has no infinity: those become strings.
std::string json_number(double value, Precision precision) {
  return std::isfinite(value) ? digits(value, precision) : core::quote_json(digits(value, precision));
}

struct Writer {
  const core::Graph& graph;
  const core::Explanation& explanation;
  Precision precision;
  const CommandContext& context;

  std::string say(const std::string& key, const lessons::TextValues& values = {}) const {
    return context.text.text("command.explain." + key, values);
  }

  std::string json() const {
    std::string text = "{\"tensor\": " + core::quote_json(graph.spec(explanation.tensor).name) +
                       ", \"cell\": " + list(explanation.cell, explanation.cell.rank()) +
                       ", \"stored\": " + json_number(explanation.value, precision) +
                       ", \"recombined\": " + json_number(explanation.combined(), Precision::twofold) +
                       ", \"combine\": \"" + std::string(name_of(explanation.combine)) + "\", \"over\": \"" +
                       std::string(name_of(explanation.over)) + "\"";
    if (explanation.combine == core::Combine::share)
      text += ", \"chosen\": " + std::to_string(explanation.chosen);
    text += ", \"n_masked\": " + std::to_string(explanation.n_masked) + ", \"terms\": [";
    for (std::size_t place = 0; place < explanation.terms.size(); ++place)
      text += (place > 0 ? ", " : "") + json(explanation.terms[place]);
    return text + "]}\n";
  }

  std::string json(const core::Term& term) const {
    std::string text = "{\"form\": \"" + std::string(name_of(term.form)) +
                       "\", \"index\": " + std::to_string(term.index) +
                       ", \"value\": " + json_number(term.value, Precision::twofold) + ", \"factors\": [";
    for (std::size_t place = 0; place < term.factors.size(); ++place) {
      const core::Factor& factor = term.factors[place];
      text += (place > 0 ? ", {\"value\": " : "{\"value\": ") + json_number(factor.value, Precision::twofold);
      if (factor.tensor)
        text += ", \"tensor\": " + core::quote_json(graph.spec(*factor.tensor).name) +
                ", \"cell\": " + list(factor.cell, factor.cell.rank()) + "}";
      else
        text += ", \"symbol\": " + core::quote_json(factor.symbol) + "}";
    }
    return text + "]}";
  }

  /// "queries[0,0,3,1]" or "√4".
  std::string name(const core::Factor& factor) const {
    if (!factor.tensor) return factor.symbol;
    return std::string(core::leaf(graph.spec(*factor.tensor).name)) + list(factor.cell, factor.cell.rank());
  }

  /// The factors joined as the form says, each written by `write`.
  template <class Write>
  std::string joined(const core::Term& term, const Write& write) const {
    const std::string first = write(term.factors.at(0));
    const std::string second = term.factors.size() > 1 ? write(term.factors[1]) : "";
    switch (term.form) {
      case core::Form::product:
        return second.empty() ? first : first + " × " + second;
      case core::Form::quotient:
        return first + " ÷ " + second;
      case core::Form::exponential:
        return "exp(" + first + " − " + second + ")";
      case core::Form::negative_log:
        return "−ln(" + first + ") ÷ " + second;
      case core::Form::sine:
        return "sin(" + first + " ÷ " + second + ")";
      case core::Form::cosine:
        break;
    }
    return "cos(" + first + " ÷ " + second + ")";
  }

  std::vector<std::string> row(std::size_t place) const {
    const core::Term& term = explanation.terms[place];
    const bool is_chosen = explanation.combine == core::Combine::share && place == explanation.chosen;
    return {term.index < 0 ? "" : std::to_string(term.index),
            joined(term, [&](const core::Factor& factor) { return name(factor); }),
            "=",
            joined(term, [&](const core::Factor& factor) { return digits(factor.value, precision); }),
            "=",
            digits(term.value, precision),
            is_chosen ? say("chosen") : ""};
  }

  void print() const {
    std::ostream& out = context.out;
    const std::string key(name_of(explanation.combine));
    out << graph.spec(explanation.tensor).name << list(explanation.cell, explanation.cell.rank()) << " = "
        << digits(explanation.value, precision) << "\n"
        << say(key, {{"count", std::to_string(explanation.terms.size())},
                     {"over",
                      context.text.text("command.explain.over." + std::string(name_of(explanation.over)))}})
        << "\n";
    if (explanation.terms.empty()) return;
    using terminal::Align;
    terminal::Table table{.columns = {Align::right, Align::left, Align::left, Align::left, Align::left,
                                      Align::right, Align::left},
                          .rows = {}};
    for (std::size_t place = 0; place < explanation.terms.size(); ++place) table.rows.push_back(row(place));
    for (const std::string& line : terminal::table_lines(table)) out << line << "\n";
    if (explanation.n_masked > 0)
      out << say("n_masked", {{"count", std::to_string(explanation.n_masked)}}) << "\n";
    out << say(key + "_result", {{"value", digits(explanation.combined(), precision)}}) << "\n"
        << say("stored", {{"value", digits(explanation.value, precision)}}) << "\n";
  }
};

template <class T>
core::Result<void> explain(const ModelAndBatch& loaded, const ExplainCommand& command,
                           const CommandContext& context) {
  const core::Graph& graph = loaded.model.graph;
  const std::optional<core::TensorId> tensor = graph.find(command.tensor);
  if (!tensor)
    return core::Error{.key = "explain.unknown_tensor",
                       .where = "--tensor",
                       .values = {{"name", command.tensor},
                                  {"closest", lessons::closest_tensor(graph, command.tensor, "")}}};
  const core::Workspace<T> workspace = run_model<T>(loaded);
  const core::Trace<T> trace = whole_trace(loaded, workspace);
  const core::Shape& shape = trace.shape(*tensor);
  const std::optional<core::Cell> cell = parse_cell(command.cell);
  if (!cell || !shape.contains(*cell))
    return core::Error{
        .key = "explain.no_such_cell",
        .where = "--cell",
        .values = {
            {"given", command.cell}, {"tensor", command.tensor}, {"shape", list(shape, shape.rank())}}};
  const core::Explanation explanation = core::explain(trace, *tensor, *cell);
  const Writer writer{
      .graph = graph, .explanation = explanation, .precision = command.input.precision, .context = context};
  if (command.format == OutputFormat::json)
    context.out << writer.json();
  else
    writer.print();
  return {};
}

}  // namespace

core::Result<void> run(const ExplainCommand& command, const CommandContext& context) {
  const core::Result<ModelAndBatch> loaded = read_model_and_batch(command.input);
  if (!loaded) return loaded.error();
  print_warnings(*loaded, context);
  return command.input.precision == Precision::twofold ? explain<double>(*loaded, command, context)
                                                       : explain<float>(*loaded, command, context);
}

}  // namespace headscope::simulator
