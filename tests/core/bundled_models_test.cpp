// The models of assets/models: each opens, says how it was made, and still scores what it says.
#include "core/formats/model_directory.h"
#include "core/formats/model_note.h"
#include "core/training/evaluation.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>

using namespace headscope::core;
namespace fs = std::filesystem;

namespace {

fs::path assets() {
  return headscope::tests::source_folder() / "assets";
}

Result<ModelNote> parse(const std::string& text) {
  return parse_model_note(text, "model.json");
}

std::string key_of(const std::string& text) {
  const Result<ModelNote> note = parse(text);
  return note ? "" : note.error().key;
}

/// Every byte that a person would have to download with the models.
std::uintmax_t size_of_folder(const fs::path& folder) {
  std::uintmax_t size = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) size += entry.file_size();
  return size;
}

}  // namespace

TEST_CASE("every task has a bundled model, which still scores what its note says", "[core][bundled]") {
  for (const std::string_view name : task_names()) {
    INFO(name);
    const fs::path directory = assets() / "models" / name;
    Result<StoredModel> model = read_model_directory(directory);
    REQUIRE(model);
    CHECK(model->warnings.empty());
    REQUIRE(model->vocabulary);
    CHECK(model->target_vocabulary.has_value() ==
          (model->config.architecture == Architecture::encoder_decoder));
    const Result<std::optional<ModelNote>> note = read_model_note(directory);
    REQUIRE(note);
    REQUIRE(note->has_value());
    const ModelNote& said = **note;
    CHECK(said.task.name == name);
    CHECK(said.command.find("headscope train --task " + std::string(name) + " --seed " +
                            std::to_string(said.seed)) == 0);

    const std::unique_ptr<const Task> task = make_task(said.task, assets()).value();
    CHECK(task->vocabulary().tokens() == model->vocabulary->tokens());
    Result<Evaluator> evaluator = Evaluator::make(*task, model->config, said.n_held_out);
    REQUIRE(evaluator);
    Workspace<float> workspace(evaluator->graph(), Sizes{1, 1, 1});
    set_parameters(*model, workspace);
    const Evaluation trained = evaluator->evaluate(workspace.parameters());
    // another build rounds otherwise: a single prediction may tip over
    CHECK(trained.score >= said.score - 1.0 / static_cast<double>(trained.n_scored) - 1e-12);
    CHECK(said.score >= 0.99);

    // and it is these numbers that do it, not any
    initialise_parameters(evaluator->graph(), workspace, said.seed, 1);
    CHECK(evaluator->evaluate(workspace.parameters()).score < 0.7);
  }
  CHECK(size_of_folder(assets() / "models") < 2'500'000);
}

TEST_CASE("nothing but models and their README lies beside the bundled models", "[core][bundled]") {
  std::set<std::string> expected = {"README.md"};
  for (const std::string_view name : task_names()) expected.emplace(name);
  std::set<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(assets() / "models"))
    found.insert(entry.path().filename().string());
  CHECK(found == expected);
}

TEST_CASE("a model's note is read with every check", "[core][files]") {
  const std::string good =
      R"({"format": "headscope-model-note", "version": 1, "task": {"name": "copying"}, "seed": 3, "steps": 40,
          "score": 0.5, "n_held_out": 12, "command": "make it", "later": [1]})";
  const Result<ModelNote> note = parse(good);
  REQUIRE(note);
  CHECK(note->task.name == "copying");
  CHECK(note->task.size == TaskSize::pocket);
  CHECK(note->seed == 3);
  CHECK(note->n_steps == 40);
  CHECK(note->score == 0.5);
  CHECK(note->n_held_out == 12);
  CHECK(note->command == "make it");

  const auto with = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t place = text.find(from);
    REQUIRE(place != std::string::npos);
    return text.replace(place, from.size(), to);
  };
  CHECK(key_of("[]") == "config.not_an_object");
  CHECK(key_of("{") == "json.syntax");
  CHECK(key_of(with("headscope-model-note", "headscope-model")) == "config.format");
  CHECK(key_of(with("\"version\": 1", "\"version\": 2")) == "config.version");
  CHECK(key_of(with("\"task\": {\"name\": \"copying\"}, ", "")) == "config.key_missing");
  CHECK(key_of(with("{\"name\": \"copying\"}", "\"copying\"")) == "config.not_object");
  CHECK(key_of(with("\"name\": \"copying\"", "\"name\": 1")) == "config.not_text");
  CHECK(key_of(with("\"seed\": 3", "\"seed\": -3")) == "config.not_integer");
  CHECK(key_of(with("\"steps\": 40", "\"steps\": -1")) == "config.range");
  CHECK(key_of(with("0.5", "1.5")) == "config.range");
  CHECK(key_of(with("0.5", "\"high\"")) == "config.not_number");
  CHECK(key_of(with("12", "0")) == "config.range");
}

TEST_CASE("a model directory needs no note", "[core][files]") {
  const Result<std::optional<ModelNote>> none =
      read_model_note(headscope::tests::source_folder() / "tests/golden/decoder_one_head");
  REQUIRE(none);
  CHECK(!none->has_value());
}
