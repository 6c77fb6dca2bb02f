#include "core/bleu.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <map>

namespace headscope::core {

namespace {

using Words = std::vector<std::string>;
using Counts =
    std::map<std::span<const std::string>, std::int64_t, decltype([](const auto& a, const auto& b) {
               return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
             })>;

constexpr std::size_t kOrders = 4;

Counts count_runs(const Words& words, std::size_t order) {
  Counts counts;
  for (std::size_t begin = 0; begin + order <= words.size(); ++begin)
    ++counts[std::span(words).subspan(begin, order)];
  return counts;
}

/// The length of the reference that comes closest; of two equally close ones the shorter.
std::int64_t closest_length(const Words& sentence, const std::vector<Words>& references) {
  const auto length = static_cast<std::int64_t>(sentence.size());
  std::int64_t closest = static_cast<std::int64_t>(references.front().size());
  for (const Words& reference : references) {
    const auto other = static_cast<std::int64_t>(reference.size());
    const std::int64_t nearer = std::abs(other - length) - std::abs(closest - length);
    if (nearer < 0 || (nearer == 0 && other < closest)) closest = other;
  }
  return closest;
}

}  // namespace

Bleu corpus_bleu(std::span<const Words> sentences, std::span<const std::vector<Words>> references) {
  assert(sentences.size() == references.size());
  Bleu bleu;
  std::array<std::int64_t, kOrders> matches{}, totals{};
  for (std::size_t at = 0; at < sentences.size(); ++at) {
    const Words& sentence = sentences[at];
    bleu.n_words += static_cast<std::int64_t>(sentence.size());
    bleu.n_reference_words += closest_length(sentence, references[at]);
    for (std::size_t order = 1; order <= kOrders; ++order) {
      Counts most;  // that one reference has of each run
      for (const Words& reference : references[at])
        for (const auto& [run, count] : count_runs(reference, order)) most[run] = std::max(most[run], count);
      for (const auto& [run, count] : count_runs(sentence, order)) {
        totals.at(order - 1) += count;
        if (const auto found = most.find(run); found != most.end())
          matches.at(order - 1) += std::min(count, found->second);
      }
    }
  }
  if (bleu.n_words > 0)
    bleu.brevity_penalty =
        bleu.n_words >= bleu.n_reference_words
            ? 1
            : std::exp(1 - static_cast<double>(bleu.n_reference_words) / static_cast<double>(bleu.n_words));
  if (std::ranges::count(matches, 0) == kOrders) return bleu;  // without any match nothing is smoothed
  double smoothing = 1, log_sum = 0;
  for (std::size_t order = 0; order < kOrders; ++order) {
    if (totals.at(order) == 0) break;  // no sentence is that long; the score is 0, as sacreBLEU has it
    double matched = static_cast<double>(matches.at(order));
    if (matched == 0) matched = 1 / (smoothing *= 2);
    bleu.precisions.at(order) = 100 * matched / static_cast<double>(totals.at(order));
  }
  if (std::ranges::count(bleu.precisions, 0.0) > 0) return bleu;
  for (const double precision : bleu.precisions) log_sum += std::log(precision);
  bleu.score = bleu.brevity_penalty * std::exp(log_sum / kOrders);
  return bleu;
}

}  // namespace headscope::core
