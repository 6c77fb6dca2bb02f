#include "simulator/actions.h"

#include "simulator/applier.h"
#include "simulator/job.h"

#include <type_traits>
#include <variant>

namespace headscope::simulator {
namespace {

/// What may be done while a job runs: it changes nothing that the job is about.
bool is_about_the_look(const Action& action) {
  return std::visit(
      [](const auto& one) {
        using Kind = std::decay_t<decltype(one)>;
        return std::is_same_v<Kind, GoOn> || std::is_same_v<Kind, Stop> || std::is_same_v<Kind, Dismiss> ||
               std::is_same_v<Kind, SetLeftPanel> || std::is_same_v<Kind, SetAppearance> ||
               std::is_same_v<Kind, SetLayout> || std::is_same_v<Kind, SetTextScale>;
      },
      action);
}

/// 0: the action stands alone.
std::uint32_t stroke_of(const Action& action) {
  return std::visit(
      [](const auto& one) -> std::uint32_t {
        if constexpr (requires { one.stroke; }) return one.stroke;
        return 0;
      },
      action);
}

/// Of a stroke (a slider that is dragged) the last is enough: undo knows but its beginning.
void wait_for_job(Actions& waiting, const Action& action) {
  const std::uint32_t stroke = stroke_of(action);
  const bool goes_on = stroke != 0 && !waiting.empty() && stroke_of(waiting.back()) == stroke &&
                       waiting.back().index() == action.index();
  if (goes_on)
    waiting.back() = action;
  else
    waiting.push_back(action);
}

}  // namespace

void apply_action(AppState& state, const Action& action) {
  if (state.job && !is_about_the_look(action)) return wait_for_job(state.job->waiting, action);
  if (!std::holds_alternative<GoOn>(action)) state.message.reset();
  Applier applier(state);
  std::visit(applier, action);
  applier.refresh_comparison();
  ++state.revision;
}

}  // namespace headscope::simulator
