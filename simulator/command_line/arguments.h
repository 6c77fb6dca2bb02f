// From the command line's words to a Command. The only user of CLI11.
#pragma once

#include "core/result.h"
#include "lessons/text_catalog.h"
#include "simulator/command_line/commands.h"

#include <string>
#include <vector>

namespace headscope::simulator {

/// Parses the words after the program's name. Help and version become a PrintCommand.
/// Errors: arguments.unknown (word), arguments.unknown_command (known), arguments.no_command (known),
/// arguments.missing (option), arguments.no_value (option), arguments.value (option, given, allowed),
/// arguments.one_of (first, second: exactly one of them), arguments.needs (option, needed),
/// arguments.not_with (first, second), optimiser.range.
core::Result<Command> parse_arguments(const std::vector<std::string>& arguments,
                                      const lessons::TextCatalog& text);

}  // namespace headscope::simulator
