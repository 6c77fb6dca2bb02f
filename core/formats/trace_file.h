// A forward pass as a file: what `headscope trace` writes.
#pragma once

#include "core/result.h"
#include "core/trace.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace headscope::core {

/// The activations that a trace file holds, in the graph's order: every name (aliases too) whose tensor is
/// computed before the cursor. Inputs and parameters are not among them.
template <class T>
std::vector<std::pair<std::string, TensorId>> traced_tensors(const Trace<T>& trace);

/// Writes them as safetensors, F32 for float and F64 for double; docs/model-format.md, section 3, names them.
/// Errors: those of write_safetensors().
template <class T>
Result<void> write_trace(const std::filesystem::path& path, const Trace<T>& trace);

}  // namespace headscope::core
