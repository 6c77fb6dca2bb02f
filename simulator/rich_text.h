// Text of several styles, wrapped to a width: prose with bold words, tags, hues and links, and formulas.
//
// Formula markup (assets/text/*.toml):
//   {scores:s}   "s" in the hue of scores, semibold. Concepts: queries keys values scores weights output
//   gradient.
//   _{ij} ^{T}   subscript, superscript of what stands before, in its hue: 72% of the size, 24% lower
//   (higher). {none:x}     "x" semibold, no hue (the own argument of an operation)
//   \{ \} \_ \^ \\  the character itself
// All else is plain text: "{scores:s}_{ij} = Σ_{c} {queries:q}_{ic} · {keys:k}_{jc}".
#pragma once

#include "core/result.h"
#include "simulator/painter.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator {

enum class Script : std::uint8_t { normal, subscript, superscript };

/// A piece of text in one style. A newline in `text` breaks the line.
struct Run {
  std::string text;
  Weight weight = Weight::of_style;
  Concept hue = Concept::none;  // colours the text
  ImU32 colour = 0;             // 0: by hue, else primary if semibold or bold, else the style's
  bool tag = false;             // the hue's letter chip stands before the text
  bool underline = false;       // in the hue (links, later mentions)
  bool code = false;            // on an inset chip
  Script script = Script::normal;
  std::string link = {};  // not empty: hovering and clicking it matters; the id is returned
  Source source = Source::lesson;
};

/// Parses the markup above. Errors: markup.brace, markup.concept (values: name), where = the text.
core::Result<std::vector<Run>> parse_formula(std::string_view markup, Source source = Source::catalog);

struct RichStyle {
  TypeStyle type = TypeStyle::body;
  float width = 0;   // in screen pixels; 0 never wraps
  ImU32 colour = 0;  // of runs without a hue; 0: primary
  Align align = Align::left;
  std::string_view role = "rich";
};

struct RichPiece {
  Rect box;  // relative to the top left corner of the block; the line's height
  std::string text;
  std::size_t run = 0;  // index into RichBlock::runs
  bool tag = false;     // the chip, not text
};
struct RichBlock {
  std::vector<Run> runs;
  std::vector<RichPiece> pieces;
  RichStyle style;
  std::string role;
  float width = 0, height = 0;  // used
  std::size_t n_lines = 0;
};
struct LinkBox {
  std::string link;
  Rect box;  // on the screen; a wrapped link has several
};

/// Breaks at spaces (and inside a word only if it alone is wider than the width).
RichBlock lay_out(const Painter& painter, std::vector<Run> runs, const RichStyle& style);
/// Draws; `lit_link` gets an inset behind it. Returns where the links are.
std::vector<LinkBox> draw(Painter& painter, ImVec2 at, const RichBlock& block,
                          std::string_view lit_link = {});

}  // namespace headscope::simulator
