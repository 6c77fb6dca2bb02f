#include "simulator/tensor_facts.h"

#include <algorithm>
#include <array>
#include <utility>

namespace headscope::simulator {

std::string_view quantity_of(std::string_view tensor_name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kQuantities = {{
      {"queries", "queries"},
      {"w_query", "queries"},
      {"b_query", "queries"},
      {"keys", "keys"},
      {"w_key", "keys"},
      {"b_key", "keys"},
      {"values", "values"},
      {"w_value", "values"},
      {"b_value", "values"},
      {"scores", "scores"},
      {"scaled_scores", "scores"},
      {"biased_scores", "scores"},
      {"relative_bias", "scores"},
      {"masked_scores", "scores"},
      {"weights", "weights"},
      {"dropout_mask", "weights"},
      {"dropped_weights", "weights"},
      {"head_output", "output"},
      {"concat", "output"},
      {"head_contribution", "output"},
      {"w_output", "output"},
      {"b_output", "output"},
  }};
  if (tensor_name.starts_with("span.")) return "";  // a pointer's scores are no head's
  const std::string_view name = core::leaf(tensor_name);
  for (const auto& [leaf, quantity] : kQuantities)
    if (leaf == name) return quantity;
  return tensor_name.ends_with("attention.output") ? "output" : "";
}

Range range_of(const core::TensorSpec& spec) {
  if (spec.element == core::Element::integer) return Range::whole_numbers;
  const std::string_view name = core::leaf(spec.name);
  return name == "weights" || name == "probabilities" ? Range::shares : Range::signed_values;
}

lessons::NumberKind number_kind_of(const core::TensorSpec& spec) {
  switch (range_of(spec)) {
    case Range::whole_numbers:
      return lessons::NumberKind::integer;
    case Range::shares:
      return lessons::NumberKind::probability;
    case Range::signed_values:
      break;
  }
  return spec.name == "loss" || spec.name == "losses" ? lessons::NumberKind::loss
                                                      : lessons::NumberKind::value;
}

std::string short_name(const core::TensorSpec& spec) {
  static constexpr std::array<std::string_view, 12> kOfMany = {"weight",
                                                               "bias",
                                                               "gain",
                                                               "offset",
                                                               "ids",
                                                               "lengths",
                                                               "targets",
                                                               "types",
                                                               "mean",
                                                               "centred",
                                                               "inverse_deviation",
                                                               "normalised"};
  const std::string_view name = core::leaf(spec.name);
  // the lessons' "output" is an attention's
  const bool is_other_output = name == "output" && !spec.name.ends_with("attention.output");
  if (name.size() == spec.name.size() || (std::ranges::find(kOfMany, name) == kOfMany.end() &&
                                          !is_other_output && !spec.name.starts_with("span.")))
    return std::string(name);
  const std::string_view owner = std::string_view(spec.name).substr(0, spec.name.size() - name.size() - 1);
  return std::string(core::leaf(owner)) + "." + std::string(name);
}

}  // namespace headscope::simulator
