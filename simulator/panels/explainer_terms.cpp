#include "simulator/panels/explainer_terms.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace headscope::simulator {
namespace {

/// More terms than a learner reads at once are left out, with a word on how many.
constexpr std::size_t kMostTerms = 24;
/// Of each branch, where there are many, so many at least.
constexpr std::size_t kLeastOfGroup = 3;

/// The term under the pointer, here or as a cell on the stage; the chosen one of a share.
std::optional<std::size_t> lit_term(const Panel& panel, const Narration& narration) {
  if (panel.window.seen.term) return panel.window.seen.term;
  if (panel.window.seen.cell)
    for (std::size_t at = 0; at < narration.terms.size(); ++at)
      if (std::ranges::count(narration.terms[at].cells, *panel.window.seen.cell) > 0) return at;
  return narration.chosen;
}

TermRow row_of(const NarratedTerm& term, bool is_addend) {
  TermRow row{term.index, source_of(term.index_kind), {}, {}, term.value, term.amount};
  if (is_addend) return row;  // the name stands for the one factor
  row.signs = term.signs;
  for (const NarratedFactor& factor : term.factors)
    row.factors.push_back({factor.number, hue_named(factor.hue), Source::number});
  return row;
}

}  // namespace

Concept hue_named(std::string_view quantity) {
  return concept_of_name(quantity).value_or(Concept::none);
}

Source source_of(LabelKind kind) {
  switch (kind) {
    case LabelKind::number:
      return Source::number;
    case LabelKind::word:
      return Source::token;
    case LabelKind::said:
      return Source::catalog;
    case LabelKind::tensor:
      break;
  }
  return Source::tensor;
}

ExplainerTable table_of(const Panel& panel, const Narration& narration) {
  ExplainerTable table;
  TermTableSpec& spec = table.spec;
  const bool are_addends =
      std::ranges::all_of(narration.terms, [](const NarratedTerm& term) { return term.factors.size() == 1; });
  if (!are_addends) {
    spec.index_head = narration.index_head;
    for (const NarratedHead& head : narration.heads) {
      const Concept hue = hue_named(head.hue);
      const bool is_word = head.kind == LabelKind::word;
      spec.factor_heads.push_back(
          {head.text, source_of(head.kind), is_word ? hue : Concept::none, is_word ? Concept::none : hue});
    }
    spec.value_head = narration.value_head;
    spec.value_head_source = narration.value_head_is_said ? Source::catalog : Source::tensor;
  }
  const auto add = [&](std::size_t begin, std::size_t end, std::size_t most) {
    for (std::size_t at = begin; at < std::min(end, begin + most); ++at) {
      spec.rows.push_back(row_of(narration.terms[at], are_addends));
      table.terms.push_back(at);
    }
  };
  // branches that are a row each need no line above it
  const bool has_groups = narration.groups.size() > 1 && narration.groups.size() < narration.terms.size();
  if (has_groups) {
    const std::size_t most = std::max(kLeastOfGroup, kMostTerms / narration.groups.size());
    for (const NarratedGroup& group : narration.groups) {
      const std::size_t first = spec.rows.size();
      add(group.begin, group.end, most);
      spec.rows[first].group = {group.name, group.value};
    }
  } else {
    add(0, narration.terms.size(), kMostTerms);
  }
  table.n_left_out = narration.terms.size() - table.terms.size();
  spec.sum_word = narration.sum_word;
  spec.sum = narration.sum;
  spec.bars = narration.terms.size() > 1 ? BarMap::signed_values : BarMap::none;
  if (const std::optional<std::size_t> lit = lit_term(panel, narration))
    if (const auto row = std::ranges::find(table.terms, *lit); row != table.terms.end())
      spec.lit = static_cast<std::size_t>(row - table.terms.begin());
  return table;
}

const NarratedTerm* detailed_term(const Panel& panel, const Narration& narration) {
  if (narration.terms.empty()) return nullptr;
  const std::optional<std::size_t> lit = lit_term(panel, narration);
  const NarratedTerm& term =
      lit && *lit < narration.terms.size()
          ? narration.terms[*lit]
          : *std::ranges::max_element(narration.terms, {}, [](const NarratedTerm& each) {
              // the largest of those that have more to tell
              return each.detail.empty() || std::isnan(each.amount) ? -1.0 : std::abs(each.amount);
            });
  return term.detail.empty() ? nullptr : &term;
}

}  // namespace headscope::simulator
