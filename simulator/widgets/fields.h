// Text and number fields in the look of the theme over ImGui's text editing.
#pragma once

#include "simulator/widgets/controls.h"

#include <cstdint>
#include <string>

namespace headscope::simulator {

enum class FieldState : std::uint8_t { right, wrong };

struct FieldSpec {
  float width = 0;
  std::string_view hint = {};   // tertiary, when empty
  std::string_view error = {};  // drawn below in the error colour with ✕; empty: none
  TypeStyle type = TypeStyle::body;
  Ability ability = Ability::enabled;
  FieldState state = FieldState::right;  // wrong: framed so, as with an error
};
struct FieldResponse {
  bool changed = false;    // the text changed in this frame
  bool committed = false;  // Enter
  bool cancelled = false;  // Esc
  bool active = false;     // has the caret
  bool hovered = false;    // by the pointer
  float height = 0;        // with the error line
};
/// Edits `text` in place. Tab leaves it as it leaves every control.
FieldResponse text_field(Ui& ui, std::string_view id, ImVec2 at, std::string& text, const FieldSpec& spec);
/// What is wrong with a field, over whatever stands below it.
void field_note(const Painter& painter, const Rect& field, std::string_view sentence);
float field_height(const Painter& painter, TypeStyle type = TypeStyle::body);

/// A number field opens over a cell or box, already active with all of it selected. `committed` with a number
/// that parses gives it.
struct NumberEdit {
  std::optional<double> value;  // committed
  bool cancelled = false;
};
NumberEdit number_editor(Ui& ui, std::string_view id, const Rect& box, std::string& text);

}  // namespace headscope::simulator
