#include "core/decode.h"

#include "core/execute.h"
#include "core/formats/token_batch.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

namespace headscope::core {

namespace {

/// A sentence that is being said: a row of the batch.
struct Beam {
  std::vector<std::int32_t> tokens;  // from begin on
  double log_probability = 0;
};

/// A beam and the token that would follow.
struct Continuation {
  std::size_t beam = 0;
  std::int32_t token = 0;
  double log_probability = 0;
};

/// The search for one source.
struct Search {
  std::vector<Beam> beams;  // empty when it is over
  std::optional<Hypothesis> best;
};

double penalty(std::size_t n_tokens, double alpha) {
  return std::pow((5 + static_cast<double>(n_tokens)) / 6, alpha);
}

/// log softmax of one row of logits, in double; −∞ where the logits are so large that it is no number:
/// numbers alone can be sorted.
void log_softmax(std::span<const float> logits, std::vector<double>& result) {
  const double largest = static_cast<double>(*std::ranges::max_element(logits));
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  const double log_sum = largest + std::log(sum);
  result.clear();
  for (const float logit : logits) {
    const double log_probability = static_cast<double>(logit) - log_sum;
    result.push_back(std::isnan(log_probability) ? -std::numeric_limits<double>::infinity()
                                                 : log_probability);
  }
}

class Decoder {
 public:
  Decoder(const Graph& graph, const ModelConfig& config, const DecodeOptions& options)
      : graph_(graph), config_(config), options_(options), logits_(*graph.find("logits")) {}

  /// One more token for all that are not over.
  void extend(Workspace<float>& workspace, std::span<const std::vector<std::int32_t>> sources,
              std::vector<Search>& searches) const {
    TokenBatch batch;
    for (std::size_t at = 0; at < searches.size(); ++at)
      for (const Beam& beam : searches[at].beams) {
        batch.source.push_back(sources[at]);
        batch.target.push_back(beam.tokens);
        batch.target.back().push_back(options_.end);  // the last token of a target is not fed
      }
    const Result<FedBatch> fed = feed(batch, config_, "");
    assert(fed && "the caller checked the sources");
    set_inputs(graph_, workspace, *fed);
    run_forward(graph_, workspace, 0, *graph_.producer(logits_) + 1,
                {.interventions = options_.interventions});

    const std::span<const float> logits = workspace.values(logits_);
    const Shape& shape = workspace.shape(logits_);  // [n_batch, i, n_classes]
    const auto n_classes = static_cast<std::size_t>(shape[2]);
    std::size_t row = 0;
    for (Search& search : searches) {
      std::vector<Continuation> continuations;
      for (std::size_t at = 0; at < search.beams.size(); ++at, ++row) {
        const Beam& beam = search.beams[at];
        const std::size_t place = row * static_cast<std::size_t>(shape[1]) + beam.tokens.size() - 1;
        std::vector<double> log_probabilities;
        log_softmax(logits.subspan(place * n_classes, n_classes), log_probabilities);
        for (std::size_t token = 1; token < n_classes; ++token)  // 0 is padding
          continuations.push_back(
              {at, static_cast<std::int32_t>(token), beam.log_probability + log_probabilities[token]});
      }
      if (!search.beams.empty()) choose(search, std::move(continuations));
    }
  }

 private:
  /// Keeps the best continuations as beams; those that end compete for the best hypothesis.
  void choose(Search& search, std::vector<Continuation> continuations) const {
    const auto width = static_cast<std::size_t>(options_.beam_width);
    // twice as many as beams: at most `width` of them end
    const std::size_t n_kept = std::min(2 * width, continuations.size());
    std::ranges::partial_sort(continuations, continuations.begin() + static_cast<std::ptrdiff_t>(n_kept),
                              [](const Continuation& a, const Continuation& b) {
                                if (a.log_probability != b.log_probability)
                                  return a.log_probability > b.log_probability;
                                return std::pair(a.beam, a.token) < std::pair(b.beam, b.token);
                              });
    continuations.resize(n_kept);
    std::vector<Beam> beams;
    for (std::size_t rank = 0; rank < continuations.size(); ++rank) {
      const Continuation& continuation = continuations[rank];
      const Beam& beam = search.beams[continuation.beam];
      if (continuation.token == options_.end) {
        if (rank < width) finish(search, beam.tokens, continuation.log_probability, true);
        continue;
      }
      if (beams.size() == width) continue;
      beams.push_back({beam.tokens, continuation.log_probability});
      beams.back().tokens.push_back(continuation.token);
    }
    const std::size_t longest = static_cast<std::size_t>(config_.max_tokens);
    if (!beams.empty() && beams.front().tokens.size() > longest) {
      if (!search.best) finish(search, beams.front().tokens, beams.front().log_probability, false);
      beams.clear();
    }
    if (width == 1 && search.best) beams.clear();  // greedy: the end was likeliest
    // a log-probability only falls, and the penalty only rises to that of the longest sentence
    if (search.best && !beams.empty() &&
        beams.front().log_probability / penalty(longest, options_.length_penalty) <= search.best->score)
      beams.clear();
    search.beams = std::move(beams);
  }

  void finish(Search& search, const std::vector<std::int32_t>& tokens, double log_probability,
              bool is_complete) const {
    // the begin token is not counted; the end is, where it was said
    const std::size_t n_tokens = is_complete ? tokens.size() : tokens.size() - 1;
    Hypothesis made{.tokens = {tokens.begin() + 1, tokens.end()},
                    .log_probability = log_probability,
                    .score = log_probability / penalty(n_tokens, options_.length_penalty),
                    .is_complete = is_complete};
    if (!search.best || made.score > search.best->score) search.best = std::move(made);
  }

  const Graph& graph_;
  const ModelConfig& config_;
  const DecodeOptions& options_;
  TensorId logits_;
};

}  // namespace

std::vector<Hypothesis> decode(const Graph& graph, const ModelConfig& config,
                               std::span<const float> parameters,
                               std::span<const std::vector<std::int32_t>> sources,
                               const DecodeOptions& options) {
  assert(options.beam_width >= 1 && options.length_penalty >= 0);
  std::size_t longest_source = 1;
  for (const auto& source : sources) longest_source = std::max(longest_source, source.size());
  Workspace<float> workspace(graph, {.batch = static_cast<std::int64_t>(sources.size()) * options.beam_width,
                                     .source = static_cast<std::int64_t>(longest_source),
                                     .target = config.max_tokens});
  std::ranges::copy(parameters, workspace.parameters().begin());
  std::vector<Search> searches(sources.size());
  for (Search& search : searches) search.beams = {{{options.begin}, 0}};
  const Decoder decoder(graph, config, options);
  double n_said = 0;
  while (std::ranges::any_of(searches, [](const Search& search) { return !search.beams.empty(); })) {
    decoder.extend(workspace, sources, searches);
    if (options.progress && !options.progress(++n_said / static_cast<double>(config.max_tokens + 1)))
      return {};
  }
  std::vector<Hypothesis> hypotheses;
  for (Search& search : searches) hypotheses.push_back(*std::move(search.best));
  return hypotheses;
}

}  // namespace headscope::core
