// The named graph: every tensor registered once, every operation in the order in which it runs. What is
// executed, differentiated, stepped, explained and drawn comes from here; the numbers are in a Workspace.
#pragma once

#include "core/operations.h"
#include "core/shape.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headscope::core {

enum class Role : std::uint8_t { input, parameter, activation };
enum class Element : std::uint8_t { real, integer };  // integers: token ids, lengths, targets

struct TensorSpec {
  std::string name;    // a path, "decoder.block0.self_attention.scores"; docs/model-format.md fixes them
  std::string symbol;  // the paper's, "W_Q"
  ShapeSpec shape;
  Role role = Role::activation;
  Element element = Element::real;
};

/// The last part of a path: "scores" of "decoder.block0.self_attention.scores".
std::string_view leaf(std::string_view name);

class Graph {
 public:
  /// Registers a tensor. Precondition: the name is new.
  TensorId add_tensor(TensorSpec spec);
  /// A second name for a tensor that a sub-layer passes on unchanged: "decoder.output" of the last block's.
  void add_alias(std::string name, TensorId tensor);
  /// Appends an operation. Precondition: what it reads exists, and nothing wrote its result before.
  void add_operation(Operation operation);

  std::size_t n_tensors() const { return specs_.size(); }
  const TensorSpec& spec(TensorId tensor) const { return specs_[tensor.index]; }
  std::span<const TensorSpec> specs() const { return specs_; }
  std::span<const Operation> operations() const { return operations_; }
  /// Every name with its tensor, aliases included, in the order in which they were made.
  std::span<const std::pair<std::string, TensorId>> names() const { return names_; }

  std::optional<TensorId> find(std::string_view name) const;
  /// The operation that writes the tensor; none for inputs and parameters.
  std::optional<std::size_t> producer(TensorId tensor) const;
  /// Puts an operation in another's place: another mask, scale or temperature. Precondition: it reads and
  /// writes the same tensors.
  void replace_operation(std::size_t index, Operation operation);

 private:
  std::vector<TensorSpec> specs_;
  std::vector<std::optional<std::size_t>> producers_;
  std::vector<Operation> operations_;
  std::vector<std::pair<std::string, TensorId>> names_;
  std::unordered_map<std::string, TensorId> by_name_;
};

}  // namespace headscope::core
