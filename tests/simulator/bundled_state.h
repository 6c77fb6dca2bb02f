// The models that come with the program, as a window would open them.
#pragma once

#include "simulator/open_model.h"
#include "tests/source_folder.h"

#include <array>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace headscope::simulator::test {

inline constexpr std::array kBundled = {"look-ups", "copying", "translation", "sentiment", "questions"};

inline std::filesystem::path shipped_assets() {
  return headscope::tests::source_folder() / "assets";
}
inline std::filesystem::path shipped_lessons() {
  return headscope::tests::source_folder() / "lessons/content/en";
}

/// With an example of the model's task and its gold answer; or with a text, and for a translator with what it
/// should answer. Throws with the error's key.
inline AppState open_bundled(const std::string& name, const std::optional<std::string>& text = std::nullopt,
                             const std::optional<std::string>& target = std::nullopt) {
  core::Result<OpenedModel> model = open_model(name, shipped_assets());
  if (!model) throw std::runtime_error(model.error().key + " " + model.error().where);
  core::Result<AppState> state =
      open_state(*std::move(model), {.text = text, .target = target}, shipped_assets(), shipped_lessons());
  if (!state) throw std::runtime_error(state.error().key + " " + state.error().where);
  return *std::move(state);
}

}  // namespace headscope::simulator::test
