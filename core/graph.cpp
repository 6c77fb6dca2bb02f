#include "core/graph.h"

#include <cassert>
#include <variant>

namespace headscope::core {

std::string_view leaf(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

TensorId Graph::add_tensor(TensorSpec spec) {
  const TensorId id{static_cast<std::uint32_t>(specs_.size())};
  add_alias(spec.name, id);
  specs_.push_back(std::move(spec));
  producers_.emplace_back();
  return id;
}

void Graph::add_alias(std::string name, TensorId tensor) {
  [[maybe_unused]] const bool is_new = by_name_.emplace(name, tensor).second;
  assert(is_new && "a tensor's name is registered once");
  names_.emplace_back(std::move(name), tensor);
}

void Graph::add_operation(Operation operation) {
  const TensorId written = result(operation);
  assert(!producers_[written.index] && "a forward pass assigns a tensor once");
  producers_[written.index] = operations_.size();
  operations_.push_back(operation);
}

std::optional<TensorId> Graph::find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::size_t> Graph::producer(TensorId tensor) const {
  return producers_[tensor.index];
}

namespace {

struct OperandLister {
  std::vector<TensorId> operator()(const Lookup& op) const { return {op.ids, op.table}; }
  std::vector<TensorId> operator()(const SinusoidalPositions&) const { return {}; }
  std::vector<TensorId> operator()(const AddPositions& op) const { return {op.input, op.positions}; }
  std::vector<TensorId> operator()(const ProjectHeads& op) const {
    return with_bias(op.input, op.weight, op.bias);
  }
  std::vector<TensorId> operator()(const Scores& op) const { return {op.queries, op.keys}; }
  std::vector<TensorId> operator()(const ScaleScores& op) const { return {op.input}; }
  std::vector<TensorId> operator()(const MaskScores& op) const { return {op.input, op.lengths}; }
  std::vector<TensorId> operator()(const Softmax& op) const { return {op.input}; }
  std::vector<TensorId> operator()(const MixValues& op) const { return {op.weights, op.values}; }
  std::vector<TensorId> operator()(const ConcatHeads& op) const { return {op.input}; }
  std::vector<TensorId> operator()(const Linear& op) const { return with_bias(op.input, op.weight, op.bias); }
  std::vector<TensorId> operator()(const Add& op) const { return {op.left, op.right}; }
  std::vector<TensorId> operator()(const CrossEntropy& op) const {
    return {op.logits, op.probabilities, op.targets};
  }

  static std::vector<TensorId> with_bias(TensorId input, TensorId weight,
                                         const std::optional<TensorId>& bias) {
    std::vector<TensorId> tensors{input, weight};
    if (bias) tensors.push_back(*bias);
    return tensors;
  }
};

}  // namespace

std::vector<TensorId> operands(const Operation& operation) {
  return std::visit(OperandLister{}, operation);
}

TensorId result(const Operation& operation) {
  return std::visit([](const auto& op) { return op.output; }, operation);
}

Shape bind(const ShapeSpec& spec, const Sizes& sizes) {
  Shape shape;
  for (int place = 0; place < spec.rank(); ++place) {
    const Extent& extent = spec[place].extent;
    switch (extent.kind) {
      case Extent::Kind::fixed:
        shape.push_back(extent.size);
        break;
      case Extent::Kind::batch:
        shape.push_back(sizes.batch);
        break;
      case Extent::Kind::source:
        shape.push_back(sizes.source);
        break;
      case Extent::Kind::target:
        shape.push_back(sizes.target);
        break;
    }
  }
  return shape;
}

}  // namespace headscope::core
