#include "core/detached_checker.h"

#include <algorithm>
#include <utility>

namespace headscope::core {

DetachedChecker::DetachedChecker(const Graph& graph, const Workspace<float>& workspace,
                                 const UpdateView<float>& update, std::span<const TensorId> updated,
                                 const Interventions& interventions)
    : graph_(graph),
      sizes_(workspace.sizes()),
      reals_(graph.n_tensors()),
      integers_(graph.n_tensors()),
      interventions_(interventions) {
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
    const TensorId tensor{index};
    const TensorSpec& spec = graph.spec(tensor);
    if (spec.role == Role::activation) continue;
    if (spec.element == Element::integer) {
      const std::span<const std::int32_t> values = workspace.integers(tensor);
      integers_[index].assign(values.begin(), values.end());
    } else {
      const std::span<const float> values = workspace.values(tensor);
      reals_[index].assign(values.begin(), values.end());
    }
  }
  for (const TensorId parameter : updated) {
    std::vector<float>& values = reals_[parameter.index];
    std::copy_n(update.previous_value.data() + workspace.plan().offset(parameter), values.size(),
                values.begin());
  }
}

std::optional<GradientCheck> DetachedChecker::check(TensorId tensor, const Cell& cell,
                                                    const Progress& progress) {
  progress_ = progress;
  n_run_ = 0;
  n_all_ = GradientChecker::n_operations_to_check(graph_, tensor);
  if (!checker_) {
    n_all_ += GradientChecker::n_operations_to_make(graph_);
    Workspace<float> given(graph_, sizes_);
    for (std::uint32_t index = 0; index < graph_.n_tensors(); ++index) {
      if (!reals_[index].empty()) std::ranges::copy(reals_[index], given.values({index}).begin());
      if (!integers_[index].empty()) std::ranges::copy(integers_[index], given.integers({index}).begin());
    }
    checker_ = std::make_unique<GradientChecker>(
        graph_, given, RunOptions{.interventions = &interventions_}, [this] {
          ++n_run_;
          // a kink makes it more than was thought
          return !progress_ ||
                 progress_(std::min(1.0, static_cast<double>(n_run_) / static_cast<double>(n_all_)));
        });
  }
  const GradientCheck check = checker_->is_stopped() ? GradientCheck{} : checker_->check(tensor, cell);
  progress_ = {};
  if (!checker_->is_stopped()) return check;
  checker_.reset();
  return std::nullopt;
}

}  // namespace headscope::core
