// The attention-only reference cases: a trace, written as `headscope trace` writes it, against PyTorch's
// numbers. The command itself is held against them too: see tests/oracle.
#include "core/execute.h"
#include "core/formats/model_directory.h"
#include "core/formats/safetensors.h"
#include "core/formats/token_batch.h"
#include "core/formats/trace_file.h"
#include "tests/core/temporary_folder.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <type_traits>

namespace headscope::core {
namespace {

std::filesystem::path golden(const std::string& name) {
  return headscope::tests::source_folder() / "tests/golden" / name;
}

/// The trace of a case, written to a file and read back.
template <class T>
StoredTensors traced(const std::filesystem::path& folder, const std::filesystem::path& out) {
  const Result<StoredModel> model = read_model_directory(folder);
  REQUIRE(model);
  CHECK(model->warnings.empty());
  const Result<TokenBatch> batch = read_token_batch(folder / "batch.tokens.json");
  REQUIRE(batch);
  const Result<FedBatch> fed = feed(*batch, model->config, "batch");
  REQUIRE(fed);
  Workspace<T> workspace(model->graph, fed->sizes);
  set_parameters(*model, workspace);
  set_inputs(model->graph, workspace, *fed);
  run_forward(model->graph, workspace);
  const std::size_t end = model->graph.operations().size();
  REQUIRE(write_trace(out, Trace<T>(model->graph, workspace, Cursor(end, end))));
  Result<StoredTensors> read = read_safetensors(out);
  REQUIRE(read);
  return *std::move(read);
}

/// The reference is computed in double from the same F32 parameters: what remains is the order of summation.
/// Float may be off by a few of its roundings over two layers.
template <class T>
constexpr double kRelative = std::is_same_v<T, float> ? 2e-6 : 1e-13;

TEMPLATE_TEST_CASE("every forward tensor of the attention-only cases equals PyTorch's", "[core][oracle]",
                   float, double) {
  const tests::TemporaryFolder folder;
  for (const char* name :
       {"decoder_attention_only", "decoder_attention_only_learned", "decoder_attention_only_scaled"}) {
    const StoredTensors actual = traced<TestType>(golden(name), folder / "trace.safetensors");
    const Result<StoredTensors> expected = read_safetensors(golden(name) / "expected.safetensors");
    REQUIRE(expected);
    int n_compared = 0;
    for (const auto& [tensor, reference] : *expected) {
      if (tensor.starts_with("grad.")) continue;
      INFO(name << " " << tensor);
      REQUIRE(actual.contains(tensor));
      const StoredTensor& found = actual.find(tensor)->second;
      REQUIRE(found.shape == reference.shape);
      double largest = 0;
      for (double value : reference.values)
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
      for (std::size_t place = 0; place < reference.values.size(); ++place) {
        INFO("cell " << place << " expected " << reference.values[place] << " actual "
                     << found.values[place]);
        if (std::isfinite(reference.values[place]))
          REQUIRE(std::abs(found.values[place] - reference.values[place]) <=
                  kRelative<TestType> * std::max(1.0, largest));
        else
          REQUIRE(found.values[place] == reference.values[place]);
        if (tensor.ends_with(".weights") && reference.values[place] == 0) REQUIRE(found.values[place] == 0);
      }
      ++n_compared;
    }
    CHECK(n_compared >= 17);
  }
}

}  // namespace
}  // namespace headscope::core
