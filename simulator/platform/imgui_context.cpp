// Begins, draws and renders ImGui frames with OpenGL; no window here.
#include "simulator/platform/imgui_context.h"

#include "glad/gl.h"

#include <imgui.h>

#include <backends/imgui_impl_opengl3.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace headscope::simulator::platform {
namespace {

void set_clear_colour(ImU32 colour) {
  const ImVec4 parts = ImGui::ColorConvertU32ToFloat4(colour);
  glClearColor(parts.x, parts.y, parts.z, 1);
}

/// The pixels whose centres lie within the ground, as triangles would be filled.
void clear(const Ground& ground, float pixels_per_unit, int pixel_height) {
  const auto edge = [&](float units) {
    return static_cast<GLint>(std::ceil(units * pixels_per_unit - 0.5F));
  };
  const GLint left = edge(ground.left), top = edge(ground.top);
  const GLint right = edge(ground.right), bottom = edge(ground.bottom);
  if (right <= left || bottom <= top) return;
  // OpenGL's rows run from the bottom
  glScissor(left, pixel_height - bottom, right - left, bottom - top);
  set_clear_colour(ground.colour);
  glClear(GL_COLOR_BUFFER_BIT);
}

/// The colour that lies under most of the window is cleared at once: that is the quickest.
void clear(const std::vector<Ground>& grounds, float pixels_per_unit, int pixel_height) {
  const auto area = [](const Ground& ground) {
    return (ground.right - ground.left) * (ground.bottom - ground.top);
  };
  const auto area_of_colour = [&](const Ground& same) {
    float sum = 0;
    for (const Ground& ground : grounds) sum += ground.colour == same.colour ? area(ground) : 0;
    return sum;
  };
  const auto widest = std::ranges::max_element(grounds, {}, area_of_colour);
  const ImU32 most = widest == grounds.end() ? IM_COL32_BLACK : widest->colour;
  glDisable(GL_SCISSOR_TEST);
  set_clear_colour(most);
  glClear(GL_COLOR_BUFFER_BIT);
  glEnable(GL_SCISSOR_TEST);
  bool is_plain = true;  // so far all is of that colour
  for (const Ground& ground : grounds) {
    is_plain &= ground.colour == most;
    if (!is_plain) clear(ground, pixels_per_unit, pixel_height);
  }
  glDisable(GL_SCISSOR_TEST);
}

}  // namespace

ImGuiOnOpenGl::ImGuiOnOpenGl() : context_(ImGui::CreateContext()) {
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  // a blinking caret would wake an idle window twice a second
  io.ConfigInputTextCursorBlink = false;
  ImGui_ImplOpenGL3_Init("#version 330 core");
}

ImGuiOnOpenGl::~ImGuiOnOpenGl() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(context_);
}

core::Result<NextFrame> ImGuiOnOpenGl::draw(const Application& application, const Frame& frame,
                                            int pixel_width, int pixel_height) {
  const core::Result<FontAtlas> atlas = application.prepare(frame);
  if (!atlas) return atlas.error();
  if (*atlas == FontAtlas::rebuilt) {
    // on the first frame the back end has no texture yet and both calls are harmless
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
  }
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  NextFrame next = application.draw(frame);
  ImGui::Render();
  glViewport(0, 0, pixel_width, pixel_height);
  clear(next.grounds, static_cast<float>(pixel_width) / std::max(1.0F, frame.width), pixel_height);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  return next;
}

}  // namespace headscope::simulator::platform
