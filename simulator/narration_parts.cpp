// Names and numbers of cells, by quantity.
#include "simulator/narration_parts.h"

#include "simulator/tensor_facts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace headscope::simulator {
namespace {

using core::Quantity;

/// Moments from this size on are written without an exponent: three digits after the point say enough.
constexpr double kMomentScientificBelow = 0.01;

std::string_view quantity_key(Quantity quantity) {
  switch (quantity) {
    case Quantity::value:
      return "value";
    case Quantity::gradient:
      return "gradient";
    case Quantity::first_moment:
      return "first_moment";
    case Quantity::second_moment:
      return "second_moment";
    case Quantity::previous_value:
      return "previous_value";
    case Quantity::previous_first:
      return "previous_first";
    case Quantity::previous_second:
      break;
  }
  return "previous_second";
}

/// "√4", "6", "-1/6", "10000^{2/8}" are read as numbers; "η" and "clip" are not.
bool is_numeral(std::string_view symbol) {
  constexpr std::string_view kRoot = "√";
  if (symbol.starts_with('-')) symbol.remove_prefix(1);
  return symbol.starts_with(kRoot) ||
         (!symbol.empty() && std::isdigit(static_cast<unsigned char>(symbol.front())) != 0);
}

}  // namespace

std::string NarrationSource::number(core::TensorId tensor, Quantity quantity, double value) const {
  switch (quantity) {
    case Quantity::value:
    case Quantity::previous_value:
      return lessons::format_number(value, number_kind_of(spec(tensor)), rules);
    case Quantity::gradient:
      return lessons::format_number(value, lessons::NumberKind::gradient, rules);
    case Quantity::first_moment:
    case Quantity::second_moment:
    case Quantity::previous_first:
    case Quantity::previous_second:
      break;
  }
  lessons::NumberRules small = rules;
  small.scientific_below = std::max(rules.scientific_below, kMomentScientificBelow);
  return lessons::format_number(value, lessons::NumberKind::gradient, small);
}

std::string NarrationSource::constant(double value) const {
  if (value == 0) return "0";  // also where it is -0
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.4g", value);
  std::string text = buffer.data();
  if (const std::size_t exponent = text.find('e'); exponent != std::string::npos) {
    // "1e-08" becomes "1e−8"
    const int power = std::atoi(text.c_str() + exponent + 1);
    text = text.substr(0, exponent) + "e" + std::to_string(power);
  }
  std::string written;
  for (const char c : text)
    if (c == '-')
      written += rules.minus;
    else if (c == '.')
      written += rules.decimal_point;
    else
      written += c;
  return written;
}

std::string NarrationSource::number(const core::Factor& factor) const {
  if (factor.tensor) return number(*factor.tensor, factor.quantity, factor.value);
  if (!is_numeral(factor.symbol)) return constant(factor.value);
  std::string symbol;
  for (const char c : factor.symbol)
    symbol += c == '-' ? rules.minus : std::string(1, c == '{' ? '(' : c == '}' ? ')' : c);
  return symbol;
}

std::string NarrationSource::number_in_line(const core::Factor& factor) const {
  if (factor.tensor && factor.take == core::Factor::Take::complement)
    return "(1 − " + number(*factor.tensor, factor.quantity, 1 - factor.value) + ")";
  const std::string text = number(factor);
  return text.starts_with(rules.minus) ? "(" + text + ")" : text;
}

std::string NarrationSource::token_in_sentence(const std::string& token) const {
  const bool is_mark =
      std::ranges::all_of(token, [](unsigned char letter) { return std::ispunct(letter) != 0; });
  return is_mark ? text("explainer.quoted", {{"word", escape_markdown(token)}}) : escape_markdown(token);
}

std::string NarrationSource::label_in_sentence(const SliceSide& side, std::int64_t index) const {
  const std::string label = side_label(session, side, index);
  return labels_are_tokens(side) ? token_in_sentence(label) : escape_markdown(label);
}

NarratedName NarrationSource::name(const CellAddress& cell) const {
  NarratedName name;
  name.name = short_name(spec(cell.tensor));
  name.address = address_text(session, cell);
  name.hue = quantity_of(spec(cell.tensor).name);
  name.quantity = cell.quantity;
  if (cell.quantity == Quantity::gradient) {
    name.before = "∂L/∂";
  } else if (cell.quantity != Quantity::value) {
    // the text file says where the cell stands: "m({cell})"
    constexpr std::string_view kPlace = "\x1f";
    const std::string pattern =
        text("quantity." + std::string(quantity_key(cell.quantity)), {{"cell", std::string(kPlace)}});
    const std::size_t place = std::min(pattern.find(kPlace), pattern.size());
    name.before = pattern.substr(0, place);
    name.after = pattern.substr(std::min(place + kPlace.size(), pattern.size()));
  }
  return name;
}

std::string NarrationSource::tensor_name(core::TensorId tensor) const {
  return text("tensor." + text_key(spec(tensor)) + ".name");
}

bool is_update(const core::Explanation& explanation) {
  return explanation.quantity != Quantity::gradient && explanation.combine == core::Combine::sum &&
         (explanation.key.starts_with("adamw.") || explanation.key.starts_with("sgd."));
}

bool is_intermediate(const core::Explanation& explanation) {
  return explanation.combine == core::Combine::share || explanation.combine == core::Combine::inverse_root;
}

std::string own_number(const NarrationSource& source, const core::Explanation& explanation, double value) {
  const bool is_exact = (is_update(explanation) && explanation.quantity == Quantity::value) ||
                        explanation.quantity == Quantity::previous_value;
  // an update changes digits that two after the point would not show
  return is_exact ? lessons::format_number(value, lessons::NumberKind::check, source.rules)
                  : source.number(explanation.tensor, explanation.quantity, value);
}

std::string escape_markdown(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]()#+-.!<>|~&").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string_view counted_word(core::Axis axis) {
  switch (axis) {
    case core::Axis::head:
      return "head";
    case core::Axis::position:
      return "position";
    case core::Axis::model:
      return "channel";
    case core::Axis::head_channel:
      return "head_channel";
    case core::Axis::feed_forward:
      return "hidden_channel";
    case core::Axis::class_label:
      return "class";
    case core::Axis::output:
      return "output";
    case core::Axis::token_type:
      return "type";
    case core::Axis::batch:
    case core::Axis::query:
    case core::Axis::key:
    case core::Axis::concat:
    case core::Axis::vocabulary:
    case core::Axis::edge:
    case core::Axis::distance:
    case core::Axis::one:
      break;
  }
  return {};
}

}  // namespace headscope::simulator
