#include "core/stepper.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

namespace headscope::core {
namespace {

/// Copies parameters and inputs; results are computed anew.
template <class From, class To>
void copy_givens(const Graph& graph, const Workspace<From>& from, Workspace<To>& to) {
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
    const TensorId tensor{index};
    const TensorSpec& spec = graph.spec(tensor);
    if (spec.role == Role::activation) continue;
    if (spec.element == Element::integer)
      std::ranges::copy(from.integers(tensor), to.integers(tensor).begin());
    else
      std::ranges::transform(from.values(tensor), to.values(tensor).begin(),
                             [](From number) { return static_cast<To>(number); });
  }
}

/// The first operation that a cell of the tensor takes part in: its own, or of a parameter the first that
/// reads it.
std::size_t first_operation(const Graph& graph, TensorId tensor) {
  if (const std::optional<std::size_t> producer = graph.producer(tensor)) return *producer;
  const auto reads = [&](const Operation& operation) {
    return std::ranges::count(operands(operation), tensor) > 0;
  };
  return static_cast<std::size_t>(std::ranges::find_if(graph.operations(), reads) -
                                  graph.operations().begin());
}

}  // namespace

template <class T>
Stepper<T>::Stepper(const Graph& graph, const Sizes& capacity)
    : graph_(graph),
      workspace_(graph, capacity, WithGradients::yes),
      steps_(graph, workspace_.gradient_plan()),
      cursor_(steps_.size()) {
  for (AlignedVector<T>* numbers : {&first_, &second_, &previous_value_, &previous_first_, &previous_second_})
    numbers->resize(workspace_.parameters().size());
  update_.first = first_, update_.second = second_;
  update_.previous_value = previous_value_;
  update_.previous_first = previous_first_, update_.previous_second = previous_second_;
}

template <class T>
void Stepper<T>::set_optimiser(const OptimiserConfig& config, std::int64_t step, std::span<const T> first,
                               std::span<const T> second) {
  assert(n_updated() == 0 && step >= 1);
  update_.config = config;
  update_.step = step;
  const auto set = [](std::span<const T> from, AlignedVector<T>& to) {
    assert(from.empty() || from.size() == to.size());
    if (from.empty())
      std::ranges::fill(to, T{0});
    else
      std::ranges::copy(from, to.begin());
  };
  set(first, first_), set(second, second_);
}

template <class T>
void Stepper<T>::restart() {
  for (std::size_t place = n_updated(); place-- > 0;) restore_moments(steps_.parameters()[place]);
  cursor_.move_to(0);
  n_forward_run_ = n_backward_run_ = 0;
}

template <class T>
void Stepper<T>::move_to(std::size_t position) {
  position = std::min(position, steps_.size());
  // updates are taken back first, since backward passes read the parameters
  const std::size_t n_updates = steps_.updates_done(position);
  for (std::size_t place = n_updated(); place-- > n_updates;) {
    const TensorId parameter = steps_.parameters()[place];
    const std::size_t offset = workspace_.plan().offset(parameter);
    const std::span<T> values = workspace_.values(parameter);
    std::copy_n(previous_value_.data() + offset, values.size(), values.begin());
    restore_moments(parameter);
  }
  if (const std::size_t forward = std::min(position, steps_.n_forward()); forward > n_forward_run_) {
    run_forward(graph_, workspace_, n_forward_run_, forward, options_);
    n_forward_run_ = forward;
  }
  run_backward_to(steps_.backward_done(position));
  if (n_updates > 0 && n_updated() == 0)
    update_.factors = factors_at(update_.config, update_.step, gradient_norm());
  for (std::size_t place = n_updated(); place < n_updates; ++place) update(steps_.parameters()[place]);
  cursor_.move_to(position);
}

template <class T>
void Stepper<T>::run_backward_to(std::size_t done) {
  if (done < n_backward_run_) n_backward_run_ = 0;  // gradients add up: an earlier moment is run anew
  if (done > n_backward_run_) run_backward(graph_, workspace_, n_backward_run_, done, options_);
  n_backward_run_ = done;
}

/// √Σ g² over all parameters, as the training step adds it up.
template <class T>
double Stepper<T>::gradient_norm() const {
  double sum = 0;
  for (const TensorId parameter : steps_.parameters()) {
    const std::span<const T> gradients = workspace_.gradients(parameter);
    for (std::size_t at = 0; at < gradients.size(); at += kNormPiece)
      sum += square_sum<T>(gradients.subspan(at, std::min(kNormPiece, gradients.size() - at)));
  }
  return std::sqrt(sum);
}

template <class T>
void Stepper<T>::update(TensorId parameter) {
  const std::size_t begin = workspace_.plan().offset(parameter);
  const std::span<T> values = workspace_.values(parameter);
  const std::span<const T> gradients = std::as_const(workspace_).gradients(parameter);
  const auto part = [&](AlignedVector<T>& numbers) {
    return std::span(numbers).subspan(begin, values.size());
  };
  std::ranges::copy(values, part(previous_value_).begin());
  std::ranges::copy(part(first_), part(previous_first_).begin());
  std::ranges::copy(part(second_), part(previous_second_).begin());
  const bool has_second = update_.config.kind == OptimiserKind::adamw;
  update_numbers<T>(update_.config, update_.factors, values, gradients, part(first_),
                    has_second ? part(second_) : std::span<T>());
}

template <class T>
void Stepper<T>::restore_moments(TensorId parameter) {
  const std::size_t offset = workspace_.plan().offset(parameter), count = workspace_.values(parameter).size();
  std::copy_n(previous_first_.data() + offset, count, first_.data() + offset);
  std::copy_n(previous_second_.data() + offset, count, second_.data() + offset);
}

template class Stepper<float>;
template class Stepper<double>;

template <class T>
GradientChecker::GradientChecker(const Graph& graph, const Workspace<T>& workspace, const RunOptions& options,
                                 GoOn go_on)
    : graph_(graph),
      workspace_(graph, workspace.sizes(), WithGradients::yes),
      moved_(graph, workspace.sizes()),
      interventions_(options.interventions ? *options.interventions : Interventions{}),
      options_(options),
      go_on_(std::move(go_on)) {
  copy_givens(graph, workspace, workspace_);
  options_.interventions = &interventions_;
  forward(workspace_, 0);
  backward();
  copy_givens(graph, workspace_, moved_);
  forward(moved_, 0);
}
template GradientChecker::GradientChecker(const Graph&, const Workspace<float>&, const RunOptions&, GoOn);
template GradientChecker::GradientChecker(const Graph&, const Workspace<double>&, const RunOptions&, GoOn);

std::size_t GradientChecker::n_operations_to_make(const Graph& graph) {
  return 2 * graph.operations().size() + GradientPlan(graph).operations().size();
}

std::size_t GradientChecker::n_operations_to_check(const Graph& graph, TensorId tensor) {
  constexpr std::size_t kRuns = 5;  // four losses, and back to how it was
  return kRuns * (graph.operations().size() - first_operation(graph, tensor));
}

void GradientChecker::forward(Workspace<double>& workspace, std::size_t begin) {
  for (std::size_t operation = begin; operation < graph_.operations().size() && !is_stopped_; ++operation) {
    run_forward(graph_, workspace, operation, operation + 1, options_);
    is_stopped_ = go_on_ && !go_on_();
  }
}

void GradientChecker::backward() {
  const std::size_t n = workspace_.gradient_plan().operations().size();
  for (std::size_t place = 0; place < n && !is_stopped_; ++place) {
    run_backward(graph_, workspace_, place, place + 1, options_);
    is_stopped_ = go_on_ && !go_on_();
  }
}

double GradientChecker::loss_at(TensorId tensor, const Cell& cell, double x, std::size_t begin) {
  if (graph_.spec(tensor).role == Role::parameter)
    moved_.values(tensor)[static_cast<std::size_t>(moved_.shape(tensor).flat(cell))] = x;
  else
    interventions_.overrides.back().values[0] = x;
  forward(moved_, begin);
  return moved_.values(moved_.gradient_plan().loss())[0];
}

/// Which inputs of the graph's ReLUs are above 0.
std::vector<bool> GradientChecker::signs() const {
  std::vector<bool> signs;
  for (const Operation& operation : graph_.operations())
    if (const auto* op = std::get_if<Activate>(&operation); op && op->function == Activation::relu)
      for (const double input : moved_.values(op->input)) signs.push_back(input > 0);
  return signs;
}

GradientCheck GradientChecker::check(TensorId tensor, const Cell& cell) {
  const auto place = static_cast<std::size_t>(workspace_.shape(tensor).flat(cell));
  const double x = workspace_.values(tensor)[place];
  // a masked score stays -∞ wherever it is moved: no difference
  if (std::isinf(x)) return {.analytic = workspace_.gradients(tensor)[place]};
  const bool is_parameter = graph_.spec(tensor).role == Role::parameter;
  if (!is_parameter) interventions_.overrides.push_back(set_cell(tensor, cell, x));
  const std::size_t begin = first_operation(graph_, tensor);
  const std::vector<bool> unmoved = signs();

  GradientCheck check;
  check.analytic = workspace_.gradients(tensor)[place];
  for (const double share : {3e-4, 3e-5, 3e-6}) {
    check.step = share * std::max(1.0, std::abs(x));
    check.crosses_kink = false;
    std::array<double, 4> losses{};
    constexpr std::array<double, 4> kPlaces = {-2, -1, 1, 2};
    for (std::size_t at = 0; at < kPlaces.size(); ++at) {
      losses[at] = loss_at(tensor, cell, x + kPlaces[at] * check.step, begin);
      check.crosses_kink = check.crosses_kink || signs() != unmoved;
    }
    check.numeric = (8 * (losses[2] - losses[1]) - (losses[3] - losses[0])) / (12 * check.step);
    // each loss carries a few roundings of its own size; their factors add up to 18
    check.rounding =
        4 * 18 * std::numeric_limits<double>::epsilon() * std::abs(losses[1]) / (12 * check.step);
    if (!check.crosses_kink || is_stopped_) break;
  }
  if (is_parameter)
    moved_.values(tensor)[place] = x;
  else
    interventions_.overrides.pop_back();
  forward(moved_, begin);  // as it was
  return check;
}

template <class T>
GradientCheck check_gradient(const Graph& graph, const Workspace<T>& workspace, const RunOptions& options,
                             TensorId tensor, const Cell& cell) {
  return GradientChecker(graph, workspace, options).check(tensor, cell);
}
template GradientCheck check_gradient(const Graph&, const Workspace<float>&, const RunOptions&, TensorId,
                                      const Cell&);
template GradientCheck check_gradient(const Graph&, const Workspace<double>&, const RunOptions&, TensorId,
                                      const Cell&);

}  // namespace headscope::core
