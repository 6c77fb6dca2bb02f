// A model as large as the window is meant for.
#pragma once

#include "simulator/actions.h"
#include "tests/source_folder.h"

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator::test {

/// A decoder of 512 tokens and 64 heads, with its own answer taken for right.
inline AppState large_state() {
  core::ModelConfig config;
  config.architecture = core::Architecture::decoder;
  config.objective = core::Objective::language_model;
  config.vocab_size = 600;
  config.d_model = 512, config.n_heads = 64, config.d_head = 8, config.n_layers = 1, config.d_ff = 512;
  config.max_tokens = 520;
  config.norm = core::Norm::pre;
  config.bias = true;
  std::vector<std::string> words = {"<pad>", "<unknown 0>"};
  while (words.size() < 600) words.push_back("word" + std::to_string(words.size()));
  core::Result<core::Vocabulary> vocabulary = core::Vocabulary::make(words, "bench");
  if (!vocabulary) throw std::runtime_error(vocabulary.error().key);
  std::string sentence;
  for (std::size_t at = 0; at < 512; ++at) sentence += words[2 + (at * 37) % 590] + " ";
  core::Result<core::Session> session = core::Session::make(
      core::SeedModel{.config = config, .vocabulary = *std::move(vocabulary), .seed = 3}, sentence);
  if (!session) throw std::runtime_error(session.error().key + " " + session.error().where);
  const std::filesystem::path root = headscope::tests::source_folder();
  core::Result<AppState> state = open_session(root / "assets", root / "lessons/content/en",
                                              *std::move(session), "512 tokens, 64 heads", nullptr);
  if (!state) throw std::runtime_error(state.error().key + " " + state.error().where);
  if (state->session.predict_gold()) apply_action(*state, AssumeGold{});
  return *std::move(state);
}

}  // namespace headscope::simulator::test
