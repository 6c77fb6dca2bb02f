// A tensor and a cell that a person names on the command line: --tensor, --cell, --set.
#pragma once

#include "core/graph.h"
#include "core/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope::simulator {

/// Errors: explain.unknown_tensor (name, closest), where = `option`.
core::Result<core::TensorId> tensor_argument(const core::Graph& graph, const std::string& name,
                                             const std::string& option);

/// "0,1,2,3" as a cell of the tensor, blanks and brackets allowed. Errors: explain.no_such_cell (given,
/// tensor, shape), where = `option`.
core::Result<core::Cell> cell_argument(const core::Graph& graph, core::TensorId tensor,
                                       const core::Shape& shape, std::string_view text,
                                       const std::string& option);

/// "[0,1,2]".
template <class Indices>
std::string index_list(const Indices& indices, int rank) {
  std::string text = "[";
  for (int place = 0; place < rank; ++place) text += (place > 0 ? "," : "") + std::to_string(indices[place]);
  return text + "]";
}

}  // namespace headscope::simulator
