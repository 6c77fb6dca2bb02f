// EGL without a surface, a framebuffer object, and its pixels.
#include "simulator/platform/headless.h"

#include "simulator/platform/imgui_context.h"

#include "glad/gl.h"

#define EGL_NO_X11
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <imgui.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace headscope::simulator::platform {
namespace {

constexpr double kFrameTime = 1.0 / 60;  // seconds

/// An OpenGL 3.3 context that draws nowhere by itself; current while it lives.
class SurfacelessContext {
 public:
  SurfacelessContext() { ready_ = make(); }
  ~SurfacelessContext() {
    if (display_ == EGL_NO_DISPLAY) return;
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (context_ != EGL_NO_CONTEXT) eglDestroyContext(display_, context_);
    eglTerminate(display_);
  }
  SurfacelessContext(const SurfacelessContext&) = delete;
  SurfacelessContext& operator=(const SurfacelessContext&) = delete;

  bool is_ready() const { return ready_; }
  const std::string& failed_call() const { return failed_call_; }

 private:
  bool fail(const char* call) { return failed_call_ = call, false; }

  bool make() {
    const char* extensions = eglQueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
    if (!extensions ||
        std::string_view(extensions).find("EGL_MESA_platform_surfaceless") == std::string_view::npos)
      return fail("EGL_MESA_platform_surfaceless");
    display_ = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (display_ == EGL_NO_DISPLAY) return fail("eglGetPlatformDisplay");
    if (!eglInitialize(display_, nullptr, nullptr)) return fail("eglInitialize");
    if (!eglBindAPI(EGL_OPENGL_API)) return fail("eglBindAPI");
    const EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLConfig config = nullptr;
    EGLint n_configs = 0;
    if (!eglChooseConfig(display_, wanted, &config, 1, &n_configs) || n_configs == 0)
      return fail("eglChooseConfig");
    const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION,
                              3,
                              EGL_CONTEXT_MINOR_VERSION,
                              3,
                              EGL_CONTEXT_OPENGL_PROFILE_MASK,
                              EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                              EGL_NONE};
    context_ = eglCreateContext(display_, config, EGL_NO_CONTEXT, version);
    if (context_ == EGL_NO_CONTEXT) return fail("eglCreateContext");
    if (!eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_)) return fail("eglMakeCurrent");
    if (gladLoadGL(eglGetProcAddress) == 0) return fail("gladLoadGL");
    return true;
  }

  EGLDisplay display_ = EGL_NO_DISPLAY;
  EGLContext context_ = EGL_NO_CONTEXT;
  std::string failed_call_;
  bool ready_ = false;
};

/// A bound framebuffer of the picture's size.
class Framebuffer {
 public:
  Framebuffer(int width, int height) : width_(width), height_(height) {
    glGenRenderbuffers(1, &pixels_);
    glBindRenderbuffer(GL_RENDERBUFFER, pixels_);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
    glGenFramebuffers(1, &framebuffer_);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, pixels_);
  }
  ~Framebuffer() {
    glDeleteFramebuffers(1, &framebuffer_);
    glDeleteRenderbuffers(1, &pixels_);
  }
  Framebuffer(const Framebuffer&) = delete;
  Framebuffer& operator=(const Framebuffer&) = delete;

  bool is_complete() const { return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE; }

  Image read() const {
    Image image{.width = width_, .height = height_, .rgba = {}};
    const std::size_t row_bytes = static_cast<std::size_t>(width_) * 4;
    image.rgba.resize(row_bytes * static_cast<std::size_t>(height_));
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glReadPixels(0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, image.rgba.data());
    // OpenGL's rows run from the bottom
    const auto row = [&](int y) { return image.rgba.begin() + static_cast<std::ptrdiff_t>(row_bytes) * y; };
    for (int y = 0; y < height_ / 2; ++y) std::swap_ranges(row(y), row(y + 1), row(height_ - 1 - y));
    // blending leaves traces in alpha; a picture of a window is opaque
    for (std::size_t place = 3; place < image.rgba.size(); place += 4) image.rgba[place] = 255;
    return image;
  }

 private:
  int width_, height_;
  GLuint framebuffer_ = 0, pixels_ = 0;
};

core::Result<void> draw_frames(const HeadlessOptions& options, const Application& application) {
  ImGuiOnOpenGl imgui;
  ImGuiIO& io = ImGui::GetIO();
  Frame frame;
  frame.width = static_cast<float>(options.width);
  frame.height = static_cast<float>(options.height);
  for (int drawn = 0; drawn < options.n_frames_most; ++drawn) {
    io.DisplaySize = ImVec2(frame.width, frame.height);
    io.DeltaTime = static_cast<float>(kFrameTime);
    frame.time = kFrameTime * drawn;
    const core::Result<NextFrame> next = imgui.draw(application, frame, options.width, options.height);
    if (!next) return next.error();
    const bool rests = next->within > 0 || next->run == Run::close;
    if (drawn + 1 >= options.n_frames && rests) break;
  }
  return {};
}

}  // namespace

core::Result<Image> draw_headless(const HeadlessOptions& options, const Application& application) {
  const auto fits = [](int side) { return side >= 1 && side <= kMaxImageSide; };
  if (!fits(options.width) || !fits(options.height))
    return core::Error{.key = "platform.image_size",
                       .where = std::to_string(options.width) + "x" + std::to_string(options.height),
                       .values = {{"most", std::to_string(kMaxImageSide)}}};
  const SurfacelessContext context;
  if (!context.is_ready())
    return core::Error{.key = "platform.no_egl", .where = "", .values = {{"detail", context.failed_call()}}};
  const Framebuffer framebuffer(options.width, options.height);
  if (!framebuffer.is_complete())
    return core::Error{
        .key = "platform.no_egl", .where = "", .values = {{"detail", "glFramebufferRenderbuffer"}}};
  if (core::Result<void> drawn = draw_frames(options, application); !drawn) return drawn.error();
  return framebuffer.read();
}

}  // namespace headscope::simulator::platform
