// A trace's activations and gradients as a safetensors file.
#include "core/formats/trace_file.h"

#include <span>

namespace headscope::core {
namespace {

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
Result<void> write_trace(const std::filesystem::path& path, const Trace<T>& trace) {
  return write_safetensors_views(path, traced_tensors(trace));
}

template std::vector<TensorView> traced_tensors(const Trace<float>&);
template std::vector<TensorView> traced_tensors(const Trace<double>&);
template Result<void> write_trace(const std::filesystem::path&, const Trace<float>&);
template Result<void> write_trace(const std::filesystem::path&, const Trace<double>&);

}  // namespace headscope::core
