// What the command line can ask for, one struct a command, and the functions that do it. Parsing is in
// arguments.h.
#pragma once

#include "core/formats/token_batch.h"
#include "core/model.h"
#include "core/result.h"
#include "core/training/optimiser.h"
#include "lessons/text_catalog.h"
#include "simulator/app_state.h"
#include "simulator/command_line/data_folders.h"
#include "simulator/command_line/train_choices.h"

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
  std::filesystem::path state;  // what is kept from run to run lies there; empty: nothing is kept
  std::string language;         // "en"
  const lessons::TextCatalog& text;
  std::istream& in;
  std::ostream& out;
  std::ostream& errors;
  bool errors_are_terminal = false;  // a line may be written over
};

enum class Precision : std::uint8_t { single, twofold };  // float, double
enum class OutputFormat : std::uint8_t { text, json };

/// What a person changes inside the run, as typed; interventions.h holds it against the model.
struct InterventionOptions {
  std::vector<std::string> zero_heads;  // "ATTENTION:HEAD"
  std::vector<std::string> mean_heads;  // the same; means over mean_data, which is then not empty
  std::vector<std::filesystem::path> mean_data;
  std::vector<std::string> frozen;              // names of activations
  std::vector<std::string> uniform_attentions;  // "ATTENTION" or "ATTENTION:HEAD"
  std::vector<std::string> cells;               // "TENSOR:0,0,1,2=0.5"
  double temperature = 1;                       // 1e-6 to 1e6
  bool leaves_scale = true;
  bool leaks_future = false;
};

/// A model directory and what to feed it: exactly one of `text` and `batch`. The four that follow belong to a
/// text: what the objective needs besides.
struct ModelInput {
  std::filesystem::path model;
  std::optional<std::string> text;
  std::optional<std::filesystem::path> batch;
  std::optional<std::string> target_text;
  std::optional<std::int32_t> label;
  std::optional<core::SpanEdges> span;
  std::optional<std::int32_t> read;
  Precision precision = Precision::single;
  core::GraphOptions graph;  // head contributions
  InterventionOptions interventions;
};

enum class Passes : std::uint8_t { forward, backward };  // backward: forward, too

struct TraceCommand {
  ModelInput input;
  Passes passes = Passes::forward;
  std::filesystem::path out;
};

/// Which of a cell's numbers is explained: its value, its gradient, or (of a parameter) its next value and
/// moments.
enum class Asked : std::uint8_t { value, gradient, update };

struct ExplainCommand {
  ModelInput input;
  std::string tensor;
  std::string cell;  // "0,1,2,3"
  Asked asked = Asked::value;
  bool is_checked = false;          // a gradient: a central difference beside it
  std::optional<std::size_t> step;  // as it is after so many steps; none: as late as the question needs
  core::OptimiserConfig optimiser;  // of an update
  OutputFormat format = OutputFormat::text;
};
struct StepsCommand {
  ModelInput input;
  bool has_formulas = false;
  OutputFormat format = OutputFormat::text;
};

/// A training run that begins, or goes on in `out`.
struct TrainCommand {
  std::filesystem::path out;
  bool resumes = false;
  bool replaces = false;                     // a run that is there already
  std::optional<std::int64_t> back_to = {};  // a past step; what came after it is forgotten
  TrainChoices choices = {};
  std::vector<core::Event> events = {};  // changes at later steps
  int n_threads = 1;
  // of a run that begins
  core::DataConfig data = {};
  std::optional<std::filesystem::path> from = {};
  bool has_equal_heads = false;            // before the first step
  double head_noise = 0;                   // the deviation of what then tells them apart
  std::vector<std::string> frozen = {};    // parameters that are left as they are
  InterventionOptions interventions = {};  // without mean_heads and frozen
};

/// A past step of a run, made again: written as a model, held against another, or one number of it.
struct HistoryCommand {
  std::filesystem::path run;
  std::int64_t step = 0;
  std::optional<std::int64_t> compared;  // with this step
  std::optional<std::string> tensor;     // a parameter; with `cell`
  std::optional<std::string> cell;
  std::optional<std::filesystem::path> out;
};
struct TranslateCommand {
  std::filesystem::path model;
  std::string text;
  int beam_width = 1;
  double length_penalty = 0;
};

struct TaskListCommand {};
/// Examples of a task.
struct TaskShowCommand {
  core::TaskConfig task;
  std::int64_t n_examples = 10;
  std::uint64_t seed = 1;
  core::Split split = core::Split::training;
  bool has_relations = false;  // with each example's gold links
  OutputFormat format = OutputFormat::text;
};
/// Grammar files, each with everything that is wrong with it.
struct TaskCheckCommand {
  std::vector<std::filesystem::path> files;
};

enum class BenchSize : std::uint8_t { small, medium, large };  // S, M, L of docs/model-format.md, section 5
struct BenchCommand {
  std::optional<BenchSize> size;  // none: all three
  std::optional<int> n_threads;   // none: 1, then 2
  double seconds = 5;             // for each measurement
  OutputFormat format = OutputFormat::text;
};

/// A lesson's model, or one from a config.json with drawn parameters: exactly one of the two.
struct ModelNewCommand {
  std::optional<std::string> lesson;
  std::optional<std::filesystem::path> config;
  std::uint64_t seed = 1;          // of a config's
  double embedding_deviation = 1;  // of a config's
  std::filesystem::path out;
};
struct LessonListCommand {};
struct LessonCheckCommand {
  std::vector<std::filesystem::path> files;
};
struct LessonReadCommand {
  std::string lesson;
};
/// A model to look into, and what it is fed.
struct OpenArguments {
  std::string what;                             // a bundled model's name, a folder, a session file
  std::optional<std::string> text = {};         // none: an example, or the session's own
  std::optional<std::string> target = {};       // an encoder-decoder's
  std::optional<std::uint64_t> untrained = {};  // with parameters drawn from this seed instead
};
/// The window on a model; without one a list of what there is.
struct OpenCommand {
  std::optional<OpenArguments> open = {};
  std::optional<std::filesystem::path> save = {};  // a session file, in place of the window
  bool replaces = false;                           // a file that is there already
};

/// Where a picture of a model without a lesson looks.
struct PicturePlace {
  std::optional<std::size_t> position = {};  // of the cursor
  std::optional<std::string> at = {};        // or behind the step that writes this tensor (or its gradient)
  bool is_gradient = false;
  std::optional<StageLevel> level = {};
};
struct ScreenshotCommand {
  std::string lesson;
  std::size_t step = 1;                    // of the lesson, from 1
  std::optional<OpenArguments> open = {};  // in place of a lesson
  PicturePlace place = {};                 // of what was opened
  int width = 1600;
  int height = 900;
  bool dark = false;
  bool presentation = false;
  int text_percent = 100;
  std::filesystem::path out;
};
struct WindowCommand {
  std::optional<std::string> lesson;
  bool begins_anew = false;  // whatever the last window left
};
/// --help, --version: nothing but text.
struct PrintCommand {
  std::string text;
};

using Command = std::variant<TraceCommand, ExplainCommand, StepsCommand, TrainCommand, HistoryCommand,
                             TranslateCommand, TaskListCommand, TaskShowCommand, TaskCheckCommand,
                             BenchCommand, ModelNewCommand, LessonListCommand, LessonCheckCommand,
                             LessonReadCommand, OpenCommand, ScreenshotCommand, WindowCommand, PrintCommand>;

// Each does its work and prints its result to context.out; the error is the caller's to print.
core::Result<void> run(const TraceCommand& command, const CommandContext& context);
core::Result<void> run(const ExplainCommand& command, const CommandContext& context);
core::Result<void> run(const StepsCommand& command, const CommandContext& context);
core::Result<void> run(const TrainCommand& command, const CommandContext& context);
core::Result<void> run(const HistoryCommand& command, const CommandContext& context);
core::Result<void> run(const TranslateCommand& command, const CommandContext& context);
core::Result<void> run(const TaskListCommand& command, const CommandContext& context);
core::Result<void> run(const TaskShowCommand& command, const CommandContext& context);
core::Result<void> run(const TaskCheckCommand& command, const CommandContext& context);
core::Result<void> run(const BenchCommand& command, const CommandContext& context);
core::Result<void> run(const ModelNewCommand& command, const CommandContext& context);
core::Result<void> run(const LessonListCommand& command, const CommandContext& context);
core::Result<void> run(const LessonCheckCommand& command, const CommandContext& context);
core::Result<void> run(const LessonReadCommand& command, const CommandContext& context);
core::Result<void> run(const OpenCommand& command, const CommandContext& context);
core::Result<void> run(const ScreenshotCommand& command, const CommandContext& context);
core::Result<void> run(const WindowCommand& command, const CommandContext& context);
core::Result<void> run(const PrintCommand& command, const CommandContext& context);

/// 2 where the arguments or the input are at fault, 1 where the program or the machine failed.
int exit_status(const core::Error& error);

}  // namespace headscope::simulator
