// Backward arithmetic of attention by activations: what backward.cpp calls for its operations.
#pragma once

#include "core/gradient_views.h"
#include "core/operations.h"

namespace headscope::core {

/// Each sends the gradient of its operation's result to what that read, for the rows that `views` names.
template <class T>
struct AttentionBackward {
  RowViews<T> views;
  GradientViews<T> gradients;

  void operator()(const HeadContribution& op) const;
  void operator()(const ProjectHeads& op) const;
  void operator()(const Scores& op) const;
  void operator()(const ScaleScores& op) const;
  void operator()(const AddRelativeBias& op) const;
  void operator()(const MaskScores& op) const;
  void operator()(const MaskPositions& op) const;
  void operator()(const Softmax& op) const;
  void operator()(const MixValues& op) const;
  void operator()(const ConcatHeads& op) const;
};

}  // namespace headscope::core
