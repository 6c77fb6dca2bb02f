// A forward pass, and the backward pass where it has run, as a file: what `headscope trace` writes.
#pragma once

#include "core/formats/safetensors.h"
#include "core/result.h"
#include "core/trace.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace headscope::core {

/// What a trace file holds, in the graph's order, under every name (aliases too): the activations that are
/// computed before the cursor, and `grad.NAME` for each activation and parameter whose gradient is complete
/// there. Inputs and the parameters themselves are not among them. The views hold while the workspace does.
template <class T>
std::vector<TensorView> traced_tensors(const Trace<T>& trace);

/// Numbers of a trace that are not finite, those apart where a mask put -∞.
struct NotFinite {
  std::string name;            // of the first tensor that has one, as the file names it
  Cell cell;                   // its first
  std::int64_t n_numbers = 0;  // in all tensors
  std::int64_t n_tensors = 0;
};

/// Looks through traced_tensors(), in their order, under every name; none where all are finite.
template <class T>
std::optional<NotFinite> find_not_finite(const Trace<T>& trace);

/// Writes them as safetensors, F32 for float and F64 for double; docs/model-format.md, section 3, names them.
/// Errors: those of write_safetensors_views().
template <class T>
Result<void> write_trace(const std::filesystem::path& path, const Trace<T>& trace);

}  // namespace headscope::core
