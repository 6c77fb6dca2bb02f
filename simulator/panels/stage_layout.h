// Places matrices on the stage: a product at its crossing, others side by side in as many rows as read best.
#pragma once

#include "simulator/panels/stage_matrix.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headscope::simulator {

enum class Ink : std::uint8_t { none, drawn };
/// Draws formula and words from a point down within a width, or only measures them; returns the height.
using DrawWords = float (*)(Panel& panel, ImVec2 at, float width, Ink ink);
/// The same words from full to short: the first that leave the matrices room are drawn.
using ChoiceOfWords = std::span<const DrawWords>;

struct Placed {
  StageMatrix* matrix;
  MatrixLayout layout;
};
struct PlacedSign {
  Rect box;
  const std::string* text;  // the item's
};

/// Where everything goes; nothing is drawn yet.
struct Arrangement {
  StageShape shape = StageShape::line;
  std::vector<Placed> placed;  // of a product left operand, upper operand, the addend if any, result
  std::vector<PlacedSign> signs = {};
  DrawWords words = nullptr;  // none: there is no room for them
  ImVec2 words_at = {0, 0};
  float words_width = 0;
};

/// Left operand, upper operand, result at the crossing; words in the free corner. None: there is no room.
/// Leaves out captions and labels, turns labels, and shows fewer rows where that makes room.
std::optional<Arrangement> arrange_product(Panel& panel, const Rect& box,
                                           std::span<const std::unique_ptr<StageMatrix>> matrices,
                                           ChoiceOfWords choice);

/// Words above, then the matrices in rows, with their signs between; makes room as arrange_product() does.
/// None: there is no room.
std::optional<Arrangement> arrange_line(Panel& panel, const Rect& box,
                                        std::span<const std::unique_ptr<StageMatrix>> matrices,
                                        ChoiceOfWords choice);

/// Draws it, and reads pointer and keyboard on its matrices.
void draw_arrangement(Panel& panel, const Arrangement& arrangement);
void draw_placed(Panel& panel, std::span<const Placed> placed, const std::string& id);

/// Of all its matrices.
ImVec2 smallest_cell(const Arrangement& arrangement);

/// Room that the wholes and branches under the others ask for, of a stage as high as `height`; 0 where there
/// are none, or where the others would have too little left.
float small_height(const Panel& panel, float height, std::span<const std::unique_ptr<StageMatrix>> small);
/// Draws them in one row, with their signs between, in cells as large as fit.
void draw_small(Panel& panel, const Rect& box, std::span<const std::unique_ptr<StageMatrix>> small);

}  // namespace headscope::simulator
