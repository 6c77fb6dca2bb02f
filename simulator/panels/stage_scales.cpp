#include "simulator/panels/stage_scales.h"

#include "simulator/rich_text.h"
#include "simulator/widgets/scale_bar.h"

#include <algorithm>
#include <string>

namespace headscope::simulator {

float scale_height(const Panel& panel) {
  return panel.px(36);
}

namespace {

/// The scales of gradients and moments whose titles have no room for them.
std::string own_scale_words(const Panel& panel, std::span<const std::unique_ptr<StageMatrix>> matrices) {
  std::string words;
  for (const std::unique_ptr<StageMatrix>& matrix : matrices) {
    if (matrix->note == Shown::yes || matrix->spec.title.note.empty()) continue;
    const std::string one = panel.text(
        "stage.own_scale", {{"name", matrix->spec.title.text}, {"scale", matrix->spec.title.note}});
    words += (words.empty() ? "" : "  ·  ") + one;
  }
  return words;
}

void draw_own_scales(Panel& panel, ImVec2 at, float right, const std::string& words) {
  const TextStyle style{
      .type = TypeStyle::small, .colour = panel.painter().colour().tertiary, .role = "own_scale"};
  if (words.empty() || right - at.x < panel.px(80)) return;
  const RichBlock block = lay_out(panel.painter(), {Run{.text = words, .source = Source::catalog}},
                                  {.type = TypeStyle::small,
                                   .width = right - at.x,
                                   .colour = panel.painter().colour().tertiary,
                                   .role = "own_scale"});
  if (block.height <= scale_height(panel)) {
    draw(panel.painter(), at, block);
    return;
  }
  panel.painter().fit_text(at, words, right - at.x, style);
}

}  // namespace

void draw_scales(Panel& panel, ImVec2 at, float right,
                 std::span<const std::unique_ptr<StageMatrix>> matrices) {
  bool has_shares = false;
  int n_signed = 0, n_own = 0;
  double scale = 1;
  for (const std::unique_ptr<StageMatrix>& matrix : matrices) {
    has_shares |= matrix->spec.map == ColourMap::probability;
    if (matrix->spec.map != ColourMap::signed_values) continue;
    if (!matrix->spec.title.note.empty()) {
      ++n_own;
      continue;
    }
    ++n_signed;
    scale = matrix->spec.scale;
  }
  const bool has_signed = n_signed > 0;
  const bool has_own = n_own > 0 && !has_signed;  // what the colours mean, where no numbers are for all
  const bool has_two = (has_signed || has_own) && has_shares;
  const float width = std::min(panel.px(180), (right - at.x) / (has_two ? 2.6f : 1.3f));
  // a note stands beside its bar where there is room for it
  const auto noted = [&](const std::string& words) {
    const float note = panel.painter().width_of(words, {.type = TypeStyle::small}) + panel.px(60);
    return at.x + width + note <= right ? words : std::string();
  };
  if (has_signed) {
    const std::string note = n_signed > 1 ? panel.text("stage.one_scale") : std::string();
    const Rect box = draw_scale_bar(panel.painter(), at, width, ColourMap::signed_values, scale,
                                    has_shares ? std::string() : noted(note));
    at.x = box.max.x + panel.px(panel.theme().space.xl);
  }
  const std::string own = own_scale_words(panel, matrices);
  if (has_own) {
    const bool is_alone = own.empty() && !has_shares;
    at.x = draw_sign_bar(panel.painter(), at, is_alone ? width : std::min(width, panel.px(90)),
                         is_alone ? noted(panel.text("stage.own_scales")) : std::string())
               .max.x +
           panel.px(panel.theme().space.xl);
  }
  if (has_shares)
    at.x = draw_scale_bar(panel.painter(), at, width, ColourMap::probability, 1,
                          noted(panel.text("stage.scale_of_shares")))
               .max.x +
           panel.px(panel.theme().space.xl);
  draw_own_scales(panel, at, right, own);
}

}  // namespace headscope::simulator
