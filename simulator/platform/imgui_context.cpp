// Begins, draws and renders ImGui frames with OpenGL; no window here.
#include "simulator/platform/imgui_context.h"

#include "glad/gl.h"

#include <imgui.h>

#include <backends/imgui_impl_opengl3.h>

namespace headscope::simulator::platform {

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
  const core::Result<FontAtlas> atlas = application.prepare(frame.scale);
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
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  return next;
}

}  // namespace headscope::simulator::platform
