// A forward pass, and the backward pass where it has run, as a file: what `headscope trace` writes.
#pragma once

#include "core/formats/safetensors.h"
#include "core/result.h"
#include "core/trace.h"

#include <filesystem>
#include <string>
#include <vector>

namespace headscope::core {

/// What a trace file holds, in the graph's order, under every name (aliases too): the activations that are
/// computed before the cursor, and `grad.NAME` for each activation and parameter whose gradient is complete
/// there. Inputs and the parameters themselves are not among them. The views hold while the workspace does.
template <class T>
std::vector<TensorView> traced_tensors(const Trace<T>& trace);

/// Writes them as safetensors, F32 for float and F64 for double; docs/model-format.md, section 3, names them.
/// Errors: those of write_safetensors_views().
template <class T>
Result<void> write_trace(const std::filesystem::path& path, const Trace<T>& trace);

}  // namespace headscope::core
