// A grammar's texts and tables by their numbers.
#include "core/tasks/grammar_program.h"

#include <algorithm>

namespace headscope::core::grammar {

Symbol Symbols::intern(std::string_view text) {
  const auto [entry, is_new] = numbers_.emplace(text, static_cast<Symbol>(texts_.size()));
  if (!is_new) return entry->second;
  const Symbol symbol = entry->second;
  texts_.push_back(&entry->first);
  members_.emplace_back();
  std::vector<Symbol> members;
  if (text.find(' ') == std::string_view::npos) {
    if (!text.empty()) members.push_back(symbol);
  } else {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find(' ', begin), text.size());
      if (end > begin) members.push_back(intern(text.substr(begin, end - begin)));
      begin = end + 1;
    }
  }
  members_[static_cast<std::size_t>(symbol)] = {pool_.size(), members.size()};
  pool_.insert(pool_.end(), members.begin(), members.end());
  return symbol;
}

std::optional<Symbol> Symbols::find(std::string_view text) const {
  const auto found = numbers_.find(std::string(text));
  if (found == numbers_.end()) return std::nullopt;
  return found->second;
}

std::span<const Symbol> Symbols::members(Symbol symbol) const {
  const Members& members = members_[static_cast<std::size_t>(symbol)];
  return std::span(pool_).subspan(members.begin, members.count);
}

std::optional<std::size_t> Cells::find_column(std::string_view name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

Symbol look_up(const Program& program, const KeyedTable& table, std::span<const Symbol> keys,
               std::size_t column) {
  std::size_t place = 0;
  for (std::size_t key = 0; key < keys.size(); ++key) {
    const auto& places = table.places[key];
    const auto found =
        std::find_if(places.begin(), places.end(), [&](const auto& each) { return each.first == keys[key]; });
    if (found == places.end()) return kAbsent;
    place = place * places.size() + found->second;
  }
  const std::int32_t row = table.rows[place];
  return row < 0 ? kAbsent : program.cells[table.cells].cell(static_cast<std::size_t>(row), column);
}

std::optional<std::size_t> Rule::find_slot(std::string_view slot) const {
  const auto found = std::find(slots.begin(), slots.end(), slot);
  if (found == slots.end()) return std::nullopt;
  return static_cast<std::size_t>(found - slots.begin());
}

bool holds(const Program& program, Condition::Kind kind, Symbol left, Symbol right) {
  const auto has = [&](Symbol list, Symbol member) {
    const std::span<const Symbol> members = program.symbols.members(list);
    return std::find(members.begin(), members.end(), member) != members.end();
  };
  switch (kind) {
    case Condition::Kind::equal:
      return left == right && left != kAbsent;
    case Condition::Kind::differs:
      return left != right;
    case Condition::Kind::has:
      return has(left, right);
    case Condition::Kind::in:
      return has(right, left);
    case Condition::Kind::present:
      return left != kAbsent;
    case Condition::Kind::absent:
      break;
  }
  return left == kAbsent;
}

}  // namespace headscope::core::grammar
