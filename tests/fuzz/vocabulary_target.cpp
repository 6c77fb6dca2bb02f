// vocab.json: every token is found by its string, and any text becomes ids of the vocabulary.
#include "core/tokenizer.h"
#include "core/vocabulary.h"
#include "tests/fuzz/targets.h"

namespace headscope::fuzz {

void try_vocabulary(std::string_view bytes) {
  const core::Result<core::Vocabulary> vocabulary = core::Vocabulary::parse(std::string(bytes), "bytes");
  if (!vocabulary) return;
  promise(vocabulary->size() > 0, "no vocabulary is empty");
  for (std::int32_t id = 0; id < vocabulary->size(); ++id)
    promise(vocabulary->find(vocabulary->token(id)) == id, "a token is found by its string");

  const core::Result<core::Sentence> sentence =
      core::tokenize(bytes, *vocabulary, core::TokenizerConfig{.kind = "word", .lower_case = true}, 512);
  if (!sentence) return;
  promise(sentence->tokens.size() <= 512, "a sentence is cut to the words that fit");
  for (const std::int32_t id : core::token_row(*sentence, *vocabulary))
    promise(id >= 0 && id < vocabulary->size(), "a word's id is the vocabulary's");
}

}  // namespace headscope::fuzz
