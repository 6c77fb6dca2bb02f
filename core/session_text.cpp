#include "core/session_text.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <utility>

namespace headscope::core {
namespace {

/// The longest sentence that a session takes, in fed tokens; a model may allow less.
constexpr std::int64_t kLongestSentence = 1024;

/// The shortest one that there is room for from the beginning: a word more costs no new workspace.
constexpr std::int64_t kShortestCapacity = 16;

std::int64_t longest(const ModelConfig& config) {
  return std::min(config.max_tokens, kLongestSentence);
}

/// How many words fit: what may be fed, less a begin token; a language model's last token is predicted only,
/// which is the end token where the vocabulary has one.
std::size_t word_limit(const ModelConfig& config, const Vocabulary& vocabulary, bool is_shifted) {
  std::int64_t limit = longest(config) - (vocabulary.begin() ? 1 : 0);
  if (is_shifted && !vocabulary.end()) ++limit;
  if (!is_shifted && vocabulary.end()) --limit;
  return static_cast<std::size_t>(std::max<std::int64_t>(limit, 0));
}

/// Where the first question ends: behind its mark; the sentence's length where there is none.
std::size_t end_of_question(const Sentence& sentence) {
  const auto mark = std::ranges::find(sentence.tokens, "?", &Token::text);
  return static_cast<std::size_t>(mark - sentence.tokens.begin()) + (mark == sentence.tokens.end() ? 0 : 1);
}

void set_labels(const Gold& gold, const ModelConfig& config, std::size_t n_positions, TokenBatch& batch) {
  if (gold.origin == Gold::Origin::none) return;
  switch (config.objective) {
    case Objective::classification:
      batch.label = gold.labels;
      return;
    case Objective::span:
      if (gold.labels.size() == 2) batch.span = {{gold.labels[0], gold.labels[1]}};
      return;
    case Objective::token_classification: {
      const auto n_outputs = static_cast<std::size_t>(config.n_outputs);
      std::vector<std::vector<std::int32_t>> rows(n_positions, std::vector<std::int32_t>(n_outputs, -1));
      for (std::size_t at = 0; at < std::min(gold.labels.size(), n_positions * n_outputs); ++at)
        rows[at / n_outputs][at % n_outputs] = gold.labels[at];
      batch.labels = {std::move(rows)};
      return;
    }
    case Objective::language_model:
    case Objective::none:
      return;
  }
}

std::size_t n_labels(const ModelConfig& config, std::size_t n_positions) {
  switch (config.objective) {
    case Objective::classification:
      return 1;
    case Objective::span:
      return 2;
    case Objective::token_classification:
      return n_positions * static_cast<std::size_t>(config.n_outputs);
    case Objective::language_model:
    case Objective::none:
      break;
  }
  return 0;
}

}  // namespace

std::int64_t capacity_for(std::int64_t needed, const ModelConfig& config) {
  const auto rounded = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(needed)));
  return std::min(std::max(rounded, kShortestCapacity), std::max(longest(config), needed));
}

bool predicts_own_words(const ModelConfig& config) {
  return config.architecture == Architecture::decoder && config.objective == Objective::language_model;
}

std::int32_t last_word(const Sentence& sentence, const Vocabulary& vocabulary) {
  const std::size_t end = end_of_question(sentence);
  std::size_t place = end > 0 ? end - 1 : 0;
  for (std::size_t at = end; at-- > 0;) {
    const auto first = static_cast<unsigned char>(sentence.tokens[at].text.front());
    if (std::ispunct(first) != 0) continue;
    place = at;
    break;
  }
  return static_cast<std::int32_t>(place + (vocabulary.begin() ? 1 : 0));
}

Result<Typed> read_typed(const SessionModel& model, const Setup& setup) {
  const ModelConfig& config = model.config;
  const TokenizerConfig tokenizer = config.tokenizer.value_or(TokenizerConfig{});
  Result<Sentence> sentence = tokenize(setup.text, model.vocabulary, tokenizer,
                                       word_limit(config, model.vocabulary, predicts_own_words(config)));
  if (!sentence) return sentence.error();
  Typed typed{.sentence = *std::move(sentence), .target = {}, .fed = {}};
  TokenBatch batch{{token_row(typed.sentence, model.vocabulary)}};
  const std::size_t n_positions = batch.source.front().size();
  if (config.span_reader == SpanReader::pointer && config.objective == Objective::span)
    batch.read = {setup.read.value_or(last_word(typed.sentence, model.vocabulary))};
  if (setup.gold.origin != Gold::Origin::none && setup.gold.labels.size() != n_labels(config, n_positions))
    return Error{"session.labels",
                 kSentence,
                 {{"given", std::to_string(setup.gold.labels.size())},
                  {"needed", std::to_string(n_labels(config, n_positions))}}};
  set_labels(setup.gold, config, n_positions, batch);
  if (config.architecture == Architecture::encoder_decoder && model.target_vocabulary) {
    const Vocabulary& words = *model.target_vocabulary;
    batch.target_begin = words.begin();
    // a translation may be empty: its end alone is then predicted
    if (setup.gold.origin != Gold::Origin::none) {
      Result<Sentence> target =
          tokenize(setup.gold.target, words, tokenizer, word_limit(config, words, true));
      if (!target && target.error().key != "text.empty")
        return Error{target.error().key, kTarget, target.error().values};
      if (target) typed.target = *std::move(target);
      batch.target = {token_row(typed.target, words)};
    }
  }
  Result<FedBatch> fed = feed(batch, config, kSentence);
  if (!fed) return fed.error();
  typed.fed = *std::move(fed);
  return typed;
}

std::vector<Token> words_at(std::span<const std::int32_t> fed, const Sentence& sentence,
                            const Vocabulary& vocabulary) {
  std::vector<Token> words;
  const std::size_t n_before = vocabulary.begin() ? 1 : 0;
  for (std::size_t position = 0; position < fed.size(); ++position) {
    const std::size_t word = position - n_before;
    const bool is_typed =
        position >= n_before && word < sentence.tokens.size() && sentence.tokens[word].id == fed[position];
    words.push_back(
        is_typed ? sentence.tokens[word]
                 : Token{vocabulary.token(fed[position]), fed[position], vocabulary.is_spare(fed[position])});
  }
  return words;
}

}  // namespace headscope::core
