// The desktop window: GLFW and OpenGL 3.3, driving an Application until it or its user closes it.
#pragma once

#include "core/result.h"
#include "simulator/platform/frame.h"

#include <string>

namespace headscope::simulator::platform {

struct WindowOptions {
  std::string title;  // from the text catalogue
  int width = 1600;   // before the display's scale; the window never exceeds the monitor's work area
  int height = 900;
};

/// Opens a window and draws until it closes. Sleeps between inputs unless the application asks for frames.
/// Errors: platform.no_display (no X or Wayland display), platform.no_opengl (the driver has no OpenGL 3.3),
/// those of application.prepare.
core::Result<void> run_window(const WindowOptions& options, const Application& application);

}  // namespace headscope::simulator::platform
