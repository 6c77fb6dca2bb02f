// The words of the faces: a language's sentences, and the formulas, which are the same in every language.
#pragma once

#include "core/graph.h"
#include "core/result.h"
#include "lessons/text_catalog.h"

#include <filesystem>
#include <string>

namespace headscope::simulator {

struct Words {
  lessons::TextCatalog text;
  lessons::TextCatalog formulas;

  /// Reads text/LANGUAGE.toml and formulas.toml under `assets`. Errors: those of TextCatalog::load().
  static core::Result<Words> load(const std::filesystem::path& assets, const std::string& language);
};

/// The key of a tensor's entry in both: "scores", "attention_output", "unembedding_weight".
std::string text_key(const core::TensorSpec& spec);

}  // namespace headscope::simulator
