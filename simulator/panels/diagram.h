// The block diagram on the stage: the model as boxes, each of which opens in place.
#pragma once

#include "core/trace.h"
#include "simulator/diagram_layout.h"
#include "simulator/widgets/interaction.h"
#include "simulator/words.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headscope::simulator {

/// What is looked at.
struct DiagramSubject {
  const core::Trace<float>& trace;
  const Diagram& diagram;  // of the trace's graph
  DiagramLevel level = DiagramLevel::model;
  std::string opened = {};  // a path; empty: follows the cursor
  std::int64_t head = 0;
  std::optional<core::Step> step = {};  // the last that ran
};

/// What the learner asks for.
struct OpenPlace {
  DiagramLevel level = DiagramLevel::model;
  std::string path;
  std::int64_t head = 0;
};
/// One level out.
struct CloseLevel {};
/// The matrices of the operation that makes a tensor, or that reads it.
struct ShowTensor {
  core::TensorId tensor;
  std::int64_t head = 0;
};
/// The cursor behind an operation's forward step.
struct RunTo {
  std::size_t operation = 0;
};
using DiagramWish = std::variant<OpenPlace, CloseLevel, ShowTensor, RunTo>;

/// What was opened in the last frame: what is opened anew is scrolled into sight.
struct DiagramMemory {
  DiagramLevel level = DiagramLevel::model;
  std::size_t opened = 0;
};

/// Draws into the box, scrolls where it must, and notes what was asked for.
void draw_diagram(Ui& ui, const Words& words, const DiagramSubject& subject, DiagramMemory& memory,
                  const Rect& box, std::vector<DiagramWish>& wishes);

/// A box's name: "block 0", "self-attention", an operation's short formula.
struct BoxName {
  std::string text;
  Source source = Source::catalog;
};
BoxName name_of_box(const core::Graph& graph, const Diagram& diagram, std::size_t node, const Words& words);

}  // namespace headscope::simulator
