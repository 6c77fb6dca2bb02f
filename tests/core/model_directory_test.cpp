// Model directories: a model that is written reads back, and each kind of damage is refused by name.
#include "core/formats/model_directory.h"
#include "core/formats/atomic_file.h"
#include "core/temporary_folder.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace headscope::core;
using headscope::tests::read_text;
using headscope::tests::TemporaryFolder;
using headscope::tests::write_text;
namespace fs = std::filesystem;

namespace {

ModelConfig small_config() {
  ModelConfig config;
  config.vocab_size = 4;
  config.d_model = 6;
  config.n_heads = 2;
  config.d_head = 3;
  config.n_layers = 2;
  config.max_tokens = 5;
  config.bias = true;
  config.tokenizer = TokenizerConfig{.kind = "word", .lower_case = true};
  return config;
}

Vocabulary small_vocabulary() {
  return *Vocabulary::make({"<pad>", "a", "\"b\"\n", "猫"}, "test");
}

/// A small model's directory, freshly written.
class WrittenModel {
 public:
  explicit WrittenModel(const ModelConfig& config = small_config())
      : config_(config), graph_(*build_graph(config, "test")), workspace_(graph_, {1, 1, 1}) {
    initialise_parameters(graph_, workspace_, 3, 1.0);
    REQUIRE(write_model_directory(path(), config_, graph_, workspace_, std::optional(small_vocabulary())));
  }

  fs::path path() const { return folder_ / "model"; }
  const ModelConfig& config() const { return config_; }
  const Graph& graph() const { return graph_; }
  Workspace<float>& workspace() { return workspace_; }

  Result<StoredModel> read() const { return read_model_directory(path()); }
  /// The error of reading it, or one with the key "accepted".
  Error error() const {
    const Result<StoredModel> model = read();
    return model ? Error{"accepted", ""} : model.error();
  }

  /// Changes the stored tensors and writes them again.
  void change_tensors(const std::function<void(StoredTensors&)>& change) {
    StoredTensors tensors = *read_safetensors(path() / "model.safetensors");
    change(tensors);
    REQUIRE(write_safetensors(path() / "model.safetensors", {tensors.begin(), tensors.end()}));
  }

 private:
  TemporaryFolder folder_;
  ModelConfig config_;
  Graph graph_;
  Workspace<float> workspace_;
};

/// Fails unless every parameter is the same bit for bit.
template <class T>
void check_same_parameters(const Graph& graph, const Workspace<float>& expected, const Workspace<T>& actual) {
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
    if (graph.spec({index}).role != Role::parameter) continue;
    INFO(graph.spec({index}).name);
    const auto left = expected.values({index});
    const auto right = actual.values({index});
    REQUIRE(left.size() == right.size());
    CHECK(std::equal(left.begin(), left.end(), right.begin()));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a model that is written reads back the same", "[core][model_directory]", float, double) {
  WrittenModel written;
  const Result<StoredModel> model = written.read();
  REQUIRE(model);
  CHECK(model->config == written.config());
  REQUIRE(model->vocabulary);
  CHECK(model->vocabulary->tokens() == small_vocabulary().tokens());
  CHECK(model->warnings.empty());
  Workspace<TestType> workspace(model->graph, {1, 1, 0});
  set_parameters(*model, workspace);
  check_same_parameters(written.graph(), written.workspace(), workspace);
  CHECK(std::distance(fs::directory_iterator(written.path()), {}) == 3);
}

TEST_CASE("the reference cases are read", "[core][model_directory]") {
  std::size_t n_cases = 0;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(headscope::tests::source_folder() / "tests/golden")) {
    if (!entry.is_directory()) continue;
    INFO(entry.path());
    const Result<StoredModel> model = read_model_directory(entry.path());
    REQUIRE(model);
    CHECK_FALSE(model->vocabulary);
    CHECK_FALSE(model->target_vocabulary);
    CHECK(model->warnings.empty());
    ++n_cases;
  }
  CHECK(n_cases == 18);
}

TEST_CASE("an encoder-decoder has a vocabulary for each side", "[core][model_directory]") {
  ModelConfig config = small_config();
  config.architecture = Architecture::encoder_decoder;
  config.target_vocab_size = 3;
  const WrittenModel written(config);
  const std::optional<Vocabulary> target = *Vocabulary::make({"<pad>", "x", "y"}, "test");
  Workspace<float> workspace(written.graph(), {1, 1, 1});
  const auto write = [&](const std::optional<Vocabulary>& vocabulary) {
    REQUIRE(write_model_directory(written.path(), config, written.graph(), workspace,
                                  std::optional(small_vocabulary()), vocabulary));
  };
  CHECK_FALSE(written.read()->target_vocabulary);
  write(target);
  const Result<StoredModel> model = written.read();
  REQUIRE(model);
  REQUIRE(model->target_vocabulary);
  CHECK(model->target_vocabulary->tokens() == target->tokens());
  CHECK(model->vocabulary->tokens() == small_vocabulary().tokens());
  const fs::path path = written.path() / "target_vocab.json";
  write_text(path, R"(["<pad>", "x"])");
  CHECK(written.error() == Error{"vocabulary.size", path.string(), {{"size", "2"}, {"expected", "3"}}});
  write_text(path, R"(["x", "x", "y"])");
  CHECK(written.error().key == "vocabulary.duplicate");
  write(std::nullopt);  // another model's words do not stay
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a file of target words beside a model of one vocabulary is passed over",
          "[core][model_directory]") {
  const WrittenModel written;
  write_text(written.path() / "target_vocab.json", "no JSON");
  const Result<StoredModel> model = written.read();
  REQUIRE(model);
  CHECK_FALSE(model->target_vocabulary);
}

TEST_CASE("writing without a vocabulary removes another model's", "[core][model_directory]") {
  WrittenModel written;
  REQUIRE(write_model_directory(written.path(), written.config(), written.graph(), written.workspace(),
                                std::optional<Vocabulary>()));
  CHECK_FALSE(fs::exists(written.path() / "vocab.json"));
  CHECK_FALSE(written.read()->vocabulary);
  REQUIRE(write_model_directory(written.path(), written.config(), written.graph(), written.workspace(),
                                std::optional<Vocabulary>()));
}

TEST_CASE("a model is not written where there can be no folder", "[core][model_directory]") {
  WrittenModel written;
  const fs::path path = written.path() / "config.json" / "model";  // below a file
  CHECK(write_model_directory(path, written.config(), written.graph(), written.workspace(),
                              std::optional<Vocabulary>())
            .error()
            .key == "file.not_a_folder");
}

TEST_CASE("a missing folder or file is refused by name", "[core][model_directory]") {
  const TemporaryFolder folder;
  CHECK(read_model_directory(folder / "none").error().key == "model.no_directory");
  CHECK(read_model_directory(folder.path()).error() ==
        Error{"file.missing", (folder / "config.json").string()});
  WrittenModel written;
  CHECK(read_model_directory(written.path() / "config.json").error().key == "model.no_directory");
  fs::remove(written.path() / "model.safetensors");
  CHECK(written.error() == Error{"file.missing", (written.path() / "model.safetensors").string()});
}

TEST_CASE("a model without a vocabulary is read, a malformed one is refused", "[core][model_directory]") {
  WrittenModel written;
  const fs::path path = written.path() / "vocab.json";
  write_text(path, R"(["<pad>", "a", "b"])");
  CHECK(written.error() == Error{"vocabulary.size", path.string(), {{"size", "3"}, {"expected", "4"}}});
  write_text(path, R"(["<pad>", "a", "b", "a"])");
  CHECK(written.error().key == "vocabulary.duplicate");
  write_text(path, R"({"<pad>": 0})");
  CHECK(written.error().key == "vocabulary.type");
  fs::remove(path);
  fs::create_directory(path);
  CHECK(written.error().key == "file.is_directory");
  fs::remove(path);
  CHECK(written.error().key == "accepted");
}

TEST_CASE("a missing or unknown tensor is refused by name", "[core][model_directory]") {
  WrittenModel written;
  const std::string name = "decoder.block1.self_attention.w_key";
  const std::string where = (written.path() / "model.safetensors").string();
  written.change_tensors([&](StoredTensors& tensors) {
    REQUIRE(tensors.count(name) == 1);
    tensors["decoder.block1.self_attention.w_keys"] = tensors[name];
  });
  CHECK(written.error() ==
        Error{"model.tensor_unknown", where, {{"name", "decoder.block1.self_attention.w_keys"}}});
  written.change_tensors([&](StoredTensors& tensors) {
    tensors.erase("decoder.block1.self_attention.w_keys");
    tensors.erase(name);
  });
  CHECK(written.error() == Error{"model.tensor_missing", where, {{"name", name}}});
}

TEST_CASE("an activation or an input is not a parameter", "[core][model_directory]") {
  for (const char* name : {"decoder.output", "decoder.block0.self_attention.scores", "source.ids", "loss"}) {
    WrittenModel written;
    REQUIRE(written.graph().find(name));
    written.change_tensors([&](StoredTensors& tensors) { tensors[name] = {StoredType::f32, {1}, {0}}; });
    CHECK(written.error().key == "model.tensor_unknown");
  }
}

TEST_CASE("a tensor of another shape is refused with both shapes", "[core][model_directory]") {
  WrittenModel written;
  const std::string name = "decoder.block0.self_attention.w_query";
  const auto reshape = [&](std::vector<std::int64_t> shape) {
    written.change_tensors([&](StoredTensors& tensors) { tensors[name].shape = shape; });
  };
  reshape({2, 3, 6});  // as many numbers, in another order
  CHECK(written.error() == Error{"model.tensor_shape",
                                 (written.path() / "model.safetensors").string(),
                                 {{"name", name}, {"shape", "[2,3,6]"}, {"expected", "[2,6,3]"}}});
  reshape({36});
  CHECK(written.error().key == "model.tensor_shape");
  reshape({1, 2, 6, 3});
  CHECK(written.error().key == "model.tensor_shape");
  reshape({2, 6, 3});
  CHECK(written.error().key == "accepted");
}

TEST_CASE("parameters follow the configuration", "[core][model_directory]") {
  WrittenModel written;
  const auto change = [&](std::string_view from, std::string_view to) {
    std::string text = read_text(written.path() / "config.json");
    const std::size_t place = text.find(from);
    REQUIRE(place != std::string::npos);
    write_text(written.path() / "config.json", text.replace(place, from.size(), to));
  };
  change("\"bias\": true", "\"bias\": false");
  CHECK(written.error().key == "model.tensor_unknown");
  change("\"bias\": false", "\"bias\": true");
  change("\"n_layers\": 2", "\"n_layers\": 3");
  CHECK(written.error().key == "model.tensor_missing");
  change("\"n_layers\": 3", "\"n_layers\": 2");
  change("\"max_tokens\": 5", "\"max_tokens\": 6");
  CHECK(written.error().key == "model.tensor_shape");
  change("\"max_tokens\": 6", "\"max_tokens\": 5");
  change("\"norm\": \"none\"", "\"norm\": \"pre\"");
  CHECK(written.error().key == "model.tensor_missing");
  change("\"norm\": \"pre\"", "\"norm\": \"none\"");
  CHECK(written.error().key == "accepted");
}

TEST_CASE("a model whose tensors are F64 is read", "[core][model_directory]") {
  WrittenModel written;
  written.change_tensors([](StoredTensors& tensors) {
    for (auto& [name, tensor] : tensors) tensor.type = StoredType::f64;
  });
  const Result<StoredModel> model = written.read();
  REQUIRE(model);
  Workspace<float> workspace(model->graph, {1, 1, 0});
  set_parameters(*model, workspace);
  check_same_parameters(written.graph(), written.workspace(), workspace);
}

TEST_CASE("NaN and infinity are loaded, and said", "[core][model_directory]") {
  WrittenModel written;
  const std::string query = "decoder.block0.self_attention.w_query", table = "decoder.token_embedding";
  written.change_tensors([&](StoredTensors& tensors) {
    tensors[query].values[1 * 18 + 2 * 3 + 1] = std::nan("");  // [1,2,1] of [2,6,3]
    tensors[query].values.back() = std::numeric_limits<double>::infinity();
    tensors[table].values[0] = -std::numeric_limits<double>::infinity();
  });
  const Result<StoredModel> model = written.read();
  REQUIRE(model);
  const std::string where = (written.path() / "model.safetensors").string();
  CHECK(model->warnings ==
        std::vector<Error>{{"model.not_finite", where, {{"name", query}, {"cell", "1,2,1"}, {"count", "2"}}},
                           {"model.not_finite", where, {{"name", table}, {"cell", "0,0"}, {"count", "1"}}}});
  Workspace<float> workspace(model->graph, {1, 1, 0});
  set_parameters(*model, workspace);
  CHECK(std::isnan(workspace.values(*model->graph.find(query))[25]));
}

TEST_CASE("a double that no float holds counts as not finite", "[core][model_directory]") {
  WrittenModel written;
  written.change_tensors([](StoredTensors& tensors) {
    tensors["unembedding.bias"].type = StoredType::f64;
    tensors["unembedding.bias"].values[1] = 1e300;
  });
  const Result<StoredModel> model = written.read();
  REQUIRE(model);
  REQUIRE(model->warnings.size() == 1);
  CHECK(model->warnings[0].values[1].second == "1");
}
