// The ImGui context of one platform run, and the steps of a frame that every platform shares.
#pragma once

#include "simulator/platform/frame.h"

struct ImGuiContext;

namespace headscope::simulator::platform {

/// Owns a context without ini and log file; also initialises and ends ImGui's OpenGL 3 back end.
/// Precondition: an OpenGL 3.3 context is current for the whole life.
class ImGuiOnOpenGl {
 public:
  ImGuiOnOpenGl();
  ~ImGuiOnOpenGl();
  ImGuiOnOpenGl(const ImGuiOnOpenGl&) = delete;
  ImGuiOnOpenGl& operator=(const ImGuiOnOpenGl&) = delete;

  /// Lets the application prepare fonts and draw, then renders into the bound framebuffer of the given pixel
  /// size. The platform has filled io (display size, time, input) before.
  /// The error is that of application.prepare.
  core::Result<NextFrame> draw(const Application& application, const Frame& frame, int pixel_width,
                               int pixel_height);

 private:
  ImGuiContext* context_;
};

}  // namespace headscope::simulator::platform
