// A sheet over everything else: a heading, a close button, and content that scrolls.
#pragma once

#include "simulator/panels/what_if.h"

#include <functional>
#include <string_view>

namespace headscope::simulator {

/// Draws the sheet in the middle of the box, as high as its content wants, and `content` in it. Returns
/// whether it was closed.
bool draw_sheet(Panel& panel, const Rect& box, std::string_view id, std::string_view heading,
                float most_width, float& content_height, const std::function<void(Column&)>& content);

}  // namespace headscope::simulator
