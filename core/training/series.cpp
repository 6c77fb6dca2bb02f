// A run's series as CSV, and back.
#include "core/formats/json.h"
#include "core/graph_paths.h"
#include "core/training/run.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace headscope::core {
namespace {

constexpr std::string_view kFigures = "step,loss,gradient_norm,rate";

std::string header_of(const Run& run) {
  std::string text(kFigures);
  if (!run.evaluator()) return text;
  text += ",held_out_loss,held_out_score";
  for (const RelationMass& mass : run.evaluation_form().masses) {
    const std::string_view attention = owner(run.evaluator()->graph().spec(mass.weights).name);
    const std::string& relation =
        run.trainer().task()->relations()[static_cast<std::size_t>(mass.relation)].name;
    for (std::size_t head = 0; head < mass.heads.size(); ++head)
      text.append(",").append(relation).append(":").append(attention).append(":").append(
          std::to_string(head));
  }
  return text;
}

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(mark);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}
bool parse_finite(std::string_view text, double& number) {
  return parse(text, number) && std::isfinite(number);
}
/// Also what format_number() makes of numbers that are not finite.
bool parse_any(std::string_view text, double& number) {
  using Limits = std::numeric_limits<double>;
  const bool is_negative = text.starts_with('-');
  const std::string_view name = is_negative ? text.substr(1) : text;
  if (name != "inf" && name != "nan") return parse_finite(text, number);
  number = std::copysign(name == "inf" ? Limits::infinity() : Limits::quiet_NaN(), is_negative ? -1.0 : 1.0);
  return true;
}

/// A row of as many columns as the header; `evaluation` is what one looks like, or null.
bool parse_row(std::string_view line, std::size_t n_columns, const Evaluation* evaluation, SeriesRow& row) {
  const std::vector<std::string_view> cells = split(line, ',');
  if (cells.size() != n_columns || !parse(cells[0], row.step) || row.step < 0) return false;
  const auto is_empty = [&cells](std::size_t begin, std::size_t end) {
    for (std::size_t place = begin; place < end; ++place)
      if (!cells[place].empty()) return false;
    return true;
  };
  if (row.step == 0
          ? !is_empty(1, 4)
          : !parse_finite(cells[1], row.report.loss) || !parse_finite(cells[2], row.report.gradient_norm) ||
                !parse_finite(cells[3], row.report.rate))
    return false;
  if (is_empty(4, cells.size())) return true;
  if (!evaluation) return false;
  row.evaluation = *evaluation;
  row.evaluation->n_scored = 0;
  if (!parse_any(cells[4], row.evaluation->loss) || !parse_finite(cells[5], row.evaluation->score))
    return false;
  std::size_t place = 6;
  for (RelationMass& mass : row.evaluation->masses)
    for (double& head : mass.heads)
      if (!parse_any(cells[place++], head)) return false;
  return true;
}

}  // namespace

std::string format_series(const Run& run) {
  const std::string header = header_of(run);
  const auto n_columns = static_cast<std::size_t>(std::count(header.begin(), header.end(), ',')) + 1;
  std::string text = header + "\n";
  for (const SeriesRow& row : run.series()) {
    text += std::to_string(row.step);
    if (row.step == 0)
      text += ",,,";
    else
      for (const double figure : {row.report.loss, row.report.gradient_norm, row.report.rate})
        text.append(",").append(format_number(figure));
    if (!row.evaluation) {
      text.append(n_columns - 4, ',').append("\n");
      continue;
    }
    for (const double figure : {row.evaluation->loss, row.evaluation->score})
      text.append(",").append(format_number(figure));
    for (const RelationMass& mass : row.evaluation->masses)
      for (const double head : mass.heads) text.append(",").append(format_number(head));
    text += "\n";
  }
  return text;
}

Result<void> Run::take_series(const std::string& csv, const std::string& where) {
  const std::string header = header_of(*this);
  const auto n_columns = static_cast<std::size_t>(std::count(header.begin(), header.end(), ',')) + 1;
  const std::vector<std::string_view> lines = split(csv, '\n');
  const auto wrong = [&where](std::size_t place) {
    return Error{"run.series", where, {{"line", std::to_string(place + 1)}}};
  };
  // the last line ends, too: a file that was cut short is not taken for a whole one
  if (lines.front() != header || !lines.back().empty())
    return wrong(lines.front() != header ? 0 : lines.size() - 1);
  std::vector<SeriesRow> series;
  for (std::size_t place = 1; place + 1 < lines.size(); ++place) {
    SeriesRow row;
    if (!parse_row(lines[place], n_columns, evaluator_ ? &evaluation_form_ : nullptr, row) ||
        (!series.empty() && row.step <= series.back().step))
      return wrong(place);
    if (row.step <= trainer_->step()) series.push_back(std::move(row));
  }
  series_ = std::move(series);
  find_evaluated();
  judge();
  return {};
}

}  // namespace headscope::core
