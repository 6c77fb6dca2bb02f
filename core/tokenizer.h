// Text to words to ids: the word tokenizer. Unicode facts come from utf8proc.
#pragma once

#include "core/model.h"
#include "core/result.h"
#include "core/vocabulary.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::core {

/// A token as the learner typed it (lower-cased and NFC-normalised where the configuration says so), and its id.
struct Token {
  std::string text;
  std::int32_t id = 0;
  bool is_unknown = false;  // hashed to a spare row
};

/// Words of a UTF-8 text: white space separates; punctuation and symbols stand apart, except an apostrophe, a hyphen,
/// a full stop or a comma between two letters or digits ("don't", "well-known", "3.14"); ideographs stand one by one.
/// Text is NFC-normalised first; invalid bytes become U+FFFD; control characters separate.
std::vector<std::string> split_words(std::string_view text, const TokenizerConfig& config);

/// A sentence ready to be fed.
struct Sentence {
  std::vector<Token> tokens;  // without begin and end
  std::size_t n_cut = 0;      // words beyond `max_tokens` that were left out, for the message
};

/// Splits, looks up, hashes unknown words to spare rows, cuts to `max_tokens` words.
/// Errors: text.unknown_word (no spare rows; names the word), text.empty (no word at all).
Result<Sentence> tokenize(std::string_view text, const Vocabulary& vocabulary, const TokenizerConfig& config,
                          std::size_t max_tokens);

/// The sentence's row: the vocabulary's begin token before and its end token after, where it has them.
std::vector<std::int32_t> token_row(const Sentence& sentence, const Vocabulary& vocabulary);

}  // namespace headscope::core
