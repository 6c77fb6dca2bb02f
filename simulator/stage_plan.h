// Which matrices stand on the stage, and how: decided from the operation alone, drawn by panels/stage.cpp and
// listed by the terminal.
#pragma once

#include "core/steps.h"
#include "simulator/app_state.h"
#include "simulator/slice.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator {

/// product: left operand, upper operand, result at the crossing. line: side by side with signs between.
enum class StageShape : std::uint8_t { product, line };
/// small: under the others, as wholes of which they show a part, or branches of a sum.
enum class StageRole : std::uint8_t { left, upper, addend, result, shown, small };

/// Where a matrix's numbers come from.
enum class NumberSource : std::uint8_t {
  stored,  // the slice's own
  branch,  // what `operation` alone sends back to the slice's gradient (sent_back.h)
  local,   // the softmax's derivatives of each weight by each score, for the query of the slice's base
  target   // the cross-entropy's y
};

struct StageItem {
  Slice slice;
  StageRole role = StageRole::shown;
  std::string sign;  // before it, in a line: "+", "=", "→"; empty before the first
  Turn turn = Turn::none;
  NumberSource source = NumberSource::stored;
  std::size_t operation = 0;  // of a source that is not stored
};

/// An operand that gets a gradient from a backward pass, with the name that its formula has.
struct StageResult {
  std::string_view name;
  core::TensorId tensor;
};

struct StagePlan {
  StageShape shape = StageShape::line;
  std::vector<StageItem> items;
  std::int64_t head = 0;                 // which head the items with heads show
  std::optional<std::size_t> operation;  // whose arithmetic this is; none where tensors are only shown
  std::optional<core::Step> step;        // the same of a backward pass or an update
  std::vector<StageResult> results;      // of a backward pass: what there is to choose among
  std::size_t chosen = 0;                // of `results`
  std::size_t n_writers = 0,
              n_written = 0;  // backward passes that make up the chosen gradient; that have run
};

/// What a person chose of a step.
struct StageChoice {
  std::int64_t head = 0;
  std::optional<core::TensorId> result = {};  // whose gradient; none, or not this step's: the first
  std::optional<CellAddress> lit = {};        // its query is the row of a softmax's backward pass
};

/// The operation's operands and result at a head.
StagePlan plan_operation(const core::Trace<float>& trace, std::size_t operation, std::int64_t head);
StagePlan plan_operation(const core::Session& session, std::size_t operation, std::int64_t head);

/// A step's arithmetic: an operation forward; its backward pass, for one of the operands that get a gradient;
/// a parameter's update. Whether the step has run is the trace's cursor's to say.
StagePlan plan_step(const core::Trace<float>& trace, const core::Step& step, const StageChoice& choice);

/// What the learner looks at: the operation of the cell that they followed, else the lesson's own choice
/// while the cursor stands where its step put it, else the tensor that they asked for, else the step before
/// the cursor. `lit` chooses the row of a softmax's backward pass.
StagePlan plan_stage(const AppState& state, const lessons::StepView& step,
                     const std::optional<CellAddress>& lit = {});

/// The numbers of an item, row by row. The slice says where; what is not stored is computed from the trace.
class ItemNumbers {
 public:
  ItemNumbers(const core::Trace<float>& trace, const StageItem& item);
  double at(std::int64_t row, std::int64_t column) const;

 private:
  const core::Trace<float>& trace_;
  const StageItem& item_;
  std::optional<SliceNumbers> stored_;
};

/// Whether the item's numbers are there at the trace's cursor: those of a gradient once a backward pass has
/// written it, those behind an update once it has run.
bool is_there(const core::Trace<float>& trace, const StagePlan& plan, const StageItem& item);

/// Whether a person can point at a cell of the item: not at numbers that belong to no tensor.
inline bool has_cells(const StageItem& item) {
  return item.source == NumberSource::stored || item.source == NumberSource::branch;
}

/// Whether a matrix of the plan has the cell.
bool is_on(const StagePlan& plan, const CellAddress& address);

}  // namespace headscope::simulator
