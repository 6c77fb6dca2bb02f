// What is typed about windows and pictures: headscope, headscope open, headscope screenshot.
#include "simulator/command_line/argument_reader.h"
#include "simulator/session_names.h"

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace headscope::simulator {
namespace {

/// What is opened, or nothing; `what` names it where one of its options stands alone.
core::Result<std::optional<OpenArguments>> opened(const Typed& typed, const std::string& what) {
  const std::pair<const char*, const OptionalText*> options[] = {
      {"--text", &typed.text}, {"--target", &typed.target_text}, {"--seed", &typed.seed}};
  for (const auto& [option, value] : options)
    if (*value && !typed.what) return needs(option, what);
  if (!typed.what) return std::optional<OpenArguments>();
  OpenArguments open{.what = *typed.what, .text = typed.text, .target = typed.target_text};
  Reader reader;
  reader.whole<std::uint64_t>("--seed", typed.seed, 0, std::numeric_limits<std::uint64_t>::max(),
                              open.untrained);
  if (reader.error()) return *reader.error();
  return std::optional(std::move(open));
}

core::Result<void> read_picture_place(const Typed& typed, PicturePlace& place) {
  if (typed.position && typed.at) return not_with("--position", "--at");
  if (typed.gradient && !typed.at) return needs("--gradient", "--at TENSOR");
  if (typed.lesson) {
    const std::pair<const char*, const OptionalText*> options[] = {
        {"--position", &typed.position}, {"--at", &typed.at}, {"--level", &typed.level}};
    for (const auto& [option, value] : options)
      if (*value) return not_with("--lesson", option);
  }
  Reader reader;
  reader.whole<std::int32_t>("--position", typed.position, 0, kMost, place.position);
  reader.word("--level", typed.level, names::kLevels, place.level);
  if (reader.error()) return *reader.error();
  place.at = typed.at;
  place.is_gradient = typed.gradient;
  return {};
}

}  // namespace

core::Result<Command> window_command(const Typed& typed) {
  if (typed.anew && typed.lesson) return not_with("--new", "--lesson");
  return Command(WindowCommand{.lesson = typed.lesson, .begins_anew = typed.anew});
}

core::Result<Command> open_command(const Typed& typed) {
  if (typed.save && !typed.what) return needs("--save", "WHAT");
  if (typed.replace && !typed.save) return needs("--replace", "--save");
  core::Result<std::optional<OpenArguments>> open = opened(typed, "WHAT");
  if (!open) return open.error();
  OpenCommand command{.open = *std::move(open), .replaces = typed.replace};
  if (typed.save) command.save = *typed.save;
  return Command(std::move(command));
}

core::Result<Command> screenshot_command(const Typed& typed) {
  if (!typed.lesson && !typed.what) return missing("--lesson NAME or --open WHAT");
  if (typed.lesson && typed.what) return not_with("--lesson", "--open");
  if (!typed.out) return missing("FILE.png");
  ScreenshotCommand command;
  command.lesson = typed.lesson.value_or("");
  if (typed.step && !typed.lesson) return needs("--step", "--lesson");
  if (core::Result<void> read = read_picture_place(typed, command.place); !read) return read.error();
  core::Result<std::optional<OpenArguments>> open = opened(typed, "--open WHAT");
  if (!open) return open.error();
  command.open = *std::move(open);
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
    const std::optional<int> scale = parse_number<int>(percent);
    if (!scale) return bad_value("--text-scale", *typed.text_scale, "100, 150 …");
    command.text_percent = *scale;  // the theme has the limits
  }
  return Command(command);
}

}  // namespace headscope::simulator
