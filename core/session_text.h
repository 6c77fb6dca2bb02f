// What a person types into a session, read: sentence, gold answer and who asks, ready to be fed. A part of
// session.cpp.
#pragma once

#include "core/formats/token_batch.h"
#include "core/model.h"
#include "core/session.h"
#include "core/tokenizer.h"

#include <cstdint>
#include <span>
#include <vector>

namespace headscope::core {

inline constexpr const char* kSentence = "sentence";  // where an error about the typed text lies
inline constexpr const char* kTarget = "target";      // the same of the target's text

/// Room for `needed` tokens and a few more.
std::int64_t capacity_for(std::int64_t needed, const ModelConfig& config);

/// Whether the sentence is its own gold answer.
bool predicts_own_words(const ModelConfig& config);

/// The last position of the question (of the whole sentence, where there is none) with a word on it, rather
/// than a mark or punctuation: who asks, unless somebody says otherwise.
std::int32_t last_word(const Sentence& sentence, const Vocabulary& vocabulary);

/// What is typed, ready to be fed, and the words that it is made of.
struct Typed {
  Sentence sentence, target;
  FedBatch fed;
};

/// Errors: those of tokenize(), with kSentence or kTarget for where, and of feed(); session.labels (given,
/// needed).
Result<Typed> read_typed(const SessionModel& model, const Setup& setup);

/// The words at the positions that are fed: those typed, or the vocabulary's where an id was edited.
std::vector<Token> words_at(std::span<const std::int32_t> fed, const Sentence& sentence,
                            const Vocabulary& vocabulary);

}  // namespace headscope::core
