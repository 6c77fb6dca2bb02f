// The commands' names, options and help; words for people come from the text catalogue.
#include "simulator/command_line/arguments.h"

#include "simulator/command_line/help.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace headscope::simulator {
namespace {

using OptionalText = std::optional<std::string>;

/// Every option of every command, as typed. Only one command is parsed at a time, so they can share.
struct Typed {
  OptionalText model, text, batch, out, tensor, cell, lesson, step, size, theme, text_scale;
  std::vector<std::string> files;
  bool twofold = false, json = false, presentation = false, backward = false, gradient = false;
};

core::Error missing(std::string option) {
  return {.key = "arguments.missing", .where = "", .values = {{"option", std::move(option)}}};
}

core::Error bad_value(std::string option, std::string given, std::string allowed) {
  return {.key = "arguments.value",
          .where = "",
          .values = {
              {"option", std::move(option)}, {"given", std::move(given)}, {"allowed", std::move(allowed)}}};
}

core::Error no_backward(std::string option) {
  return {.key = "arguments.no_backward", .where = "", .values = {{"option", std::move(option)}}};
}

/// A whole number between the limits, nothing else before or after it.
std::optional<int> whole_number(std::string_view text, int lowest, int highest) {
  int number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number < lowest || number > highest)
    return std::nullopt;
  return number;
}

/// Adds options whose descriptions the catalogue has under command.option.NAME.
class OptionMaker {
 public:
  OptionMaker(CLI::App& command, const lessons::TextCatalog& text) : command_(command), text_(text) {}

  OptionMaker& value(const std::string& name, OptionalText& target) {
    command_.add_option("--" + name, target, about(name))
        ->type_name(value_name(name))
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    return *this;
  }
  OptionMaker& flag(const std::string& name, bool& target) {
    command_.add_flag("--" + name, target, about(name));
    return *this;
  }
  OptionMaker& place(const std::string& name, OptionalText& target) {
    command_.add_option(name, target, about(name))->type_name(value_name(name));
    return *this;
  }
  OptionMaker& places(const std::string& name, std::vector<std::string>& target) {
    command_.add_option(name, target, about(name))->type_name(value_name(name));
    return *this;
  }

 private:
  std::string about(const std::string& name) const { return text_.text("command.option." + name + ".about"); }
  std::string value_name(const std::string& name) const {
    return text_.text("command.option." + name + ".value");
  }

  CLI::App& command_;
  const lessons::TextCatalog& text_;
};

CLI::App& add_command(CLI::App& parent, const std::string& name, const lessons::TextCatalog& text) {
  CLI::App& command = *parent.add_subcommand(name, "");
  command.allow_extras();
  command.set_help_flag("-h,--help", text.text("command.option.help.about"));
  return command;
}

void add_commands(CLI::App& app, Typed& typed, const lessons::TextCatalog& text) {
  app.allow_extras();
  app.set_help_flag("-h,--help", text.text("command.option.help.about"));
  app.set_version_flag("--version", HEADSCOPE_VERSION, text.text("command.option.version.about"));
  OptionMaker(app, text).value("lesson", typed.lesson);

  CLI::App& lesson = add_command(app, "lesson", text);
  add_command(lesson, "list", text);
  OptionMaker(add_command(lesson, "check", text), text).places("files", typed.files);
  OptionMaker(add_command(lesson, "read", text), text).place("name", typed.lesson);

  OptionMaker(add_command(app, "trace", text), text)
      .value("model", typed.model)
      .value("text", typed.text)
      .value("batch", typed.batch)
      .value("out", typed.out)
      .flag("double", typed.twofold)
      .flag("backward", typed.backward);
  OptionMaker(add_command(app, "explain", text), text)
      .value("model", typed.model)
      .value("text", typed.text)
      .value("batch", typed.batch)
      .value("tensor", typed.tensor)
      .value("cell", typed.cell)
      .flag("double", typed.twofold)
      .flag("json", typed.json)
      .flag("gradient", typed.gradient);
  OptionMaker(add_command(app, "screenshot", text), text)
      .value("lesson", typed.lesson)
      .value("step", typed.step)
      .value("size", typed.size)
      .value("theme", typed.theme)
      .flag("presentation", typed.presentation)
      .value("text-scale", typed.text_scale)
      .place("picture", typed.out);
  CLI::App& model = add_command(app, "model", text);
  OptionMaker(add_command(model, "new", text), text).value("lesson", typed.lesson).value("out", typed.out);
}

/// The first option whose value is empty, where a name must stand.
std::optional<std::string> find_empty(const Typed& typed) {
  const std::pair<const char*, const OptionalText*> names[] = {
      {"--model", &typed.model},   {"--batch", &typed.batch}, {"--out", &typed.out},
      {"--tensor", &typed.tensor}, {"--cell", &typed.cell},   {"--lesson", &typed.lesson}};
  for (const auto& [option, value] : names)
    if (*value && (*value)->empty()) return option;
  for (const std::string& file : typed.files)
    if (file.empty()) return "FILE.md";
  return std::nullopt;
}

core::Error no_value(std::string option) {
  return {.key = "arguments.no_value", .where = "", .values = {{"option", std::move(option)}}};
}

core::Error unknown(const CLI::App& app, std::string word) {
  return {.key = "arguments.unknown",
          .where = "",
          .values = {{"word", std::move(word)}, {"command", command_path(app)}}};
}

core::Result<ModelInput> model_input(const Typed& typed) {
  if (!typed.model) return missing("--model");
  if (typed.text.has_value() == typed.batch.has_value())
    return core::Error{
        .key = "arguments.one_of", .where = "", .values = {{"first", "--text"}, {"second", "--batch"}}};
  ModelInput input;
  input.model = *typed.model;
  input.text = typed.text;
  if (typed.batch) input.batch = *typed.batch;
  input.precision = typed.twofold ? Precision::twofold : Precision::single;
  return input;
}

core::Result<Command> trace_command(const Typed& typed) {
  if (typed.backward) return no_backward("--backward");
  core::Result<ModelInput> input = model_input(typed);
  if (!input) return input.error();
  if (!typed.out) return missing("--out");
  return Command(TraceCommand{.input = *std::move(input), .out = *typed.out});
}

core::Result<Command> explain_command(const Typed& typed) {
  if (typed.gradient) return no_backward("--gradient");
  core::Result<ModelInput> input = model_input(typed);
  if (!input) return input.error();
  if (!typed.tensor) return missing("--tensor");
  if (!typed.cell) return missing("--cell");
  return Command(ExplainCommand{.input = *std::move(input),
                                .tensor = *typed.tensor,
                                .cell = *typed.cell,
                                .format = typed.json ? OutputFormat::json : OutputFormat::text});
}

core::Result<Command> screenshot_command(const Typed& typed) {
  if (!typed.lesson) return missing("--lesson");
  if (!typed.out) return missing("FILE.png");
  ScreenshotCommand command;
  command.lesson = *typed.lesson;
  command.out = *typed.out;
  command.presentation = typed.presentation;
  if (typed.step) {
    const std::optional<int> step = whole_number(*typed.step, 1, 10000);
    if (!step) return bad_value("--step", *typed.step, "1, 2, 3 …");
    command.step = static_cast<std::size_t>(*step);
  }
  if (typed.size) {
    const std::size_t cross = typed.size->find('x');
    const bool has_cross = cross != std::string::npos;
    const std::optional<int> width = whole_number(typed.size->substr(0, has_cross ? cross : 0), 320, 4096);
    const std::optional<int> height = whole_number(has_cross ? typed.size->substr(cross + 1) : "", 240, 4096);
    if (!width || !height) return bad_value("--size", *typed.size, "1600x900 (320x240 … 4096x4096)");
    command.width = *width;
    command.height = *height;
  }
  if (typed.theme) {
    if (*typed.theme != "light" && *typed.theme != "dark")
      return bad_value("--theme", *typed.theme, "light, dark");
    command.dark = *typed.theme == "dark";
  }
  if (typed.text_scale) {
    std::string_view percent = *typed.text_scale;
    if (percent.ends_with('%')) percent.remove_suffix(1);
    const std::optional<int> scale = whole_number(percent, 75, 300);
    if (!scale) return bad_value("--text-scale", *typed.text_scale, "75 … 300");
    command.text_percent = *scale;
  }
  return Command(command);
}

core::Result<Command> lesson_command(const CLI::App& lesson, const Typed& typed) {
  if (lesson.got_subcommand("list")) return Command(LessonListCommand{});
  if (lesson.got_subcommand("check")) {
    if (typed.files.empty()) return missing("FILE.md");
    return Command(LessonCheckCommand{.files = {typed.files.begin(), typed.files.end()}});
  }
  if (!typed.lesson) return missing("NAME");
  return Command(LessonReadCommand{.lesson = *typed.lesson});
}

core::Result<Command> make_command(const CLI::App& app, const Typed& typed) {
  const std::vector<std::string> extra = app.remaining(true);
  const CLI::App& deepest = deepest_command(app);
  const std::vector<std::string> known = command_names(deepest);
  const bool needs_command = !known.empty() && &deepest != &app;
  std::string list;
  for (const std::string& name : known) list += (list.empty() ? "" : ", ") + name;
  if (!extra.empty()) {
    const bool is_command = !known.empty() && !extra.front().starts_with('-');
    return core::Error{.key = is_command ? "arguments.unknown_command" : "arguments.unknown",
                       .where = "",
                       .values = {{"word", extra.front()}, {"known", list}, {"command", command_path(app)}}};
  }
  if (const std::optional<std::string> option = find_empty(typed)) return no_value(*option);
  if (needs_command)
    return core::Error{.key = "arguments.no_command",
                       .where = "",
                       .values = {{"command", command_path(app)}, {"known", list}}};
  if (app.got_subcommand("trace")) return trace_command(typed);
  if (app.got_subcommand("explain")) return explain_command(typed);
  if (app.got_subcommand("screenshot")) return screenshot_command(typed);
  if (app.got_subcommand("lesson")) return lesson_command(*app.get_subcommand("lesson"), typed);
  if (app.got_subcommand("model")) {
    if (!typed.lesson) return missing("--lesson");
    if (!typed.out) return missing("--out");
    return Command(ModelNewCommand{.lesson = *typed.lesson, .out = *typed.out});
  }
  return Command(WindowCommand{.lesson = typed.lesson});
}

}  // namespace

core::Result<Command> parse_arguments(const std::vector<std::string>& arguments,
                                      const lessons::TextCatalog& text) {
  CLI::App app("", "headscope");
  Typed typed;
  add_commands(app, typed, text);
  try {
    app.parse(
        std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 takes them from the back
  } catch (const CLI::CallForHelp&) {
    return Command(PrintCommand{help_text(app, text)});
  } catch (const CLI::CallForVersion&) {
    return Command(PrintCommand{text.text("command.version", {{"version", HEADSCOPE_VERSION}}) + "\n"});
  } catch (const CLI::ArgumentMismatch& error) {
    // an option at the end without its value; the message begins with the option's name
    const std::string message = error.what();
    return no_value(message.substr(0, message.find(':')));
  } catch (const CLI::ParseError&) {
    // a flag with a value: --json=yes
    const auto with_value = std::ranges::find_if(arguments, [](const std::string& argument) {
      return argument.starts_with("-") && argument.find('=') != std::string::npos;
    });
    return unknown(app, with_value == arguments.end() ? arguments.back() : *with_value);
  }
  return make_command(app, typed);
}

}  // namespace headscope::simulator
