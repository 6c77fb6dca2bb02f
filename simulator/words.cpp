#include "simulator/words.h"

#include "core/graph_paths.h"
#include "simulator/tensor_facts.h"

#include <algorithm>
#include <variant>

namespace headscope::simulator {
namespace {

using core::Axis;

/// "dropped" of "dropped2".
std::string_view without_number(std::string_view name) {
  return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

/// Logits, probabilities and losses are of words, of classes at a sentence or a position, or of a span's
/// ends.
std::string prediction_key(const core::TensorSpec& spec, std::string_view name) {
  const core::ShapeSpec& shape = spec.shape;
  std::string key(name);
  if (shape.find(Axis::output) >= 0) return "output_" + key;
  if (shape.find(Axis::edge) >= 0) return "span_" + key;
  if (shape.find(Axis::vocabulary) >= 0 || shape.find(Axis::query) >= 0) return key;
  return "class_" + key;
}

struct BackwardOperands {
  using Named = std::vector<std::pair<std::string_view, core::TensorId>>;

  Named operator()(const core::Lookup& op) const { return {{"table", op.table}}; }
  Named operator()(const core::SinusoidalPositions&) const { return {}; }
  Named operator()(const core::AddPositions& op) const {
    return {{"input", op.input}, {"positions", op.positions}};
  }
  Named operator()(const core::ProjectHeads& op) const { return with_bias(op); }
  Named operator()(const core::Scores& op) const { return {{"queries", op.queries}, {"keys", op.keys}}; }
  Named operator()(const core::ScaleScores& op) const { return {{"input", op.input}}; }
  Named operator()(const core::AddRelativeBias& op) const {
    return {{"input", op.input}, {"table", op.table}};
  }
  Named operator()(const core::MaskScores& op) const { return {{"input", op.input}}; }
  Named operator()(const core::MaskPositions& op) const { return {{"input", op.input}}; }
  Named operator()(const core::Softmax& op) const { return {{"input", op.input}}; }
  Named operator()(const core::DropoutMask&) const { return {}; }
  Named operator()(const core::ApplyDropout& op) const { return {{"input", op.input}}; }
  Named operator()(const core::MixValues& op) const {
    return {{"weights", op.weights}, {"values", op.values}};
  }
  Named operator()(const core::ConcatHeads& op) const { return {{"input", op.input}}; }
  Named operator()(const core::HeadContribution&) const { return {}; }
  Named operator()(const core::Linear& op) const { return with_bias(op); }
  Named operator()(const core::ProjectOutputs& op) const { return with_bias(op); }
  Named operator()(const core::Add& op) const { return {{"left", op.left}, {"right", op.right}}; }
  Named operator()(const core::RowMean& op) const { return {{"input", op.input}}; }
  Named operator()(const core::Centre& op) const { return {{"input", op.input}, {"mean", op.mean}}; }
  Named operator()(const core::InverseDeviation& op) const { return {{"input", op.input}}; }
  Named operator()(const core::ScaleRows& op) const { return {{"input", op.input}, {"factor", op.factor}}; }
  Named operator()(const core::ScaleAndShift& op) const {
    return {{"input", op.input}, {"gain", op.gain}, {"offset", op.offset}};
  }
  Named operator()(const core::Activate& op) const { return {{"input", op.input}}; }
  Named operator()(const core::Pool& op) const { return {{"input", op.input}}; }
  Named operator()(const core::SelectPosition& op) const { return {{"input", op.input}}; }
  Named operator()(const core::PointAt& op) const {
    return {{"start", op.start}, {"end", op.end}, {"input", op.input}};
  }
  Named operator()(const core::CrossEntropy& op) const { return {{"logits", op.logits}}; }
  Named operator()(const core::MeanLoss& op) const { return {{"input", op.input}}; }

  template <class Op>
  static Named with_bias(const Op& op) {
    Named named{{"input", op.input}, {"weight", op.weight}};
    if (op.bias) named.emplace_back("bias", *op.bias);
    return named;
  }
};

struct OperationKey {
  std::string_view operator()(const core::Lookup&) const { return "lookup"; }
  std::string_view operator()(const core::SinusoidalPositions&) const { return "sinusoidal_positions"; }
  std::string_view operator()(const core::AddPositions&) const { return "add_positions"; }
  std::string_view operator()(const core::ProjectHeads&) const { return "project_heads"; }
  std::string_view operator()(const core::Scores&) const { return "scores"; }
  std::string_view operator()(const core::ScaleScores&) const { return "scale_scores"; }
  std::string_view operator()(const core::AddRelativeBias&) const { return "add_relative_bias"; }
  std::string_view operator()(const core::MaskScores&) const { return "mask_scores"; }
  std::string_view operator()(const core::MaskPositions&) const { return "mask_positions"; }
  std::string_view operator()(const core::Softmax&) const { return "softmax"; }
  std::string_view operator()(const core::DropoutMask&) const { return "dropout_mask"; }
  std::string_view operator()(const core::ApplyDropout&) const { return "apply_dropout"; }
  std::string_view operator()(const core::MixValues&) const { return "mix_values"; }
  std::string_view operator()(const core::ConcatHeads&) const { return "concat_heads"; }
  std::string_view operator()(const core::HeadContribution&) const { return "head_contribution"; }
  std::string_view operator()(const core::Linear&) const { return "linear"; }
  std::string_view operator()(const core::ProjectOutputs&) const { return "project_outputs"; }
  std::string_view operator()(const core::Add&) const { return "add"; }
  std::string_view operator()(const core::RowMean&) const { return "row_mean"; }
  std::string_view operator()(const core::Centre&) const { return "centre"; }
  std::string_view operator()(const core::InverseDeviation&) const { return "inverse_deviation"; }
  std::string_view operator()(const core::ScaleRows&) const { return "scale_rows"; }
  std::string_view operator()(const core::ScaleAndShift&) const { return "scale_and_shift"; }
  std::string_view operator()(const core::Activate& op) const {
    switch (op.function) {
      case core::Activation::relu:
        return "relu";
      case core::Activation::gelu:
        return "gelu";
      case core::Activation::gelu_tanh:
        break;
    }
    return "gelu_tanh";
  }
  std::string_view operator()(const core::Pool& op) const {
    return op.pooling == core::Pooling::mean ? "pool_mean" : "pool_first";
  }
  std::string_view operator()(const core::SelectPosition&) const { return "select_position"; }
  std::string_view operator()(const core::PointAt&) const { return "point_at"; }
  std::string_view operator()(const core::CrossEntropy&) const { return "cross_entropy"; }
  std::string_view operator()(const core::MeanLoss&) const { return "mean_loss"; }
};

/// Those of backward_operands() that have a gradient.
std::vector<std::pair<std::string_view, core::TensorId>> receivers(const core::GradientPlan& gradients,
                                                                   const core::Operation& operation) {
  auto named = backward_operands(operation);
  std::erase_if(named, [&](const auto& operand) { return !gradients.has_gradient(operand.second); });
  return named;
}

std::string join(std::string_view first, std::string_view second) {
  std::string key(first);
  return key.append(".").append(second);
}

bool has_bias(const core::Operation& operation) {
  return std::visit(
      [](const auto& op) {
        if constexpr (requires { op.bias; })
          return op.bias.has_value();
        else
          return false;
      },
      operation);
}

/// Takes the brackets off, and what stands in them where it is not wanted.
std::string with_optional(std::string_view markup, bool is_wanted) {
  std::string text;
  bool is_within = false;
  for (const char letter : markup) {
    if (letter == '[' || letter == ']')
      is_within = letter == '[';
    else if (is_wanted || !is_within)
      text += letter;
  }
  return text;
}

std::string name_of(const core::Graph& graph, core::TensorId tensor, const lessons::TextCatalog& text) {
  return text.text("tensor." + text_key(graph.spec(tensor)) + ".name");
}

}  // namespace

core::Result<Words> Words::load(const std::filesystem::path& assets, const std::string& language) {
  core::Result<lessons::TextCatalog> text =
      lessons::TextCatalog::load(assets / "text" / (language + ".toml"));
  if (!text) return text.error();
  core::Result<lessons::TextCatalog> formulas = lessons::TextCatalog::load(assets / "formulas.toml");
  if (!formulas) return formulas.error();
  return Words{*std::move(text), *std::move(formulas)};
}

std::string text_key(const core::TensorSpec& spec) {
  const std::string_view name = core::leaf(spec.name), owner = core::leaf(core::owner(spec.name));
  if (name == "output") {
    if (owner.ends_with("attention")) return "attention_output";
    if (owner == "feed_forward") return "feed_forward_output";
    return owner.find("norm") != std::string_view::npos ? "norm_output" : "stack_output";
  }
  if (name == "gain" || name == "offset") return "norm_" + std::string(name);
  if (owner == "cross_attention" && (name == "keys" || name == "values")) return "cross_" + std::string(name);
  if (name == "masked_scores" && (owner == "cross_attention" || spec.name.starts_with("encoder.")))
    return "padded_scores";
  if (without_number(name) == "dropped") return "dropped";
  if (name != "dropout_mask" && without_number(name) == "dropout_mask") return "block_dropout_mask";
  if (name == "mean" || name == "centred" || name == "inverse_deviation" || name == "normalised")
    return std::string(name);
  if (name == "logits" || name == "probabilities" || name == "losses") return prediction_key(spec, name);
  std::string key = short_name(spec);
  std::ranges::replace(key, '.', '_');
  return key;
}

std::string_view operation_key(const core::Operation& operation) {
  return std::visit(OperationKey(), operation);
}

std::vector<std::pair<std::string_view, core::TensorId>> backward_operands(const core::Operation& operation) {
  return std::visit(BackwardOperands(), operation);
}

std::string_view optimiser_key(core::OptimiserKind kind) {
  return kind == core::OptimiserKind::adamw ? "adamw" : "sgd";
}

std::string edge_word(const lessons::TextCatalog& text, std::int64_t edge) {
  return text.text(edge == 0 ? "explainer.start" : "explainer.end");
}

std::string step_title(const core::Graph& graph, const core::Step& step, const lessons::TextCatalog& text) {
  if (step.phase == core::Phase::update)
    return text.text("update.title", {{"name", name_of(graph, step.parameter, text)}});
  const core::Operation& operation = graph.operations()[step.operation];
  const core::TensorId result = core::result(operation);
  if (step.phase == core::Phase::forward)
    return text.text("tensor." + text_key(graph.spec(result)) + ".title");
  return text.text(join("backward", operation_key(operation)) + ".title",
                   {{"name", name_of(graph, result, text)}});
}

std::string step_name(const core::Graph& graph, const core::Step& step, const lessons::TextCatalog& text) {
  const core::TensorId tensor =
      step.phase == core::Phase::update ? step.parameter : core::result(graph.operations()[step.operation]);
  const std::string name = name_of(graph, tensor, text);
  return step.phase == core::Phase::backward ? "∂ " + name : name;
}

std::string forward_formula(const core::Graph& graph, const core::Operation& operation,
                            const lessons::TextCatalog& formulas) {
  const std::string key = text_key(graph.spec(core::result(operation))) + ".formula";
  return formulas.has(key) ? with_optional(formulas.text(key), has_bias(operation)) : std::string();
}

std::vector<std::string> step_formulas(const core::Graph& graph, const core::GradientPlan& gradients,
                                       const core::Step& step, core::OptimiserKind optimiser,
                                       const lessons::TextCatalog& formulas) {
  std::vector<std::string> found;
  const auto add = [&](const std::string& key) {
    if (formulas.has(key)) found.push_back(formulas.text(key));
  };
  if (step.phase == core::Phase::update) {
    for (const char* line : {"first_moment", "second_moment", "value"})
      add(join("update", optimiser_key(optimiser)) + "." + line);
    return found;
  }
  const core::Operation& operation = graph.operations()[step.operation];
  if (step.phase == core::Phase::forward) {
    if (std::string formula = forward_formula(graph, operation, formulas); !formula.empty())
      found.push_back(std::move(formula));
    return found;
  }
  for (const auto& [name, tensor] : receivers(gradients, operation))
    add(join(join("backward", operation_key(operation)), name));
  return found;
}

std::vector<core::TensorId> step_results(const core::Graph& graph, const core::GradientPlan& gradients,
                                         const core::Step& step) {
  if (step.phase == core::Phase::update) return {step.parameter};
  const core::Operation& operation = graph.operations()[step.operation];
  if (step.phase == core::Phase::forward) return {core::result(operation)};
  std::vector<core::TensorId> results;
  for (const auto& [name, tensor] : receivers(gradients, operation))
    if (std::ranges::find(results, tensor) == results.end()) results.push_back(tensor);
  return results;
}

}  // namespace headscope::simulator
