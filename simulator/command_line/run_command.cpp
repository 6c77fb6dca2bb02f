// The small commands, and what an error means for the exit status.
#include "simulator/command_line/commands.h"

#include <ostream>
#include <string_view>

namespace headscope::simulator {

core::Result<void> run(const PrintCommand& command, const CommandContext& context) {
  context.out << command.text;
  return {};
}

int exit_status(const core::Error& error) {
  if (error.key == "train.interrupted") return 130;  // 128 + SIGINT, as shells have it
  constexpr std::string_view kFailuresOfTheMachine[] = {
      "platform.no_egl",   "platform.no_opengl", "platform.no_display", "file.disk_full",
      "train.unsaved",     "train.unsaved_past", "data.missing",        "font.missing",
      "program.exception", "program.output"};
  for (const std::string_view key : kFailuresOfTheMachine)
    if (error.key == key) return 1;
  return 2;
}

}  // namespace headscope::simulator
