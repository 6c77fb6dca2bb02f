// A field that keeps what is typed, and what was refused.
#include "simulator/panels/what_if.h"
#include "simulator/widgets/fields.h"

#include <algorithm>

namespace headscope::simulator {
namespace {

/// What came of what was entered in the last frame.
void settle_try(Panel& panel, const std::string& name, const std::string& current) {
  WindowState& window = panel.window;
  if (panel.state.job) return;  // nothing came of it yet
  if (const auto tried = window.field_tries.find(name); tried != window.field_tries.end()) {
    window.refusals.erase(name);
    if (panel.state.message && tried->second != current)
      window.refusals[name] = {tried->second, current, *panel.state.message};
    window.field_tries.erase(tried);
  }
  if (const auto refusal = window.refusals.find(name);
      refusal != window.refusals.end() && refusal->second.instead_of != current)
    window.refusals.erase(refusal);
}

}  // namespace

const core::Error* Panel::message() const {
  if (!state.message) return nullptr;
  const bool is_at_field = std::ranges::any_of(
      window.refusals, [&](const auto& refusal) { return refusal.second.why == *state.message; });
  return is_at_field ? nullptr : &*state.message;
}

DraftField draft_field(Panel& panel, std::string_view id, ImVec2 at, float width, const std::string& current,
                       std::string_view hint, const DraftOptions& options) {
  WindowState& window = panel.window;
  std::map<std::string, std::string>& drafts = window.field_drafts;
  const std::string name(id);
  settle_try(panel, name, current);
  const auto refusal = window.refusals.find(name);
  const bool is_refused = refusal != window.refusals.end();
  const auto tried = window.field_tries.find(name);
  const std::string before = is_refused                          ? refusal->second.typed
                             : tried != window.field_tries.end() ? tried->second
                                                                 : current;
  const auto draft = drafts.find(name);
  const bool was_typed = draft != drafts.end();
  std::string typed = was_typed ? draft->second : before;
  const std::string why = is_refused ? panel.words.text.error(refusal->second.why) : std::string();
  const bool is_over = options.reason == Reason::over;
  const FieldResponse response = text_field(panel.ui, id, at, typed,
                                            {.width = width,
                                             .hint = hint,
                                             .error = is_over ? std::string_view() : std::string_view(why),
                                             .state = is_refused ? FieldState::wrong : FieldState::right});
  // over the stage only while it is news, or asked for
  if (is_refused && is_over && (response.active || response.hovered || panel.state.message))
    field_note(panel.painter(), rect_at(at, {width, response.height}), why);
  DraftField result{.height = response.height};
  // a click elsewhere feeds what was typed as Enter does: nothing typed is lost
  const bool was_left = was_typed && !response.active && !response.cancelled;
  // what was refused is not asked again by leaving it as it is
  const bool is_entered = was_left && options.leaving == Leaving::commits && typed != before;
  if (response.committed || is_entered) result.committed = typed;
  const bool waits = response.active || (was_left && options.leaving == Leaving::keeps);
  if (response.committed || response.cancelled || !waits)
    drafts.erase(name);
  else
    drafts[name] = typed;
  if (response.cancelled) window.refusals.erase(name);
  if (result.committed) window.field_tries[name] = typed;
  return result;
}

}  // namespace headscope::simulator
