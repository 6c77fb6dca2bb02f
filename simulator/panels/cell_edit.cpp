#include "simulator/panels/cell_edit.h"

#include "simulator/changes.h"
#include "simulator/tensor_facts.h"
#include "simulator/widgets/fields.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace headscope::simulator {
namespace {

/// Pixels that the hand may shake before a press becomes a drag.
constexpr float kDragFrom = 4;
/// Turns of the wheel count as so many pixels of a drag.
constexpr double kPixelsPerTurn = 10;
/// Token ids and the like: so many pixels for the next.
constexpr double kPixelsPerInteger = 12;

double scale_of(const StageMatrix& matrix) {
  return matrix.spec.map == ColourMap::signed_values ? static_cast<double>(matrix.spec.scale) : 1;
}

/// What a pixel of a drag changes: of a scale of ±4, 0.01; with Shift a tenth of that.
double unit_of(double scale, bool is_integer) {
  if (is_integer) return 1;
  const bool is_fine = ImGui::GetIO().KeyShift;
  return std::pow(10.0, std::floor(std::log10(std::max(scale, 1e-6))) - (is_fine ? 3 : 2));
}

/// The number after a drag or turns, on whole units: what is read is what is set.
double moved_number(double scale, const core::TensorSpec& spec, double from, double pixels) {
  const bool is_integer = spec.element == core::Element::integer;
  const double unit = unit_of(scale, is_integer);
  const double by = is_integer ? std::round(pixels / kPixelsPerInteger) : pixels;
  return std::round((from + by * unit) / unit) * unit;
}

void set_cell(Panel& panel, const CellAddress& address, double value, std::uint32_t stroke) {
  const core::Session& session = panel.state.session;
  // at the end of a range a drag rests: its reason is a message for those who type
  if (const auto allowed = session.check_edit(address.tensor, address.cell, value);
      !allowed && allowed.error().key == "edit.range")
    return;
  panel.actions.push_back(SetCell{address, value, stroke});
}

void drag(Panel& panel, const StageMatrix& matrix, const CellAddress& held, bool is_over) {
  std::optional<CellStroke>& stroke = panel.window.drag;
  const float y = ImGui::GetIO().MousePos.y;
  const core::TensorSpec& spec = panel.state.session.graph().spec(held.tensor);
  if (!stroke && is_over && ImGui::IsMouseClicked(0))
    stroke = CellStroke{.address = held,
                        .from = settable_value(panel.state.session, held),
                        .scale = scale_of(matrix),
                        .from_y = y,
                        .stroke = ++panel.window.strokes};
  if (!stroke || stroke->address != held || !ImGui::IsMouseDown(0)) return;
  const float by = stroke->from_y - y;
  if (!stroke->has_moved && std::abs(by) < panel.px(kDragFrom)) return;
  stroke->has_moved = true;
  const double value = moved_number(stroke->scale, spec, stroke->from, static_cast<double>(by / panel.px(1)));
  if (value != settable_value(panel.state.session, held)) set_cell(panel, held, value, stroke->stroke);
}

void turn(Panel& panel, const StageMatrix& matrix, const CellAddress& held) {
  const ImGuiIO& io = ImGui::GetIO();
  // later versions of ImGui make a turn with Shift a sideways one
  const auto turned = static_cast<double>(io.MouseWheel != 0 ? io.MouseWheel : io.MouseWheelH);
  if (turned == 0) return;
  std::optional<CellStroke>& wheel = panel.window.wheel;
  if (!wheel || wheel->address != held) wheel = CellStroke{.address = held, .stroke = ++panel.window.strokes};
  const core::TensorSpec& spec = panel.state.session.graph().spec(held.tensor);
  const bool is_integer = spec.element == core::Element::integer;
  // a touchpad turns by parts of a turn: what makes no whole unit yet waits for the next
  const double units = wheel->rest + turned * (is_integer ? 1 : kPixelsPerTurn);
  const double whole = std::trunc(units);
  wheel->rest = units - whole;
  if (whole == 0) return;
  const double value = moved_number(scale_of(matrix), spec, settable_value(panel.state.session, held),
                                    is_integer ? whole * kPixelsPerInteger : whole);
  set_cell(panel, held, value, wheel->stroke);
}

std::string number_text(const Panel& panel, const StageMatrix& matrix, double value,
                        lessons::Plus plus = lessons::Plus::never) {
  return lessons::format_number(value, matrix.number_kind(), panel.theme().numbers, plus);
}

/// What an edited cell was, or a compared one is and was.
void draw_tip(Panel& panel, const StageMatrix& matrix, const CellAddress& address, CellIndex index) {
  const core::Session& session = panel.state.session;
  std::string words;
  if (const std::optional<ComparedNumber> compared = matrix.compared_at(index))
    words = panel.text("stage.compared",
                       {{"now", number_text(panel, matrix, compared->now)},
                        {"before", number_text(panel, matrix, compared->before)},
                        {"difference", number_text(panel, matrix, compared->now - compared->before,
                                                   lessons::Plus::always)}});
  const bool is_edited =
      address.quantity == core::Quantity::value && session.edits().contains({address.tensor, address.cell});
  if (is_edited) {
    const bool is_given = session.graph().spec(address.tensor).role != core::Role::activation;
    if (!words.empty()) words += "\n";
    words += is_given
                 ? panel.text("stage.was",
                              {{"value", number_text(panel, matrix,
                                                     session.unedited_value(address.tensor, address.cell))}})
                 : panel.text("stage.by_hand");
  }
  if (!words.empty()) tooltip(panel.painter(), ImGui::GetIO().MousePos, words);
}

}  // namespace

void begin_edit(Panel& panel, const CellAddress& address) {
  const core::Session& session = panel.state.session;
  if (address.quantity != core::Quantity::value) return panel.actions.push_back(LockCell{address});
  const double value = settable_value(session, address);
  if (const auto allowed = session.check_edit(address.tensor, address.cell, 0);
      !allowed && allowed.error().key != "edit.range") {
    panel.actions.push_back(SetCell{address, 0});  // refused with the reason, which the explainer shows
    return;
  }
  panel.actions.push_back(LockCell{address});
  const std::string number = lessons::format_number(
      value, number_kind_of(session.graph().spec(address.tensor)), panel.theme().numbers);
  panel.window.edit = CellEdit{address, number, number};
}

void edit_cell(Panel& panel, const StageMatrix& matrix, const MatrixLayout& layout) {
  std::optional<CellEdit>& edit = panel.window.edit;
  if (!edit || edit->address.tensor != matrix.item().slice.tensor || !has_cells(matrix.item()) ||
      edit->address.quantity != matrix.item().slice.quantity)
    return;
  const std::optional<Slice::Place> place = matrix.item().slice.find(edit->address.cell);
  if (!place) return;
  const CellIndex index{static_cast<int>(place->row), static_cast<int>(place->column)};
  if (!layout.shows(index)) return;
  const Rect cell = layout.rect_of(index);
  // wide enough to type in, however small the cell
  const float width = std::max(cell.width(), panel.px(72)), height = std::max(cell.height(), panel.px(32));
  const Rect box = rect_at({cell.centre().x - width / 2, cell.centre().y - height / 2}, {width, height});
  const NumberEdit result = number_editor(panel.ui, "cell_edit", box, edit->text);
  if (result.value && edit->text != edit->opened_with)
    panel.actions.push_back(SetCell{edit->address, *result.value});
  if (result.value || result.cancelled) edit.reset();
}

bool stroke_cell(Panel& panel, const StageMatrix& matrix, const MatrixLayout& layout,
                 const MatrixResponse& response) {
  std::optional<CellStroke>& stroke = panel.window.drag;
  const bool was_dragging = stroke && stroke->has_moved;
  const Slice& slice = matrix.item().slice;
  const auto address = [&](CellIndex index) {
    return CellAddress{slice.tensor, slice.cell_at(index.row, index.column), slice.quantity};
  };
  if (response.hovered && !was_dragging && !panel.window.edit)
    draw_tip(panel, matrix, address(*response.hovered), *response.hovered);
  const std::optional<CellIndex>& locked = matrix.spec.locked;
  const bool can_be_set = locked && slice.quantity == core::Quantity::value && !panel.window.edit &&
                          matrix.item().source == NumberSource::stored;
  if (can_be_set) {
    const CellAddress held = address(*locked);
    const bool is_over = response.hovered == locked && layout.shows(*locked);
    drag(panel, matrix, held, is_over);
    if (is_over) turn(panel, matrix, held);
    if (!is_over && panel.window.wheel && panel.window.wheel->address == held) panel.window.wheel.reset();
  }
  const bool is_here = stroke && stroke->address.tensor == slice.tensor;
  if (is_here && !ImGui::IsMouseDown(0)) stroke.reset();
  return was_dragging && is_here;
}

}  // namespace headscope::simulator
