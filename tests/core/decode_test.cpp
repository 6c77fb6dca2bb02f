// Decoding against exhaustive search, and against the teacher-forced model.
#include "core/decode.h"

#include "core/execute.h"
#include "core/formats/token_batch.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

using namespace headscope::core;

namespace {

using Ids = std::vector<std::int32_t>;

constexpr std::int32_t kBegin = 1, kEnd = 2;

struct Model {
  ModelConfig config;
  Graph graph;
  Workspace<float> workspace;
};

Model small_model(std::uint64_t seed, std::int64_t n_words, std::int64_t max_tokens) {
  ModelConfig config;
  config.architecture = Architecture::encoder_decoder;
  config.vocab_size = 6;
  config.target_vocab_size = 3 + n_words;
  config.d_model = 8;
  config.n_heads = 2;
  config.d_head = 4;
  config.max_tokens = max_tokens;
  Graph graph = build_graph(config, "").value();
  Workspace<float> workspace(graph, {.batch = 1, .source = max_tokens, .target = max_tokens});
  initialise_parameters(graph, workspace, seed, 2);
  return {config, std::move(graph), std::move(workspace)};
}

/// log p(target | source), the end included where the target has it.
double log_probability(Model& model, const Ids& source, const Ids& target, bool has_end) {
  Ids row = {kBegin};
  row.insert(row.end(), target.begin(), target.end());
  if (has_end) row.push_back(kEnd);
  const FedBatch fed = feed({.source = {source}, .target = {row}}, model.config, "").value();
  set_inputs(model.graph, model.workspace, fed);
  run_forward(model.graph, model.workspace);
  const auto losses = model.workspace.values(*model.graph.find("losses"));
  double sum = 0;
  for (const float loss : losses) sum -= static_cast<double>(loss);
  return sum;
}

/// Every sentence of the words 3 … up to `longest` words.
std::vector<Ids> all_sentences(std::int32_t n_words, std::size_t longest) {
  std::vector<Ids> all = {{}};
  for (std::size_t at = 0; at < all.size(); ++at) {
    if (all[at].size() == longest) continue;
    for (std::int32_t word = 0; word < n_words; ++word) {
      all.push_back(all[at]);
      all.back().push_back(3 + word);
    }
  }
  return all;
}

}  // namespace

TEST_CASE("a beam as wide as all sentences finds the likeliest one", "[core][decode]") {
  const double alpha = GENERATE(0.0, 1.0);
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    constexpr std::int64_t kLongest = 4;  // fed: begin and three words
    Model model = small_model(seed, 2, kLongest);
    const Ids source = {3, 4, 5};
    Hypothesis best{.score = -1e9};
    // <begin> may be said, too: it is a token like any other
    for (Ids sentence : all_sentences(3, kLongest - 1)) {
      std::ranges::replace(sentence, 5, kBegin);
      const double sum = log_probability(model, source, sentence, true);
      const double score = sum / std::pow((5 + static_cast<double>(sentence.size() + 1)) / 6, alpha);
      if (score > best.score) best = {sentence, sum, score, true};
    }
    const Hypothesis found = decode(model.graph, model.config, model.workspace.parameters(), {&source, 1},
                                    {.begin = kBegin, .end = kEnd, .beam_width = 40, .length_penalty = alpha})
                                 .front();
    CAPTURE(seed, alpha);
    REQUIRE(found.is_complete);
    CHECK(found.tokens == best.tokens);
    CHECK(found.log_probability == Approx(best.log_probability).epsilon(1e-5));  // float logits
    CHECK(found.score == Approx(best.score).epsilon(1e-5));
  }
}

TEST_CASE("greedy decoding says the likeliest token each time", "[core][decode]") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Model model = small_model(seed, 5, 7);
    const std::vector<Ids> sources = {{3, 4}, {5}, {4, 4, 3, 5, 3}};
    const std::vector<Hypothesis> found = decode(model.graph, model.config, model.workspace.parameters(),
                                                 sources, {.begin = kBegin, .end = kEnd});
    REQUIRE(found.size() == sources.size());
    for (std::size_t at = 0; at < sources.size(); ++at) {
      Ids said;
      bool is_complete = false;
      while (!is_complete && said.size() < 7) {
        double best = -1e9;
        std::int32_t chosen = 0;
        for (std::int32_t token = 1; token < 8; ++token) {
          Ids longer = said;
          longer.push_back(token);
          if (const double sum = log_probability(model, sources[at], longer, false); sum > best)
            best = sum, chosen = token;
        }
        is_complete = chosen == kEnd;
        if (!is_complete) said.push_back(chosen);
      }
      CAPTURE(seed, at);
      CHECK(found[at].tokens == said);
      CHECK(found[at].is_complete == is_complete);
    }
  }
}

TEST_CASE("a wider beam decodes each source as if it were alone", "[core][decode]") {
  Model model = small_model(3, 5, 6);
  const std::vector<Ids> sources = {{3, 4, 5, 3, 4}, {5}, {4, 3}};
  const DecodeOptions options{.begin = kBegin, .end = kEnd, .beam_width = 3, .length_penalty = 0.6};
  const auto together = decode(model.graph, model.config, model.workspace.parameters(), sources, options);
  for (std::size_t at = 0; at < sources.size(); ++at) {
    const auto alone =
        decode(model.graph, model.config, model.workspace.parameters(), {&sources[at], 1}, options).front();
    CHECK(together[at].tokens == alone.tokens);
    CHECK(together[at].log_probability == alone.log_probability);
  }
}

TEST_CASE("a model whose logits are no numbers still says something", "[core][decode]") {
  Model model = small_model(5, 5, 6);
  for (float& parameter : model.workspace.parameters()) parameter *= 1e19F;
  const std::vector<Ids> sources = {{3, 4}, {5}};
  for (const int width : {1, 3}) {
    const auto found = decode(model.graph, model.config, model.workspace.parameters(), sources,
                              {.begin = kBegin, .end = kEnd, .beam_width = width});
    REQUIRE(found.size() == 2);
    for (const Hypothesis& hypothesis : found) {
      CHECK(hypothesis.log_probability == -std::numeric_limits<double>::infinity());
      CHECK(hypothesis.tokens.size() <= 6);
    }
  }
}

TEST_CASE("decoding tells how far it is, and can be stopped after any token", "[core][decode]") {
  Model model = small_model(3, 5, 7);
  const std::vector<Ids> sources = {{3, 4}, {5}};
  DecodeOptions options{.begin = kBegin, .end = kEnd};
  const auto run = [&] {
    return decode(model.graph, model.config, model.workspace.parameters(), sources, options);
  };
  const std::vector<Hypothesis> whole = run();
  std::vector<double> shares;
  options.progress = [&](double share) {
    shares.push_back(share);
    return true;
  };
  const std::vector<Hypothesis> watched = run();
  REQUIRE(watched.size() == whole.size());
  for (std::size_t at = 0; at < whole.size(); ++at) CHECK(watched[at].tokens == whole[at].tokens);
  REQUIRE_FALSE(shares.empty());
  CHECK(std::ranges::is_sorted(shares));
  CHECK((shares.front() > 0 && shares.back() <= 1));
  for (std::size_t most = 1; most <= shares.size(); ++most) {
    std::size_t n_told = 0;
    options.progress = [&](double) { return ++n_told < most; };
    CHECK(run().empty());
    CHECK(n_told == most);
  }
}

TEST_CASE("a sentence that is cut has the penalty of its words", "[core][decode]") {
  bool was_cut = false;
  for (std::uint64_t seed = 1; seed <= 40 && !was_cut; ++seed) {
    Model model = small_model(seed, 5, 4);
    const Ids source = {3, 4};
    const Hypothesis found = decode(model.graph, model.config, model.workspace.parameters(), {&source, 1},
                                    {.begin = kBegin, .end = kEnd, .beam_width = 1, .length_penalty = 1})
                                 .front();
    if (found.is_complete) continue;
    was_cut = true;
    REQUIRE(found.tokens.size() == 4);
    CHECK(found.score == Approx(found.log_probability / (9.0 / 6)));
  }
  CHECK(was_cut);
}
