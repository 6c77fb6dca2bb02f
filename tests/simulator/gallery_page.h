// What the galleries share: a page that is drawn once, without a display, and written as a picture.
#pragma once

#include "simulator/platform/headless.h"
#include "simulator/platform/png.h"

#include <imgui.h>

#include <string>

namespace headscope::simulator::test {

/// A bare window over the whole frame; ImGui::End() closes it.
inline void begin_page(const platform::Frame& frame) {
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize({frame.width, frame.height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0F);
  ImGui::Begin("gallery", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground);
  ImGui::PopStyleVar(2);
}

/// Errors: those of draw_headless() and write_png().
inline core::Result<void> write_page(const std::string& file, ImVec2 size,
                                     const platform::Application& application) {
  const core::Result<platform::Image> image = platform::draw_headless(
      {.width = static_cast<int>(size.x), .height = static_cast<int>(size.y)}, application);
  if (!image) return image.error();
  return platform::write_png(file, *image);
}

}  // namespace headscope::simulator::test
