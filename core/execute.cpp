// The order of things in a run: each operation, then what was set by hand.
#include "core/execute.h"

#include "core/backward.h"
#include "core/forward.h"
#include "core/interventions_run.h"

#include <algorithm>
#include <variant>

namespace headscope::core {

bool is_by_row(const Graph& graph, const Operation& operation) {
  const ShapeSpec& shape = graph.spec(result(operation)).shape;
  return shape.rank() > 0 && shape[0].axis == Axis::batch;
}

namespace {

/// One operation's backward pass by its activations. A softmax's reads its own result: where cells of that
/// are set by hand, it is made once more for as long as the pass needs it.
template <class T>
void run_backward_by_activations(const Graph& graph, Workspace<T>& workspace, std::size_t operation,
                                 Rows rows, const RunOptions& options) {
  const Operation& op = graph.operations()[operation];
  const bool is_by_hand =
      std::holds_alternative<Softmax>(op) && options.interventions &&
      std::ranges::any_of(options.interventions->overrides,
                          [&](const Override& override) { return override.tensor == result(op); });
  if (is_by_hand) run_forward_operation(op, workspace, rows, options);
  run_backward_operation(op, operation, workspace, rows);
  if (is_by_hand) apply_overrides(graph, workspace, *options.interventions, result(op), rows);
}

}  // namespace

template <class T>
void run_operation(const Graph& graph, Workspace<T>& workspace, std::size_t operation, Rows rows,
                   const RunOptions& options) {
  const Operation& op = graph.operations()[operation];
  run_forward_operation(op, workspace, rows, options);
  if (options.interventions) apply_overrides(graph, workspace, *options.interventions, result(op), rows);
}

template <class T>
void run_operation_backward(const Graph& graph, Workspace<T>& workspace, std::size_t operation, Rows rows,
                            const RunOptions& options) {
  const Operation& op = graph.operations()[operation];
  const HeldBackGradients<T> held(graph, workspace, options.interventions, result(op), rows);
  run_backward_by_activations(graph, workspace, operation, rows, options);
}

template <class T>
void run_parameters_backward(const Graph& graph, Workspace<T>& workspace, std::size_t operation, Part part) {
  run_backward_parameters(graph.operations()[operation], operation, workspace, part);
}

template <class T>
void run_forward(const Graph& graph, Workspace<T>& workspace, std::size_t begin, std::size_t end,
                 const RunOptions& options) {
  const Rows all{0, workspace.sizes().batch};
  for (std::size_t operation = begin; operation < end; ++operation)
    run_operation(graph, workspace, operation, all, options);
}

template <class T>
void run_backward(const Graph& graph, Workspace<T>& workspace, std::size_t begin, std::size_t end,
                  const RunOptions& options) {
  const Rows all{0, workspace.sizes().batch};
  for (std::size_t place = begin; place < end; ++place) {
    const std::size_t operation = workspace.gradient_plan().operations()[place];
    const Operation& op = graph.operations()[operation];
    const HeldBackGradients<T> held(graph, workspace, options.interventions, result(op), all);
    run_backward_by_activations(graph, workspace, operation, all, options);
    run_backward_parameters(op, operation, workspace, Part{});
  }
}

template void run_operation(const Graph&, Workspace<float>&, std::size_t, Rows, const RunOptions&);
template void run_operation(const Graph&, Workspace<double>&, std::size_t, Rows, const RunOptions&);
template void run_operation_backward(const Graph&, Workspace<float>&, std::size_t, Rows, const RunOptions&);
template void run_operation_backward(const Graph&, Workspace<double>&, std::size_t, Rows, const RunOptions&);
template void run_parameters_backward(const Graph&, Workspace<float>&, std::size_t, Part);
template void run_parameters_backward(const Graph&, Workspace<double>&, std::size_t, Part);
template void run_forward(const Graph&, Workspace<float>&, std::size_t, std::size_t, const RunOptions&);
template void run_forward(const Graph&, Workspace<double>&, std::size_t, std::size_t, const RunOptions&);
template void run_backward(const Graph&, Workspace<float>&, std::size_t, std::size_t, const RunOptions&);
template void run_backward(const Graph&, Workspace<double>&, std::size_t, std::size_t, const RunOptions&);

}  // namespace headscope::core
