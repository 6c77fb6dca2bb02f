// What the panels draw, derived from the state: made again when the state's revision moves or the pointer
// lights another cell. Nothing here is state.
#pragma once

#include "simulator/app_state.h"
#include "simulator/narration.h"
#include "simulator/stage_plan.h"
#include "simulator/words.h"

#include <optional>
#include <string>

namespace headscope::simulator {

struct View {
  std::uint64_t revision = 0;
  lessons::StepView step;
  StagePlan stage;
  std::optional<CellAddress> previewed;  // by the pointer, when the narration was made
  std::optional<CellAddress> lit;        // followed or locked, else previewed, else the step's: of a
                                         // lesson its own, else the one that the sentence speaks of
  bool is_locked = false;
  std::optional<Narration> narration;  // of `lit`
  std::string said;  // Markdown: what the step under the cursor does; at the beginning what the training step
                     // before it did to the loss; empty where something else is looked at
};

View make_view(const AppState& state, const Words& words, const lessons::NumberRules& rules,
               const std::optional<CellAddress>& previewed);

}  // namespace headscope::simulator
