// Words: every tensor has its sentences, and no sentence for a learner stands in C++ (the pseudo language).
#include "core/graph_paths.h"
#include "simulator/rich_text.h"
#include "tests/simulator/app_fixture.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace headscope::simulator {
namespace {

using test::AppOnNull;

Words shipped_words() {
  core::Result<Words> words = Words::load(test::source_folder() / "assets", "en");
  REQUIRE(words);
  return *std::move(words);
}

/// Configurations that together have every tensor and every operation of the format.
std::vector<core::ModelConfig> every_kind() {
  core::ModelConfig plain;
  plain.vocab_size = 9;
  plain.d_model = 4;
  plain.n_heads = 2;
  plain.d_head = 2;
  plain.n_layers = 2;
  plain.max_tokens = 4;
  plain.bias = true;
  core::ModelConfig full = plain;
  full.d_ff = 6;
  full.norm = core::Norm::pre;
  full.n_classes = 3;

  std::vector<core::ModelConfig> kinds{plain};
  const auto add = [&](core::Architecture architecture, core::Objective objective, auto change) {
    core::ModelConfig config = full;
    config.architecture = architecture;
    config.objective = objective;
    change(config);
    kinds.push_back(config);
  };
  using core::Architecture;
  using core::Objective;
  add(Architecture::decoder, Objective::language_model, [](core::ModelConfig& config) {
    config.positions = core::Positions::relative;
    config.n_classes = 0;
  });
  add(Architecture::encoder_decoder, Objective::language_model, [](core::ModelConfig& config) {
    config.norm = core::Norm::post;
    config.positions = core::Positions::sinusoidal;
    config.activation = core::Activation::gelu_tanh;
    config.target_vocab_size = 8;
    config.n_classes = 0;
  });
  add(Architecture::encoder, Objective::classification, [](core::ModelConfig& config) {
    config.embedding_norm = true;
    config.n_token_types = 2;
    config.activation = core::Activation::gelu;
  });
  add(Architecture::encoder, Objective::classification,
      [](core::ModelConfig& config) { config.pooling = core::Pooling::first; });
  add(Architecture::encoder, Objective::span, [](core::ModelConfig& config) { config.n_classes = 0; });
  add(Architecture::encoder, Objective::span, [](core::ModelConfig& config) {
    config.span_reader = core::SpanReader::pointer;
    config.n_classes = 0;
  });
  add(Architecture::encoder, Objective::token_classification,
      [](core::ModelConfig& config) { config.n_outputs = 2; });
  add(Architecture::decoder, Objective::token_classification, [](core::ModelConfig&) {});
  add(Architecture::encoder, Objective::none, [](core::ModelConfig& config) { config.n_classes = 0; });
  return kinds;
}

core::Graph graph_of(const core::ModelConfig& config, const core::GraphOptions& options = {}) {
  const core::Result<void> valid = core::validate(config, "test");
  INFO((valid ? "" : valid.error().key + " " + valid.error().values.at(0).second));
  REQUIRE(valid);
  core::Result<core::Graph> graph = core::build_graph(config, "test", options);
  REQUIRE(graph);
  return *std::move(graph);
}

std::vector<core::Graph> every_graph() {
  std::vector<core::Graph> graphs;
  for (const core::ModelConfig& config : every_kind()) {
    graphs.push_back(graph_of(config));
    graphs.push_back(graph_of(config, {.dropout = 0.1, .label_smoothing = 0.1, .head_contributions = true}));
  }
  return graphs;
}

void check_formula(const Words& words, const std::string& key) {
  INFO(key);
  CHECK(words.formulas.has(key));
  CHECK(parse_formula(words.formulas.text(key)));
}

TEST_CASE("every tensor has a title, a name, a saying and an explanation; every operation a formula",
          "[simulator][words]") {
  const Words words = shipped_words();
  for (const core::Graph& graph : every_graph())
    for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
      const std::string key = text_key(graph.spec({index}));
      INFO(graph.spec({index}).name << ", key " << key);
      CHECK(words.text.has("tensor." + key + ".title"));
      CHECK(words.text.has("tensor." + key + ".name"));
      CHECK(words.text.has("tensor." + key + ".said"));
      CHECK(words.text.has("explain." + key));
      if (!graph.producer({index})) continue;
      CHECK(words.formulas.has(key + ".short"));
      CHECK(words.formulas.has(key + ".term"));
      if (key != "token_vectors") check_formula(words, key + ".formula");
    }
}

/// Whether a symbol of its own stands for a bias: "b" in any hue, with an index.
bool names_bias(const std::string& formula) {
  return formula.find("b_{") != std::string::npos || formula.find(":b}") != std::string::npos;
}

TEST_CASE("a formula names a bias where the operation adds one, and nowhere else", "[simulator][words]") {
  const Words words = shipped_words();
  int n_with = 0, n_without = 0;
  for (const core::Graph& graph : every_graph())
    for (const core::Operation& operation : graph.operations()) {
      const std::string formula = forward_formula(graph, operation, words.formulas);
      const std::vector<core::TensorId> operands = core::operands(operation);
      const bool has_bias = std::ranges::any_of(operands, [&](core::TensorId operand) {
        const std::string_view leaf = core::leaf(graph.spec(operand).name);
        return graph.spec(operand).role == core::Role::parameter &&
               (leaf == "bias" || leaf.starts_with("b_"));
      });
      INFO(graph.spec(core::result(operation)).name << ": " << formula);
      CHECK(names_bias(formula) == has_bias);
      CHECK(formula.find_first_of("[]") == std::string::npos);
      CHECK((formula.empty() || parse_formula(formula)));
      (has_bias ? n_with : n_without) += 1;
    }
  CHECK(n_with > 0);
  CHECK(n_without > 0);
}

TEST_CASE("a parameter has one name: what a tile says is what a sentence says", "[simulator][words]") {
  const Words words = shipped_words();
  for (const core::Graph& graph : every_graph())
    for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
      const core::TensorSpec& spec = graph.spec({index});
      const std::string name = words.text.text("tensor." + text_key(spec) + ".name");
      INFO(spec.name);
      // tables and gains are told in words
      const bool is_symbol = spec.symbol.starts_with("W_") || spec.symbol.starts_with("b_");
      if (spec.role == core::Role::parameter && is_symbol) CHECK(name == spec.symbol);
      // an operation's formula in short names the matrix that stands beside it
      const std::optional<std::size_t> producer = graph.producer({index});
      if (!producer) continue;
      const std::string brief = words.formulas.text(text_key(spec) + ".short");
      const std::size_t at = brief.find("W_");
      if (at == std::string::npos) continue;
      const std::vector<core::TensorId> operands = core::operands(graph.operations()[*producer]);
      CHECK(std::ranges::any_of(
          operands, [&](core::TensorId operand) { return graph.spec(operand).symbol == brief.substr(at); }));
    }
}

TEST_CASE("every operation's backward pass has a title, and a formula for each operand that it serves",
          "[simulator][words]") {
  const Words words = shipped_words();
  std::set<std::size_t> kinds;
  for (const core::Graph& graph : every_graph()) {
    const core::GradientPlan gradients(graph);
    for (const core::Operation& operation : graph.operations()) {
      kinds.insert(operation.index());
      std::vector<core::TensorId> differentiable;
      for (const core::Operand& operand : core::operands_of(operation))
        if (operand.is_differentiable) differentiable.push_back(operand.tensor);
      std::vector<core::TensorId> named;
      for (const auto& [name, tensor] : backward_operands(operation)) {
        named.push_back(tensor);
        check_formula(words, "backward." + std::string(operation_key(operation)) + "." + std::string(name));
      }
      INFO(operation_key(operation));
      CHECK(named == differentiable);
      if (!named.empty())
        CHECK(words.text.has("backward." + std::string(operation_key(operation)) + ".title"));
    }
  }
  CHECK(kinds.size() == std::variant_size_v<core::Operation>);  // else the graphs above lack one
}

TEST_CASE("every step of a training step has a title, formulas and what it writes", "[simulator][words]") {
  const Words words = shipped_words();
  for (const core::Graph& graph : every_graph()) {
    const core::GradientPlan gradients(graph);
    const core::StepList steps(graph, gradients);
    for (std::size_t place = 0; place < steps.size(); ++place)
      for (const core::OptimiserKind kind : {core::OptimiserKind::adamw, core::OptimiserKind::sgd}) {
        const core::Step step = steps[place];
        const std::string title = step_title(graph, step, words.text);
        INFO("step " << place << ": " << title);
        CHECK_FALSE(title.empty());
        CHECK(title.find("‹") == std::string::npos);
        CHECK(title.find('{') == std::string::npos);
        const std::vector<core::TensorId> results = step_results(graph, gradients, step);
        CHECK_FALSE(results.empty());
        const bool is_lookup =
            step.phase == core::Phase::forward &&
            text_key(graph.spec(core::result(graph.operations()[step.operation]))) == "token_vectors";
        if (!is_lookup) CHECK(step_formulas(graph, gradients, step, kind, words.formulas).size() >= 1);
      }
  }
}

TEST_CASE("the same words never stand for two things of one model", "[simulator][words]") {
  // what differs by its place in the model alone may share a key: blocks, stacks, norms
  CHECK(text_key({"span.scores", "", {}}) != text_key({"decoder.block0.self_attention.scores", "", {}}));
  CHECK(text_key({"span.scaled_scores", "", {}}) !=
        text_key({"decoder.block0.self_attention.scaled_scores", "", {}}));
  CHECK(text_key({"decoder.block0.cross_attention.keys", "", {}}) == "cross_keys");
  CHECK(text_key({"encoder.block0.self_attention.masked_scores", "", {}}) == "padded_scores");
  CHECK(text_key({"decoder.block1.norm2.output", "", {}}) == "norm_output");
  CHECK(text_key({"decoder.final_norm.gain", "", {}}) == "norm_gain");
  CHECK(text_key({"decoder.output", "", {}}) == "stack_output");
  CHECK(text_key({"decoder.block1.dropout_mask2", "", {}}) == "block_dropout_mask");
  CHECK(text_key({"decoder.block1.dropped2", "", {}}) == "dropped");
}

TEST_CASE("every error of the simulator has words and a hint", "[simulator][words]") {
  const Words words = shipped_words();
  const std::regex pattern(R"re(key = "([a-z]+\.[a-z_]+)"|"(explain\.no_[a-z]+)")re");
  std::set<std::string> keys;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(test::source_folder() / "simulator")) {
    if (file.path().extension() != ".cpp") continue;
    std::ifstream stream(file.path());
    const std::string source{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
    for (std::sregex_iterator match(source.begin(), source.end(), pattern), end; match != end; ++match)
      for (const std::size_t group : {std::size_t{1}, std::size_t{2}})
        if ((*match)[group].matched) keys.insert((*match)[group]);
  }
  CHECK(keys.size() > 25);  // else the search itself is broken
  for (const std::string& key : keys) {
    INFO(key);
    CHECK(words.text.has("error." + key + ".what"));
    CHECK(words.text.has("error." + key + ".hint"));
  }
}

bool has_letter(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
}

/// What the catalogue gave in the pseudo language bears its brackets, or is a part of such a string that was
/// wrapped or styled: then its plain letters are accented away, and only those without an accent (j, q, v, x
/// …) remain.
bool is_pseudo(std::string_view text) {
  static const std::set<char> kUnaccented = {'j', 'q', 'v', 'x', 'B', 'D', 'F', 'H', 'J',
                                             'K', 'L', 'M', 'P', 'Q', 'V', 'X', 'Y', 'Z'};
  return std::ranges::all_of(text, [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) == 0 || kUnaccented.contains(c);
  });
}

TEST_CASE("in the pseudo language every drawn sentence comes from the text file", "[simulator][words]") {
  for (const char* lesson : {"1", "2"}) {
    Words words = shipped_words();
    words.text = words.text.pseudo();
    core::Result<App> made = App::make(test::open_shipped(lesson), std::move(words));
    REQUIRE(made);
    AppOnNull app(*std::move(made), {1600, 900});
    app.settle();
    app.type("?");
    for (std::size_t step = 0; step < app.view().step.n_steps; ++step) {
      if (step == 1) app.type("?");
      std::size_t n_catalog = 0;
      for (const TextEntry& entry : app.record.entries) {
        if (entry.style.source != Source::catalog || !has_letter(entry.full)) continue;
        INFO("lesson " << lesson << " step " << step + 1 << ": \"" << entry.full << "\" role " << entry.role);
        CHECK(is_pseudo(entry.full));
        ++n_catalog;
      }
      CHECK(n_catalog > 5);
      app.press(ImGuiKey_Space);
    }
  }
}

}  // namespace
}  // namespace headscope::simulator
