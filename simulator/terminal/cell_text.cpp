#include "simulator/terminal/cell_text.h"

#include "lessons/markdown.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator::terminal {
namespace {

std::string plain(const std::string& markdown) {
  return lessons::plain_text(lessons::parse_markdown(markdown));
}

bool is_factor(const Narration& narration, const CellAddress& target) {
  for (const NarratedTerm& term : narration.terms)
    for (const NarratedFactor& factor : term.factors)
      if (factor.target == target) return true;
  return false;
}

/// The cells listed below the terms: origins that are no factors, then destinations.
std::vector<NarratedLink> listed_links(const Narration& narration) {
  std::vector<NarratedLink> links;
  for (const NarratedLink& link : narration.from)
    if (!is_factor(narration, link.target)) links.push_back(link);
  links.insert(links.end(), narration.to.begin(), narration.to.end());
  return links;
}

std::size_t most_factors(const Narration& narration) {
  std::size_t most = 0;
  for (const NarratedTerm& term : narration.terms) most = std::max(most, term.factors.size());
  return most;
}

/// Where a branch of several terms begins: its name, and what it adds up to, where a term's value stands.
void add_group(Table& table, const Narration& narration, std::size_t place, std::size_t n_columns) {
  if (narration.groups.size() == narration.terms.size()) return;  // the names stand in the rows
  const auto group =
      std::ranges::find_if(narration.groups, [&](const NarratedGroup& each) { return each.begin == place; });
  if (group == narration.groups.end()) return;
  std::vector<std::string> row(n_columns);
  row[1] = group->name;
  row[n_columns - 2] = group->value;
  table.rows.push_back(std::move(row));
}

/// number, index, factor, sign, factor, =, value, mark
Table term_table(const Narration& narration, const Words& words) {
  const std::size_t n_factors = most_factors(narration);
  Table table;
  table.columns = {Align::right, Align::left};
  std::vector<std::string> head{words.text.text("terminal.cell.number"), narration.index_head};
  for (std::size_t factor = 0; factor < n_factors; ++factor) {
    if (factor > 0) {
      table.columns.push_back(Align::left);
      head.emplace_back();
    }
    table.columns.push_back(Align::right);
    head.push_back(factor < narration.heads.size() ? shorten(narration.heads[factor].text, 16) : "");
  }
  table.columns.insert(table.columns.end(), {Align::left, Align::right, Align::left});
  head.insert(head.end(), {"", "", ""});
  table.rows.push_back(std::move(head));
  for (std::size_t place = 0; place < narration.terms.size(); ++place) {
    const NarratedTerm& term = narration.terms[place];
    add_group(table, narration, place, table.rows.front().size());
    std::vector<std::string> row{std::to_string(place + 1), shorten(term.index, 16)};
    for (std::size_t factor = 0; factor < n_factors; ++factor) {
      const bool has = factor < term.factors.size();
      if (factor > 0) row.push_back(has ? term.signs[factor - 1] : "");
      row.push_back(has ? term.factors[factor].number : "");
    }
    row.insert(row.end(),
               {"=", term.value,
                narration.chosen == place ? words.text.text("terminal.cell.chosen") : std::string()});
    table.rows.push_back(std::move(row));
  }
  return table;
}

void print_links(Printer& printer, const Narration& narration, const Words& words) {
  std::size_t number = narration.terms.size();
  const std::vector<NarratedLink> links = listed_links(narration);
  const std::size_t n_from = links.size() - narration.to.size();
  for (std::size_t place = 0; place < links.size(); ++place) {
    if (place == 0 && n_from > 0) printer.paragraph(words.text.text("terminal.cell.from"));
    if (place == n_from) printer.paragraph(words.text.text("terminal.cell.to"));
    const NarratedLink& link = links[place];
    printer.paragraph(
        std::to_string(++number) + "  " + link.name.text() + (link.number.empty() ? "" : " = " + link.number),
        2, 6);
  }
}

/// The whole arithmetic of the largest term whose row is shorter than that.
void print_detail(Printer& printer, const Narration& narration) {
  const NarratedTerm* largest = nullptr;
  for (const NarratedTerm& term : narration.terms)
    if (!term.detail.empty() && (!largest || std::abs(term.amount) > std::abs(largest->amount)))
      largest = &term;
  if (largest) printer.paragraph(largest->detail + " = " + largest->value, 2, 2);
}

}  // namespace

void print_cell(Printer& printer, const AppState& state, const CellAddress& cell, const Words& words) {
  const Narration narration = narrate(state.session, state.trace(), cell, words);
  printer.blank();
  printer.heading(narration.name.text() + " = " + narration.value);
  printer.paragraph(plain(narration.sentence));
  if (!narration.not_yet.empty()) printer.paragraph(narration.not_yet);
  if (!narration.terms.empty()) {
    printer.blank();
    printer.table(term_table(narration, words), 2);
    print_detail(printer, narration);
    if (!narration.sum.empty()) printer.paragraph(narration.sum_word + " " + narration.sum, 2, 2);
    if (!narration.conclusion.empty()) printer.paragraph(plain(narration.conclusion), 2, 2);
    if (!narration.left_out.empty()) printer.paragraph(narration.left_out, 2, 2);
    if (!narration.check.empty()) printer.paragraph(narration.check, 2, 2);
    if (!narration.rounded.empty()) printer.paragraph(narration.rounded, 2, 2);
  }
  if (!listed_links(narration).empty()) printer.blank();
  print_links(printer, narration, words);
  printer.blank();
}

std::optional<CellAddress> follow(const AppState& state, const CellAddress& cell, std::size_t term,
                                  std::size_t factor, const Words& words) {
  const Narration narration = narrate(state.session, state.trace(), cell, words);
  if (term < 1) return std::nullopt;
  if (term > narration.terms.size()) {
    const std::vector<NarratedLink> links = listed_links(narration);
    const std::size_t place = term - narration.terms.size() - 1;
    if (place >= links.size()) return std::nullopt;
    return links[place].target;
  }
  const std::vector<CellAddress>& cells = narration.terms[term - 1].cells;
  if (factor == 0) return cells.empty() ? std::nullopt : std::optional(cells.front());
  const std::vector<NarratedFactor>& factors = narration.terms[term - 1].factors;
  if (factor <= factors.size()) return factors[factor - 1].target;
  return std::nullopt;
}

}  // namespace headscope::simulator::terminal
