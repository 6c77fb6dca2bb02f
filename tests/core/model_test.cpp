// Every kind of model that the format describes is built and runs; what must not change its numbers does not.
#include "tests/core/every_model.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

namespace headscope::core {
namespace {

/// Fails where a number is NaN, or infinite elsewhere than at a mask.
template <class T>
void check_finite(const test::AnyModel<T>& model) {
  for (std::uint32_t index = 0; index < model.graph.n_tensors(); ++index) {
    const TensorSpec& spec = model.graph.spec({index});
    if (spec.element != Element::real) continue;
    INFO(spec.name);
    const bool may_be_masked = spec.name.ends_with("masked_scores") || spec.name == "logits";
    for (const T value : model.workspace.values({index}))
      REQUIRE((std::isfinite(value) || (may_be_masked && value == -std::numeric_limits<T>::infinity())));
    if (!model.workspace.has_gradient({index})) continue;
    for (const T value : model.workspace.gradients({index})) REQUIRE(std::isfinite(value));
  }
}

TEMPLATE_TEST_CASE("a model of every configuration runs forward and backward", "[core][model]", float,
                   double) {
  for (const auto& [name, config] : test::every_config()) {
    INFO(name);
    auto model = test::make_model<TestType>(config);
    model.run();
    check_finite(model);
    if (config.objective == Objective::none) {
      CHECK_FALSE(model.graph.find("loss"));
      continue;
    }
    CHECK(model.fed.has_targets);
    CHECK(model.workspace.values(model.id("loss"))[0] > 0);
    // each parameter is reached by the loss
    for (std::uint32_t index = 0; index < model.graph.n_tensors(); ++index)
      if (const TensorSpec& spec = model.graph.spec({index}); spec.role == Role::parameter) {
        INFO(spec.name);
        CHECK(model.workspace.has_gradient({index}));
      }
  }
}

TEST_CASE("probabilities sum to 1 over what is chosen from", "[core][model]") {
  for (const auto& [name, config] : test::every_objective()) {
    if (config.objective == Objective::none) continue;
    INFO(name);
    auto model = test::make_model<double>(config);
    model.run();
    const TensorId probabilities = model.id("probabilities");
    const Shape& shape = model.workspace.shape(probabilities);
    double sum = 0;
    for (const double p : model.workspace.values(probabilities)) sum += p;
    const int axis = config.objective == Objective::span ? 1 : shape.rank() - 1;
    CHECK(sum == Approx(static_cast<double>(shape.count() / shape[axis])).epsilon(1e-12));
    CHECK(model.workspace.shape(model.id("losses")).count() ==
          model.workspace.shape(*find_inputs(model.graph).targets).count());
  }
}

/// The batch with columns of padding more on the right.
FedBatch widen(const FedBatch& fed, const ModelConfig& config, std::int64_t n_more) {
  FedBatch wide = fed;
  const auto widened = [&](const std::vector<std::int32_t>& from, std::int64_t width, std::int64_t n_each,
                           std::int32_t padding) {
    std::vector<std::int32_t> to;
    for (std::size_t at = 0; at < from.size(); ++at) {
      to.push_back(from[at]);
      if ((static_cast<std::int64_t>(at) + 1) % (width * n_each) == 0)
        to.insert(to.end(), static_cast<std::size_t>(n_more * n_each), padding);
    }
    return to;
  };
  const bool has_target = config.architecture == Architecture::encoder_decoder;
  wide.ids = widened(fed.ids, fed.sizes.source, 1, 0);
  wide.types = widened(fed.types, fed.sizes.source, 1, 0);
  wide.sizes.source += n_more;
  if (has_target) {
    wide.target_ids = widened(fed.target_ids, fed.sizes.target, 1, 0);
    wide.sizes.target += n_more;
  }
  if (config.objective == Objective::language_model)
    wide.targets = widened(fed.targets, has_target ? fed.sizes.target : fed.sizes.source, 1, -1);
  if (config.objective == Objective::token_classification)
    wide.targets = widened(fed.targets, fed.sizes.source, config.n_outputs, -1);
  return wide;
}

/// Fails where `wide` holds another number than `narrow` at a cell that both have.
template <class T>
void check_common_cells(const std::string& name, std::span<const T> narrow, const Shape& shape,
                        std::span<const T> wide, const Shape& wide_shape) {
  // sums grow by zeros, so that at most the grouping of their terms changes: a few roundings
  constexpr double kRelative = std::is_same_v<T, float> ? 1e-5 : 1e-13;
  double largest = 1;
  for (const T value : narrow)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  for (std::int64_t place = 0; place < shape.count(); ++place) {
    const double left = static_cast<double>(narrow[static_cast<std::size_t>(place)]);
    const double right =
        static_cast<double>(wide[static_cast<std::size_t>(wide_shape.flat(shape.cell(place)))]);
    if (left == right || std::abs(left - right) <= kRelative * largest) continue;
    FAIL_CHECK(name << " place " << place << ": " << left << ", padded further " << right);
  }
}

TEMPLATE_TEST_CASE("padding a batch further changes nothing beyond rounding", "[core][model]", float,
                   double) {
  for (const auto& [name, config] : test::every_config()) {
    INFO(name);
    auto model = test::make_model<TestType>(config);
    auto padded = test::make_model<TestType>(config, widen(model.fed, config, 3));
    model.run();
    padded.run();
    for (std::uint32_t index = 0; index < model.graph.n_tensors(); ++index) {
      const TensorSpec& spec = model.graph.spec({index});
      if (spec.element != Element::real) continue;
      const Workspace<TestType>&narrow = model.workspace, &wide = padded.workspace;
      check_common_cells<TestType>(spec.name, narrow.values({index}), narrow.shape({index}),
                                   wide.values({index}), wide.shape({index}));
      if (narrow.has_gradient({index}))
        check_common_cells<TestType>("grad." + spec.name, narrow.gradients({index}), narrow.shape({index}),
                                     wide.gradients({index}), wide.shape({index}));
    }
  }
}

TEMPLATE_TEST_CASE("a causal model's outputs do not depend on later tokens", "[core][model]", float, double) {
  for (const auto& [name, config] : test::every_config()) {
    if (config.architecture == Architecture::encoder) continue;
    INFO(name);
    const bool has_target = config.architecture == Architecture::encoder_decoder;
    auto model = test::make_model<TestType>(config);
    FedBatch later = model.fed;
    std::vector<std::int32_t>& ids = has_target ? later.target_ids : later.ids;
    const auto width = static_cast<std::size_t>(has_target ? later.sizes.target : later.sizes.source);
    const std::size_t changed = 2;  // the first row's tokens from here on
    for (std::size_t i = changed; i < width; ++i)
      if (ids[i] != 0) ids[i] = ids[i] % 9 + 1;
    REQUIRE(ids != (has_target ? model.fed.target_ids : model.fed.ids));
    auto other = test::make_model<TestType>(config, later);
    run_forward(model.graph, model.workspace);
    run_forward(other.graph, other.workspace);
    const TensorId output = model.id("decoder.output");
    const auto left = model.workspace.values(output), right = other.workspace.values(output);
    const std::size_t n_before = changed * static_cast<std::size_t>(config.d_model);
    CHECK(std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(n_before), right.begin()));
    CHECK_FALSE(std::ranges::equal(left, right));
  }
}

TEST_CASE("rows of a batch do not see one another", "[core][model]") {
  for (const auto& [name, config] : test::every_config()) {
    INFO(name);
    auto model = test::make_model<double>(config);
    FedBatch changed = model.fed;
    const auto width = static_cast<std::size_t>(changed.sizes.source);
    changed.ids[width] = changed.ids[width] % 10 + 1;  // the second row's first token
    auto other = test::make_model<double>(config, changed);
    run_forward(model.graph, model.workspace);
    run_forward(other.graph, other.workspace);
    const TensorId output =
        model.id(config.architecture == Architecture::encoder ? "encoder.output" : "decoder.output");
    const auto left = model.workspace.values(output), right = other.workspace.values(output);
    const auto row = static_cast<std::ptrdiff_t>(left.size() / model.fed.lengths.size());
    CHECK(std::equal(left.begin(), left.begin() + row, right.begin()));
    CHECK_FALSE(std::equal(left.begin() + row, left.begin() + 2 * row, right.begin() + row));
    CHECK(std::equal(left.begin() + 2 * row, left.end(), right.begin() + 2 * row));
  }
}

TEST_CASE("dropout is in the graph where it is asked for", "[core][model][dropout]") {
  for (const auto& [name, config] : test::every_objective()) {
    INFO(name);
    const auto plain = test::make_model<double>(config);
    const auto model = test::make_model<double>(config, GraphOptions{.dropout = 0.25});
    std::set<std::string> added;
    for (const auto& [tensor, id] : model.graph.names())
      if (!plain.graph.find(tensor)) added.insert(tensor);
    const bool has_cross = config.architecture == Architecture::encoder_decoder;
    std::set<std::string> expected;
    std::set<std::string> stacks;
    if (config.architecture != Architecture::decoder) stacks.insert("encoder");
    if (config.architecture != Architecture::encoder) stacks.insert("decoder");
    for (const std::string& stack : stacks)
      for (const std::string& block : {stack + ".block0", stack + ".block1"}) {
        const bool crosses = has_cross && stack == "decoder";
        for (int number = 1; number <= (crosses ? 3 : 2); ++number)
          for (const char* tensor : {".dropout_mask", ".dropped"})
            expected.insert(block + tensor + std::to_string(number));
        for (const char* tensor : {".dropout_mask", ".dropped_weights"}) {
          expected.insert(block + ".self_attention" + tensor);
          if (crosses) expected.insert(block + ".cross_attention" + tensor);
        }
      }
    CHECK(added == expected);
    // no two masks are drawn from one stream
    std::set<std::uint64_t> streams;
    std::size_t n_masks = 0;
    for (const Operation& operation : model.graph.operations())
      if (const auto* mask = std::get_if<DropoutMask>(&operation)) {
        CHECK(mask->rate == 0.25);
        streams.insert(mask->stream);
        ++n_masks;
      }
    CHECK(n_masks == expected.size() / 2);
    CHECK(streams.size() == n_masks);
  }
}

TEST_CASE("what dropped weights replace is read by the mixing", "[core][model][dropout]") {
  const auto model = test::make_model<double>(
      test::base_config(Architecture::decoder, Objective::language_model), GraphOptions{.dropout = 0.5});
  const std::string attention = "decoder.block0.self_attention";
  const std::size_t producer = *model.graph.producer(model.id(attention + ".head_output"));
  const auto* mix = std::get_if<MixValues>(&model.graph.operations()[producer]);
  REQUIRE(mix);
  CHECK(mix->weights == model.id(attention + ".dropped_weights"));
  const std::size_t sum = *model.graph.producer(model.id("decoder.block0.residual1"));
  const auto* add = std::get_if<Add>(&model.graph.operations()[sum]);
  REQUIRE(add);
  CHECK(add->right == model.id("decoder.block0.dropped1"));
}

TEST_CASE("label smoothing reaches the cross-entropy", "[core][model]") {
  const auto model =
      test::make_model<double>(test::base_config(Architecture::decoder, Objective::language_model),
                               GraphOptions{.label_smoothing = 0.1});
  const auto* losses =
      std::get_if<CrossEntropy>(&model.graph.operations()[*model.graph.producer(model.id("losses"))]);
  REQUIRE(losses);
  CHECK(losses->smoothing == 0.1);
}

TEST_CASE("options out of range are refused by name", "[core][model]") {
  const ModelConfig config = test::base_config(Architecture::decoder, Objective::none);
  const auto error = [&config](const GraphOptions& options) {
    const Result<Graph> graph = build_graph(config, "here", options);
    return graph ? Error{"accepted", ""} : graph.error();
  };
  CHECK(error({.dropout = 1}) == Error{"config.fraction", "here", {{"key", "dropout"}, {"value", "1"}}});
  CHECK(error({.dropout = -0.25}).values.at(1).second == "-0.25");
  CHECK(error({.dropout = std::nan("")}).key == "config.fraction");
  CHECK(error({.label_smoothing = 1.5}) ==
        Error{"config.fraction", "here", {{"key", "label_smoothing"}, {"value", "1.5"}}});
  CHECK(error({.dropout = 0.999, .label_smoothing = 0.999}).key == "accepted");
}

/// Mean and deviation of a parameter's numbers.
std::pair<double, double> moments(const Workspace<double>& workspace, TensorId tensor) {
  double sum = 0, squares = 0;
  for (const double value : workspace.values(tensor)) sum += value, squares += value * value;
  const auto n = static_cast<double>(workspace.shape(tensor).count());
  return {sum / n, std::sqrt(squares / n - sum / n * (sum / n))};
}

TEST_CASE("parameters start as the recipe says", "[core][model]") {
  ModelConfig config = test::base_config(Architecture::encoder_decoder, Objective::language_model);
  config.d_model = 64, config.n_heads = 4, config.d_head = 32, config.d_ff = 100;
  config.vocab_size = 100, config.target_vocab_size = 90;
  config.positions = Positions::relative;
  config.n_token_types = 40;
  config.embedding_norm = true;
  const Result<Graph> graph = build_graph(config, "test");
  REQUIRE(graph);
  Workspace<double> workspace(*graph, {1, 1, 1});
  initialise_parameters(*graph, workspace, 5, 0.3);
  const auto check = [&](const std::string& name, double deviation) {
    INFO(name);
    const std::optional<TensorId> id = graph->find(name);
    REQUIRE(id);
    const auto [mean, found] = moments(workspace, *id);
    const auto n = static_cast<double>(workspace.shape(*id).count());
    CHECK(std::abs(mean) <= 5 * deviation / std::sqrt(n));            // 5 standard errors of a mean
    CHECK(found == Approx(deviation).epsilon(5 / std::sqrt(2 * n)));  // and of a deviation
  };
  check("encoder.token_embedding", 0.3);
  check("decoder.token_embedding", 0.3);
  check("decoder.token_type_embedding", 0.3);
  check("encoder.block0.self_attention.w_query", 1 / std::sqrt(64.0));
  check("decoder.block1.cross_attention.w_key", 1 / std::sqrt(64.0));
  check("decoder.block1.cross_attention.w_output", 1 / std::sqrt(4.0 * 32));
  check("decoder.block0.feed_forward.w_in", 1 / std::sqrt(64.0));
  check("decoder.block0.feed_forward.w_out", 1 / std::sqrt(100.0));
  check("unembedding.weight", 1 / std::sqrt(64.0));
  for (const TensorSpec& spec : graph->specs()) {
    if (spec.role != Role::parameter) continue;
    const std::string_view name = leaf(spec.name);
    const bool is_gain = name == "gain";
    if (!is_gain && name != "offset" && name != "bias" && name != "relative_bias" && !name.starts_with("b_"))
      continue;
    INFO(spec.name);
    CHECK(std::ranges::all_of(workspace.values(*graph->find(spec.name)),
                              [&](double value) { return value == (is_gain ? 1 : 0); }));
  }
}

TEST_CASE("a name of the format stands for the tensor that it describes", "[core][model]") {
  const auto graph = [](Norm norm, Positions positions, bool embedding_norm) {
    ModelConfig config = test::base_config(Architecture::decoder, Objective::language_model);
    config.norm = norm;
    config.positions = positions;
    config.embedding_norm = embedding_norm;
    return *build_graph(config, "test");
  };
  const auto same = [](const Graph& g, const char* left, const char* right) {
    INFO(left << " and " << right);
    REQUIRE((g.find(left) && g.find(right)));
    CHECK(*g.find(left) == *g.find(right));
  };
  const Graph pre = graph(Norm::pre, Positions::learned, false);
  same(pre, "decoder.block1.output", "decoder.block1.residual2");
  same(pre, "decoder.output", "decoder.final_norm.output");
  const Graph post = graph(Norm::post, Positions::none, true);
  same(post, "decoder.block1.output", "decoder.block1.norm2.output");
  same(post, "decoder.output", "decoder.block1.output");
  same(post, "decoder.embedded", "decoder.token_vectors");
  CHECK_FALSE(post.find("decoder.final_norm.gain"));
  const Graph none = graph(Norm::none, Positions::relative, false);
  same(none, "decoder.output", "decoder.block1.residual2");
  CHECK_FALSE(none.find("decoder.block0.norm1.gain"));
  CHECK(none.find("decoder.block0.self_attention.biased_scores"));
}

}  // namespace
}  // namespace headscope::core
