// Where we are (Cursor), and a read-only view of graph, numbers and cursor together (Trace).
#pragma once

#include "core/aligned.h"
#include "core/graph.h"
#include "core/interventions.h"
#include "core/steps.h"
#include "core/training/optimiser.h"
#include "core/workspace.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace headscope::core {

/// A place between steps: `position()` of them have run. A forward pass writes each tensor once, so stepping
/// back over it moves the cursor and changes no number; for the backward pass and the update see Stepper.
class Cursor {
 public:
  explicit Cursor(std::size_t end = 0, std::size_t position = 0)
      : end_(end), position_(std::min(position, end)) {}

  std::size_t position() const { return position_; }
  std::size_t end() const { return end_; }
  bool at_begin() const { return position_ == 0; }
  bool at_end() const { return position_ == end_; }
  void move_to(std::size_t position) { position_ = std::min(position, end_); }
  void next() { move_to(position_ + 1); }
  void previous() { position_ -= position_ > 0 ? 1 : 0; }
  bool operator==(const Cursor&) const = default;

 private:
  std::size_t end_, position_;
};

/// Which of a cell's numbers is meant. Only parameters have moments and previous numbers.
enum class Quantity : std::uint8_t {
  value,           // of a parameter: after its update, once the cursor is behind it
  gradient,        // d loss / d cell
  first_moment,    // AdamW's m, SGD's momentum buffer
  second_moment,   // AdamW's v
  previous_value,  // before this step's update
  previous_first,
  previous_second
};

/// An update in progress: the moments, and everything as it was before it, each laid out as
/// Workspace::parameters().
template <class T>
struct UpdateView {
  OptimiserConfig config;
  std::int64_t step = 1;  // of the training, from 1
  UpdateFactors factors;
  std::span<const T> first, second;
  std::span<const T> previous_value, previous_first, previous_second;
};

template <class T>
class Trace {
 public:
  Trace(const Graph& graph, const Workspace<T>& workspace, Cursor cursor)
      : graph_(&graph), workspace_(&workspace), cursor_(cursor) {}
  /// A view that knows the steps, what was set by hand and the update (each may be null).
  Trace(const Graph& graph, const Workspace<T>& workspace, Cursor cursor, const StepList* steps,
        const Interventions* interventions, const UpdateView<T>* update)
      : graph_(&graph),
        workspace_(&workspace),
        cursor_(cursor),
        steps_(steps),
        interventions_(interventions),
        update_(update) {}

  const Graph& graph() const { return *graph_; }
  const Workspace<T>& workspace() const { return *workspace_; }
  const Cursor& cursor() const { return cursor_; }
  const UpdateView<T>* update() const { return update_; }
  /// What a person set by hand; null where nothing is.
  const Interventions* interventions() const { return interventions_; }

  const Shape& shape(TensorId tensor) const { return workspace_->shape(tensor); }
  /// Inputs and parameters always; an activation once its operation lies before the cursor.
  bool is_computed(TensorId tensor) const {
    const std::optional<std::size_t> producer = graph_->producer(tensor);
    return !producer || *producer < cursor_.position();
  }
  /// How many backward passes have run.
  std::size_t backward_done() const { return steps_ ? steps_->backward_done(cursor_.position()) : 0; }
  /// How many of the backward passes that write the tensor's gradient have run: 0, some, or all of
  /// gradient_writers().
  std::size_t gradient_writers_done(TensorId tensor) const {
    if (!workspace_->has_gradient(tensor)) return 0;
    const auto writers = workspace_->gradient_plan().writers(tensor);
    return static_cast<std::size_t>(std::count_if(
        writers.begin(), writers.end(), [&](std::size_t place) { return place < backward_done(); }));
  }
  /// Whether the parameter's update lies before the cursor.
  bool is_updated(TensorId parameter) const {
    if (!steps_) return false;
    const auto updated = steps_->parameters().first(steps_->updates_done(cursor_.position()));
    return std::find(updated.begin(), updated.end(), parameter) != updated.end();
  }
  /// Whether there is such a number at the cursor: a gradient once a backward pass has written it, moments
  /// with an update, previous numbers once the parameter is updated.
  bool has(TensorId tensor, Quantity quantity) const {
    switch (quantity) {
      case Quantity::value:
        return is_computed(tensor);
      case Quantity::gradient:
        return gradient_writers_done(tensor) > 0;
      case Quantity::first_moment:
      case Quantity::second_moment:
        return update_ && graph_->spec(tensor).role == Role::parameter && workspace_->has_gradient(tensor);
      case Quantity::previous_value:
      case Quantity::previous_first:
      case Quantity::previous_second:
        break;
    }
    return update_ && graph_->spec(tensor).role == Role::parameter && is_updated(tensor);
  }
  /// The override that decides the cell's value; null where nothing is set by hand.
  const Override* set_by_hand(TensorId tensor, const Cell& cell) const {
    return interventions_ ? interventions_->find(tensor, cell) : nullptr;
  }

  /// The cell's number (an integer tensor's as a double). Precondition: the shape contains the cell.
  double value(TensorId tensor, const Cell& cell) const {
    const auto place = static_cast<std::size_t>(shape(tensor).flat(cell));
    return graph_->spec(tensor).element == Element::real
               ? static_cast<double>(workspace_->values(tensor)[place])
               : workspace_->integers(tensor)[place];
  }
  /// The cell's number of that kind, whatever the cursor says. Precondition: the workspace or the update
  /// holds it; loss itself has the gradient 1.
  double number(TensorId tensor, const Cell& cell, Quantity quantity) const {
    if (quantity == Quantity::value) return value(tensor, cell);
    const auto place = static_cast<std::size_t>(shape(tensor).flat(cell));
    if (quantity == Quantity::gradient)
      return workspace_->has_gradient(tensor) ? static_cast<double>(workspace_->gradients(tensor)[place])
                                              : 1.0;
    const std::size_t at = workspace_->plan().offset(tensor) + place;
    switch (quantity) {
      case Quantity::first_moment:
        return static_cast<double>(update_->first[at]);
      case Quantity::second_moment:
        return static_cast<double>(update_->second[at]);
      case Quantity::previous_value:
        return static_cast<double>(update_->previous_value[at]);
      case Quantity::previous_first:
        return static_cast<double>(update_->previous_first[at]);
      case Quantity::previous_second:
        return static_cast<double>(update_->previous_second[at]);
      case Quantity::value:
      case Quantity::gradient:
        break;
    }
    return 0;
  }

 private:
  const Graph* graph_;
  const Workspace<T>* workspace_;
  Cursor cursor_;
  const StepList* steps_ = nullptr;
  const Interventions* interventions_ = nullptr;
  const UpdateView<T>* update_ = nullptr;
};

}  // namespace headscope::core
