// A run on disk: it goes on to the same bits wherever it was stopped, and says what is damaged.
#include "core/formats/run_directory.h"
#include "core/formats/atomic_file.h"
#include "core/formats/checkpoint.h"
#include "core/formats/model_directory.h"
#include "tests/core/training_run.h"

#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

namespace headscope::core {
namespace {

namespace fs = std::filesystem;
using namespace test;
using tests::read_text;
using tests::TemporaryFolder;
using tests::write_text;
using Existing = RunDirectory::Existing;

RunConfig small_run() {
  RunConfig config;
  config.data.task = TaskConfig{.name = "look-ups"};
  const Result<std::unique_ptr<const Task>> task = make_task(*config.data.task, "");
  REQUIRE(task);
  config.model = (*task)->form();
  config.model.d_model = 8;
  config.model.n_heads = 2;
  config.model.d_head = 4;
  config.model.n_layers = 1;
  config.optimiser.rate = 1e-2;
  config.graph.dropout = 0.1;
  config.batch_size = 4;
  config.stop.n_steps = 60;
  config.evaluate_every = 20;
  config.n_held_out = 4;
  return config;
}

std::unique_ptr<Run> make_run(const RunConfig& config, std::size_t history_bytes = History::kDefaultBytes) {
  Result<std::unique_ptr<Run>> run = Run::make(config, {.history_bytes = history_bytes});
  if (!run) FAIL("make: " << run.error().key);
  return *std::move(run);
}

constexpr double kSeldom = 1e9;  // seconds: only what must be written at once

RunDirectory make_directory(const fs::path& path, const Run& run, Existing existing = Existing::refuse,
                            double seconds = kSeldom) {
  Result<RunDirectory> directory =
      RunDirectory::create(path, run,
                           {.interventions = Json{JsonObject{{"zero_head", Json{JsonArray{Json{"a:1"}}}}}},
                            .existing = existing,
                            .seconds = seconds});
  if (!directory) FAIL("create: " << directory.error().key << " " << directory.error().where);
  return *std::move(directory);
}

/// The next step, after the changes that a person makes before it; all kept.
void do_step(Run& run, RunDirectory& directory) {
  if (run.trainer().events().empty() || run.trainer().events().back().step <= run.trainer().step()) {
    if (run.trainer().step() == 13) REQUIRE(run.change(SetBatchSize{6}));
    if (run.trainer().step() == 34)
      REQUIRE(run.change(SetParameter{"decoder.block0.self_attention.w_query", {1, 2, 3}, 0.5}));
  }
  REQUIRE(directory.update(run));
  REQUIRE(run.run_step());
  REQUIRE(directory.update(run));
}

ResumedRun resume(const fs::path& path, double seconds = kSeldom) {
  Result<StoredRun> stored = read_run_directory(path);
  if (!stored) FAIL("read: " << stored.error().key << " " << stored.error().where);
  Result<ResumedRun> resumed = resume_run(*std::move(stored), {}, seconds);
  if (!resumed) FAIL("resume: " << resumed.error().key << " " << resumed.error().where);
  return *std::move(resumed);
}

/// As at the end of a program: another may go on with the directory.
void close(RunDirectory directory) {
  static_cast<void>(directory);
}

/// The whole run, done without a stop.
std::unique_ptr<Run> undisturbed(const fs::path& path) {
  auto run = make_run(small_run());
  RunDirectory directory = make_directory(path, *run);
  while (run->trainer().step() < 60) do_step(*run, directory);
  REQUIRE(directory.save(*run));
  return run;
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("a run's directory is a model directory, and holds the history", "[core][run_directory]") {
  const TemporaryFolder folder;
  const auto run = undisturbed(folder / "run");
  const Result<StoredModel> model = read_model_directory(folder / "run");
  REQUIRE(model);
  CHECK(model->config == small_run().model);
  CHECK(model->vocabulary->tokens() == run->trainer().task()->vocabulary().tokens());
  Workspace<float> workspace(model->graph, Sizes{});
  set_parameters(*model, workspace);
  CHECK(same_bits(workspace.parameters(), run->trainer().state().parameters));
  CHECK(names_in(folder / "run/checkpoints") ==
        std::vector<std::string>{"000000.safetensors", "000010.safetensors", "000013.safetensors",
                                 "000020.safetensors", "000030.safetensors", "000034.safetensors",
                                 "000040.safetensors", "000050.safetensors", "000060.safetensors"});
  CHECK(read_text(folder / "run/history.csv") == format_series(*run));

  const Result<StoredRun> stored = read_run_directory(folder / "run", RunAccess::look);
  REQUIRE(stored);
  CHECK(stored->file.config == run->config());
  CHECK(stored->file.events == run->trainer().events());
  CHECK(stored->file.n_steps == 60);
  CHECK(format_json(stored->file.interventions) == R"({"zero_head": ["a:1"]})");
  CHECK(stored->warnings.empty());

  ResumedRun resumed = resume(folder / "run");
  CHECK(resumed.run->stop_reason() == StopReason::steps);
  CHECK(format_series(*resumed.run) == format_series(*run));
  for (const std::int64_t step : {60, 0, 13, 14, 35, 34, 59})
    CHECK(same_state(*resumed.run->state_at(step), *run->state_at(step)));
  REQUIRE(resumed.directory.save(*resumed.run));
  CHECK(format_json(read_run_directory(folder / "run", RunAccess::look)->file.interventions) ==
        R"({"zero_head": ["a:1"]})");
}

TEST_CASE("copied after any step, a run goes on to the same bits", "[core][run_directory]") {
  const TemporaryFolder folder;
  const auto whole = undisturbed(folder / "whole");
  const auto run = make_run(small_run());
  RunDirectory directory = make_directory(folder / "run", *run, Existing::refuse, 0);
  for (std::int64_t step = 0; step <= 60; step += 1) {
    const fs::path copy = folder / ("copy" + std::to_string(step));
    if (step % 20 == 0 || step == 13 || step == 34 || step == 35) {
      fs::copy(folder / "run", copy, fs::copy_options::recursive);
      ResumedRun resumed = resume(copy);
      CHECK(resumed.warnings.empty());
      CHECK(resumed.run->trainer().step() == step);
      while (resumed.run->trainer().step() < 60) do_step(*resumed.run, resumed.directory);
      CHECK(same_state(resumed.run->trainer().state(), whole->trainer().state()));
      CHECK(format_series(*resumed.run) == format_series(*whole));
      REQUIRE(resumed.directory.save(*resumed.run));
      for (const char* name : {"run.json", "history.csv", "model.safetensors"})
        CHECK(read_text(copy / name) == read_text(folder / "whole" / name));
    }
    if (step < 60) do_step(*run, directory);
  }
}

TEST_CASE("killed at any moment, a run goes on to the same bits", "[core][run_directory]") {
  const TemporaryFolder folder;
  const auto whole = undisturbed(folder / "whole");
  int n_killed = 0;
  for (int time = 0; time < 8; ++time) {
    const fs::path path = folder / ("run" + std::to_string(time));
    {
      const auto run = make_run(small_run());
      RunDirectory directory = make_directory(path, *run);
    }
    // each child goes on where the one before was killed, a few times
    for (int life = 0; life < 3; ++life) {
      const pid_t child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        Result<StoredRun> stored = read_run_directory(path);
        if (!stored) ::_exit(1);
        Result<ResumedRun> resumed = resume_run(*std::move(stored), {}, 0);
        if (!resumed) ::_exit(2);
        while (resumed->run->trainer().step() < 60) {
          Run& run = *resumed->run;
          const std::int64_t step = run.trainer().step();
          const bool has_event = !run.trainer().events().empty() && run.trainer().events().back().step > step;
          if (step == 13 && !has_event && !run.change(SetBatchSize{6})) ::_exit(3);
          if (step == 34 && !has_event &&
              !run.change(SetParameter{"decoder.block0.self_attention.w_query", {1, 2, 3}, 0.5}))
            ::_exit(4);
          if (!resumed->directory.update(run) || !run.run_step() || !resumed->directory.update(run))
            ::_exit(5);
        }
        ::_exit(0);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(1500 * (time + 1) + 700 * life));
      ::kill(child, SIGKILL);
      int status = 0;
      REQUIRE(::waitpid(child, &status, 0) == child);
      if (WIFSIGNALED(status)) ++n_killed;
      if (WIFEXITED(status)) CHECK(WEXITSTATUS(status) == 0);
    }
    ResumedRun resumed = resume(path);
    CHECK(resumed.warnings.empty());
    while (resumed.run->trainer().step() < 60) do_step(*resumed.run, resumed.directory);
    CHECK(same_state(resumed.run->trainer().state(), whole->trainer().state()));
    CHECK(format_series(*resumed.run) == format_series(*whole));
    CHECK(resumed.run->trainer().events() == whole->trainer().events());
    for (const std::string& name : names_in(path)) CHECK_FALSE(name.ends_with(".tmp"));
  }
  CHECK(n_killed > 0);
}

TEST_CASE("a run that goes back leaves nothing of its other future", "[core][run_directory]") {
  const TemporaryFolder folder;
  const auto run = make_run(small_run());
  RunDirectory directory = make_directory(folder / "run", *run);
  while (run->trainer().step() < 45) do_step(*run, directory);
  REQUIRE(directory.save(*run));
  REQUIRE(run->go_back_to(16));
  for (int time = 0; time < 9; ++time) REQUIRE(run->run_step());  // to 25, before anything is written
  REQUIRE(directory.update(*run));
  close(std::move(directory));
  ResumedRun resumed = resume(folder / "run");
  CHECK(resumed.run->trainer().step() == 25);
  CHECK(same_state(resumed.run->trainer().state(), run->trainer().state()));
  CHECK(resumed.run->trainer().events().size() == 1);
  CHECK(format_series(*resumed.run) == format_series(*run));
}

TEST_CASE("what a history has let go of, the directory lets go of", "[core][run_directory]") {
  const TemporaryFolder folder;
  const auto run = make_run(small_run(), 5 * make_run(small_run())->trainer().state().n_bytes());
  RunDirectory directory = make_directory(folder / "run", *run);
  while (run->trainer().step() < 60) do_step(*run, directory);
  REQUIRE(directory.save(*run));
  CHECK(run->history().checkpoints().size() <= 5);
  CHECK(names_in(folder / "run/checkpoints").size() ==
        run->history().checkpoints().size() + (run->history().checkpoints().contains(60) ? 0 : 1));
}

TEST_CASE("a damaged checkpoint is named and set aside, and the one before is used",
          "[core][run_directory]") {
  const TemporaryFolder folder;
  const auto whole = undisturbed(folder / "whole");
  const std::string intact = read_text(folder / "whole/checkpoints/000060.safetensors");
  std::vector<std::string> damaged;
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{7}, std::size_t{100}, intact.size() / 2, intact.size() - 1})
    damaged.push_back(intact.substr(0, length));
  damaged.push_back(intact + "x");
  for (std::size_t at = 0; at < intact.size(); at += intact.size() / 16) {
    damaged.push_back(intact);
    damaged.back()[at] = static_cast<char>(damaged.back()[at] ^ 0x10);
  }
  damaged.push_back(read_text(folder / "whole/checkpoints/000050.safetensors"));  // of another step
  damaged.push_back(read_text(folder / "whole/model.safetensors"));               // no checkpoint at all
  for (std::size_t place = 0; place < damaged.size(); ++place) {
    INFO(place);
    const fs::path path = folder / ("run" + std::to_string(place));
    fs::copy(folder / "whole", path, fs::copy_options::recursive);
    write_text(path / "checkpoints/000060.safetensors", damaged[place]);
    ResumedRun resumed = resume(path);
    if (same_state(resumed.run->trainer().state(), whole->trainer().state())) {
      CHECK(damaged[place].size() == intact.size());  // a flipped blank of the header: no number is another
      continue;
    }
    REQUIRE(resumed.warnings.size() == 1);
    CHECK(resumed.warnings[0].key == "run.checkpoint_damaged");
    CHECK(resumed.warnings[0].where.ends_with("000060.safetensors"));
    CHECK(fs::exists(path / "checkpoints/000060.safetensors.damaged"));
    CHECK(resumed.run->trainer().step() == 50);
    CHECK(resumed.run->series().back().step == 50);
    while (resumed.run->trainer().step() < 60) do_step(*resumed.run, resumed.directory);
    CHECK(same_state(resumed.run->trainer().state(), whole->trainer().state()));
    REQUIRE(resumed.directory.save(*resumed.run));
    CHECK(read_text(path / "checkpoints/000060.safetensors") == intact);
    fs::remove_all(path);
  }
  for (const std::string& name : names_in(folder / "whole/checkpoints"))
    write_text(folder / "whole/checkpoints" / name, "nothing");
  const Result<StoredRun> nothing = read_run_directory(folder / "whole");
  REQUIRE_FALSE(nothing);
  CHECK(nothing.error().key == "run.no_checkpoint");
  // perhaps it is config.json that is wrong: all of them stay what they are
  for (const std::string& name : names_in(folder / "whole/checkpoints"))
    CHECK_FALSE(name.ends_with(".damaged"));
}

TEST_CASE("one process at a time goes on with a run, and others look at it", "[core][run_directory]") {
  const TemporaryFolder folder;
  const auto run = make_run(small_run());
  RunDirectory directory = make_directory(folder / "run", *run);
  while (run->trainer().step() < 20) do_step(*run, directory);
  REQUIRE(directory.save(*run));
  CHECK(read_run_directory(folder / "run").error().key == "run.in_use");
  const auto other = make_run(small_run());
  CHECK(RunDirectory::create(folder / "run", *other, {}).error().key == "run.exists");
  CHECK(RunDirectory::create(folder / "run", *other, {.existing = Existing::replace}).error().key ==
        "run.in_use");

  // a look changes nothing, not even what is damaged or half-written, and finds the past
  write_text(folder / "run/checkpoints/000020.safetensors", "nothing");
  write_text(folder / "run/checkpoints/.headscope-1-0.tmp", "half");
  const std::vector<std::string> names = names_in(folder / "run/checkpoints");
  Result<StoredRun> stored = read_run_directory(folder / "run", RunAccess::look);
  REQUIRE(stored);
  REQUIRE(stored->warnings.size() == 1);
  CHECK(stored->warnings[0].key == "run.checkpoint_unread");
  const Result<std::unique_ptr<Run>> past = reopen_run(*std::move(stored), {});
  REQUIRE(past);
  CHECK(same_state(*(*past)->state_at(12), *run->state_at(12)));
  CHECK((*past)->series().size() == 14);  // step 0 to 13, its newest intact checkpoint
  CHECK(names_in(folder / "run/checkpoints") == names);

  // a process that is killed leaves the run to the next
  close(std::move(directory));
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const Result<StoredRun> held = read_run_directory(folder / "run");
    const char said = held ? 'y' : 'n';
    if (::write(ends[1], &said, 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  char said = 0;
  REQUIRE(::read(ends[0], &said, 1) == 1);
  CHECK(said == 'y');
  CHECK(read_run_directory(folder / "run").error().key == "run.in_use");
  ::kill(child, SIGKILL);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(read_run_directory(folder / "run").has_value());
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a run whose task makes other examples than before does not go on", "[core][run_directory]") {
  const TemporaryFolder folder;
  static_cast<void>(undisturbed(folder / "run"));
  const std::string text = read_text(folder / "run/run.json");
  const std::size_t at = text.find("\"data_hash\": ");
  REQUIRE(at != std::string::npos);
  std::string other = text;
  char& digit = other[other.find_first_not_of("0123456789", other.find_first_of("0123456789", at)) - 1];
  digit = digit == '1' ? '2' : '1';  // as if the task's words had been others
  write_text(folder / "run/run.json", other);
  Result<StoredRun> stored = read_run_directory(folder / "run");
  REQUIRE(stored);
  const Result<ResumedRun> refused = resume_run(*std::move(stored), {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().key == "run.task_changed");
  stored = read_run_directory(folder / "run", RunAccess::look);
  CHECK(reopen_run(*std::move(stored), {}).error().key == "run.task_changed");
  // a run.json of an older version has none, and goes on
  const std::size_t line = other.rfind('\n', at);
  other.erase(line, other.find('\n', line + 1) - line);
  write_text(folder / "run/run.json", other);
  CHECK(resume(folder / "run").run->trainer().step() == 60);
}

TEST_CASE("a checkpoint is read as it was written, by its own graph alone", "[core][run_directory]") {
  const auto run = make_run(small_run());
  for (int time = 0; time < 3; ++time) REQUIRE(run->run_step());
  const TrainState state = run->trainer().state();
  const Graph& graph = run->trainer().graph();
  const std::string bytes = format_checkpoint(graph, state);
  const Result<TrainState> again = parse_checkpoint(bytes, graph, "file");
  REQUIRE(again);
  CHECK(same_state(*again, state));
  ModelConfig other = small_run().model;
  other.d_head = 3;
  CHECK(parse_checkpoint(bytes, *build_graph(other, ""), "file").error().key == "model.tensor_shape");
  other.d_head = 4;
  other.n_layers = 2;
  CHECK(parse_checkpoint(bytes, *build_graph(other, ""), "file").error().key == "model.tensor_missing");
  other.n_layers = 1;
  CHECK(parse_checkpoint(format_checkpoint(*build_graph(other, ""), state), graph, "file"));
}

TEST_CASE("a damaged series is set aside, and the training goes on", "[core][run_directory]") {
  const TemporaryFolder folder;
  const auto whole = undisturbed(folder / "run");
  const std::string csv = read_text(folder / "run/history.csv");
  write_text(folder / "run/history.csv", csv.substr(0, csv.size() / 2));
  ResumedRun resumed = resume(folder / "run");
  REQUIRE(resumed.warnings.size() == 1);
  CHECK(resumed.warnings[0].key == "run.series");
  CHECK(fs::exists(folder / "run/history.csv.damaged"));
  CHECK(same_state(resumed.run->trainer().state(), whole->trainer().state()));
  REQUIRE(resumed.directory.save(*resumed.run));
}

TEST_CASE("a run is never written over unasked", "[core][run_directory]") {
  const TemporaryFolder folder;
  const auto whole = undisturbed(folder / "run");
  RunConfig other = small_run();
  other.seed = 5;
  const auto run = make_run(other);
  const Result<RunDirectory> refused = RunDirectory::create(folder / "run", *run, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().key == "run.exists");
  CHECK(same_state(resume(folder / "run").run->trainer().state(), whole->trainer().state()));
  make_directory(folder / "run", *run, Existing::replace);
  ResumedRun resumed = resume(folder / "run");
  CHECK(resumed.run->config().seed == 5);
  CHECK(resumed.run->trainer().step() == 0);
  CHECK(names_in(folder / "run/checkpoints") == std::vector<std::string>{"000000.safetensors"});
}

TEST_CASE("a run from a file goes on with the same file alone", "[core][run_directory]") {
  const TemporaryFolder folder;
  write_rows(folder / "rows.tokens.json");
  RunConfig config = file_run(folder / "rows.tokens.json");
  config.seed = 0xfedcba9876543210U;
  const auto run = make_run(config);
  RunDirectory directory = make_directory(folder / "run", *run);
  for (int time = 0; time < 15; ++time) REQUIRE(run->run_step());
  REQUIRE(directory.save(*run));
  close(std::move(directory));
  ResumedRun resumed = resume(folder / "run");
  CHECK(resumed.run->config() == run->config());
  for (int time = 0; time < 15; ++time) {
    REQUIRE(run->run_step());
    REQUIRE(resumed.run->run_step());
  }
  CHECK(same_state(resumed.run->trainer().state(), run->trainer().state()));
  std::string text = read_text(folder / "rows.tokens.json");
  text[text.find('5')] = '6';
  write_text(folder / "rows.tokens.json", text);
  close(std::move(resumed.directory));
  Result<StoredRun> stored = read_run_directory(folder / "run");
  REQUIRE(stored);
  const Result<ResumedRun> changed = resume_run(*std::move(stored), {});
  REQUIRE_FALSE(changed);
  CHECK(changed.error().key == "run.data_changed");
}

TEST_CASE("a folder that cannot be written to is said, and nothing in memory is lost",
          "[core][run_directory]") {
  const TemporaryFolder folder;
  const auto run = make_run(small_run());
  RunDirectory directory = make_directory(folder / "run", *run, Existing::refuse, 0);
  // a folder in a file's place: refused to everybody, the system's administrator too
  fs::remove(folder / "run/history.csv");
  fs::create_directory(folder / "run/history.csv");
  REQUIRE(run->run_step());
  const Result<void> refused = directory.update(*run);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().key == "file.is_directory");
  REQUIRE(run->run_step());
  fs::remove(folder / "run/history.csv");
  REQUIRE(directory.update(*run));
  close(std::move(directory));
  CHECK(resume(folder / "run").run->trainer().step() == 2);
  write_text(folder / "file", "");
  const Result<RunDirectory> no_folder = RunDirectory::create(folder / "file", *run, {});
  REQUIRE_FALSE(no_folder);
  CHECK(no_folder.error().key == "file.not_a_folder");
}

TEST_CASE("run.json says everything, and is checked", "[core][run_directory]") {
  RunFile file{.config = small_run()};
  file.config.data.task->settings = {{"words", "\"quoted\""}};
  file.config.start = {
      .from = "a/model", .embedding_deviation = 0.3, .has_equal_heads = true, .head_noise = 1e-3};
  file.config.optimiser = {.kind = OptimiserKind::sgd,
                           .rate = 0.1,
                           .momentum = 0.9,
                           .weight_decay = 1.0 / 3,
                           .clip_norm = 5,
                           .schedule = Schedule::cosine,
                           .warm_up = 7,
                           .total_steps = 900,
                           .final_share = 0.125};
  file.config.graph = {.dropout = 0.2, .label_smoothing = 0.1, .head_contributions = true};
  file.config.frozen = {"token_embedding.weight", "b"};
  file.config.stop = {.n_steps = 900, .target_score = 0.99, .plateau = 4};
  file.config.seed = ~std::uint64_t{0};
  file.events = {{3, SetRate{0.05}},
                 {3, SetWeightDecay{0}},
                 {7, SetDropout{0.5}},
                 {9, SetBatchSize{17}},
                 {9, SetParameter{"x.w", {1, 2, 3}, -1e-30}}};
  file.n_steps = 123;
  file.data_hash = 0xffffffffffffffffU;
  file.interventions =
      Json{JsonObject{{"temperature", Json{2.0}}, {"on", Json{true}}, {"list", Json{JsonArray{}}}}};
  const std::string text = format_run_file(file);
  const Result<RunFile> again = parse_run_file(text, file.config.model, "run.json");
  REQUIRE(again);
  CHECK(*again == file);

  const auto key_of = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    REQUIRE(at != std::string::npos);
    const Result<RunFile> parsed =
        parse_run_file(changed.replace(at, from.size(), to), file.config.model, "run.json");
    return parsed ? std::string() : parsed.error().key;
  };
  CHECK(key_of("\"plateau\"", "\"something_new\"") == "");
  CHECK(key_of("\"seed\": \"18446744073709551615\"", "\"seed\": \"18446744073709551616\"") ==
        "config.not_integer");
  CHECK(key_of("\"seed\"", "\"sead\"") == "config.key_missing");
  CHECK(key_of("\"version\": 1", "\"version\": 2") == "config.version");
  CHECK(key_of("headscope-run", "headscope-model") == "config.format");
  CHECK(key_of("\"sgd\"", "\"adam\"") == "config.value");
  CHECK(key_of("\"lr\": 0.1", "\"lr\": 1e300") == "optimiser.range");
  CHECK(key_of("\"steps\": 900", "\"steps\": 9000000000000000000") == "train.range");
  CHECK(key_of("\"plateau\": 4", "\"plateau\": 4000000000") == "config.range");
  CHECK(key_of("\"done\": 123", "\"done\": -1") == "train.range");
  CHECK(key_of("\"step\": 7", "\"step\": 2") == "train.event_order");
  CHECK(key_of("\"step\": 3", "\"step\": 0") == "train.range");
  CHECK(key_of("\"set\": \"dropout\"", "\"set\": \"colour\"") == "config.value");
  CHECK(key_of("[1,2,3]", "[1,2,3,4,5]") == "config.not_list");
  CHECK(key_of("\"task\"", "\"tusk\"") == "train.data");
  CHECK(key_of("\"name\": \"look-ups\"", "\"name\": 7") == "config.not_text");
  for (std::size_t length = 0; length + 2 < text.size(); length += 11)
    CHECK_FALSE(parse_run_file(text.substr(0, length), file.config.model, "run.json"));
}

TEST_CASE("a folder without a run is said", "[core][run_directory]") {
  const TemporaryFolder folder;
  CHECK(read_run_directory(folder / "nothing").error().key == "run.no_directory");
  CHECK(read_run_directory(folder.path()).error().key == "run.no_directory");
}

}  // namespace
}  // namespace headscope::core
