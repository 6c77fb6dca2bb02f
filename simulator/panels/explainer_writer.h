// Writes the explainer's sections from the top down within a width: titles, sentences, tables, links.
#pragma once

#include "simulator/narration.h"
#include "simulator/panels/panel.h"
#include "simulator/rich_text.h"
#include "simulator/widgets/controls.h"

#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator {

class ExplainerWriter {
 public:
  ExplainerWriter(Panel& panel, ImVec2 at, float width) : panel_(panel), x_(at.x), y_(at.y), width_(width) {}

  float y() const { return y_; }
  void space(float length) { y_ += panel_.px(length); }

  void heading(std::string_view key);
  void words(const std::string& words, ImU32 text_colour, Source source = Source::catalog);
  void sentence(const std::string& markdown);
  void note(Note kind, const std::string& sentence);

  /// The cells that were followed, as links back.
  void trail();
  /// The cell's numbers to choose from, where it has more than one.
  void quantities(const Narration& narration);
  void title(const Narration& narration);
  void terms(const Narration& narration);
  /// Whether the terms make the stored number: quiet when they do.
  void check(const Narration& narration);
  /// A gradient held against differences of the loss: the result, or the button that asks for it.
  void gradient_check(const Narration& narration);
  void links(const std::vector<NarratedLink>& list, std::string_view heading_key);

 private:
  const Palette& colour() const { return panel_.painter().colour(); }
  void link(const NarratedLink& link, const std::string& id);
  /// A word at the left, a number at the right; the number below where both find no room.
  void line(const std::string& word, const std::string& number);
  /// Runs that wrap at the width. Returns the box.
  Rect rich(std::vector<Run> runs, const RichStyle& style);

  Panel& panel_;
  float x_, y_, width_;
};

}  // namespace headscope::simulator
