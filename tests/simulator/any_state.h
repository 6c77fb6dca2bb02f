// States of every kind of model, without a lesson, as a window would open them.
#pragma once

#include "simulator/actions.h"
#include "tests/core/every_model.h"
#include "tests/source_folder.h"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator::test {

/// "the", "cat", … and "w9", …: words that a window may show.
inline core::Vocabulary some_words(std::int64_t size, const std::vector<std::string>& marks) {
  std::vector<std::string> tokens = marks;
  for (const char* word : {"the", "cat", "sat", "on", "a", "mat", "."})
    if (static_cast<std::int64_t>(tokens.size()) < size) tokens.emplace_back(word);
  while (static_cast<std::int64_t>(tokens.size()) < size)
    tokens.push_back("w" + std::to_string(tokens.size()));
  return *core::Vocabulary::make(tokens, "test");
}

inline core::Session some_session(const core::ModelConfig& config,
                                  const std::string& sentence = "the cat sat on") {
  core::SeedModel model{
      .config = config, .vocabulary = some_words(config.vocab_size, {"<pad>", "<unknown 0>"}), .seed = 5};
  if (config.architecture == core::Architecture::encoder_decoder)
    model.target_vocabulary = some_words(config.target_vocab_size, {"<pad>", "<begin>", "<end>"});
  core::Result<core::Session> session = core::Session::make(std::move(model), sentence);
  if (!session) throw std::runtime_error(session.error().key + " " + session.error().where);
  return *std::move(session);
}

/// The model before its first step, seen whole; with its own answer taken for right where it needs one.
inline AppState open_any(const core::test::NamedConfig& named) {
  const std::filesystem::path root = headscope::tests::source_folder();
  core::Result<AppState> state = open_session(root / "assets", root / "lessons/content/en",
                                              some_session(named.config), named.name, nullptr);
  if (!state) throw std::runtime_error(state.error().key + " " + state.error().where);
  if (state->session.predict_gold()) apply_action(*state, AssumeGold{});
  state->undo.clear();
  state->initial = state->session.setup();
  return *std::move(state);
}

}  // namespace headscope::simulator::test
