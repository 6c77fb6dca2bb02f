// A head's numbers do not depend on its index: equal slices of the learned matrices give equal bits in every
// head.
#include "core/execute.h"
#include "tests/core/small_model.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

namespace headscope::core {
namespace {

/// Copies the first head's slice over the others'. The head is the tensor's first side.
template <class T>
void equalise(std::span<T> values, std::int64_t n_heads) {
  const std::size_t slice = values.size() / static_cast<std::size_t>(n_heads);
  for (std::size_t at = slice; at < values.size(); ++at) values[at] = values[at % slice];
}

/// Whether all heads of every row of the batch hold the bits of the first. values: [n_batch, n_heads, …]
template <class T>
bool heads_are_equal(std::span<const T> values, const Shape& shape) {
  const auto n_batch = static_cast<std::size_t>(shape[0]), n_heads = static_cast<std::size_t>(shape[1]);
  const std::size_t slice = values.size() / (n_batch * n_heads);
  for (std::size_t b = 0; b < n_batch; ++b)
    for (std::size_t h = 1; h < n_heads; ++h)
      if (std::memcmp(&values[b * n_heads * slice], &values[(b * n_heads + h) * slice], slice * sizeof(T)) !=
          0)
        return false;
  return true;
}

TEMPLATE_TEST_CASE("identical heads hold identical bits, for 1 to 8 heads of width 4 to 32", "[core][heads]",
                   float, double) {
  for (std::int64_t n_heads = 1; n_heads <= 8; ++n_heads)
    for (std::int64_t d_head = 4; d_head <= 32; ++d_head) {
      ModelConfig config = test::small_config();
      config.n_heads = n_heads;
      config.d_head = d_head;
      config.n_layers = 1;
      auto model = test::run_small_model<TestType>(config, test::padded_batch());
      const std::string attention = "decoder.block0.self_attention.";
      for (const char* name : {"w_query", "w_key", "w_value", "b_query", "b_key", "b_value"})
        equalise(model.workspace.values(model.id(attention + name)), n_heads);
      run_forward(model.graph, model.workspace);
      for (const char* name :
           {"queries", "keys", "values", "scores", "masked_scores", "weights", "head_output"}) {
        INFO(name << " with " << n_heads << " heads of width " << d_head);
        const TensorId id = model.id(attention + name);
        REQUIRE(
            heads_are_equal<TestType>(std::as_const(model.workspace).values(id), model.workspace.shape(id)));
      }
    }
}

}  // namespace
}  // namespace headscope::core
