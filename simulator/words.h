// The words of the faces: a language's sentences, and the formulas, which are the same in every language.
#pragma once

#include "core/graph.h"
#include "core/result.h"
#include "core/steps.h"
#include "core/training/optimiser.h"
#include "lessons/text_catalog.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::simulator {

struct Words {
  lessons::TextCatalog text;
  lessons::TextCatalog formulas;

  /// Reads text/LANGUAGE.toml and formulas.toml under `assets`. Errors: those of TextCatalog::load().
  static core::Result<Words> load(const std::filesystem::path& assets, const std::string& language);
};

/// The key of a tensor's entry in both: "scores", "attention_output", "unembedding_weight". Tensors that mean
/// something else in another place have a key of their own there: the logits of words ("logits") and of
/// classes
/// ("class_logits"), the keys of a cross-attention ("cross_keys").
std::string text_key(const core::TensorSpec& spec);

/// The key of an operation's backward pass below "backward": "project_heads", "scores".
std::string_view operation_key(const core::Operation& operation);

/// The operands to which the operation's backward pass sends a gradient, each with the name that its formula
/// has: backward.KEY.NAME of the formulas. The operation's field of that tensor.
std::vector<std::pair<std::string_view, core::TensorId>> backward_operands(const core::Operation& operation);

/// The key of an optimiser's entry below "update": "adamw", "sgd".
std::string_view optimiser_key(core::OptimiserKind kind);

/// An end of a span: "start" for 0, "end" for 1.
std::string edge_word(const lessons::TextCatalog& text, std::int64_t edge);

/// One line about a step: the tensor's title, whose gradients are passed on, or which parameter is updated.
std::string step_title(const core::Graph& graph, const core::Step& step, const lessons::TextCatalog& text);

/// A step in a word or two: the result's name, ∂ and what was passed back, or the parameter's.
std::string step_name(const core::Graph& graph, const core::Step& step, const lessons::TextCatalog& text);

/// What an operation computes, as markup, with its bias where it has one; empty where there is no formula.
std::string forward_formula(const core::Graph& graph, const core::Operation& operation,
                            const lessons::TextCatalog& formulas);

/// The formulas of a step, as markup: one, or for a backward pass one for each operand that has a gradient.
std::vector<std::string> step_formulas(const core::Graph& graph, const core::GradientPlan& gradients,
                                       const core::Step& step, core::OptimiserKind optimiser,
                                       const lessons::TextCatalog& formulas);

/// The tensors that a step writes: one, or the gradients of several.
std::vector<core::TensorId> step_results(const core::Graph& graph, const core::GradientPlan& gradients,
                                         const core::Step& step);

}  // namespace headscope::simulator
