#include "core/tasks/language_task.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace headscope::core {

std::filesystem::path grammar_file(const TaskConfig& config, const std::filesystem::path& assets) {
  const std::string size = config.size == TaskSize::full ? "full" : "pocket";
  return assets / "tasks" / config.name / (size + ".grammar");
}

Result<Vocabulary> marked_vocabulary(const Grammar& grammar, const std::string& where) {
  std::vector<std::string> tokens = {"<pad>", "<begin>"};
  const std::vector<std::string>& words = grammar.tokens(0);
  tokens.insert(tokens.end(), words.begin(), words.end());
  return Vocabulary::make(std::move(tokens), where);
}

std::vector<std::int32_t> begun_row(const Derivation& derivation) {
  std::vector<std::int32_t> row = {kBeginId};
  for (const std::int32_t token : derivation.tokens[0]) row.push_back(token + kMarks);
  return row;
}

std::vector<Link> begun_links(const Derivation& derivation) {
  std::vector<Link> links = derivation.links;
  for (Link& link : links) ++link.query, ++link.key;
  return links;
}

Result<std::string> choose_setting(const TaskConfig& config, std::string_view key,
                                   std::span<const std::string_view> known) {
  const std::optional<std::string> value = find_setting(config, key);
  if (!value) return std::string(known.front());
  if (std::find(known.begin(), known.end(), *value) != known.end()) return *value;
  std::string list;
  for (const std::string_view each : known) list.append(list.empty() ? "" : ", ").append(each);
  return Error{.key = "task.setting_value",
               .where = config.name,
               .values = {{"key", std::string(key)}, {"value", *value}, {"known", list}}};
}

Result<void> check_split(int n_held_out, int n_drawn, const std::string& where) {
  if (n_held_out > 0 && n_held_out < n_drawn) return {};
  return Error{.key = "task.split",
               .where = where,
               .values = {{"n", std::to_string(n_drawn)}, {"held_out", std::to_string(n_held_out)}}};
}

Result<double> number_in(const Grammar& grammar, const GrammarValue& entry, std::string_view column,
                         const std::string& where) {
  const std::string_view cell = grammar.cell(entry, column).value_or("-");
  double number = 0;
  // floating-point from_chars is missing from some libraries; these numbers are short decimals anyway
  const bool is_negative = cell.starts_with('-');
  const std::string_view digits = is_negative ? cell.substr(1) : cell;
  const std::size_t dot = std::min(digits.find('.'), digits.size());
  const std::string_view fraction = digits.substr(std::min(dot + 1, digits.size()));
  const auto read = [](std::string_view text, int& whole) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
    return error == std::errc() && end == text.data() + text.size() && text[0] != '-';
  };
  int whole = 0, parts = 0;
  const bool has_fraction = dot < digits.size();
  if (!read(digits.substr(0, dot), whole) || (has_fraction && !read(fraction, parts)) ||
      fraction.size() > 3 || digits.size() > 8)
    return Error{.key = "task.number",
                 .where = where,
                 .values = {{"word", std::string(grammar.cell(entry, "word").value_or("-"))},
                            {"column", std::string(column)},
                            {"value", std::string(cell)}}};
  double scale = 1;
  for (std::size_t digit = 0; digit < fraction.size(); ++digit) scale *= 10;
  number = whole + parts / scale;
  return is_negative ? -number : number;
}

}  // namespace headscope::core
