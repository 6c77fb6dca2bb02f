#include "core/graph_paths.h"

#include "tests/core/every_model.h"

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

namespace headscope::core {
namespace {

TEST_CASE("a path says its owner, its attention and its block", "[core][paths]") {
  CHECK(owner("decoder.block0.self_attention.scores") == "decoder.block0.self_attention");
  CHECK(owner("decoder") == "");
  CHECK(owner("") == "");
  CHECK(attention_of("decoder.block0.cross_attention.w_key") == "decoder.block0.cross_attention");
  CHECK(attention_of("decoder.block0.cross_attention") == "decoder.block0.cross_attention");
  CHECK(attention_of("decoder.block0.residual1") == "");
  CHECK(block_of("encoder.block12.feed_forward.hidden") == "encoder.block12");
  CHECK(block_of("encoder.block12") == "encoder.block12");
  CHECK(block_of("encoder.block_norm.gain") == "");
  CHECK(block_of("unembedding.weight") == "");
}

TEST_CASE("block 1 does not lie in block 10, nor block 10 in block 1", "[core][paths]") {
  CHECK(lies_in("decoder.block1.residual1", "decoder.block1"));
  CHECK(lies_in("decoder.block1", "decoder.block1"));
  CHECK(lies_in("loss", ""));
  CHECK_FALSE(lies_in("decoder.block10.residual1", "decoder.block1"));
  CHECK_FALSE(lies_in("decoder.block1", "decoder.block10"));
}

TEST_CASE("every model's attentions are found with their heads", "[core][paths]") {
  for (const auto& [name, config] : test::every_config()) {
    INFO(name);
    const Result<Graph> graph = build_graph(config, "test");
    REQUIRE(graph);
    const std::vector<AttentionTensors> attentions = find_attentions(*graph);
    const std::int64_t a_layer = config.architecture == Architecture::encoder_decoder ? 3 : 1;
    CHECK(static_cast<std::int64_t>(attentions.size()) == a_layer * config.n_layers);
    for (const AttentionTensors& attention : attentions) {
      CHECK(attention.n_heads == config.n_heads);
      CHECK(attention_of(graph->spec(attention.weights).name) == attention.path);
      CHECK(graph->find(attention.path + ".weights") == attention.weights);
      CHECK(graph->find(attention.path + ".head_output") == attention.head_output);
    }
  }
}

TEST_CASE("an operation's group is where its result or its parameters are", "[core][paths]") {
  for (const auto& [name, config] : test::every_config()) {
    INFO(name);
    const Result<Graph> graph = build_graph(config, "test", {.dropout = 0.1, .head_contributions = true});
    REQUIRE(graph);
    const std::vector<std::string> groups = groups_of_operations(*graph);
    REQUIRE(groups.size() == graph->operations().size());
    for (std::size_t operation = 0; operation < groups.size(); ++operation) {
      const std::string& written = graph->spec(result(graph->operations()[operation])).name;
      INFO(written << " in " << groups[operation]);
      CHECK(lies_in(groups[operation], owner(written)));
      for (const TensorId operand : operands(graph->operations()[operation]))
        if (graph->spec(operand).role == Role::parameter)
          CHECK(lies_in(groups[operation], owner(graph->spec(operand).name)));
    }
  }
  const Result<Graph> graph =
      build_graph(test::base_config(Architecture::decoder, Objective::language_model), "test");
  REQUIRE(graph);
  const std::vector<std::string> groups = groups_of_operations(*graph);
  CHECK(groups[*graph->producer(*graph->find("decoder.output"))] == "decoder.final_norm");
  CHECK(groups[*graph->producer(*graph->find("logits"))] == "unembedding");
  CHECK(groups[*graph->producer(*graph->find("loss"))].empty());
}

}  // namespace
}  // namespace headscope::core
