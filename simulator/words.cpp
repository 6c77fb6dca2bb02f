#include "simulator/words.h"

#include "simulator/tensor_facts.h"

#include <algorithm>

namespace headscope::simulator {

core::Result<Words> Words::load(const std::filesystem::path& assets, const std::string& language) {
  core::Result<lessons::TextCatalog> text =
      lessons::TextCatalog::load(assets / "text" / (language + ".toml"));
  if (!text) return text.error();
  core::Result<lessons::TextCatalog> formulas = lessons::TextCatalog::load(assets / "formulas.toml");
  if (!formulas) return formulas.error();
  return Words{*std::move(text), *std::move(formulas)};
}

std::string text_key(const core::TensorSpec& spec) {
  if (spec.name.ends_with("attention.output")) return "attention_output";
  std::string key = short_name(spec);
  std::ranges::replace(key, '.', '_');
  return key;
}

}  // namespace headscope::simulator
