#include "core/graph.h"

#include <algorithm>
#include <cassert>

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
#ifndef NDEBUG
  std::vector<TensorId> differentiated;
  for (const Operand& operand : operands_of(operation))
    if (operand.is_differentiable) differentiated.push_back(operand.tensor);
  std::sort(differentiated.begin(), differentiated.end());
  assert(std::adjacent_find(differentiated.begin(), differentiated.end()) == differentiated.end() &&
         "an operation's backward pass writes each gradient once");
#endif
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

void Graph::replace_operation(std::size_t index, Operation operation) {
  assert(operands(operation) == operands(operations_[index]) &&
         result(operation) == result(operations_[index]));
  operations_[index] = operation;
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
