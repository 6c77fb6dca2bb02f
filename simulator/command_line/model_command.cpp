// headscope model new: the model that a lesson makes from its seed, as a directory to try trace and explain
// on.
#include "core/formats/model_directory.h"
#include "core/model.h"
#include "core/printable.h"
#include "lessons/lesson.h"
#include "lessons/library.h"
#include "simulator/command_line/commands.h"

#include <ostream>

namespace headscope::simulator {

core::Result<void> run(const ModelNewCommand& command, const CommandContext& context) {
  const core::Result<std::filesystem::path> path =
      lessons::find_lesson(lessons::language_folder(context.data.lessons, context.language), command.lesson);
  if (!path) return path.error();
  const core::Result<lessons::Lesson> lesson = lessons::load_lesson(*path, context.data.assets);
  if (!lesson) return lesson.error();
  const core::SeedModel& model = lesson->model;
  const core::Result<core::Graph> graph = core::build_graph(model.config, path->string());
  if (!graph) return graph.error();
  // no pass is run: one position is room enough for what depends on the sentence
  core::Workspace<float> workspace(*graph, core::Sizes{.batch = 1, .source = 1, .target = 0});
  core::initialise_parameters(*graph, workspace, model.seed, model.embedding_deviation);
  core::Result<void> written =
      core::write_model_directory<float>(command.out, model.config, *graph, workspace, model.vocabulary);
  if (!written) return written;
  context.out << context.text.text(
                     "command.model_new.done",
                     {{"lesson", lesson->title}, {"path", core::printable(command.out.string())}})
              << "\n";
  return {};
}

}  // namespace headscope::simulator
