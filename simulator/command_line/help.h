// The text of --help, from the commands that CLI11 holds and the words of the text catalogue.
#pragma once

#include "lessons/text_catalog.h"

#include <CLI/App.hpp>

#include <string>
#include <vector>

namespace headscope::simulator {

/// The innermost command that was named: "read" of "headscope lesson read".
const CLI::App& deepest_command(const CLI::App& app);
/// The commands right below one.
std::vector<std::string> command_names(const CLI::App& app);
/// "headscope lesson read".
std::string command_path(const CLI::App& app);

/// Usage, what it does, commands and options of the innermost command, at 80 columns.
std::string help_text(const CLI::App& app, const lessons::TextCatalog& text);

}  // namespace headscope::simulator
