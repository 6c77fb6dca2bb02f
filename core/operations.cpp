// What each operation reads and writes. No arithmetic.
#include "core/operations.h"

namespace headscope::core {
namespace {

constexpr bool kFixed = false;  // no derivative

struct OperandLister {
  using Operands = std::vector<Operand>;

  Operands operator()(const Lookup& op) const { return {{op.ids, kFixed}, {op.table}}; }
  Operands operator()(const SinusoidalPositions&) const { return {}; }
  Operands operator()(const AddPositions& op) const { return {{op.input}, {op.positions}}; }
  Operands operator()(const ProjectHeads& op) const { return with_bias(op); }
  Operands operator()(const Scores& op) const { return {{op.queries}, {op.keys}}; }
  Operands operator()(const ScaleScores& op) const { return {{op.input}}; }
  Operands operator()(const AddRelativeBias& op) const { return {{op.input}, {op.table}}; }
  Operands operator()(const MaskScores& op) const { return {{op.input}, {op.lengths, kFixed}}; }
  Operands operator()(const MaskPositions& op) const { return {{op.input}, {op.lengths, kFixed}}; }
  Operands operator()(const Softmax& op) const { return {{op.input}}; }
  Operands operator()(const DropoutMask&) const { return {}; }
  Operands operator()(const ApplyDropout& op) const { return {{op.input}, {op.mask, kFixed}}; }
  Operands operator()(const MixValues& op) const { return {{op.weights}, {op.values}}; }
  Operands operator()(const ConcatHeads& op) const { return {{op.input}}; }
  Operands operator()(const HeadContribution& op) const {
    return {{op.input, kFixed}, {op.weight, kFixed}};  // nothing reads the result
  }
  Operands operator()(const Linear& op) const { return with_bias(op); }
  Operands operator()(const ProjectOutputs& op) const { return with_bias(op); }
  Operands operator()(const Add& op) const { return {{op.left}, {op.right}}; }
  Operands operator()(const RowMean& op) const { return {{op.input}}; }
  Operands operator()(const Centre& op) const { return {{op.input}, {op.mean}}; }
  Operands operator()(const InverseDeviation& op) const { return {{op.input}}; }
  Operands operator()(const ScaleRows& op) const { return {{op.input}, {op.factor}}; }
  Operands operator()(const ScaleAndShift& op) const { return {{op.input}, {op.gain}, {op.offset}}; }
  Operands operator()(const Activate& op) const { return {{op.input}}; }
  Operands operator()(const Pool& op) const { return {{op.input}, {op.lengths, kFixed}}; }
  Operands operator()(const SelectPosition& op) const { return {{op.input}, {op.positions, kFixed}}; }
  Operands operator()(const PointAt& op) const { return {{op.start}, {op.end}, {op.input}}; }
  Operands operator()(const CrossEntropy& op) const {
    return {{op.logits}, {op.probabilities, kFixed}, {op.targets, kFixed}};
  }
  Operands operator()(const MeanLoss& op) const { return {{op.input}, {op.targets, kFixed}}; }

  template <class Op>
  static Operands with_bias(const Op& op) {
    Operands operands{{op.input}, {op.weight}};
    if (op.bias) operands.push_back({*op.bias});
    return operands;
  }
};

struct KindNamer {
  std::string_view operator()(const Lookup&) const { return "lookup"; }
  std::string_view operator()(const SinusoidalPositions&) const { return "sinusoidal_positions"; }
  std::string_view operator()(const AddPositions&) const { return "add_positions"; }
  std::string_view operator()(const ProjectHeads&) const { return "project_heads"; }
  std::string_view operator()(const Scores&) const { return "scores"; }
  std::string_view operator()(const ScaleScores&) const { return "scale_scores"; }
  std::string_view operator()(const AddRelativeBias&) const { return "add_relative_bias"; }
  std::string_view operator()(const MaskScores&) const { return "mask_scores"; }
  std::string_view operator()(const MaskPositions&) const { return "mask_positions"; }
  std::string_view operator()(const Softmax&) const { return "softmax"; }
  std::string_view operator()(const DropoutMask&) const { return "dropout_mask"; }
  std::string_view operator()(const ApplyDropout&) const { return "apply_dropout"; }
  std::string_view operator()(const MixValues&) const { return "mix_values"; }
  std::string_view operator()(const ConcatHeads&) const { return "concat_heads"; }
  std::string_view operator()(const HeadContribution&) const { return "head_contribution"; }
  std::string_view operator()(const Linear&) const { return "linear"; }
  std::string_view operator()(const ProjectOutputs&) const { return "project_outputs"; }
  std::string_view operator()(const Add&) const { return "add"; }
  std::string_view operator()(const RowMean&) const { return "row_mean"; }
  std::string_view operator()(const Centre&) const { return "centre"; }
  std::string_view operator()(const InverseDeviation&) const { return "inverse_deviation"; }
  std::string_view operator()(const ScaleRows&) const { return "scale_rows"; }
  std::string_view operator()(const ScaleAndShift&) const { return "scale_and_shift"; }
  std::string_view operator()(const Activate&) const { return "activate"; }
  std::string_view operator()(const Pool&) const { return "pool"; }
  std::string_view operator()(const SelectPosition&) const { return "select_position"; }
  std::string_view operator()(const PointAt&) const { return "point_at"; }
  std::string_view operator()(const CrossEntropy&) const { return "cross_entropy"; }
  std::string_view operator()(const MeanLoss&) const { return "mean_loss"; }
};

}  // namespace

std::string_view kind_of(const Operation& operation) {
  return std::visit(KindNamer{}, operation);
}

std::vector<Operand> operands_of(const Operation& operation) {
  return std::visit(OperandLister{}, operation);
}

std::vector<TensorId> operands(const Operation& operation) {
  std::vector<TensorId> tensors;
  for (const Operand& operand : operands_of(operation)) tensors.push_back(operand.tensor);
  return tensors;
}

TensorId result(const Operation& operation) {
  return std::visit([](const auto& op) { return op.output; }, operation);
}

}  // namespace headscope::core
