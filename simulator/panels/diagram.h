// The block diagram on the stage: the model as boxes, each of which opens in place.
#pragma once

#include "core/trace.h"
#include "simulator/actions.h"
#include "simulator/diagram_layout.h"
#include "simulator/widgets/interaction.h"
#include "simulator/words.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace headscope::simulator {

/// What is looked at.
struct DiagramSubject {
  const core::Trace<float>& trace;
  const Diagram& diagram;  // of the trace's graph
  StageLevel level = StageLevel::model;
  std::string opened = {};  // a path; empty: follows the cursor
  std::int64_t head = 0;
  std::optional<core::Step> step = {};  // the last that ran
};

/// What was opened in the last frame: what is opened anew is scrolled into sight.
struct DiagramMemory {
  StageLevel level = StageLevel::model;
  std::size_t opened = 0;
};

/// What the window keeps of the diagram.
struct DiagramWindow {
  std::optional<std::uint64_t> revision;  // of the state for which `diagram` was made
  Diagram diagram;
  DiagramMemory memory;
};

/// Draws from a place down within a width; returns the height.
using DrawLine = std::function<float(Ui&, ImVec2, float)>;

/// Draws into the box, scrolls where it must, and notes what is asked for. `under_title` draws what stands
/// below the way to what is opened.
void draw_diagram(Ui& ui, const Words& words, const DiagramSubject& subject, DiagramMemory& memory,
                  const Rect& box, Actions& actions, const DrawLine& under_title = {});

/// A box's name: "block 0", "self-attention", an operation's short formula.
struct BoxName {
  std::string text;
  Source source = Source::catalog;
};
BoxName name_of_box(const core::Graph& graph, const Diagram& diagram, std::size_t node, const Words& words);

}  // namespace headscope::simulator
