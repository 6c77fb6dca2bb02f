// Drawing with no display: EGL without a surface, an offscreen framebuffer, the picture as bytes.
#pragma once

#include "core/result.h"
#include "simulator/platform/frame.h"
#include "simulator/platform/image.h"

namespace headscope::simulator::platform {

inline constexpr int kMaxImageSide = 4096;

struct HeadlessOptions {
  int width = 1600;  // pixels, 1 to kMaxImageSide
  int height = 900;
  int n_frames = 4;         // at least so many, so that layout settles
  int n_frames_most = 120;  // ends here even if the application still asks for frames
};

/// Draws frames at fixed times (60 a second), with no input, until the application rests; returns the last
/// one. The same application and options give the same bytes. Errors: platform.image_size, platform.no_egl
/// (no surfaceless EGL or no OpenGL 3.3 behind it),
/// those of application.prepare.
core::Result<Image> draw_headless(const HeadlessOptions& options, const Application& application);

}  // namespace headscope::simulator::platform
