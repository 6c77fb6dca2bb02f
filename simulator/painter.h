// The pencil: text, frames, signs and marks in the theme's styles, on one ImDrawList, scaled with the text.
// It can log every string that it draws: tests read the displayed numbers and look for cut-off text there.
#pragma once

#include "simulator/fonts.h"
#include "simulator/platform/frame.h"
#include "simulator/theme.h"

#include <imgui.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator {

struct Rect {
  ImVec2 min = {0, 0}, max = {0, 0};

  float width() const { return max.x - min.x; }
  float height() const { return max.y - min.y; }
  ImVec2 size() const { return {width(), height()}; }
  ImVec2 centre() const { return {(min.x + max.x) / 2, (min.y + max.y) / 2}; }
  bool contains(ImVec2 p) const { return p.x >= min.x && p.y >= min.y && p.x < max.x && p.y < max.y; }
  bool overlaps(const Rect& o) const {
    return min.x < o.max.x && o.min.x < max.x && min.y < o.max.y && o.min.y < max.y;
  }
  Rect grown(float by) const { return {{min.x - by, min.y - by}, {max.x + by, max.y + by}}; }
  Rect moved(ImVec2 by) const { return {{min.x + by.x, min.y + by.y}, {max.x + by.x, max.y + by.y}}; }
};
Rect rect_at(ImVec2 top_left, ImVec2 size);
Rect joined(const Rect& a, const Rect& b);

/// Where a displayed string came from; tests find strays by it.
enum class Source : std::uint8_t { catalog, lesson, token, tensor, number };

enum class Align : std::uint8_t { left, centre, right };

struct TextStyle {
  TypeStyle type = TypeStyle::body;
  Weight weight = Weight::of_style;  // of_style: the weight that the theme gives the type
  ImU32 colour = 0;                  // 0: the theme's primary text
  Source source = Source::catalog;
  std::string_view role = {};  // a tag for tests: "cell", "row_label", "sum", …
};

/// One drawn string. `rect` is its box (advance × line), `clip` the clip rectangle that held.
struct TextEntry {
  std::string text;
  std::string full;  // before fit_text shortened it; else equal to text
  Rect rect, clip;
  TextStyle style;  // its role is empty: see `role`
  std::string role;
  bool scrolls = false;     // in an area that scrolls: what its clip rectangle hides can be reached
  bool is_upright = false;  // turned to read upwards
};

struct TextRecord {
  std::vector<TextEntry> entries;
  void clear() { entries.clear(); }
  std::vector<const TextEntry*> with_role(std::string_view role) const;
  const TextEntry* find(std::string_view text) const;
};

/// A string that was shortened, in full.
struct WholeText {
  std::string text;
  Source source = Source::catalog;
};

enum class Stroke : std::uint8_t { solid, dashed, dotted };
enum class Sign : std::uint8_t { tick, cross, warning, chevron_up, chevron_down };

class Painter {
 public:
  /// `pointed` is set to the string under the pointer that found no room in full: a tooltip's errand.
  /// `grounds` collects the areas that the platform clears; without it they are painted.
  Painter(ImDrawList& list, const Theme& theme, Fonts& fonts, TextRecord* record = nullptr,
          WholeText* pointed = nullptr, std::vector<platform::Ground>* grounds = nullptr)
      : list_(&list), theme_(&theme), fonts_(&fonts), record_(record), pointed_(pointed), grounds_(grounds) {}

  /// The same tools on another list (a child window's, the foreground for tooltips).
  Painter on(ImDrawList& list) const { return Painter(list, *theme_, *fonts_, record_, pointed_, grounds_); }
  /// The same for what scrolls.
  Painter scrolling_on(ImDrawList& list) const {
    Painter other = on(list);
    other.scrolls_ = true;
    return other;
  }

  const Theme& theme() const { return *theme_; }
  const Palette& colour() const { return theme_->colour; }
  const Fonts& fonts() const { return *fonts_; }
  ImDrawList& list() const { return *list_; }
  TextRecord* record() const { return record_; }
  bool scrolls() const { return scrolls_; }
  /// A length of the theme in screen pixels: × text scale (and × 1.6 for a presentation's marks through its
  /// fonts).
  float px(float length) const { return length * fonts_->text_scale(); }
  /// For line widths: scaled, but never thinner than a pixel.
  float stroke(float width) const;

  // --- text. Positions are the top left corner of the line box, whose height is line_height(type). ---
  float line_height(TypeStyle type) const;
  float width_of(std::string_view text, const TextStyle& style) const;
  /// Where the base line is in the line box, from its top.
  float base_line(TypeStyle type) const;
  /// One line. Returns its box.
  Rect text(ImVec2 at, std::string_view text, const TextStyle& style);
  /// One line within a box, in the middle of its height.
  Rect text_in(const Rect& box, std::string_view text, const TextStyle& style, Align align = Align::centre);
  /// Text that ends at `right`.
  Rect text_to(ImVec2 top_right, std::string_view text, const TextStyle& style);
  /// One line, shortened with … to `width`; the record keeps the full string.
  Rect fit_text(ImVec2 at, std::string_view text, float width, const TextStyle& style,
                Align align = Align::left);
  /// One line turned to read upwards, shortened to `length`: from the middle of its lower end.
  Rect fit_text_up(ImVec2 foot, std::string_view text, float length, const TextStyle& style);
  /// fit_text() in the middle of a box, a margin left at its sides.
  Rect fit_text_in(const Rect& box, std::string_view text, float margin, const TextStyle& style);
  /// What fit_text would draw.
  std::string fitted(std::string_view text, float width, const TextStyle& style) const;
  /// Sub- and superscripts: the script face on a base line moved by `drop` (positive: down).
  float script_width(std::string_view text, const TextStyle& style) const;
  Rect script(ImVec2 at, std::string_view text, const TextStyle& style, float drop);

  // --- surfaces and lines ---
  /// The opaque surface of a panel, under all else of the frame, whatever was drawn before it.
  void ground(const Rect& box, ImU32 colour);
  void fill(const Rect& box, ImU32 colour, float radius = 0);
  /// A frame of the given width drawn inside the box's edge.
  void frame(const Rect& box, ImU32 colour, float width, float radius = 0);
  void dashed_frame(const Rect& box, ImU32 colour, float width, Dash dash);
  void line(ImVec2 from, ImVec2 to, ImU32 colour, float width);
  void dashed_line(ImVec2 from, ImVec2 to, ImU32 colour, float width, Dash dash);
  /// 45° lines over the box, the theme's hatch.
  void hatch(const Rect& box, ImU32 colour);
  void diagonal(const Rect& box, ImU32 colour);

  // --- marks ---
  /// Side of a letter tag that goes with text of this type.
  float tag_size(TypeStyle type) const;
  /// The letter chip (Q K V S A O ∂), `at` its top left. Returns its box.
  Rect tag(ImVec2 at, Concept which, TypeStyle type = TypeStyle::label);
  /// The same in the middle of a line box of `type` at `at`.
  Rect tag_in_line(ImVec2 at, Concept which, TypeStyle type);
  float disc_size() const;
  /// A head's hue and number in a disc.
  void head_disc(ImVec2 centre, std::size_t head);
  void sign(ImVec2 centre, Sign which, ImU32 colour, float size);

  /// Notes characters that something else will draw (ImGui's text editing).
  void want(std::string_view text) { fonts_->want(text); }
  void push_clip(const Rect& box);
  void pop_clip();

 private:
  ImU32 colour_of(const TextStyle& style) const {
    return style.colour != 0 ? style.colour : theme_->colour.primary;
  }
  void note(std::string_view text, std::string_view full, const Rect& rect, const TextStyle& style,
            bool is_upright = false) const;
  Rect draw(ImVec2 at, std::string_view text, std::string_view full, const TextStyle& style);
  void point_out(const Rect& box, std::string_view shown, std::string_view full, Source source) const;

  ImDrawList* list_;
  const Theme* theme_;
  Fonts* fonts_;
  TextRecord* record_;
  WholeText* pointed_;
  std::vector<platform::Ground>* grounds_;
  bool scrolls_ = false;
};

}  // namespace headscope::simulator
