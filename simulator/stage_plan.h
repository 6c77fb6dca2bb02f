// Which matrices stand on the stage, and how: decided from the operation alone, drawn by panels/stage.cpp and
// listed by the terminal.
#pragma once

#include "simulator/app_state.h"
#include "simulator/slice.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace headscope::simulator {

/// product: left operand, upper operand, result at the crossing. line: side by side with signs between.
enum class StageShape : std::uint8_t { product, line };
enum class StageRole : std::uint8_t { left, upper, addend, result, shown };

struct StageItem {
  Slice slice;
  StageRole role = StageRole::shown;
  std::string sign;  // before it, in a line: "+", "=", "→"; empty before the first
  Turn turn = Turn::none;
};

struct StagePlan {
  StageShape shape = StageShape::line;
  std::vector<StageItem> items;
  std::int64_t head = 0;                 // which head the items with heads show
  std::optional<std::size_t> operation;  // whose arithmetic this is; none where tensors are only shown
};

/// The operation's operands and result at a head.
StagePlan plan_operation(const core::Session& session, std::size_t operation, std::int64_t head);

/// What the learner looks at: the operation of the cell that they followed, else the step's own choice while
/// the cursor stands where the step put it, else the operation before the cursor.
StagePlan plan_stage(const AppState& state, const lessons::StepView& step);

/// Whether a matrix of the plan has the cell.
bool is_on(const StagePlan& plan, const CellAddress& address);

}  // namespace headscope::simulator
