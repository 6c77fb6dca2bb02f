// GLFW window, input and pacing of frames. The only user of GLFW.
#include "simulator/platform/desktop.h"

#include "simulator/platform/imgui_context.h"

#include "glad/gl.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include <backends/imgui_impl_glfw.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <set>
#include <thread>
#include <utility>

namespace headscope::simulator::platform {
namespace {

// ImGui settles hover, press and layout over up to three frames after an input.
constexpr int kFramesAfterInput = 3;
constexpr double kShortestFrame = 1.0 / 120;  // seconds; some drivers ignore the swap interval
constexpr double kWatchInterval = 1;          // seconds
constexpr int kTitleBarRoom = 40;             // pixels that the work area must leave for the window's frame

struct GlfwLibrary {
  bool is_ready = glfwInit() == GLFW_TRUE;
  GlfwLibrary() = default;
  GlfwLibrary(const GlfwLibrary&) = delete;
  GlfwLibrary& operator=(const GlfwLibrary&) = delete;
  ~GlfwLibrary() {
    if (is_ready) glfwTerminate();
  }
};

struct DestroyWindow {
  void operator()(GLFWwindow* window) const { glfwDestroyWindow(window); }
};
using Window = std::unique_ptr<GLFWwindow, DestroyWindow>;

struct KeyEvent {
  int key, scancode, action, modifiers;
};

/// What the callbacks leave for the loop; they reach it through the window's user pointer.
struct Pacing {
  int frames_owed = kFramesAfterInput;
  std::deque<KeyEvent> keys;  // not yet told to ImGui
};

template <class... Arguments>
void on_input(GLFWwindow* window, Arguments...) {
  static_cast<Pacing*>(glfwGetWindowUserPointer(window))->frames_owed = kFramesAfterInput;
}

void on_key(GLFWwindow* window, int key, int scancode, int action, int modifiers) {
  static_cast<Pacing*>(glfwGetWindowUserPointer(window))->keys.push_back({key, scancode, action, modifiers});
  on_input(window);
}

/// Tells ImGui of the keys, one event a key and frame, and no release after a press: where a frame is slow,
/// press and release come together, and ImGui before 1.87 would see neither, or Z without its Ctrl.
void deliver_keys(GLFWwindow* window, Pacing& pacing) {
  std::set<int> told;
  bool has_press = false;
  while (!pacing.keys.empty()) {
    const KeyEvent event = pacing.keys.front();
    if (event.action == GLFW_RELEASE && has_press) return;
    if (!told.insert(event.key).second) return;
    has_press |= event.action != GLFW_RELEASE;
    pacing.keys.pop_front();
    ImGui_ImplGlfw_KeyCallback(window, event.key, event.scancode, event.action, event.modifiers);
    pacing.frames_owed = kFramesAfterInput;
  }
}

/// Set before ImGui's own callbacks, which then call these as well.
void watch_input(GLFWwindow* window, Pacing& pacing) {
  glfwSetWindowUserPointer(window, &pacing);
  glfwSetCursorPosCallback(window, on_input<double, double>);
  glfwSetCursorEnterCallback(window, on_input<int>);
  glfwSetMouseButtonCallback(window, on_input<int, int, int>);
  glfwSetScrollCallback(window, on_input<double, double>);
  glfwSetCharCallback(window, on_input<unsigned>);
  glfwSetWindowFocusCallback(window, on_input<int>);
  glfwSetWindowRefreshCallback(window, on_input<>);
  glfwSetFramebufferSizeCallback(window, on_input<int, int>);
  glfwSetWindowContentScaleCallback(window, on_input<float, float>);
  glfwSetWindowCloseCallback(window, on_input<>);
}

std::string last_glfw_error() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text ? text : "";
}

Window open_window(const WindowOptions& options) {
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  float scale_x = 1, scale_y = 1;
  int left = 0, top = 0, room_x = options.width, room_y = options.height;
  if (GLFWmonitor* monitor = glfwGetPrimaryMonitor()) {
    glfwGetMonitorContentScale(monitor, &scale_x, &scale_y);
    glfwGetMonitorWorkarea(monitor, &left, &top, &room_x, &room_y);
  }
  const int wanted_x = static_cast<int>(static_cast<float>(options.width) * scale_x);
  const int wanted_y = static_cast<int>(static_cast<float>(options.height) * scale_y);
  const int width = std::min(wanted_x, room_x);
  const int height = wanted_y > room_y ? std::max(room_y - kTitleBarRoom, room_y / 2) : wanted_y;
  Window window(glfwCreateWindow(width, height, options.title.c_str(), nullptr, nullptr));
  if (window) glfwSetWindowSizeLimits(window.get(), 640, 400, GLFW_DONT_CARE, GLFW_DONT_CARE);
  return window;
}

DisplayScale display_scale(GLFWwindow* window) {
  int width = 0, height = 0, pixel_width = 0, pixel_height = 0;
  float content_x = 1, content_y = 1;
  glfwGetWindowSize(window, &width, &height);
  glfwGetFramebufferSize(window, &pixel_width, &pixel_height);
  glfwGetWindowContentScale(window, &content_x, &content_y);
  const float pixels_per_unit =
      width > 0 && pixel_width > 0 ? static_cast<float>(pixel_width) / static_cast<float>(width) : 1;
  return {.interface_scale = std::max(content_x / pixels_per_unit, 0.5F), .pixels_per_unit = pixels_per_unit};
}

/// Sleeps until the next frame is due: by input, by the application's own time, or by what it watches.
void wait(Pacing& pacing, const NextFrame& next, const Application& application, double last_frame) {
  if (pacing.frames_owed > 0 || next.within <= 0) {
    const double rest = kShortestFrame - (glfwGetTime() - last_frame);
    if (rest > 0) std::this_thread::sleep_for(std::chrono::duration<double>(rest));
    glfwPollEvents();
    return;
  }
  while (pacing.frames_owed == 0) {
    const double left = last_frame + next.within - glfwGetTime();
    if (left <= 0) return;
    const double longest = application.watch ? kWatchInterval : kOnInput;
    const double sleep = std::min(left, longest);
    if (sleep == kOnInput)
      glfwWaitEvents();
    else
      glfwWaitEventsTimeout(sleep);
    if (application.watch && application.watch() == Due::yes) pacing.frames_owed = kFramesAfterInput;
  }
}

core::Result<NextFrame> draw_frame(GLFWwindow* window, ImGuiOnOpenGl& imgui, const Application& application) {
  ImGui_ImplGlfw_NewFrame();
#if IMGUI_VERSION_NUM < 18700
  // the back end has just asked for the modifiers' state of this moment; where press and release came
  // together that is up again, though ImGui was told of the press alone
  ImGuiIO& io = ImGui::GetIO();
  io.KeyCtrl = io.KeysDown[GLFW_KEY_LEFT_CONTROL] || io.KeysDown[GLFW_KEY_RIGHT_CONTROL];
  io.KeyShift = io.KeysDown[GLFW_KEY_LEFT_SHIFT] || io.KeysDown[GLFW_KEY_RIGHT_SHIFT];
  io.KeyAlt = io.KeysDown[GLFW_KEY_LEFT_ALT] || io.KeysDown[GLFW_KEY_RIGHT_ALT];
#endif
  int pixel_width = 0, pixel_height = 0;
  glfwGetFramebufferSize(window, &pixel_width, &pixel_height);
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const Frame frame{.width = size.x, .height = size.y, .time = glfwGetTime(), .scale = display_scale(window)};
  core::Result<NextFrame> next = imgui.draw(application, frame, pixel_width, pixel_height);
  glfwSwapBuffers(window);
  return next;
}

core::Result<void> run(GLFWwindow* window, Pacing& pacing, ImGuiOnOpenGl& imgui,
                       const Application& application) {
  NextFrame next;
  double last_frame = 0;
  std::string title;
  while (!glfwWindowShouldClose(window) && next.run == Run::go_on) {
    wait(pacing, next, application, last_frame);
    if (glfwGetWindowAttrib(window, GLFW_ICONIFIED) == GLFW_TRUE) {
      glfwWaitEvents();
      continue;
    }
    last_frame = glfwGetTime();
    deliver_keys(window, pacing);
    if (pacing.frames_owed > 0) --pacing.frames_owed;
    core::Result<NextFrame> drawn = draw_frame(window, imgui, application);
    if (!drawn) return drawn.error();
    next = *std::move(drawn);
    if (!next.title.empty() && next.title != title) {
      title = next.title;
      glfwSetWindowTitle(window, title.c_str());
    }
  }
  return {};
}

}  // namespace

core::Result<void> run_window(const WindowOptions& options, const Application& application) {
  const GlfwLibrary library;
  if (!library.is_ready)
    return core::Error{.key = "platform.no_display", .where = "", .values = {{"detail", last_glfw_error()}}};
  const Window window = open_window(options);
  if (!window)
    return core::Error{.key = "platform.no_opengl", .where = "", .values = {{"detail", last_glfw_error()}}};
  glfwMakeContextCurrent(window.get());
  if (gladLoadGL(glfwGetProcAddress) == 0)
    return core::Error{.key = "platform.no_opengl", .where = "", .values = {{"detail", ""}}};
  glfwSwapInterval(1);
  Pacing pacing;
  watch_input(window.get(), pacing);
  ImGuiOnOpenGl imgui;
  ImGui_ImplGlfw_InitForOpenGL(window.get(), true);
  glfwSetKeyCallback(window.get(), on_key);  // in place of ImGui's, which deliver_keys() calls
  core::Result<void> done = run(window.get(), pacing, imgui, application);
  ImGui_ImplGlfw_Shutdown();
  return done;
}

}  // namespace headscope::simulator::platform
