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

/// A token as the learner typed it (lower-cased and NFC-normalised where the configuration says so), and its
/// id.
struct Token {
  std::string text;
  std::int32_t id = 0;
  bool is_unknown = false;  // hashed to a spare row
};

/// Words of a UTF-8 text, in NFC (lower-cased where the configuration says so). White space, control and
/// invisible format characters separate; soft hyphens vanish; invalid bytes become U+FFFD, one each. Letters
/// and numbers in a row are a word; an apostrophe or a hyphen between two of them is part of it ("don't",
/// "well-known"), a full stop or a comma between two digits, too ("3.14"). Chinese characters, punctuation
/// and symbols stand one by one. What a reader takes for one character is never cut: a letter with its marks,
/// an emoji with its modifiers, a flag.
std::vector<std::string> split_words(std::string_view text, const TokenizerConfig& config);

/// A sentence ready to be fed.
struct Sentence {
  std::vector<Token> tokens;  // without begin and end
  std::size_t n_cut = 0;      // words beyond `max_tokens` that were left out, for the message
};

/// Splits, looks up, hashes unknown words to spare rows, cuts to `max_tokens` words. No word becomes a row
/// with a meaning of its own (padding, begin, end, spare), however it is spelled; any other mark of the
/// vocabulary, such as "<separator>", is one token. Where the vocabulary has "<separator>" and the text has
/// not, it is put behind the first "?" that has a word after it: between a question and its text. Errors
/// (where is empty: the caller knows): text.empty (no word at all), text.unknown_word (no spare rows; words:
/// all that are unknown) or text.unknown_word_near (near: those of the vocabulary that are spelled like
/// them), text.tokenizer_unsupported (a kind other than "word").
Result<Sentence> tokenize(std::string_view text, const Vocabulary& vocabulary, const TokenizerConfig& config,
                          std::size_t max_tokens);

/// The sentence's row: the vocabulary's begin token before and its end token after, where it has them.
std::vector<std::int32_t> token_row(const Sentence& sentence, const Vocabulary& vocabulary);

}  // namespace headscope::core
