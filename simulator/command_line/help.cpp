// Lays help out in two columns.
#include "simulator/command_line/help.h"

#include "simulator/terminal/text_layout.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

namespace headscope::simulator {
namespace {

constexpr std::size_t kColumns = 80;

std::string paragraph(const std::string& text, std::size_t indent, std::size_t hanging) {
  std::string lines;
  for (const std::string& line : terminal::wrap(text, kColumns, indent, hanging)) lines += line + "\n";
  return lines;
}

/// Names on the left, what they do on the right.
std::string two_columns(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::size_t name_width = 0;
  for (const auto& [name, about] : entries) name_width = std::max(name_width, terminal::display_width(name));
  const std::size_t start = name_width + 4;
  std::string text;
  for (const auto& [name, about] : entries) {
    std::string lines = paragraph(about, start, start);
    lines.replace(0, start, "  " + terminal::pad(name, name_width, terminal::Align::left) + "  ");
    text += lines;
  }
  return text;
}

std::string option_name(const CLI::Option& option) {
  if (option.get_positional()) return option.get_type_name();
  const std::string& value = option.get_type_name();
  std::string name = option.get_name(false, true);
  if (const std::size_t comma = name.find(','); comma != std::string::npos) name.insert(comma + 1, " ");
  return option.get_expected_max() == 0 || value.empty() ? name : name + " " + value;
}

/// "lesson_read" of "headscope lesson read", the key below [command]; "headscope" for the program itself.
std::string command_key(const CLI::App& app) {
  std::string path = command_path(app);
  const std::size_t first = path.find(' ');
  if (first == std::string::npos) return path;
  path.erase(0, first + 1);
  std::ranges::replace(path, ' ', '_');
  return path;
}

}  // namespace

const CLI::App& deepest_command(const CLI::App& app) {
  const CLI::App* deepest = &app;
  while (!deepest->get_subcommands().empty()) deepest = deepest->get_subcommands().front();
  return *deepest;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

std::string command_path(const CLI::App& app) {
  std::string path = app.get_name();
  const CLI::App* deepest = &app;
  while (!deepest->get_subcommands().empty()) {
    deepest = deepest->get_subcommands().front();
    path += " " + deepest->get_name();
  }
  return path;
}

std::string help_text(const CLI::App& app, const lessons::TextCatalog& text) {
  const CLI::App& command = deepest_command(app);
  const std::string key = command_key(app);
  std::string help =
      paragraph(text.text("command.help.usage", {{"usage", text.text("command." + key + ".usage")}}), 0, 4);
  help += "\n" + paragraph(text.text("command." + key + ".about"), 0, 0);

  std::vector<std::pair<std::string, std::string>> entries;
  for (const std::string& name : command_names(command))
    entries.emplace_back(name,
                         text.text("command." + (&command == &app ? name : key + "_" + name) + ".about"));
  if (!entries.empty()) help += "\n" + text.text("command.help.commands") + "\n" + two_columns(entries);

  entries.clear();
  for (const CLI::Option* option : command.get_options())
    entries.emplace_back(option_name(*option), option->get_description());
  help += "\n" + text.text("command.help.options") + "\n" + two_columns(entries);
  if (&command == &app) help += "\n" + paragraph(text.text("command.help.more"), 0, 0);
  return help;
}

}  // namespace headscope::simulator
