// The commands' names, options and help; words for people come from the text catalogue.
#include "simulator/command_line/arguments.h"

#include "simulator/command_line/help.h"
#include "simulator/command_line/typed_arguments.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace headscope::simulator {
namespace {

/// Adds options whose descriptions the catalogue has under command.option.NAME.
class OptionMaker {
 public:
  OptionMaker(CLI::App& command, const lessons::TextCatalog& text) : command_(command), text_(text) {}

  OptionMaker& value(const std::string& name, OptionalText& target) { return value_as(name, name, target); }
  /// A value whose words stand under another key, since the name means something else in another command.
  OptionMaker& value_as(const std::string& key, const std::string& name, OptionalText& target) {
    command_.add_option("--" + name, target, about(key))
        ->type_name(value_name(key))
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    return *this;
  }
  /// An option that may be given several times, each with one value.
  OptionMaker& values(const std::string& name, std::vector<std::string>& target) {
    command_.add_option("--" + name, target, about(name))
        ->type_name(value_name(name))
        ->allow_extra_args(false);
    return *this;
  }
  OptionMaker& flag(const std::string& name, bool& target) {
    command_.add_flag("--" + name, target, about(name));
    return *this;
  }
  OptionMaker& flag_as(const std::string& key, const std::string& name, bool& target) {
    command_.add_flag("--" + name, target, about(key));
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

/// What is fed to a model.
void add_input(CLI::App& command, Typed& typed, const lessons::TextCatalog& text) {
  OptionMaker(command, text)
      .value("text", typed.text)
      .value("target-text", typed.target_text)
      .value("label", typed.label)
      .value("span", typed.span)
      .value("read", typed.read)
      .value("batch", typed.batch)
      .flag("double", typed.twofold)
      .flag("head-contributions", typed.head_contributions);
}

/// What is changed by hand in one look at a model, and in its training.
void add_interventions(CLI::App& command, Typed& typed, const lessons::TextCatalog& text) {
  OptionMaker(command, text)
      .values("zero-head", typed.zero_head)
      .values("uniform-attention", typed.uniform_attention)
      .values("set", typed.set)
      .value("temperature", typed.temperature)
      .flag("no-scale", typed.no_scale)
      .flag("leak-future", typed.leak_future);
}

/// Values that the model itself had: in training they would soon be another model's.
void add_held_values(CLI::App& command, Typed& typed, const lessons::TextCatalog& text) {
  OptionMaker(command, text)
      .values("mean-head", typed.mean_head)
      .values("mean-data", typed.mean_data)
      .values("freeze-activation", typed.freeze_activation);
}

void add_optimiser(CLI::App& command, Typed& typed, const lessons::TextCatalog& text) {
  OptionMaker(command, text)
      .value("optimiser", typed.optimiser)
      .value("lr", typed.lr)
      .value("weight-decay", typed.weight_decay)
      .value("clip", typed.clip)
      .value("momentum", typed.momentum);
}

/// What is fed to a model that a window or a picture opens.
void add_opened(CLI::App& command, Typed& typed, const lessons::TextCatalog& text) {
  OptionMaker(command, text)
      .value_as("open-text", "text", typed.text)
      .value_as("open-target", "target", typed.target_text)
      .value_as("untrained-seed", "seed", typed.seed);
}

void add_commands(CLI::App& app, Typed& typed, const lessons::TextCatalog& text) {
  app.allow_extras();
  app.set_help_flag("-h,--help", text.text("command.option.help.about"));
  app.set_version_flag("--version", HEADSCOPE_VERSION, text.text("command.option.version.about"));
  OptionMaker(app, text).value("lesson", typed.lesson).flag("new", typed.anew);

  CLI::App& open = add_command(app, "open", text);
  OptionMaker(open, text).place("what", typed.what);
  add_opened(open, typed, text);
  OptionMaker(open, text).value("save", typed.save).flag_as("replace-file", "replace", typed.replace);

  CLI::App& lesson = add_command(app, "lesson", text);
  add_command(lesson, "list", text);
  OptionMaker(add_command(lesson, "check", text), text).places("files", typed.files);
  OptionMaker(add_command(lesson, "read", text), text).place("name", typed.lesson);

  CLI::App& trace = add_command(app, "trace", text);
  OptionMaker(trace, text).value("model", typed.model);
  add_input(trace, typed, text);
  OptionMaker(trace, text).flag("backward", typed.backward).value("out", typed.out);
  add_interventions(trace, typed, text);
  add_held_values(trace, typed, text);

  CLI::App& explain = add_command(app, "explain", text);
  OptionMaker(explain, text).value("model", typed.model);
  add_input(explain, typed, text);
  OptionMaker(explain, text)
      .value("tensor", typed.tensor)
      .value("cell", typed.cell)
      .flag("gradient", typed.gradient)
      .flag("check", typed.check)
      .value_as("after-step", "step", typed.step)
      .flag("update", typed.update);
  add_optimiser(explain, typed, text);
  OptionMaker(explain, text).flag("json", typed.json);
  add_interventions(explain, typed, text);
  add_held_values(explain, typed, text);

  CLI::App& steps = add_command(app, "steps", text);
  OptionMaker(steps, text).value("model", typed.model);
  add_input(steps, typed, text);
  OptionMaker(steps, text).flag("formulas", typed.formulas).flag("json", typed.json);
  add_interventions(steps, typed, text);
  add_held_values(steps, typed, text);

  CLI::App& train = add_command(app, "train", text);
  OptionMaker(train, text)
      .value("task", typed.task)
      .value_as("task-size", "size", typed.size)
      .values("setting", typed.setting)
      .value("data", typed.data)
      .value("from", typed.from)
      .flag("full-batch", typed.full_batch)
      .value_as("run-out", "out", typed.out)
      .flag("replace", typed.replace)
      .value("resume", typed.resume)
      .value("back-to", typed.back_to)
      .value("steps", typed.steps)
      .value("target-score", typed.target_score)
      .value("plateau", typed.plateau)
      .value("evaluate-every", typed.evaluate_every)
      .value("held-out-size", typed.held_out_size)
      .value("batch-size", typed.batch_size);
  add_optimiser(train, typed, text);
  OptionMaker(train, text)
      .value("schedule", typed.schedule)
      .value("warm-up", typed.warm_up)
      .value("dropout", typed.dropout)
      .value("label-smoothing", typed.label_smoothing)
      .values("change", typed.change)
      .value("d-model", typed.d_model)
      .value("heads", typed.heads)
      .value("layers", typed.layers)
      .value("d-ff", typed.d_ff)
      .value_as("drawn-deviation", "embedding-deviation", typed.embedding_deviation)
      .value("seed", typed.seed)
      .value("threads", typed.threads)
      .values("freeze", typed.freeze)
      .flag("equal-heads", typed.equal_heads)
      .value("head-noise", typed.head_noise);
  add_interventions(train, typed, text);
  OptionMaker(add_command(app, "history", text), text)
      .place("run", typed.run)
      .value_as("past-step", "step", typed.step)
      .value("compare", typed.compare)
      .value("tensor", typed.tensor)
      .value("cell", typed.cell)
      .value_as("model-out", "out", typed.out);
  OptionMaker(add_command(app, "translate", text), text)
      .value("model", typed.model)
      .value("text", typed.text)
      .value("beam", typed.beam)
      .value("length-penalty", typed.length_penalty);
  CLI::App& task = add_command(app, "task", text);
  add_command(task, "list", text);
  OptionMaker(add_command(task, "show", text), text)
      .place("task-name", typed.task)
      .value_as("task-size", "size", typed.size)
      .values("setting", typed.setting)
      .value("count", typed.count)
      .value_as("example-seed", "seed", typed.seed)
      .flag("held-out-only", typed.held_out_split)
      .flag("relations", typed.relations)
      .flag("json", typed.json);
  OptionMaker(add_command(task, "check", text), text).places("grammars", typed.files);
  OptionMaker(add_command(app, "bench", text), text)
      .value_as("bench-size", "size", typed.size)
      .value("threads", typed.threads)
      .value("seconds", typed.seconds)
      .flag("json", typed.json);
  CLI::App& screenshot = add_command(app, "screenshot", text);
  OptionMaker(screenshot, text)
      .value("lesson", typed.lesson)
      .value("step", typed.step)
      .value_as("what", "open", typed.what);
  add_opened(screenshot, typed, text);
  OptionMaker(screenshot, text)
      .value("position", typed.position)
      .value("at", typed.at)
      .flag_as("picture-gradient", "gradient", typed.gradient)
      .value("level", typed.level)
      .value("size", typed.size)
      .value("theme", typed.theme)
      .flag("presentation", typed.presentation)
      .value("text-scale", typed.text_scale)
      .place("picture", typed.out);
  CLI::App& model = add_command(app, "model", text);
  OptionMaker(add_command(model, "new", text), text)
      .value("lesson", typed.lesson)
      .value("config", typed.config)
      .value("seed", typed.seed)
      .value("embedding-deviation", typed.embedding_deviation)
      .value("out", typed.out);
}

core::Error unknown(const CLI::App& app, std::string word) {
  return {.key = "arguments.unknown",
          .where = "",
          .values = {{"word", std::move(word)}, {"command", command_path(app)}}};
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

core::Result<Command> task_command(const CLI::App& task, const Typed& typed) {
  if (task.got_subcommand("list")) return Command(TaskListCommand{});
  if (task.got_subcommand("show")) return task_show_command(typed);
  if (typed.files.empty()) return missing("FILE.grammar");
  return Command(TaskCheckCommand{.files = {typed.files.begin(), typed.files.end()}});
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
  if (app.got_subcommand("steps")) return steps_command(typed);
  if (app.got_subcommand("train")) return train_command(typed);
  if (app.got_subcommand("history")) return history_command(typed);
  if (app.got_subcommand("translate")) return translate_command(typed);
  if (app.got_subcommand("task")) return task_command(*app.get_subcommand("task"), typed);
  if (app.got_subcommand("bench")) return bench_command(typed);
  if (app.got_subcommand("screenshot")) return screenshot_command(typed);
  if (app.got_subcommand("lesson")) return lesson_command(*app.get_subcommand("lesson"), typed);
  if (app.got_subcommand("model")) return model_new_command(typed);
  if (app.got_subcommand("open")) return open_command(typed);
  return window_command(typed);
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
