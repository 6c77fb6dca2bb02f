// headscope lesson read: the lesson in the terminal.
#include "simulator/app_state.h"
#include "simulator/command_line/commands.h"
#include "simulator/terminal/printer.h"
#include "simulator/terminal/reader.h"
#include "simulator/words.h"

#include <utility>

namespace headscope::simulator {

core::Result<void> run(const LessonReadCommand& command, const CommandContext& context) {
  const core::Result<Words> words = Words::load(context.data.assets, context.language);
  if (!words) return words.error();
  core::Result<AppState> state = open_lesson(
      context.data.assets, lessons::language_folder(context.data.lessons, context.language), command.lesson);
  if (!state) return state.error();
  terminal::read_lesson(*std::move(state), *words, context.in, context.out, terminal::find_screen(),
                        terminal::input_is_terminal() ? terminal::Echo::no : terminal::Echo::yes);
  return {};
}

}  // namespace headscope::simulator
