// What is known before the draw is tested once; of the rest, one condition finds its list, and others filter.
#include "core/tasks/grammar_candidates.h"

#include <algorithm>
#include <map>
#include <utility>

namespace headscope::core::grammar {

namespace {

constexpr std::size_t kMostIndexed = std::size_t{1} << 21;  // entries in all lists of candidates

std::uint64_t last_or_zero(const std::vector<std::uint64_t>& sums) {
  return sums.empty() ? 0 : sums.back();
}

}  // namespace

Filter CandidateLists::compile_filter(const Condition& condition, const Statement& statement,
                                      std::size_t words) const {
  const Cells& cells = program_.cells_of(words);
  Filter filter{.kind = condition.kind};
  const Expression& left = condition.left;
  const bool is_test =
      condition.kind == Condition::Kind::present || condition.kind == Condition::Kind::absent;
  if (left.kind != Expression::Kind::path || left.names.size() != 1)
    problems_.fail("grammar.expected_column", left.place);
  const std::string& name = left.names[0];
  const bool compares_entries = !is_test && !operands_.possible(condition.right).words.empty();
  if (compares_entries) {
    if ((name != program_.words[words].name && name != statement.name) ||
        (condition.kind != Condition::Kind::equal && condition.kind != Condition::Kind::differs))
      problems_.fail("grammar.unknown_column", left.place, {{"name", name}, {"table", cells.file}});
    filter.right = operands_.path(condition.right);
    return filter;
  }
  filter.column = cells.find_column(name);
  if (!filter.column)
    problems_.fail("grammar.unknown_column", left.place, {{"name", name}, {"table", cells.file}});
  if (is_test) return filter;
  filter.right = operands_.value(condition.right);
  if (condition.kind != Condition::Kind::in)
    operands_.require_possible(name, analysis_.column(words, *filter.column), filter.right,
                               condition.kind == Condition::Kind::has);
  return filter;
}

bool CandidateLists::passes(const Filter& filter, std::size_t words, std::size_t entry) const {
  const Symbol left = program_.cells_of(words).cell(program_.words[words].rows[entry], *filter.column);
  return holds(program_, filter.kind, left, filter.right.symbol);
}

Candidates CandidateLists::candidates_of(std::vector<std::int32_t> entries, std::size_t words) const {
  Candidates result;
  const std::vector<std::uint64_t>& weights = program_.words[words].weights;
  if (!weights.empty())
    for (const std::int32_t entry : entries)
      result.sums.push_back(last_or_zero(result.sums) + weights[static_cast<std::size_t>(entry)]);
  result.entries = std::move(entries);
  return result;
}

Step CandidateLists::compile(const Statement& statement, std::size_t words) {
  Step step;
  step.kind = Step::Kind::words;
  step.target = words;
  std::vector<Filter> fixed;
  for (const Condition& condition : statement.where) {
    Filter filter = compile_filter(condition, statement, words);
    const bool is_fixed = filter.column && filter.right.kind == Operand::Kind::constant;
    const bool can_index = filter.column && filter.kind != Condition::Kind::differs;
    if (is_fixed)
      fixed.push_back(std::move(filter));
    else if (can_index && !step.index)
      step.index = CandidateIndex{.filter = std::move(filter)};
    else
      step.filters.push_back(std::move(filter));
  }
  std::vector<std::int32_t> entries;
  for (std::size_t entry = 0; entry < program_.words[words].rows.size(); ++entry)
    if (std::all_of(fixed.begin(), fixed.end(),
                    [&](const Filter& filter) { return passes(filter, words, entry); }))
      entries.push_back(static_cast<std::int32_t>(entry));
  if (entries.empty())
    problems_.fail("grammar.no_candidate", statement.place,
                   {{"name", statement.name}, {"words", program_.words[words].name}});
  n_indexed_ += entries.size();
  if (step.index) make_index(entries, words, *step.index);
  if (n_indexed_ > kMostIndexed) problems_.fail("grammar.too_large", statement.place);
  step.candidates = candidates_of(std::move(entries), words);
  return step;
}

void CandidateLists::make_index(const std::vector<std::int32_t>& entries, std::size_t words,
                                CandidateIndex& index) {
  std::map<Symbol, std::vector<std::int32_t>> lists;
  for (const std::int32_t entry : entries) {
    const std::size_t row = program_.words[words].rows[static_cast<std::size_t>(entry)];
    const Symbol cell = program_.cells_of(words).cell(row, *index.filter.column);
    if (cell == kAbsent) continue;
    if (index.filter.kind != Condition::Kind::has) {
      lists[cell].push_back(entry);
      continue;
    }
    for (const Symbol member : program_.symbols.members(cell))
      if (std::vector<std::int32_t>& list = lists[member]; list.empty() || list.back() != entry)
        list.push_back(entry);
  }
  for (auto& [symbol, list] : lists) {
    n_indexed_ += list.size();
    index.symbols.push_back(symbol);
    index.lists.push_back(candidates_of(std::move(list), words));
  }
}

}  // namespace headscope::core::grammar
