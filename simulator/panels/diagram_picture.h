// A tensor as a small picture in the diagram: its real numbers, as many as have a pixel.
#pragma once

#include "core/trace.h"
#include "simulator/painter.h"

#include <cstdint>

namespace headscope::simulator {

/// Draws the tensor at a head; what is not computed yet gets a dotted outline. At most `most` rows and
/// columns are read, evenly spread.
void draw_tensor_picture(Painter& painter, const core::Trace<float>& trace, core::TensorId tensor,
                         std::int64_t head, const Rect& box, int most);

/// How many samples a side a picture may have, so that `n_pictures` together stay within what one frame
/// draws.
int samples_for(std::size_t n_pictures);

}  // namespace headscope::simulator
