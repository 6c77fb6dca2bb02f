// All reference cases: a trace with its gradients, written as `headscope trace` writes it, and the losses of
// training, against PyTorch's numbers. The commands themselves are held against them too: see tests/oracle.
#include "core/execute.h"
#include "core/formats/atomic_file.h"
#include "core/formats/json.h"
#include "core/formats/model_directory.h"
#include "core/formats/safetensors.h"
#include "core/formats/token_batch.h"
#include "core/formats/trace_file.h"
#include "core/graph_paths.h"
#include "core/steps.h"
#include "core/training/train_step.h"
#include "tests/core/temporary_folder.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace headscope::core {
namespace {

namespace fs = std::filesystem;

/// The folders of the reference cases.
std::vector<fs::path> cases() {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(headscope::tests::source_folder() / "tests/golden"))
    if (entry.is_directory()) folders.push_back(entry.path());
  std::ranges::sort(folders);
  REQUIRE(folders.size() == 18);
  return folders;
}

/// A case, loaded and fed.
template <class T>
struct Case {
  StoredModel model;
  FedBatch fed;
  Workspace<T> workspace;
  StepList steps;
};

template <class T>
Case<T> load(const fs::path& folder) {
  Result<StoredModel> model = read_model_directory(folder);
  REQUIRE(model);
  CHECK(model->warnings.empty());
  const Result<TokenBatch> batch = read_token_batch(folder / "batch.tokens.json");
  REQUIRE(batch);
  Result<FedBatch> fed = feed(*batch, model->config, "batch");
  REQUIRE(fed);
  Workspace<T> workspace(model->graph, fed->sizes, WithGradients::yes);
  set_parameters(*model, workspace);
  set_inputs(model->graph, workspace, *fed);
  StepList steps(model->graph, workspace.gradient_plan());
  return {*std::move(model), *std::move(fed), std::move(workspace), std::move(steps)};
}

/// The trace of a whole forward and backward pass, written to a file and read back.
template <class T>
StoredTensors traced(const fs::path& folder, const fs::path& out) {
  Case<T> loaded = load<T>(folder);
  run_forward(loaded.model.graph, loaded.workspace);
  run_backward(loaded.model.graph, loaded.workspace);
  const Cursor behind_backward(loaded.steps.size(), loaded.steps.update_begin());
  REQUIRE(write_trace(
      out, Trace<T>(loaded.model.graph, loaded.workspace, behind_backward, &loaded.steps, nullptr, nullptr)));
  Result<StoredTensors> read = read_safetensors(out);
  REQUIRE(read);
  return *std::move(read);
}

double largest(const StoredTensor& tensor) {
  double result = 0;
  for (const double value : tensor.values)
    if (std::isfinite(value)) result = std::max(result, std::abs(value));
  return result;
}

/// The gradient whose cells the gradient of a bias or offset adds up: rounding is relative to those, since
/// such a sum may cancel exactly (a key bias shifts all scores of a row alike). As in
/// tests/oracle/compare.py.
std::string summed_by(const std::string& name) {
  if (name == "grad.unembedding.bias" || name == "grad.classifier.bias" || name == "grad.span.bias" ||
      name == "grad.outputs.bias")
    return "grad.logits";
  std::string owner(core::owner(name));
  const std::string_view last = leaf(name);
  if (owner.ends_with(".final_norm")) owner.resize(owner.size() - std::string_view(".final_norm").size());
  if (last == "b_query") return owner + ".queries";
  if (last == "b_key") return owner + ".keys";
  if (last == "b_value") return owner + ".values";
  if (last == "b_output" || last == "b_out" || last == "offset") return owner + ".output";
  if (last == "b_in") return owner + ".hidden";
  if (last == "relative_bias") return owner + ".biased_scores";
  return name;
}

/// The reference is computed in double from the same F32 parameters: what remains is the order of summation.
/// Float may be off by a few of its roundings over three layers, forward and back.
template <class T>
constexpr double kRelative = std::is_same_v<T, float> ? 1e-5 : 1e-13;

template <class T>
void compare(const std::string& name, const StoredTensors& actual, const StoredTensors& expected) {
  const StoredTensor& reference = expected.find(name)->second;
  REQUIRE(actual.contains(name));
  const StoredTensor& found = actual.find(name)->second;
  REQUIRE(found.shape == reference.shape);
  const auto summed = expected.find(summed_by(name));
  const double scale = std::max(largest(reference), summed == expected.end() ? 0 : largest(summed->second));
  // values of a forward pass are sums of numbers near 1, whatever remains of them
  const double allowed = kRelative<T> * (name.starts_with("grad.") ? scale : std::max(1.0, scale));
  const bool is_weights = name.ends_with(".weights") && !name.starts_with("grad.");
  for (std::size_t place = 0; place < reference.values.size(); ++place) {
    const double wanted = reference.values[place], is = found.values[place];
    const bool must_be_exact = !std::isfinite(wanted) || (is_weights && wanted == 0);
    if (must_be_exact ? is == wanted : std::abs(is - wanted) <= allowed) continue;
    FAIL_CHECK("cell " << place << " expected " << wanted << " actual " << is);
  }
}

TEMPLATE_TEST_CASE("every tensor and every gradient of the reference cases equals PyTorch's",
                   "[core][oracle]", float, double) {
  const tests::TemporaryFolder folder;
  for (const fs::path& path : cases()) {
    const StoredTensors actual = traced<TestType>(path, folder / "trace.safetensors");
    const Result<StoredTensors> expected = read_safetensors(path / "expected.safetensors");
    REQUIRE(expected);
    int n_values = 0, n_gradients = 0;
    for (const auto& [name, reference] : *expected) {
      INFO(path.filename() << " " << name);
      compare<TestType>(name, actual, *expected);
      ++(name.starts_with("grad.") ? n_gradients : n_values);
    }
    CHECK(n_values >= 17);
    CHECK(n_gradients >= 17);
  }
}

TEST_CASE("a trace holds what has run before its cursor", "[core][oracle]") {
  const fs::path path = headscope::tests::source_folder() / "tests/golden/translate_padded";
  Case<float> loaded = load<float>(path);
  run_forward(loaded.model.graph, loaded.workspace);
  run_backward(loaded.model.graph, loaded.workspace);
  const auto names = [&loaded](std::size_t position) {
    std::vector<std::string> found;
    for (const TensorView& tensor :
         traced_tensors(Trace<float>(loaded.model.graph, loaded.workspace,
                                     Cursor(loaded.steps.size(), position), &loaded.steps, nullptr, nullptr)))
      found.push_back(tensor.name);
    return found;
  };
  const auto holds = [](const std::vector<std::string>& found, const std::string& name) {
    return std::ranges::find(found, name) != found.end();
  };
  CHECK(names(0).empty());
  const std::vector<std::string> forward = names(loaded.steps.n_forward());
  CHECK(holds(forward, "loss"));
  CHECK_FALSE(std::ranges::any_of(forward, [](const auto& name) { return name.starts_with("grad."); }));
  const std::vector<std::string> all = names(loaded.steps.update_begin());
  CHECK(holds(all, "grad.decoder.output"));
  CHECK(holds(all, "grad.decoder.final_norm.output"));  // an alias
  CHECK(holds(all, "grad.encoder.token_embedding"));
  for (const char* none : {"grad.probabilities", "grad.loss", "grad.source.ids", "encoder.token_embedding"}) {
    INFO(none);
    CHECK_FALSE(holds(all, none));
  }
  // the residual stream is read twice: its gradient is whole only after both have sent theirs back
  const TensorId stream = *loaded.model.graph.find("decoder.block0.residual1");
  const auto writers = loaded.workspace.gradient_plan().writers(stream);
  REQUIRE(writers.size() > 1);
  const std::size_t begin = loaded.steps.backward_begin();
  CHECK_FALSE(holds(names(begin + writers.back()), "grad.decoder.block0.residual1"));
  CHECK(holds(names(begin + writers.back() + 1), "grad.decoder.block0.residual1"));
}

/// A number of a case's training.json, which holds nothing else.
double number(const Json& json) {
  return json.integer() ? static_cast<double>(*json.integer()) : std::get<double>(json.value);
}

/// Trains a case as its training.json tells, and holds every step's loss against it.
template <class T>
void compare_losses(const fs::path& path, int n_threads) {
  // Adam divides by the size of the gradient, so that the rounding of a tiny one counts fully; still float is
  // held to a fiftieth of what compare.py allows, and double to what a million roundings give
  constexpr double kLossRelative = std::is_same_v<T, float> ? 2e-5 : 1e-10;
  const Result<Json> training = parse_json(*read_file(path / "training.json", 1 << 20), "training.json");
  REQUIRE(training);
  const auto member = [&training](const char* key) { return find_member(*training->object(), key); };
  const Case<T> loaded = load<T>(path);
  TrainStep<T> train_step(
      loaded.model.graph, loaded.workspace.sizes(),
      {.optimiser = {.rate = number(*member("lr")), .weight_decay = number(*member("weight_decay"))},
       .n_threads = n_threads});
  set_parameters(loaded.model, train_step.workspace());
  set_inputs(loaded.model.graph, train_step.workspace(), loaded.fed);
  std::int64_t step = 0;
  for (const Json& expected : *member("losses")->array()) {
    INFO("step " << ++step);
    const Result<StepReport> report = train_step.run(step);
    REQUIRE(report);
    CHECK(report->loss == Approx(number(expected)).epsilon(kLossRelative));
  }
  CHECK(step == 20);
}

TEMPLATE_TEST_CASE("the losses of 20 training steps equal PyTorch's, on one thread and two", "[core][oracle]",
                   float, double) {
  for (const fs::path& path : cases())
    for (const int n_threads : {1, 2}) {
      INFO(path.filename() << ", " << n_threads << " threads");
      compare_losses<TestType>(path, n_threads);
    }
}

}  // namespace
}  // namespace headscope::core
