// Where we are (Cursor), and a read-only view of graph, numbers and cursor together (Trace).
#pragma once

#include "core/graph.h"
#include "core/workspace.h"

#include <algorithm>
#include <cstddef>

namespace headscope::core {

/// A place between operations: `position()` of them have run. A forward pass writes each tensor once, so
/// stepping back moves the cursor and changes no number.
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

template <class T>
class Trace {
 public:
  Trace(const Graph& graph, const Workspace<T>& workspace, Cursor cursor)
      : graph_(&graph), workspace_(&workspace), cursor_(cursor) {}

  const Graph& graph() const { return *graph_; }
  const Workspace<T>& workspace() const { return *workspace_; }
  const Cursor& cursor() const { return cursor_; }

  const Shape& shape(TensorId tensor) const { return workspace_->shape(tensor); }
  /// Inputs and parameters always; an activation once its operation lies before the cursor.
  bool is_computed(TensorId tensor) const {
    const std::optional<std::size_t> producer = graph_->producer(tensor);
    return !producer || *producer < cursor_.position();
  }
  /// The cell's number (an integer tensor's as a double). Precondition: the shape contains the cell.
  double value(TensorId tensor, const Cell& cell) const {
    const auto place = static_cast<std::size_t>(shape(tensor).flat(cell));
    return graph_->spec(tensor).element == Element::real
               ? static_cast<double>(workspace_->values(tensor)[place])
               : workspace_->integers(tensor)[place];
  }

 private:
  const Graph* graph_;
  const Workspace<T>* workspace_;
  Cursor cursor_;
};

}  // namespace headscope::core
