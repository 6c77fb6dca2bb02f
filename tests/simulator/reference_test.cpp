// Eight views beside the pictures that are kept in reference/. A view that was meant to change:
// cmake --build … --target reference_pictures, then bin/reference_pictures --write, and look at what changed.
#include "simulator/platform/png.h"
#include "tests/simulator/reference_views.h"

#include <stb_image.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <memory>

namespace headscope::simulator {
namespace {

// Rasterisers differ by machine: in the edges of letters and slanted lines. A pixel counts where a channel
// differs by more than a tenth, and edges alone stay far below half a percent of all.
constexpr int kChannelTolerance = 24;
constexpr double kShareTolerance = 0.005;

TEST_CASE("eight views look like the pictures that are kept", "[simulator][reference][opengl]") {
  for (const test::ReferenceView& view : test::reference_views()) {
    const std::filesystem::path file = test::reference_folder() / (view.name + ".png");
    INFO(file.string());
    const platform::Image drawn = test::draw_reference(view);
    int width = 0, height = 0, n_channels = 0;
    const std::unique_ptr<stbi_uc, void (*)(void*)> kept(
        stbi_load(file.c_str(), &width, &height, &n_channels, 4), stbi_image_free);
    REQUIRE(kept);
    REQUIRE(width == drawn.width);
    REQUIRE(height == drawn.height);
    std::size_t n_differ = 0;
    for (std::size_t at = 0; at < drawn.rgba.size(); at += 4) {
      bool differs = false;
      for (std::size_t channel = 0; channel < 3; ++channel)
        differs |= std::abs(drawn.rgba[at + channel] - kept.get()[at + channel]) > kChannelTolerance;
      n_differ += differs ? 1 : 0;
    }
    const double share = static_cast<double>(n_differ) / (static_cast<double>(drawn.rgba.size()) / 4);
    if (share >= kShareTolerance) {
      const std::filesystem::path now = std::filesystem::current_path() / (view.name + ".differs.png");
      CHECK(platform::write_png(now, drawn));
      WARN("what is drawn now: " << now.string());
    }
    CHECK(share < kShareTolerance);
  }
}

}  // namespace
}  // namespace headscope::simulator
