// Drawing with no display, and the PNG files that it ends in.
#include "simulator/platform/headless.h"
#include "simulator/platform/png.h"

#include "core/formats/atomic_file.h"

#include <imgui.h>

#include <catch2/catch.hpp>

#include <cstdint>
#include <filesystem>
#include <set>

namespace {

using namespace headscope;
using namespace headscope::simulator;

constexpr std::uint32_t kOrange = IM_COL32(216, 120, 50, 255);
constexpr std::uint32_t kBlue = IM_COL32(30, 60, 200, 255);

/// A blue ground with an orange rectangle and some text.
platform::Application two_colours() {
  platform::Application application;
  application.prepare = [](const platform::Frame&) { return platform::FontAtlas::unchanged; };
  application.draw = [](const platform::Frame& frame) {
    ImDrawList& list = *ImGui::GetBackgroundDrawList();
    list.AddRectFilled({0, 0}, {frame.width, frame.height}, kBlue);
    list.AddRectFilled({10, 20}, {30, 40}, kOrange);
    list.AddText({50, 50}, kOrange, "scores");
    return platform::NextFrame{};
  };
  return application;
}

std::uint32_t pixel(const platform::Image& image, int x, int y) {
  const std::size_t place = static_cast<std::size_t>(y * image.width + x) * 4;
  return IM_COL32(image.rgba[place], image.rgba[place + 1], image.rgba[place + 2], image.rgba[place + 3]);
}

}  // namespace

TEST_CASE("a headless picture has the drawn colours where they were drawn", "[simulator][headless][opengl]") {
  const core::Result<platform::Image> image =
      platform::draw_headless({.width = 200, .height = 100}, two_colours());
  REQUIRE(image);
  REQUIRE(image->width == 200);
  REQUIRE(image->height == 100);
  REQUIRE(image->rgba.size() == 200 * 100 * 4);
  CHECK(pixel(*image, 20, 30) == kOrange);
  CHECK(pixel(*image, 20, 70) == kBlue);  // a picture upside down would be orange here
  CHECK(pixel(*image, 199, 99) == kBlue);
  std::set<std::uint32_t> in_the_text;
  for (int x = 50; x < 90; ++x) in_the_text.insert(pixel(*image, x, 57));
  CHECK(in_the_text.size() >= 2);
}

TEST_CASE("two headless runs give the same PNG bytes", "[simulator][headless][opengl]") {
  const core::Result<platform::Image> first =
      platform::draw_headless({.width = 320, .height = 180}, two_colours());
  const core::Result<platform::Image> second =
      platform::draw_headless({.width = 320, .height = 180}, two_colours());
  REQUIRE(first);
  REQUIRE(second);
  const std::string bytes = platform::encode_png(*first);
  CHECK(bytes.substr(1, 3) == "PNG");
  CHECK(bytes == platform::encode_png(*second));
}

TEST_CASE("a headless run draws on while the application moves, and no further than it may",
          "[simulator][headless][opengl]") {
  int n_drawn = 0;
  platform::Application application = two_colours();
  application.draw = [&](const platform::Frame& frame) {
    CHECK(frame.time == Approx(n_drawn / 60.0));
    ++n_drawn;
    return platform::NextFrame{.within = n_drawn < 30 ? 0 : platform::kOnInput};
  };
  REQUIRE(platform::draw_headless({.width = 16, .height = 16}, application));
  CHECK(n_drawn == 30);
  application.draw = [&](const platform::Frame&) { return ++n_drawn, platform::NextFrame{.within = 0}; };
  n_drawn = 0;
  REQUIRE(platform::draw_headless({.width = 16, .height = 16, .n_frames_most = 50}, application));
  CHECK(n_drawn == 50);
}

TEST_CASE("a headless picture of an impossible size is refused", "[simulator][headless][opengl]") {
  for (const auto& [width, height] : {std::pair{0, 100}, {100, -1}, {4097, 100}, {100, 100000}}) {
    const core::Result<platform::Image> image =
        platform::draw_headless({.width = width, .height = height}, two_colours());
    REQUIRE_FALSE(image);
    CHECK(image.error().key == "platform.image_size");
  }
}

TEST_CASE("a PNG that cannot be written says so and leaves nothing", "[simulator][headless][opengl]") {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / "headscope-no-such-folder" / "x.png";
  const platform::Image image{.width = 1, .height = 1, .rgba = {1, 2, 3, 255}};
  const core::Result<void> written = platform::write_png(path, image);
  REQUIRE_FALSE(written);
  CHECK(written.error().key == "file.folder_missing");
  CHECK_FALSE(std::filesystem::exists(path));
}
