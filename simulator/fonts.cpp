// Bakes the fonts with ImGui's stb_truetype builder: it keeps fractional advances, so that text is spaced as
// the typeface wants it (the FreeType builder rounds every advance up to a pixel).
#include "simulator/fonts.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>

namespace headscope::simulator {

namespace {

constexpr float kScriptSize = 0.72F;  // of the style, as [type] formula says

enum class Coverage : std::uint8_t { figures, text };
enum class Form : std::uint8_t { normal, script };

/// What the look uses. A pair that is not here falls back to a lighter one that is.
struct Bake {
  TypeStyle style;
  Weight weight;
  Coverage coverage = Coverage::text;
  Form form = Form::normal;
};
constexpr Bake kBakes[] = {
    {TypeStyle::display, Weight::semibold, Coverage::figures},
    {TypeStyle::title, Weight::bold},
    {TypeStyle::heading, Weight::bold},
    {TypeStyle::heading, Weight::regular},
    {TypeStyle::formula, Weight::regular},
    {TypeStyle::formula, Weight::semibold},
    {TypeStyle::formula, Weight::regular, Coverage::text, Form::script},
    {TypeStyle::body, Weight::regular},
    {TypeStyle::body, Weight::semibold},
    {TypeStyle::body, Weight::italic},
    {TypeStyle::number, Weight::regular},
    {TypeStyle::number, Weight::medium},
    {TypeStyle::number, Weight::semibold},
    {TypeStyle::number, Weight::bold},
    {TypeStyle::label, Weight::regular},
    {TypeStyle::label, Weight::semibold},
    {TypeStyle::small, Weight::regular},
    {TypeStyle::small, Weight::semibold},
};

/// Pairs first, last; 0 ends. The digits' font and ImGui's own … and fallback signs are in both.
constexpr ImWchar kFigures[] = {0x20,   0x7E,   0xB1,   0xB1,   0xD7,   0xD7, 0x2026,
                                0x2026, 0x2212, 0x2212, 0x221E, 0x221E, 0};
constexpr ImWchar kText[] = {
    0x0020, 0x007E, 0x00A0, 0x00FF,                                  // Latin, Latin-1
    0x0152, 0x0153, 0x0160, 0x0161, 0x0178, 0x0178, 0x017D, 0x017E,  // Latin of western Europe
    0x0391, 0x03A9, 0x03B1, 0x03C9,                                  // Greek
    0x2010, 0x2015, 0x2018, 0x2022, 0x2026, 0x2026, 0x2030, 0x2033,  // punctuation
    0x2070, 0x2071, 0x2074, 0x208E,                                  // superscripts, subscripts
    0x1D40, 0x1D40,                                                  // superscript T
    0x2190, 0x2193, 0x21B5, 0x21B5,                                  // arrows
    0x2202, 0x2202, 0x2208, 0x2208, 0x2211, 0x2212, 0x2215, 0x2215, 0x2218, 0x221E, 0x2225,
    0x2225, 0x2248, 0x2248, 0x2260, 0x2265, 0x22C5, 0x22C5,  // mathematics
    0x25B2, 0x25B2, 0x25B6, 0x25B6, 0x25BC, 0x25BC, 0x2713, 0x2715, 0xFFFD, 0xFFFD, 0};

std::uint32_t big_endian(const std::string& bytes, std::size_t at, std::size_t n) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < n; ++i)
    value = value << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
  return value;
}

/// Ascent and descent in ems, from an OpenType file's `hhea` and `head`; none if they are not there.
std::optional<float> line_in_ems(const std::string& bytes) {
  const std::size_t n_tables = big_endian(bytes, 4, 2);
  std::size_t hhea = 0, head = 0;
  for (std::size_t i = 0; i < n_tables; ++i) {
    const std::size_t entry = 12 + 16 * i;
    if (entry + 16 > bytes.size()) return std::nullopt;
    if (bytes.compare(entry, 4, "hhea") == 0) hhea = big_endian(bytes, entry + 8, 4);
    if (bytes.compare(entry, 4, "head") == 0) head = big_endian(bytes, entry + 8, 4);
  }
  const auto units_per_em = static_cast<float>(big_endian(bytes, head + 18, 2));
  const auto ascent = static_cast<std::int16_t>(big_endian(bytes, hhea + 4, 2));
  const auto descent = static_cast<std::int16_t>(big_endian(bytes, hhea + 6, 2));
  if (hhea == 0 || head == 0 || units_per_em <= 0 || ascent <= descent) return std::nullopt;
  return static_cast<float>(ascent - descent) / units_per_em;
}

std::string_view suffix_of(Weight weight) {
  switch (weight) {
    case Weight::medium:
      return "-Medium.otf";
    case Weight::semibold:
      return "-SemiBold.otf";
    case Weight::bold:
      return "-Bold.otf";
    case Weight::italic:
      return "-Italic.otf";
    default:
      return "-Regular.otf";
  }
}

std::string math_file(const Theme& theme, Weight weight) {
  std::string name = theme.math_font;
  std::erase(name, ' ');
  return name + (weight == Weight::semibold || weight == Weight::bold ? "-Bold.ttf" : ".ttf");
}

/// Digits, plus and minus get the advance of "0", so that columns of numbers stand still.
void make_digits_tabular(ImFont& font) {
  const ImFontGlyph* zero = font.FindGlyphNoFallback('0');
  if (zero == nullptr) return;
  const float advance = zero->AdvanceX;
  for (ImFontGlyph& glyph : font.Glyphs) {
    const unsigned character = glyph.Codepoint;
    if (!((character >= '0' && character <= '9') || character == '+' || character == 0x2212)) continue;
    const float shift = (advance - glyph.AdvanceX) / 2;
    glyph.X0 += shift;
    glyph.X1 += shift;
    glyph.AdvanceX = advance;
  }
  font.BuildLookupTable();
}

bool holds(const ImWchar* ranges, ImWchar character) {
  for (; ranges[0] != 0; ranges += 2)
    if (character >= ranges[0] && character <= ranges[1]) return true;
  return false;
}

void insert(std::vector<ImWchar>& sorted, ImWchar character) {
  const auto place = std::lower_bound(sorted.begin(), sorted.end(), character);
  if (place == sorted.end() || *place != character) sorted.insert(place, character);
}

Weight weight_of(int css_weight) {
  if (css_weight >= 700) return Weight::bold;
  if (css_weight >= 600) return Weight::semibold;
  return css_weight >= 500 ? Weight::medium : Weight::regular;
}

using Faces = std::array<std::array<Face, kWeights>, kTypeStyles>;

/// Empty places take the nearest face: lighter first, then heavier; italic is upright then.
void fill_gaps(std::array<Face, kWeights>& of_style, Weight usual) {
  const auto at = [&](Weight weight) -> Face& { return of_style[static_cast<std::size_t>(weight)]; };
  constexpr Weight kUpright[] = {Weight::regular, Weight::medium, Weight::semibold, Weight::bold};
  for (std::size_t i = 1; i < 4; ++i)
    if (at(kUpright[i]).font == nullptr) at(kUpright[i]) = at(kUpright[i - 1]);
  for (std::size_t i = 3; i-- > 0;)
    if (at(kUpright[i]).font == nullptr) at(kUpright[i]) = at(kUpright[i + 1]);
  if (at(Weight::italic).font == nullptr) at(Weight::italic) = at(Weight::regular);
  at(Weight::of_style) = at(usual);
}

}  // namespace

FontFolders default_font_folders() {
  return {{HEADSCOPE_TEXT_FONTS}, {HEADSCOPE_MATH_FONTS}};
}

core::Result<Fonts> Fonts::build(ImFontAtlas& atlas, const Theme& theme, const FontRequest& request,
                                 const FontFolders& folders) {
  Fonts fonts;
  fonts.folders_ = folders;
  if (core::Result<void> done = fonts.rebuild(atlas, theme, request); !done) return done.error();
  return fonts;
}

core::Result<const Fonts::File*> Fonts::file(const std::string& name) {
  if (const auto known = files_.find(name); known != files_.end()) return &known->second;
  for (const std::vector<std::filesystem::path>* group : {&folders_.text, &folders_.math})
    for (const std::filesystem::path& folder : *group) {
      std::ifstream stream(folder / name, std::ios::binary);
      if (!stream) continue;
      File loaded{{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()}};
      const std::optional<float> height = line_in_ems(loaded.bytes);
      if (!height) return core::Error{"fonts.malformed", (folder / name).string(), {{"name", name}}};
      loaded.height = *height;
      return &files_.emplace(name, std::move(loaded)).first->second;
    }
  return core::Error{
      "fonts.missing", folders_.text.empty() ? "" : folders_.text[0].string(), {{"name", name}}};
}

core::Result<void> Fonts::rebuild(ImFontAtlas& atlas, const Theme& theme, const FontRequest& request) {
  request_ = request;
  for (const ImWchar character : wanted_) insert(extra_, character);
  wanted_.clear();
  faces_ = {};
  scripts_ = {};
  return bake(atlas, theme);
}

core::Result<void> Fonts::bake(ImFontAtlas& atlas, const Theme& theme) {
  // one font for equal pixel sizes and weights, whatever styles they serve
  struct Baked {
    float em;
    Weight weight;
    ImFont* font;
    float height;
  };
  std::vector<Baked> baked;
  ImVector<ImWchar> text_ranges;
  ImFontGlyphRangesBuilder builder;
  builder.AddRanges(kText);
  for (const ImWchar character : extra_) builder.AddChar(character);
  builder.BuildRanges(&text_ranges);
  atlas.Clear();
  atlas.FontBuilderIO = ImFontAtlasGetBuilderForStbTruetype();
  atlas.Flags |= ImFontAtlasFlags_NoPowerOfTwoHeight;
  atlas.TexDesiredWidth = 2048;

  const auto add = [&](const File& source, float em, const ImWchar* ranges, ImFontConfig config) {
    config.FontDataOwnedByAtlas = false;
    config.OversampleH = em * request_.pixels_per_unit < 20 ? 3 : 2;
    config.OversampleV = 1;
    // the atlas only reads the bytes, but its interface is not const
    return atlas.AddFontFromMemoryTTF(const_cast<char*>(source.bytes.data()),
                                      static_cast<int>(source.bytes.size()),
                                      em * request_.pixels_per_unit * source.height, &config, ranges);
  };
  for (const Bake& bake : kBakes) {
    const float size = theme.size_of(bake.style, request_.sizing).size;
    const float least = theme.size_of(TypeStyle::small, request_.sizing).size;
    const float em =
        (bake.form == Form::script ? std::max(size * kScriptSize, least) : size) * request_.text_scale;
    auto known = std::find_if(baked.begin(), baked.end(),
                              [&](const Baked& b) { return b.em == em && b.weight == bake.weight; });
    if (known == baked.end()) {
      const core::Result<const File*> text = file(theme.text_font + std::string(suffix_of(bake.weight)));
      if (!text) return text.error();
      const core::Result<const File*> math = file(math_file(theme, bake.weight));
      if (!math) return math.error();
      const ImWchar* ranges = bake.coverage == Coverage::figures ? kFigures : text_ranges.Data;
      ImFontConfig config;
      ImFont* font = add(**text, em, ranges, config);
      config.MergeMode = true;
      add(**math, em, ranges, config);
      baked.push_back({em, bake.weight, font, (*text)->height});
      known = std::prev(baked.end());
    }
    Faces& faces = bake.form == Form::script ? scripts_ : faces_;
    faces[static_cast<std::size_t>(bake.style)][static_cast<std::size_t>(bake.weight)] = {
        known->font, em * known->height, em, 0};
  }
  atlas.Build();
  for (const Baked& b : baked) {
    make_digits_tabular(*b.font);
    b.font->Scale = 1 / request_.pixels_per_unit;  // for ImGui's own use of a font (PushFont)
  }
  finish_faces(theme);
  return {};
}

void Fonts::finish_faces(const Theme& theme) {
  for (std::size_t i = 0; i < kTypeStyles; ++i) {
    const Weight usual = weight_of(theme.size_of(static_cast<TypeStyle>(i), request_.sizing).weight);
    fill_gaps(faces_[i], usual);
    // small text has no smaller script
    if (scripts_[i][static_cast<std::size_t>(Weight::regular)].font == nullptr)
      scripts_[i] = faces_[static_cast<std::size_t>(TypeStyle::small)];
    fill_gaps(scripts_[i], Weight::regular);
    for (Faces* faces : {&faces_, &scripts_})
      for (Face& face : (*faces)[i]) face.ascent = face.font->Ascent * face.size / face.font->FontSize;
  }
}

const Face& Fonts::face(TypeStyle style, Weight weight) const {
  return faces_[static_cast<std::size_t>(style)][static_cast<std::size_t>(weight)];
}

const Face& Fonts::script_face(TypeStyle style, Weight weight) const {
  return scripts_[static_cast<std::size_t>(style)][static_cast<std::size_t>(weight)];
}

void Fonts::want(std::string_view text) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    if (static_cast<unsigned char>(*at) < 0x80) {
      ++at;
      continue;
    }
    unsigned character = 0;
    at += ImTextCharFromUtf8(&character, at, end);
    // ImWchar has 16 bits: what lies beyond is shown as U+FFFD
    if (character < 0x80 || character > 0xFFFF || holds(kText, static_cast<ImWchar>(character))) continue;
    if (!std::binary_search(extra_.begin(), extra_.end(), static_cast<ImWchar>(character)))
      insert(wanted_, static_cast<ImWchar>(character));
  }
}

}  // namespace headscope::simulator
