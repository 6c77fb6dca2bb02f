#include "simulator/open_model.h"

#include "core/formats/run_directory.h"
#include "core/training/recipes.h"
#include "core/workspace.h"
#include "simulator/actions.h"

#include <algorithm>
#include <system_error>
#include <utility>

namespace headscope::simulator {

namespace fs = std::filesystem;

namespace {

using core::Error;

/// "run" of "runs/run/".
std::string folder_name(const fs::path& folder) {
  std::error_code ignored;
  fs::path whole = fs::absolute(folder, ignored).lexically_normal();
  if (!whole.has_filename()) whole = whole.parent_path();
  return whole.filename().string();
}

core::Result<OpenedModel> open_directory(const fs::path& directory) {
  core::Result<std::shared_ptr<const core::SessionModel>> model = core::read_session_model(directory);
  if (!model) return model.error();
  core::Result<std::optional<core::ModelNote>> note = core::read_model_note(directory);
  if (!note) return note.error();
  OpenedModel opened{.name = folder_name(directory), .model = *std::move(model)};
  if (*note) opened.task = (*note)->task;
  return opened;
}

core::Result<OpenedModel> open_run(const fs::path& directory) {
  core::Result<core::StoredRun> run = core::read_run_directory(directory, core::RunAccess::look);
  if (!run) return run.error();
  const core::ModelConfig& config = run->file.config.model;
  core::TrainState& state = run->past.checkpoints.back();
  core::SessionModel model{.config = config,
                           .vocabulary = {},
                           .parameters = std::move(state.parameters),
                           .warnings = std::move(run->warnings)};
  if (!run->past.vocabularies.source) return Error{"session.no_vocabulary", directory.string()};
  model.vocabulary = *std::move(run->past.vocabularies.source);
  if (config.architecture == core::Architecture::encoder_decoder) {
    if (!run->past.vocabularies.target) return Error{"session.no_target_vocabulary", directory.string()};
    model.target_vocabulary = std::move(run->past.vocabularies.target);
  }
  return OpenedModel{.name = folder_name(directory) + ", step " + std::to_string(state.step),
                     .model = std::make_shared<const core::SessionModel>(std::move(model)),
                     .task = run->file.config.data.task};
}

/// The first few words of the vocabulary that are words; a model that takes fewer cuts them.
std::string some_words(const core::Vocabulary& vocabulary) {
  constexpr int kEnough = 5;
  std::string text;
  int n_words = 0;
  for (std::int32_t id = 1; id < vocabulary.size() && n_words < kEnough; ++id) {
    const std::string& word = vocabulary.token(id);
    const bool is_mark = word.empty() || word.front() == '<' || word.front() == '[';
    if (is_mark) continue;
    text.append(text.empty() ? "" : " ").append(word);
    ++n_words;
  }
  return text;
}

}  // namespace

std::vector<BundledModel> list_bundled_models(const fs::path& assets) {
  std::vector<BundledModel> models;
  std::error_code failed;
  for (fs::directory_iterator entry(assets / "models", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (!fs::is_regular_file(entry->path() / "config.json", failed)) continue;
    BundledModel model{.name = entry->path().filename().string(), .directory = entry->path()};
    if (core::Result<std::optional<core::ModelNote>> note = core::read_model_note(model.directory))
      model.note = *std::move(note);
    models.push_back(std::move(model));
  }
  const auto order = [](const BundledModel& model) {
    const auto names = core::task_names();
    return std::find(names.begin(), names.end(), model.name) - names.begin();
  };
  std::sort(models.begin(), models.end(), [&](const BundledModel& left, const BundledModel& right) {
    return std::pair(order(left), left.name) < std::pair(order(right), right.name);
  });
  return models;
}

core::Result<OpenedModel> open_model(const std::string& what, const fs::path& assets) {
  const std::vector<BundledModel> bundled = list_bundled_models(assets);
  for (const BundledModel& model : bundled)
    if (model.name == what) return open_directory(model.directory);
  std::error_code ignored;
  const fs::path path = what;
  if (fs::is_regular_file(path / "run.json", ignored)) return open_run(path);
  if (fs::is_directory(path, ignored)) return open_directory(path);
  if (fs::exists(path, ignored)) return Error{"open.file", what};
  std::string known;
  for (const BundledModel& model : bundled) known += (known.empty() ? "" : ", ") + model.name;
  return Error{"open.unknown", what, {{"name", what}, {"known", known}}};
}

core::Result<OpenedModel> untrained(const OpenedModel& model, std::uint64_t seed, const fs::path& assets) {
  double deviation = 1;
  if (model.task) {
    const core::Result<std::unique_ptr<const core::Task>> task = core::make_task(*model.task, assets);
    if (!task) return task.error();
    deviation = core::recipe_of(**task).start.embedding_deviation;
  }
  core::Result<core::Graph> graph = core::build_graph(model.model->config, model.name);
  if (!graph) return graph.error();
  core::Workspace<float> workspace(*graph, {1, 1, 1});
  core::initialise_parameters(*graph, workspace, seed, deviation);
  core::SessionModel drawn{.config = model.model->config,
                           .vocabulary = model.model->vocabulary,
                           .target_vocabulary = model.model->target_vocabulary,
                           .parameters = {workspace.parameters().begin(), workspace.parameters().end()},
                           .seed = seed};
  return OpenedModel{.name = model.name,
                     .model = std::make_shared<const core::SessionModel>(std::move(drawn)),
                     .task = model.task};
}

core::Result<std::shared_ptr<const core::Task>> task_of(const core::TaskConfig& task,
                                                        const core::SessionModel& model,
                                                        const fs::path& assets) {
  core::Result<std::unique_ptr<const core::Task>> made = core::make_task(task, assets);
  if (!made) return made.error();
  const core::ModelConfig& form = (*made)->form();
  const auto tokens = [](const std::optional<core::Vocabulary>& words) {
    return words ? words->tokens() : std::vector<std::string>();
  };
  const bool fits = (*made)->vocabulary().tokens() == model.vocabulary.tokens() &&
                    tokens((*made)->target_vocabulary()) == tokens(model.target_vocabulary) &&
                    form.objective == model.config.objective && form.n_classes == model.config.n_classes &&
                    form.n_outputs == model.config.n_outputs;
  if (!fits) return Error{"open.other_task", "", {{"task", task.name}}};
  return std::shared_ptr<const core::Task>(*std::move(made));
}

core::Result<AppState> open_state(OpenedModel model, const OpenedText& text, const fs::path& assets,
                                  const fs::path& lesson_folder) {
  std::shared_ptr<const core::Task> task;
  std::optional<Error> message;
  if (model.task) {
    core::Result<std::shared_ptr<const core::Task>> made = task_of(*model.task, *model.model, assets);
    if (made)
      task = *std::move(made);
    else if (made.error().key == "open.other_task")
      message = made.error();
    else
      return made.error();
  }
  const core::ModelConfig& config = model.model->config;
  if (text.target && config.architecture != core::Architecture::encoder_decoder)
    return Error{"open.no_target", "--target", {{"name", model.name}}};
  core::Setup setup{.text = text.text.value_or(some_words(model.model->vocabulary))};
  if (text.target) setup.gold = {.origin = core::Gold::Origin::given, .target = *text.target};
  core::Result<core::Session> session = core::Session::make(model.model, std::move(setup));
  if (!session) return session.error();
  core::Result<AppState> state =
      open_session(assets, lesson_folder, *std::move(session), std::move(model.name), std::move(task));
  if (!state) return state.error();
  if (state->task && !text.text && !text.target) {
    // an example is where one begins, not a change
    apply_action(*state, DrawExample{});
    if (state->message) return *state->message;
    state->undo.clear();
    state->initial = state->session.setup();
    state->session.move_to(0);
  }
  state->message = message;
  return state;
}

}  // namespace headscope::simulator
