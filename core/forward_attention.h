// Forward arithmetic of attention: what forward.cpp calls for its operations.
#pragma once

#include "core/operations.h"
#include "core/views.h"

namespace headscope::core {

/// Each computes its operation's result for the rows that `views` names.
template <class T>
struct AttentionForward {
  RowViews<T> views;

  void operator()(const ProjectHeads& op) const;
  void operator()(const Scores& op) const;
  void operator()(const ScaleScores& op) const;
  void operator()(const AddRelativeBias& op) const;
  void operator()(const MaskScores& op) const;
  void operator()(const MaskPositions& op) const;
  void operator()(const Softmax& op) const;
  void operator()(const MixValues& op) const;
  void operator()(const ConcatHeads& op) const;
  void operator()(const HeadContribution& op) const;
};

}  // namespace headscope::core
