// Everything that a session computes: graph, numbers, cursor, and what follows from a setup. session.h is
// what others see of it.
#pragma once

#include "core/detached_checker.h"
#include "core/session.h"
#include "core/session_text.h"

#include <memory>
#include <span>
#include <vector>

namespace headscope::core {

/// How many numbers a session may hold, 1.6 GB of them: parameters with gradient, moments and what they were
/// before an update, activations with their gradients.
inline constexpr int kMostNumbers = 400'000'000;

double n_numbers(const Graph& graph, const Sizes& capacity);

/// Everything that is computed. Lies on the heap: the stepper and the interventions are pointed at.
struct Session::Engine {
  Engine(std::shared_ptr<const SessionModel> of, Graph built)
      : model(std::move(of)), original(std::move(built)), graph(original), inputs(find_inputs(graph)) {}

  std::shared_ptr<const SessionModel> model;
  Graph original;  // as build_graph() made it
  Graph graph;     // with the setup's switches
  Inputs inputs;
  std::unique_ptr<Stepper<float>> stepper;  // none before the first set()
  Interventions interventions;
  Setup setup;
  Typed typed;
  std::vector<Token> words, target_words;
  std::vector<std::string> class_names;
  bool has_gold = false;
  std::size_t n_steps = 0;
  mutable std::shared_ptr<DetachedChecker> checker;  // of the numbers as they are, once it was asked for

  Result<void> set(Setup next);
  /// Of one sentence of such sizes.
  Sizes capacity_for(const Sizes& needed) const;
  Result<void> check_edit(const Sizes& sizes, TensorId tensor, const Cell& cell, double value) const;
  template <class Op>
  bool is_result_of(TensorId tensor) const;
  Result<void> check_head(const HeadAddress& address) const;
  Result<void> check_switches(const Setup& next) const;
  std::span<const float> base_parameters() const {
    return setup.trained ? setup.trained->parameters : model->parameters;
  }
  std::vector<Override> head_overrides() const;
  void put_givens();
  void put_edits();
  /// The workspace as it was before any update.
  Workspace<float> before_update() const;
};

}  // namespace headscope::core
