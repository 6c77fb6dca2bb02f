// The program's entry: finds its data and its language, parses the command, runs it, prints the one error.
#include "core/printable.h"
#include "lessons/text_catalog.h"
#include "simulator/autosave.h"
#include "simulator/command_line/arguments.h"
#include "simulator/command_line/commands.h"
#include "simulator/command_line/data_folders.h"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <variant>
#include <vector>

namespace {

using namespace headscope;
using namespace headscope::simulator;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The two letters of the user's language where the program has its texts, else English.
std::string choose_language(const std::filesystem::path& assets) {
  for (const char* variable : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const std::string language = environment(variable).substr(0, 2);
    if (language.empty()) continue;
    std::error_code ignored;
    return std::filesystem::is_regular_file(assets / "text" / (language + ".toml"), ignored) ? language
                                                                                             : "en";
  }
  return "en";
}

int report(const core::Error& error, const lessons::TextCatalog& text) {
  std::cout.flush();
  std::cerr << text.error(error) << "\n";
  return exit_status(error);
}

int run_program(const std::vector<std::string>& arguments) {
  // without the text file there are no words but these
  const core::Result<DataFolders> data = find_data(executable_path(), environment("HEADSCOPE_DATA"));
  if (!data) {
    std::cerr << "headscope: " << core::printable(data.error().where)
              << ": no data here (assets/text/en.toml). "
              << "Set HEADSCOPE_DATA to the folder that has assets and lessons.\n";
    return exit_status(data.error());
  }
  const std::string language = choose_language(data->assets);
  const core::Result<lessons::TextCatalog> text =
      lessons::TextCatalog::load(data->assets / "text" / (language + ".toml"));
  if (!text) {
    std::cerr << "headscope: " << core::printable(text.error().where)
              << ": this text file cannot be read. Install Headscope again.\n";
    return 1;
  }
  const core::Result<Command> command = parse_arguments(arguments, *text);
  if (!command) return report(command.error(), *text);
  const CommandContext context{.data = *data,
                               .state = state_folder(environment("HEADSCOPE_STATE"),
                                                     environment("XDG_STATE_HOME"), environment("HOME")),
                               .language = language,
                               .text = *text,
                               .in = std::cin,
                               .out = std::cout,
                               .errors = std::cerr,
                               .errors_are_terminal = isatty(STDERR_FILENO) == 1};
  const core::Result<void> done =
      std::visit([&](const auto& chosen) { return run(chosen, context); }, *command);
  if (!done) return report(done.error(), *text);
  if (!std::cout.flush()) return report({.key = "program.output", .where = ""}, *text);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_program({argv + (argc > 0 ? 1 : 0), argv + argc});
  } catch (const std::bad_alloc&) {
    std::cerr << "headscope: out of memory.\n";
  } catch (const std::exception& failure) {
    std::cerr << "headscope: " << failure.what() << "\n";
  }
  return 1;
}
