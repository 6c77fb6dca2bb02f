// A picture in memory.
#pragma once

#include <cstdint>
#include <vector>

namespace headscope::simulator::platform {

/// Eight bits a channel, four channels, rows from the top.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgba;  // [height, width, 4]
};

}  // namespace headscope::simulator::platform
