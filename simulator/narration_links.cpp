// Where a number comes from and where it goes: through the forward pass, back through the gradients, into
// moments and updates.
#include "simulator/narration_parts.h"

#include "core/influence.h"
#include "simulator/tensor_facts.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <variant>

namespace headscope::simulator {
namespace {

using core::Combine;
using core::Quantity;

class LinkWriter {
 public:
  LinkWriter(const NarrationSource& source, const core::Explanation& explanation, Narration& narration)
      : source_(source), trace_(source.trace), explanation_(explanation), narration_(narration) {}

  void write() {
    add_factors();
    if (explanation_.quantity == Quantity::value) add_inputs();
    switch (explanation_.quantity) {
      case Quantity::value:
        if (!is_update(explanation_)) add_influenced();
        return;
      case Quantity::gradient:
        add_passed_on();
        return add_own({Quantity::first_moment, Quantity::second_moment});
      case Quantity::first_moment:
      case Quantity::second_moment:
      case Quantity::previous_value:
        return add_own({Quantity::value});
      case Quantity::previous_first:
        return add_own({Quantity::first_moment});
      case Quantity::previous_second:
        return add_own({Quantity::second_moment});
    }
  }

 private:
  NarratedLink link_to(const CellAddress& target) const {
    NarratedLink link{target, source_.name(target), number_at(target), {}};
    if (target.quantity != Quantity::value) return link;
    if (const auto producer = source_.graph().producer(target.tensor))
      for (const core::TensorId operand : core::operands(source_.graph().operations()[*producer])) {
        if (source_.spec(operand).element == core::Element::integer) continue;
        link.origin += (link.origin.empty() ? "" : ", ") + short_name(source_.spec(operand));
      }
    return link;
  }

  std::string number_at(const CellAddress& at) const {
    if (at.quantity == Quantity::gradient && !trace_.has(at.tensor, Quantity::gradient)) return {};
    return source_.number(at.tensor, at.quantity, trace_.number(at.tensor, at.cell, at.quantity));
  }

  void add_origin(const CellAddress& target) {
    const bool is_new = std::ranges::none_of(narration_.from,
                                             [&](const NarratedLink& link) { return link.target == target; });
    if (is_new) narration_.from.push_back(link_to(target));
  }

  /// The factors of the largest term (of each branch, for a gradient); of every term where there are two at
  /// the most, and of an update's.
  void add_factors() {
    const std::vector<core::Term>& terms = explanation_.terms;
    if (terms.size() <= 2 || is_update(explanation_)) return add_factors(0, terms.size());
    if (explanation_.combine == Combine::share)
      return add_factors(explanation_.chosen, explanation_.chosen + 1);
    if (narration_.groups.empty()) return add_largest(0, terms.size());
    for (const NarratedGroup& group : narration_.groups) add_largest(group.begin, group.end);
  }
  void add_largest(std::size_t begin, std::size_t end) {
    std::size_t largest = begin;
    for (std::size_t place = begin; place < end; ++place)
      if (std::abs(explanation_.terms[place].value) > std::abs(explanation_.terms[largest].value))
        largest = place;
    add_factors(largest, largest + 1);
  }
  void add_factors(std::size_t begin, std::size_t end) {
    for (std::size_t place = begin; place < end; ++place)
      for (const core::Factor& factor : explanation_.terms[place].factors)
        if (factor.tensor) add_origin({*factor.tensor, factor.cell, factor.quantity});
  }

  /// A looked-up vector's id, a chosen position and a score behind the mask decide without being terms.
  void add_inputs() {
    const auto producer = source_.graph().producer(explanation_.tensor);
    if (!producer) return;
    const core::Operation& operation = source_.graph().operations()[*producer];
    const core::Cell& cell = explanation_.cell;
    if (const auto* lookup = std::get_if<core::Lookup>(&operation))
      add_origin({lookup->ids, {cell[0], cell[1]}});
    if (const auto* select = std::get_if<core::SelectPosition>(&operation))
      add_origin({select->positions, {cell[0]}});
    if (explanation_.combine != Combine::masked) return;
    if (const auto* mask = std::get_if<core::MaskScores>(&operation)) add_origin({mask->input, cell});
    if (const auto* mask = std::get_if<core::MaskPositions>(&operation)) add_origin({mask->input, cell});
  }

  /// Open sides keep the lit cell's head and position, so that following stays near.
  core::Cell nearest(const core::Region& region, core::TensorId tensor) const {
    const core::ShapeSpec& shape = source_.spec(tensor).shape;
    core::Cell near;
    for (int place = 0; place < shape.rank(); ++place) {
      const int own = source_.spec(explanation_.tensor).shape.find(shape[place].axis);
      near.push_back(own >= 0 ? explanation_.cell[own] : 0);
    }
    return region.cell(near);
  }

  void add_influenced() {
    for (const core::Influence& influence :
         core::influences(trace_, explanation_.tensor, explanation_.cell)) {
      const core::Cell target = nearest(influence.region, influence.result);
      if (!trace_.shape(influence.result).contains(target)) continue;
      NarratedLink link = link_to({influence.result, target});
      open(link, influence.region);
      if (!trace_.is_computed(influence.result)) link.number.clear();
      narration_.to.push_back(std::move(link));
    }
  }

  /// A link to more cells than one names no number.
  void open(NarratedLink& link, const core::Region& region) const {
    const std::string whole = address_text(source_.session, link.target, region);
    if (whole != link.name.address) link.number.clear();
    link.name.address = whole;
  }

  /// What the operation that made the cell sends on to its operands: their cells that the cell came from.
  void add_passed_on() {
    const auto producer = source_.graph().producer(explanation_.tensor);
    if (!producer || !trace_.workspace().has_gradient(explanation_.tensor)) return;
    const core::Operation& operation = source_.graph().operations()[*producer];
    std::vector<core::TensorId> served;
    for (const core::Operand& operand : core::operands_of(operation)) {
      if (!operand.is_differentiable || !trace_.workspace().has_gradient(operand.tensor) ||
          std::ranges::find(served, operand.tensor) != served.end())
        continue;
      served.push_back(operand.tensor);
      const std::vector<core::Cell> cells = sources_in(operand.tensor, operation);
      if (cells.empty()) continue;
      const core::Region region = region_of(cells);
      const core::Cell near = nearest(region, operand.tensor);
      const bool is_near = std::ranges::find(cells, near) != cells.end();
      NarratedLink link = link_to({operand.tensor, is_near ? near : cells.front(), Quantity::gradient});
      open(link, region);
      narration_.to.push_back(std::move(link));
    }
  }

  /// The operand's cells that the lit cell's value was made of.
  std::vector<core::Cell> sources_in(core::TensorId operand, const core::Operation& operation) const {
    const core::Explanation value = core::explain(trace_, explanation_.tensor, explanation_.cell);
    std::vector<core::Cell> cells;
    const auto* loss = std::get_if<core::CrossEntropy>(&operation);
    for (const core::Term& term : value.terms)
      for (const core::Factor& factor : term.factors) {
        // a loss names probabilities; its gradient goes to the logits beside them
        const bool is_meant = loss ? factor.tensor == loss->probabilities : factor.tensor == operand;
        if (is_meant && std::ranges::find(cells, factor.cell) == cells.end()) cells.push_back(factor.cell);
      }
    if (!loss || cells.empty()) return cells;
    core::Cell cell = cells.front();
    cells.clear();
    for (std::int64_t v = 0; v < trace_.shape(loss->logits)[loss->axis]; ++v) {
      cell[loss->axis] = v;
      cells.push_back(cell);
    }
    return cells;
  }

  static core::Region region_of(const std::vector<core::Cell>& cells) {
    core::Region region = core::one_cell(cells.front());
    for (const core::Cell& cell : cells)
      for (int place = 0; place < cell.rank(); ++place)
        if (cell[place] != cells.front()[place]) region.indices[static_cast<std::size_t>(place)].reset();
    return region;
  }

  /// The same cell's other numbers, which the optimiser makes of this one.
  void add_own(std::initializer_list<Quantity> quantities) {
    for (const Quantity quantity : quantities) {
      if (!trace_.is_updated(explanation_.tensor)) continue;
      if (std::ranges::find(narration_.quantities, quantity) == narration_.quantities.end()) continue;
      narration_.to.push_back(link_to({explanation_.tensor, explanation_.cell, quantity}));
    }
  }

  const NarrationSource& source_;
  const core::Trace<float>& trace_;
  const core::Explanation& explanation_;
  Narration& narration_;
};

}  // namespace

void add_links(const NarrationSource& source, const core::Explanation& explanation, Narration& narration) {
  LinkWriter(source, explanation, narration).write();
}

}  // namespace headscope::simulator
