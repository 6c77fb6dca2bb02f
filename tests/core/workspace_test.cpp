// Arenas, binding, and the cursor.
#include "core/workspace.h"

#include "tests/core/small_model.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace headscope::core {
namespace {

TEST_CASE("a shorter sentence in a larger workspace gives the same bits", "[core][workspace]") {
  const ModelConfig config = test::small_config();
  const TokenBatch batch{{{3, 1, 2, 5}}};
  const auto exact = test::run_small_model<float>(config, batch);
  const Result<FedBatch> fed = feed(batch, config, "test");
  REQUIRE(fed);

  Workspace<float> roomy(exact.graph, {4, 8, 0});
  for (std::uint32_t index = 0; index < exact.graph.n_tensors(); ++index)
    if (exact.graph.spec({index}).role == Role::parameter)
      std::ranges::copy(exact.workspace.values({index}), roomy.values({index}).begin());
  set_inputs(exact.graph, roomy, *fed);
  run_forward(exact.graph, roomy);
  for (std::uint32_t index = 0; index < exact.graph.n_tensors(); ++index) {
    INFO(exact.graph.spec({index}).name);
    CHECK(roomy.shape({index}) == exact.workspace.shape({index}));
    if (exact.graph.spec({index}).element == Element::real)
      CHECK(std::ranges::equal(roomy.values({index}), exact.workspace.values({index})));
  }
}

TEST_CASE("tensors do not overlap at full capacity", "[core][workspace]") {
  const Result<Graph> graph = build_graph(test::small_config(), "test");
  REQUIRE(graph);
  Workspace<float> workspace(*graph, {2, 5, 0});
  for (std::uint32_t index = 0; index < graph->n_tensors(); ++index)
    if (graph->spec({index}).element == Element::real)
      std::ranges::fill(workspace.values({index}), static_cast<float>(index));
  for (std::uint32_t index = 0; index < graph->n_tensors(); ++index)
    if (graph->spec({index}).element == Element::real) {
      INFO(graph->spec({index}).name);
      CHECK(std::ranges::all_of(workspace.values({index}),
                                [index](float value) { return value == static_cast<float>(index); }));
    }
}

TEST_CASE("a cell's place and back", "[core][shape]") {
  const Shape shape{2, 3, 4, 5};
  for (std::int64_t place = 0; place < shape.count(); ++place)
    REQUIRE(shape.flat(shape.cell(place)) == place);
  CHECK(shape.flat({1, 2, 3, 4}) == 119);
  CHECK_FALSE(shape.contains({0, 0, 0, 5}));
  CHECK_FALSE(shape.contains({0, 0, 0}));
  CHECK_FALSE(shape.contains({0, -1, 0, 0}));
}

TEST_CASE("the cursor stays within the operations", "[core][cursor]") {
  Cursor cursor(3);
  cursor.previous();
  CHECK(cursor.at_begin());
  for (int step = 0; step < 5; ++step) cursor.next();
  CHECK(cursor.position() == 3);
  CHECK(cursor.at_end());
  cursor.move_to(1);
  CHECK(cursor.position() == 1);
}

TEST_CASE("a tensor is computed once its operation lies before the cursor", "[core][cursor]") {
  const auto model = test::run_small_model<float>(test::small_config(), test::padded_batch());
  const TensorId scores = model.id("decoder.block0.self_attention.scores");
  const std::size_t producer = *model.graph.producer(scores);
  const std::size_t end = model.graph.operations().size();
  CHECK_FALSE(Trace<float>(model.graph, model.workspace, Cursor(end, producer)).is_computed(scores));
  CHECK(Trace<float>(model.graph, model.workspace, Cursor(end, producer + 1)).is_computed(scores));
  CHECK(Trace<float>(model.graph, model.workspace, Cursor(end, 0))
            .is_computed(model.id("decoder.token_embedding")));
}

}  // namespace
}  // namespace headscope::core
