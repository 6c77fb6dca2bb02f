// What the command line can ask for, one struct a command, and the functions that do it. Parsing is in
// arguments.h.
#pragma once

#include "core/result.h"
#include "lessons/text_catalog.h"
#include "simulator/command_line/data_folders.h"

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headscope::simulator {

/// What every command may use.
struct CommandContext {
  DataFolders data;
  std::string language;  // "en"
  const lessons::TextCatalog& text;
  std::istream& in;
  std::ostream& out;
  std::ostream& errors;
};

enum class Precision : std::uint8_t { single, twofold };  // float, double
enum class OutputFormat : std::uint8_t { text, json };

/// A model directory and what to feed it: exactly one of `text` and `batch`.
struct ModelInput {
  std::filesystem::path model;
  std::optional<std::string> text;
  std::optional<std::filesystem::path> batch;
  Precision precision = Precision::single;
};

struct TraceCommand {
  ModelInput input;
  std::filesystem::path out;
};
struct ExplainCommand {
  ModelInput input;
  std::string tensor;
  std::string cell;  // "0,1,2,3"
  OutputFormat format = OutputFormat::text;
};
struct ModelNewCommand {
  std::string lesson;
  std::filesystem::path out;
};
struct LessonListCommand {};
struct LessonCheckCommand {
  std::vector<std::filesystem::path> files;
};
struct LessonReadCommand {
  std::string lesson;
};
struct ScreenshotCommand {
  std::string lesson;
  std::size_t step = 1;  // from 1
  int width = 1600;
  int height = 900;
  bool dark = false;
  bool presentation = false;
  int text_percent = 100;
  std::filesystem::path out;
};
struct WindowCommand {
  std::optional<std::string> lesson;
};
/// --help, --version: nothing but text.
struct PrintCommand {
  std::string text;
};

using Command =
    std::variant<TraceCommand, ExplainCommand, ModelNewCommand, LessonListCommand, LessonCheckCommand,
                 LessonReadCommand, ScreenshotCommand, WindowCommand, PrintCommand>;

// Each does its work and prints its result to context.out; the error is the caller's to print.
core::Result<void> run(const TraceCommand& command, const CommandContext& context);
core::Result<void> run(const ExplainCommand& command, const CommandContext& context);
core::Result<void> run(const ModelNewCommand& command, const CommandContext& context);
core::Result<void> run(const LessonListCommand& command, const CommandContext& context);
core::Result<void> run(const LessonCheckCommand& command, const CommandContext& context);
core::Result<void> run(const LessonReadCommand& command, const CommandContext& context);
core::Result<void> run(const ScreenshotCommand& command, const CommandContext& context);
core::Result<void> run(const WindowCommand& command, const CommandContext& context);
core::Result<void> run(const PrintCommand& command, const CommandContext& context);

/// 2 where the arguments or the input are at fault, 1 where the program or the machine failed.
int exit_status(const core::Error& error);

}  // namespace headscope::simulator
