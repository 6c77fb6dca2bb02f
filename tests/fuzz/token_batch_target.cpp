// Batches of token ids: what each kind of model accepts is within its tables, and it can run it.
#include "core/execute.h"
#include "core/formats/token_batch.h"
#include "tests/fuzz/targets.h"

#include <cstdint>
#include <vector>

namespace headscope::fuzz {
namespace {

using namespace core;

constexpr std::int64_t kMostFed =
    256;  // positions of a batch that is run: a run must not cost the fuzzer its pace

/// One tiny model of each way to read a batch.
std::vector<ModelConfig> configurations() {
  ModelConfig decoder;
  decoder.vocab_size = 11;
  decoder.d_model = 4;
  decoder.n_heads = 2;
  decoder.d_head = 2;
  decoder.max_tokens = 8;
  decoder.n_classes = 3;
  ModelConfig translator = decoder;
  translator.architecture = Architecture::encoder_decoder;
  translator.target_vocab_size = 13;
  ModelConfig classifier = decoder;
  classifier.architecture = Architecture::encoder;
  classifier.objective = Objective::classification;
  classifier.n_token_types = 2;
  ModelConfig labeller = classifier;
  labeller.objective = Objective::token_classification;
  labeller.n_outputs = 2;
  ModelConfig by_token = classifier;
  by_token.objective = Objective::span;
  ModelConfig by_pointer = by_token;
  by_pointer.span_reader = SpanReader::pointer;
  ModelConfig longest = decoder;
  longest.max_tokens = 1 << 16;
  longest.positions = Positions::none;
  return {decoder, translator, classifier, labeller, by_token, by_pointer, longest};
}

bool all_within(const std::vector<std::int32_t>& numbers, std::int64_t lowest, std::int64_t size) {
  for (const std::int32_t number : numbers)
    if (number < lowest || number >= size) return false;
  return true;
}

void check(const FedBatch& fed, const ModelConfig& config) {
  promise(fed.sizes.batch > 0 && fed.sizes.source > 0, "what is fed is not empty");
  promise(static_cast<std::int64_t>(fed.ids.size()) == fed.sizes.batch * fed.sizes.source,
          "ids fill the rows");
  promise(fed.sizes.source <= config.max_tokens && fed.sizes.target <= config.max_tokens,
          "no row is too long");
  promise(all_within(fed.ids, 0, config.vocab_size), "ids are the vocabulary's");
  promise(all_within(fed.target_ids, 0, config.target_vocab_size), "target ids are the target vocabulary's");
  promise(all_within(fed.lengths, 0, fed.sizes.source + 1), "lengths are within the rows");
  promise(all_within(fed.target_lengths, 0, fed.sizes.target + 1), "target lengths are within the rows");
  promise(all_within(fed.types, 0, config.n_token_types), "types are the model's");
  promise(all_within(fed.read, 0, fed.sizes.source), "read positions are within the rows");
}

/// With every parameter 0: the sanitizers see where it reads.
void run(const FedBatch& fed, const ModelConfig& config) {
  const Result<Graph> graph = build_graph(config, "bytes");
  promise(graph.has_value(), "a valid configuration has a graph");
  Workspace<float> workspace(*graph, fed.sizes);
  set_inputs(*graph, workspace, fed);
  run_forward(*graph, workspace, 0, forward_end(*graph, fed));
}

}  // namespace

void try_token_batch(std::string_view bytes) {
  const Result<TokenBatch> batch = parse_token_batch(std::string(bytes), "bytes");
  if (!batch) return;
  for (const ModelConfig& config : configurations()) {
    const Result<FedBatch> fed = feed(*batch, config, "bytes");
    if (!fed) continue;
    check(*fed, config);
    if (fed->sizes.batch * (fed->sizes.source + fed->sizes.target) <= kMostFed) run(*fed, config);
  }
}

}  // namespace headscope::fuzz
