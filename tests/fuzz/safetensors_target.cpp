// safetensors files: what was read is written and read again.
#include "core/formats/safetensors.h"
#include "tests/fuzz/targets.h"

#include <cstring>
#include <utility>
#include <vector>

namespace headscope::fuzz {
namespace {

/// By bits: a NaN is itself.
bool is_same(const core::StoredTensor& left, const core::StoredTensor& right) {
  return left.type == right.type && left.shape == right.shape && left.values.size() == right.values.size() &&
         (left.values.empty() ||
          std::memcmp(left.values.data(), right.values.data(), left.values.size() * sizeof(double)) == 0);
}

}  // namespace

void try_safetensors(std::string_view bytes) {
  const core::Result<core::StoredTensors> read = core::parse_safetensors(bytes, "bytes");
  if (!read) return;
  const std::vector<std::pair<std::string, core::StoredTensor>> tensors(read->begin(), read->end());
  const core::Result<core::StoredTensors> again =
      core::parse_safetensors(core::format_safetensors(tensors), "bytes");
  promise(again.has_value(), "what was read is written so that it can be read");
  promise(again->size() == read->size(), "every tensor is written");
  for (const auto& [name, tensor] : *read) {
    const auto found = again->find(name);
    promise(found != again->end() && is_same(found->second, tensor), "a tensor keeps its bits");
  }
}

}  // namespace headscope::fuzz
