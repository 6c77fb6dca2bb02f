// A trace's activations and gradients as a safetensors file.
#include "core/formats/trace_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <variant>

namespace headscope::core {
namespace {

/// Whether the tensor's values are what a mask left.
bool is_masked(const Graph& graph, TensorId tensor) {
  const std::optional<std::size_t> producer = graph.producer(tensor);
  if (!producer) return false;
  const Operation& operation = graph.operations()[*producer];
  return std::holds_alternative<MaskScores>(operation) || std::holds_alternative<MaskPositions>(operation);
}

/// Whether every backward pass that adds to the tensor's gradient lies before the cursor.
template <class T>
bool has_whole_gradient(const Trace<T>& trace, TensorId tensor) {
  const std::size_t n_done = trace.gradient_writers_done(tensor);
  return n_done > 0 && n_done == trace.workspace().gradient_plan().writers(tensor).size();
}

}  // namespace

template <class T>
std::vector<TensorView> traced_tensors(const Trace<T>& trace) {
  std::vector<TensorView> values, gradients;
  for (const auto& [name, tensor] : trace.graph().names()) {
    const Role role = trace.graph().spec(tensor).role;
    if (role == Role::input) continue;
    const std::span<const std::int64_t> sides = trace.shape(tensor).sides();
    const std::vector<std::int64_t> shape(sides.begin(), sides.end());
    if (role == Role::activation && trace.is_computed(tensor))
      values.push_back({name, shape, trace.workspace().values(tensor)});
    if (has_whole_gradient(trace, tensor))
      gradients.push_back({"grad." + name, shape, trace.workspace().gradients(tensor)});
  }
  values.insert(values.end(), gradients.begin(), gradients.end());
  return values;
}

template <class T>
std::optional<NotFinite> find_not_finite(const Trace<T>& trace) {
  const Graph& graph = trace.graph();
  std::optional<NotFinite> found;
  const auto look = [&](const std::string& name, TensorId tensor, std::span<const T> numbers,
                        bool is_masked) {
    const auto is_bad = [is_masked](T number) {
      return !std::isfinite(number) && !(is_masked && number == -std::numeric_limits<T>::infinity());
    };
    const auto first = std::ranges::find_if(numbers, is_bad);
    if (first == numbers.end()) return;
    if (!found) found = NotFinite{name, trace.shape(tensor).cell(first - numbers.begin())};
    found->n_numbers += std::count_if(first, numbers.end(), is_bad);
    ++found->n_tensors;
  };
  for (const auto& [name, tensor] : graph.names())
    if (graph.spec(tensor).role == Role::activation && trace.is_computed(tensor))
      look(name, tensor, trace.workspace().values(tensor), is_masked(graph, tensor));
  for (const auto& [name, tensor] : graph.names())
    if (graph.spec(tensor).role != Role::input && has_whole_gradient(trace, tensor))
      look("grad." + name, tensor, trace.workspace().gradients(tensor), false);
  return found;
}

template <class T>
Result<void> write_trace(const std::filesystem::path& path, const Trace<T>& trace) {
  return write_safetensors_views(path, traced_tensors(trace));
}

template std::vector<TensorView> traced_tensors(const Trace<float>&);
template std::vector<TensorView> traced_tensors(const Trace<double>&);
template std::optional<NotFinite> find_not_finite(const Trace<float>&);
template std::optional<NotFinite> find_not_finite(const Trace<double>&);
template Result<void> write_trace(const std::filesystem::path&, const Trace<float>&);
template Result<void> write_trace(const std::filesystem::path&, const Trace<double>&);

}  // namespace headscope::core
