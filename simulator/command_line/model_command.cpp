// headscope model new: a lesson's model, or one of a config.json with drawn parameters, as a directory to try
// the other commands on.
#include "core/formats/model_directory.h"
#include "core/model.h"
#include "core/printable.h"
#include "lessons/lesson.h"
#include "lessons/library.h"
#include "simulator/command_line/commands.h"

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

namespace headscope::simulator {
namespace {

core::Result<void> write_drawn(const std::filesystem::path& out, const core::ModelConfig& config,
                               const std::string& where, std::uint64_t seed, double embedding_deviation,
                               const std::optional<core::Vocabulary>& vocabulary) {
  const core::Result<core::Graph> graph = core::build_graph(config, where);
  if (!graph) return graph.error();
  // no pass is run: one position is room enough for what depends on the sentence
  core::Workspace<float> workspace(*graph, core::Sizes{.batch = 1, .source = 1, .target = 1});
  core::initialise_parameters(*graph, workspace, seed, embedding_deviation);
  return core::write_model_directory<float>(out, config, *graph, workspace, vocabulary);
}

core::Result<void> write_lessons_model(const ModelNewCommand& command, const CommandContext& context) {
  const core::Result<std::filesystem::path> path =
      lessons::find_lesson(lessons::language_folder(context.data.lessons, context.language), *command.lesson);
  if (!path) return path.error();
  const core::Result<lessons::Lesson> lesson = lessons::load_lesson(*path, context.data.assets);
  if (!lesson) return lesson.error();
  const core::SeedModel& model = lesson->model;
  core::Result<void> written = write_drawn(command.out, model.config, path->string(), model.seed,
                                           model.embedding_deviation, model.vocabulary);
  if (!written) return written;
  context.out << context.text.text(
                     "command.model_new.done",
                     {{"lesson", lesson->title}, {"path", core::printable(command.out.string())}})
              << "\n";
  return {};
}

core::Result<void> write_configs_model(const ModelNewCommand& command, const CommandContext& context) {
  const std::string where = command.config->string();
  const core::Result<core::ModelConfig> config = core::read_config(*command.config);
  if (!config) return config.error();
  core::Result<void> written =
      write_drawn(command.out, *config, where, command.seed, command.embedding_deviation, std::nullopt);
  if (!written) return written;
  context.out << context.text.text("command.model_new.drawn",
                                   {{"config", core::printable(where)},
                                    {"seed", std::to_string(command.seed)},
                                    {"path", core::printable(command.out.string())}})
              << "\n";
  return {};
}

}  // namespace

core::Result<void> run(const ModelNewCommand& command, const CommandContext& context) {
  return command.lesson ? write_lessons_model(command, context) : write_configs_model(command, context);
}

}  // namespace headscope::simulator
