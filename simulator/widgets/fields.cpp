// ImGui edits the text, we draw the box: no frame, no colour of ImGui's is left to be seen.
#include "simulator/widgets/fields.h"

#include "lessons/number_format.h"
#include "simulator/rich_text.h"

#include <imgui_internal.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace headscope::simulator {

namespace {

constexpr float kFieldHeight = 34, kFieldPadding = 12;

int resize(ImGuiInputTextCallbackData* data) {
  if (data->EventFlag != ImGuiInputTextFlags_CallbackResize) return 0;
  auto& text = *static_cast<std::string*>(data->UserData);
  text.resize(static_cast<std::size_t>(data->BufTextLen));
  data->Buf = text.data();
  return 0;
}

/// The look of the caret line for one InputText.
class EditingStyle {
 public:
  EditingStyle(const Painter& painter, const Face& face, ImU32 text, float height, float padding) {
    const ImU32 clear = IM_COL32(0, 0, 0, 0);
    for (const ImGuiCol part : {ImGuiCol_FrameBg, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive,
                                ImGuiCol_Border, ImGuiCol_NavHighlight})
      ImGui::PushStyleColor(part, clear);
    ImGui::PushStyleColor(ImGuiCol_Text, text);
    ImGui::PushStyleColor(ImGuiCol_TextSelectedBg, with_alpha(painter.colour().accent, 0.22F));
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                        ImVec2(padding, std::max(0.0F, (height - face.size) / 2)));
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0.0F);
    ImGui::PushFont(face.font);
    // Tab is ours: see Focus
    ImGui::PushAllowKeyboardFocus(false);
  }
  ~EditingStyle() {
    ImGui::PopAllowKeyboardFocus();
    ImGui::PopFont();
    ImGui::PopStyleVar(2);
    ImGui::PopStyleColor(7);
  }
  EditingStyle(const EditingStyle&) = delete;
  EditingStyle& operator=(const EditingStyle&) = delete;
};

struct Edited {
  bool entered = false, changed = false, cancelled = false, active = false;
};

/// A name that ImGui does not print beside the field.
std::string hidden(std::string_view id) {
  return "##" + std::string(id);
}

Edited edit(std::string_view id, const Rect& box, std::string& text, ImGuiInputTextFlags flags) {
  const std::string name = hidden(id), before = text;
  const ImGuiID field = ImGui::GetID(name.c_str());
  // a field that is entered again finds what ImGui remembers of it, its undo too; the text has changed since,
  // and taking back at places that are gone ends the program
  if (ImGuiInputTextState* state = ImGui::GetInputTextState(field); state && ImGui::GetActiveID() != field)
    state->ID = 0;
  Edited result;
  ImGui::SetCursorScreenPos(box.min);
  ImGui::SetNextItemWidth(box.width());
  result.entered = ImGui::InputText(
      name.c_str(), text.data(), text.size() + 1,
      flags | ImGuiInputTextFlags_CallbackResize | ImGuiInputTextFlags_EnterReturnsTrue, resize, &text);
  result.active = ImGui::IsItemActive();
  result.cancelled = ImGui::IsItemDeactivated() && key_pressed(Key::escape);
  result.changed = text != before;
  return result;
}

void note_text(Painter& painter, const std::string& text, const Rect& box, const TextStyle& style) {
  if (painter.record() == nullptr || text.empty()) return;
  // ImGui scrolls inside the box: what is longer is reachable, not cut off; a scrolled area hides the box
  // itself
  const ImVec2 least = painter.list().GetClipRectMin(), most = painter.list().GetClipRectMax();
  const Rect clip{{box.min.x, std::max(box.min.y, least.y)}, {box.max.x, std::min(box.max.y, most.y)}};
  painter.record()->entries.push_back({text, text, box, clip, style, "field", painter.scrolls()});
}

}  // namespace

float field_height(const Painter& painter, TypeStyle type) {
  return std::max(painter.px(kFieldHeight), painter.line_height(type) + painter.px(6));
}

FieldResponse text_field(Ui& ui, std::string_view id, ImVec2 at, std::string& text, const FieldSpec& spec) {
  Painter& painter = ui.painter;
  const Palette& colours = painter.colour();
  const float height = field_height(painter, spec.type), padding = painter.px(kFieldPadding);
  const float radius = painter.px(painter.theme().radius.chip);
  const Rect box = rect_at(at, {spec.width, height});
  const Face& face = painter.fonts().face(spec.type, Weight::regular);
  const bool enabled = spec.ability == Ability::enabled;
  painter.fill(box, enabled ? colours.stage : colours.inset, radius);
  FieldResponse response{.height = height};
  Touch touched;
  const Rect inside = {{box.min.x + padding, box.min.y}, {box.max.x - padding, box.max.y}};
  // while nobody edits it, a text too long for its field ends with … as others do
  const bool is_cut =
      enabled && ImGui::GetActiveID() != ImGui::GetID(hidden(id).c_str()) &&
      painter.width_of(text, {.type = spec.type, .weight = Weight::regular}) > inside.width() + 0.5F;
  if (enabled) {
    touched.id = ImGui::GetID(hidden(id).c_str());
    touched.focused = ui.focus.enter(touched.id);
    if (ui.focus.arrived_at(touched.id)) ImGui::SetKeyboardFocusHere();
    const EditingStyle style(painter, face, is_cut ? IM_COL32(0, 0, 0, 0) : colours.primary, height, padding);
    const Edited edited = edit(id, box, text, ImGuiInputTextFlags_None);
    if (ImGui::IsItemActivated() && !touched.focused) ui.focus.give(touched.id);
    touched.hovered = ImGui::IsItemHovered();
    // Tab moved on while the caret was here
    if (edited.active && !ui.focus.has(touched.id)) ImGui::ClearActiveID();
    response = {edited.changed, edited.entered, edited.cancelled, edited.active, touched.hovered, height};
  }
  const bool wrong = !spec.error.empty() || spec.state == FieldState::wrong;
  const float width = painter.stroke(response.active || wrong ? 1.5F : 1.0F);
  painter.frame(box,
                wrong                                ? colours.error
                : response.active || touched.hovered ? colours.primary
                                                     : colours.control,
                width, radius);
  const TextStyle style{
      .type = spec.type, .weight = Weight::regular, .colour = colours.tertiary, .role = "hint"};
  const float text_top = inside.centre().y - painter.line_height(spec.type) / 2;
  painter.want(text);
  if (text.empty() && !response.active && !spec.hint.empty())
    painter.fit_text({inside.min.x, text_top}, spec.hint, inside.width(), style);
  else if (!enabled)
    painter.fit_text({inside.min.x, text_top}, text, inside.width(), style);
  else if (is_cut && !response.active)
    painter.fit_text({inside.min.x, text_top}, text, inside.width(),
                     {spec.type, Weight::regular, colours.primary, Source::token, "field"});
  else
    note_text(painter, text, inside, {spec.type, Weight::regular, colours.primary, Source::token, {}});
  draw_focus_ring(ui, box, touched, painter.theme().radius.chip);
  if (!spec.error.empty()) {
    const float gap = painter.px(painter.theme().space.xs);
    response.height += gap + note_line(painter, {at.x, box.max.y + gap}, spec.width, Note::error, spec.error,
                                       Source::catalog, Tone::quiet);
  }
  return response;
}

void field_note(const Painter& painter, const Rect& field, std::string_view sentence) {
  Painter above = painter.on(*ImGui::GetForegroundDrawList());
  const Palette& colours = painter.colour();
  const float padding = above.px(10), sign = above.px(11), indent = above.px(20);
  const float width = std::max(field.width() - 2 * padding - indent, above.px(160));
  const RichBlock block =
      lay_out(above, {{.text = std::string(sentence), .colour = colours.error, .source = Source::catalog}},
              {.type = TypeStyle::label, .width = width, .role = "tooltip"});
  const Rect box = rect_at({field.min.x, field.max.y + above.px(4)},
                           {block.width + indent + 2 * padding, block.height + 2 * above.px(6)});
  above.fill(box, colours.popup, above.px(above.theme().radius.popup));
  above.frame(box, colours.error, above.stroke(above.theme().line.hair),
              above.px(above.theme().radius.popup));
  const ImVec2 text{box.min.x + padding, box.min.y + above.px(6)};
  above.sign({text.x + sign / 2, text.y + above.line_height(TypeStyle::label) / 2}, Sign::cross,
             colours.error, sign);
  draw(above, {text.x + indent, text.y}, block);
}

namespace {

/// A cell takes finite numbers alone.
std::optional<double> typed_number(std::string_view text) {
  const std::optional<double> number = lessons::parse_number(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace

NumberEdit number_editor(Ui& ui, std::string_view id, const Rect& box, std::string& text) {
  Painter& painter = ui.painter;
  const Palette& colours = painter.colour();
  const Face& face = painter.fonts().face(TypeStyle::number, Weight::semibold);
  const float least = painter.px(64);
  const Rect field =
      box.width() >= least ? box : Rect{{box.min.x, box.min.y}, {box.min.x + least, box.max.y}};
  painter.fill(field, colours.popup, painter.px(painter.theme().radius.frame));
  NumberEdit result;
  const ImGuiID own = ImGui::GetID(hidden(id).c_str());
  // opened in this frame: it takes the caret by itself
  ImGuiStorage& storage = *ImGui::GetStateStorage();
  const bool opened = storage.GetInt(own, -2) != ImGui::GetFrameCount() - 1;
  storage.SetInt(own, ImGui::GetFrameCount());
  if (opened) {
    ImGui::SetKeyboardFocusHere();
    ui.focus.give(own);
  }
  ui.focus.enter(own);
  {
    const EditingStyle style(painter, face, colours.primary, field.height(), painter.px(6));
    const Edited edited = edit(id, field, text, ImGuiInputTextFlags_AutoSelectAll);
    result.cancelled = edited.cancelled || (ImGui::IsItemDeactivated() && !edited.entered);
    if (edited.entered) result.value = typed_number(text);
    // a number that does not parse stays open for mending
    if (edited.entered && !result.value) storage.SetInt(own, -2);
  }
  const bool wrong = !text.empty() && !typed_number(text);
  painter.frame(field, wrong ? colours.error : colours.focus, painter.stroke(painter.theme().line.focus),
                painter.px(painter.theme().radius.frame));
  note_text(painter, text, field, {TypeStyle::number, Weight::semibold, colours.primary, Source::number, {}});
  return result;
}

}  // namespace headscope::simulator
