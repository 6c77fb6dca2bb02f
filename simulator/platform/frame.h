// What a platform and an application tell each other, frame by frame. No graphics package, no panel is named
// here: a platform (window, headless) calls, the application draws with ImGui.
#pragma once

#include "core/result.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace headscope::simulator::platform {

/// How large the display wants things. On most systems one ImGui unit is one pixel and `interface_scale` says
/// how much larger to draw; where the system scales windows itself, `pixels_per_unit` is above 1 instead.
struct DisplayScale {
  float interface_scale = 1;  // multiplies every size of the theme
  float pixels_per_unit = 1;  // fonts are rasterised at size · pixels_per_unit
  bool operator==(const DisplayScale&) const = default;
};

/// One frame to draw; sizes in ImGui units.
struct Frame {
  float width = 0;
  float height = 0;
  double time = 0;  // seconds since the first frame; fixed steps when headless
  DisplayScale scale;
};

enum class Run { go_on, close };

inline constexpr double kOnInput = std::numeric_limits<double>::infinity();

/// An opaque area that lies under all that is drawn, in ImGui units. Cleared, not painted: a window has two
/// surfaces from edge to edge, and blending them costs a software rasteriser half of its frame.
struct Ground {
  float left = 0, top = 0, right = 0, bottom = 0;
  std::uint32_t colour = 0;  // as ImU32
};

/// The application's answer to a frame.
struct NextFrame {
  double within = kOnInput;  // seconds: 0 while something moves, kOnInput lets an idle window sleep
  Run run = Run::go_on;
  std::string title;            // of the window; empty leaves it as it is
  std::vector<Ground> grounds;  // in the order in which they lie over each other
};

enum class FontAtlas { unchanged, rebuilt };
enum class Due { no, yes };

/// The calls of a frame. The platform has made the ImGui context (no ini file, keyboard navigation off) and
/// initialised its back ends before the first one.
struct Application {
  /// Before ImGui::NewFrame(): may rebuild the fonts of io.Fonts, on the first frame it must. When it says
  /// `rebuilt`, the platform uploads the atlas again. An error ends the run and is the run's own.
  std::function<core::Result<FontAtlas>(const Frame&)> prepare;
  /// Between ImGui::NewFrame() and ImGui::Render().
  std::function<NextFrame(const Frame&)> draw;
  /// About once a second while an idle window sleeps: whether something outside (a saved file) wants a frame.
  /// May be empty; a headless run never asks.
  std::function<Due()> watch = {};
};

}  // namespace headscope::simulator::platform
