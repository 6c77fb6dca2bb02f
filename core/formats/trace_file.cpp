// Copies a trace's activations into a safetensors file.
#include "core/formats/trace_file.h"

#include "core/formats/safetensors.h"

#include <span>
#include <type_traits>

namespace headscope::core {

template <class T>
std::vector<std::pair<std::string, TensorId>> traced_tensors(const Trace<T>& trace) {
  std::vector<std::pair<std::string, TensorId>> tensors;
  for (const auto& [name, tensor] : trace.graph().names())
    if (trace.graph().spec(tensor).role == Role::activation && trace.is_computed(tensor))
      tensors.emplace_back(name, tensor);
  return tensors;
}

template <class T>
Result<void> write_trace(const std::filesystem::path& path, const Trace<T>& trace) {
  std::vector<std::pair<std::string, StoredTensor>> stored;
  for (const auto& [name, tensor] : traced_tensors(trace)) {
    const std::span<const std::int64_t> sides = trace.shape(tensor).sides();
    const std::span<const T> values = trace.workspace().values(tensor);
    stored.emplace_back(name,
                        StoredTensor{.type = std::is_same_v<T, float> ? StoredType::f32 : StoredType::f64,
                                     .shape = {sides.begin(), sides.end()},
                                     .values = {values.begin(), values.end()}});
  }
  return write_safetensors(path, stored);
}

template std::vector<std::pair<std::string, TensorId>> traced_tensors(const Trace<float>&);
template std::vector<std::pair<std::string, TensorId>> traced_tensors(const Trace<double>&);
template Result<void> write_trace(const std::filesystem::path&, const Trace<float>&);
template Result<void> write_trace(const std::filesystem::path&, const Trace<double>&);

}  // namespace headscope::core
