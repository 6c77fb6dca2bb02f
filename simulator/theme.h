// The look as data: every colour, size and duration of assets/theme.toml, checked when loaded. Lengths are
// pixels at text scale 100%; the Painter scales them.
#pragma once

#include "core/result.h"
#include "lessons/number_format.h"

#include <imgui.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator {

enum class Variant : std::uint8_t { light, dark };

/// Which sizes of `[type]` hold: the usual ones, or those for a room (text about × 1.6).
enum class Sizing : std::uint8_t { normal, presentation };

/// What a hue means. `gradient` has the sign ∂; `none` is plain text.
enum class Concept : std::uint8_t { none, queries, keys, values, scores, weights, output, gradient };
inline constexpr std::size_t kConcepts = 8;

/// "queries" -> Concept::queries, "gradient" too; none for any other word.
std::optional<Concept> concept_of_name(std::string_view name);
std::string_view name_of(Concept hue);

enum class TypeStyle : std::uint8_t { display, title, heading, formula, body, number, label, small };
inline constexpr std::size_t kTypeStyles = 8;

struct TypeSize {
  float size = 0;  // of the em
  float line = 0;  // line height
  int weight = 400;
};

struct Spaces {
  float xs = 0, s = 0, m = 0, l = 0, xl = 0, xxl = 0, gutter = 0, paragraph = 0, section = 0;
};
struct Radii {
  float cell = 0, frame = 0, chip = 0, key = 0, tag = 0, popup = 0, round = 0;
};
struct Dash {
  float on = 0, off = 0;
};
struct Lines {
  float hair = 0, axis = 0, curve = 0, operand = 0, result = 0, hover = 0, focus = 0, cell_gap = 0;
  Dash gradient_dash, block0_dash;
  float hatch_spacing = 0, hatch_width = 0, hatch_from_cell = 0;
  float hatch_angle = 45;  // degrees
};
struct Regions {
  float top_bar = 0, transport = 0, lesson = 0, explainer = 0, stage_minimum = 0, touch_target = 0;
};
struct Motion {  // milliseconds
  float hover = 0, reveal = 0, step = 0, camera = 0;
};
struct Scale {
  float minimum = 0, normal = 0, maximum = 0;
};

/// Colours of one variant, as ImGui packs them.
struct Palette {
  ImU32 chrome = 0, stage = 0, inset = 0, popup = 0;
  ImU32 primary = 0, secondary = 0, tertiary = 0, on_accent = 0, cell = 0;  // text
  ImU32 hair = 0, control = 0;                                              // lines
  ImU32 accent = 0, accent_hover = 0, focus = 0, warning = 0, error = 0, success = 0;
  ImU32 gradient_wash = 0;
  std::array<ImU32, kConcepts> concepts = {};  // by Concept; none is `primary`
  std::vector<ImU32> heads;
  std::vector<ImU32> signed_map;       // first stop -scale, middle 0, last +scale
  std::vector<ImU32> probability_map;  // first stop 0, last 1
};

struct Theme {
  Variant variant = Variant::light;
  std::string text_font, math_font;
  std::array<TypeSize, kTypeStyles> type = {};
  std::array<TypeSize, kTypeStyles> presentation_type =
      {};  // styles that the theme does not name are derived
  Scale scale;
  Spaces space;
  Radii radius;
  Lines line;
  Regions region;
  Motion motion;
  lessons::NumberRules numbers;
  std::array<std::string, kConcepts> marks;  // "Q", "K", … "∂" by Concept
  Palette colour;

  const TypeSize& size_of(TypeStyle style, Sizing sizing = Sizing::normal) const {
    return (sizing == Sizing::normal ? type : presentation_type)[static_cast<std::size_t>(style)];
  }
  ImU32 hue(Concept which) const { return colour.concepts[static_cast<std::size_t>(which)]; }
  const std::string& mark(Concept which) const { return marks[static_cast<std::size_t>(which)]; }
  /// Past the last hue they repeat; the number in the disc tells heads apart.
  ImU32 head_hue(std::size_t head) const { return colour.heads[head % colour.heads.size()]; }
  /// Clipped to ±scale. Precondition: scale > 0, value finite.
  ImU32 signed_colour(double value, double scale_limit) const;
  /// Clipped to 0..1. Precondition: finite.
  ImU32 probability_colour(double probability) const;
};

/// Between the stops of a map, linear in sRGB; `position` 0..1, clipped.
ImU32 interpolate(const std::vector<ImU32>& stops, double position);
ImU32 mix(ImU32 from, ImU32 to, double share);
ImU32 with_alpha(ImU32 colour, float alpha);
/// Black or white text for a fill: whichever contrasts more (WCAG 2).
double contrast(ImU32 a, ImU32 b);

/// Reads and checks the tokens. Errors: theme.unreadable, theme.syntax, theme.missing, theme.malformed, each
/// with `name` = the token's key ("light.map.signed").
core::Result<Theme> load_theme(const std::filesystem::path& file, Variant variant);
core::Result<Theme> parse_theme(std::string_view text, std::string_view name, Variant variant);

}  // namespace headscope::simulator
