// The baked fonts: one ImFont for each pair of size and weight that the look uses, at one text scale. Sizes
// are those of the em (as in the theme), not ImGui's pixel heights. Characters beyond the basic set are baked
// on demand.
#pragma once

#include "core/result.h"
#include "simulator/theme.h"

#include <imgui.h>

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator {

enum class Weight : std::uint8_t { of_style, regular, medium, semibold, bold, italic };
inline constexpr std::size_t kWeights = 6;

/// Where the font files are. The default folders come from CMake; a package may set others.
struct FontFolders {
  std::vector<std::filesystem::path> text;  // holds Inter-Regular.otf and its sisters
  std::vector<std::filesystem::path> math;  // holds DejaVuSans.ttf and DejaVuSans-Bold.ttf
};
FontFolders default_font_folders();

/// A font with the size at which it must be drawn.
struct Face {
  ImFont* font = nullptr;
  float size = 0;    // what ImGui calls the font's size
  float em = 0;      // the theme's size × text scale
  float ascent = 0;  // from the top of ImGui's line to the base line
};

/// For which scale the fonts are baked.
struct FontRequest {
  float text_scale = 1;  // × every size of the theme
  Sizing sizing = Sizing::normal;
  float pixels_per_unit = 1;  // finer glyphs where one ImGui unit is several pixels
  bool operator==(const FontRequest&) const = default;
};

class Fonts {
 public:
  /// Bakes into the atlas (of an ImGui context with no frame under way). Errors: fonts.missing (values:
  /// name), fonts.malformed.
  static core::Result<Fonts> build(ImFontAtlas& atlas, const Theme& theme, const FontRequest& request = {},
                                   const FontFolders& folders = default_font_folders());

  const Face& face(TypeStyle style, Weight weight) const;
  /// 72% of the style's size, never under the smallest style: subscripts and superscripts.
  const Face& script_face(TypeStyle style, Weight weight) const;
  float text_scale() const { return request_.text_scale; }
  Sizing sizing() const { return request_.sizing; }
  const FontRequest& request() const { return request_; }

  /// Notes the characters of `text` that are not baked yet. `needs_rebuild` then asks for a call of `rebuild`
  /// between two frames; what no font holds is asked for once only.
  void want(std::string_view text);
  bool needs_rebuild() const { return !wanted_.empty(); }
  /// Bakes again, with what was wanted; the platform must upload the atlas afterwards. Also for another
  /// scale.
  core::Result<void> rebuild(ImFontAtlas& atlas, const Theme& theme, const FontRequest& request);

 private:
  struct File {
    std::string bytes;
    float height = 1;  // ascent and descent, in ems: what ImGui calls a font's size
  };
  core::Result<const File*> file(const std::string& name);
  core::Result<void> bake(ImFontAtlas& atlas, const Theme& theme);
  void finish_faces(const Theme& theme);

  FontFolders folders_;
  FontRequest request_;
  std::map<std::string, File> files_;  // nodes stay where they are: the atlas points into them
  std::array<std::array<Face, kWeights>, kTypeStyles> faces_ = {};
  std::array<std::array<Face, kWeights>, kTypeStyles> scripts_ = {};
  std::vector<ImWchar> extra_;   // baked beyond the basic set, sorted
  std::vector<ImWchar> wanted_;  // to bake next time, sorted
};

}  // namespace headscope::simulator
