#include "core/formats/run_directory.h"

#include "core/formats/atomic_file.h"
#include "core/formats/checkpoint.h"
#include "core/formats/model_directory.h"
#include "core/formats/safetensors.h"
#include "core/hash.h"
#include "core/random.h"
#include "core/workspace.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <functional>
#include <system_error>
#include <utility>

namespace headscope::core {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMaxRunBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kMaxSeriesBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaxCheckpointBytes = std::uint64_t{2} << 30;
constexpr std::string_view kExtension = ".safetensors";

/// The step that a checkpoint's name says: digits, as many as it needs but six at least.
std::optional<std::int64_t> step_of(const fs::path& path) {
  const std::string name = path.filename().string();
  if (!name.ends_with(kExtension)) return std::nullopt;
  const std::string_view digits(name.data(), name.size() - kExtension.size());
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (error != std::errc() || end != digits.data() + digits.size() || step < 0) return std::nullopt;
  return step;
}

std::string name_of(std::int64_t step) {
  constexpr std::size_t kDigits = 6;
  const std::string digits = std::to_string(step);
  return std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits + std::string(kExtension);
}

/// Puts a file out of the way, so that it is neither read again nor written over. Where the folder cannot be
/// changed it stays, and is passed over again the next time.
void set_aside(const fs::path& path) {
  std::error_code ignored;
  fs::rename(path, path.string() + ".damaged", ignored);
}

/// What a process that was killed while it wrote has left.
void remove_leftovers(const fs::path& directory) {
  std::error_code ignored;
  std::vector<fs::path> leftovers;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(".headscope-") && name.ends_with(".tmp")) leftovers.push_back(entry.path());
  }
  for (const fs::path& path : leftovers) fs::remove(path, ignored);
}

/// The checkpoints' files by their steps, the newest first.
std::vector<std::pair<std::int64_t, fs::path>> list_checkpoints(const fs::path& directory) {
  std::vector<std::pair<std::int64_t, fs::path>> files;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored))
    if (const std::optional<std::int64_t> step = step_of(entry.path()))
      files.emplace_back(*step, entry.path());
  std::ranges::sort(files, std::greater());
  return files;
}

Result<TrainState> read_checkpoint(const fs::path& path, std::int64_t step, const Graph& graph) {
  const Result<std::string> bytes = read_file(path, kMaxCheckpointBytes);
  if (!bytes) return bytes.error();
  Result<TrainState> state = parse_checkpoint(*bytes, graph, path.string());
  if (state && state->step != step)
    return Error{"checkpoint.step", path.string(), {{"step", std::to_string(state->step)}}};
  return state;
}

/// The checkpoints that are intact, by their steps; of more than the bound, those of the newest that fit, and
/// the first. What is damaged is left where it is as long as it may be config.json that is wrong.
Result<void> read_checkpoints(StoredRun& stored, const Graph& graph, RunAccess access) {
  std::size_t n_bytes = 0;
  std::vector<Error> damaged;
  const auto files = list_checkpoints(stored.directory / "checkpoints");
  for (const auto& [step, path] : files) {
    if (n_bytes > History::kDefaultBytes && step != files.back().first) {
      stored.passed_over.push_back(step);
      continue;
    }
    Result<TrainState> state = read_checkpoint(path, step, graph);
    if (state) {
      n_bytes += state->n_bytes();
      stored.past.checkpoints.push_back(*std::move(state));
    } else if (access == RunAccess::change) {
      damaged.push_back({"run.checkpoint_damaged", path.string(), {{"reason", state.error().key}}});
    } else if (state.error().key != "file.missing") {  // else the run goes on, and has let it go meanwhile
      damaged.push_back({"run.checkpoint_unread", path.string(), {{"reason", state.error().key}}});
    }
  }
  if (stored.past.checkpoints.empty()) {
    const std::string reason = damaged.empty() ? "file.missing" : damaged.front().values.front().second;
    return Error{"run.no_checkpoint", stored.directory.string(), {{"reason", reason}}};
  }
  if (access == RunAccess::change)
    for (const Error& one : damaged) set_aside(one.where);
  stored.warnings = std::move(damaged);
  std::ranges::reverse(stored.past.checkpoints);
  return {};
}

/// FNV-1a of the numbers that a run learns from: of its file, or of a task's first examples, so that a
/// grammar or a table of words that has changed is noticed.
std::uint64_t data_hash(const Task* task, std::uint64_t hash_of_file) {
  if (!task) return hash_of_file;
  constexpr int kExamples = 256;
  Rng rng(0, "examples");
  std::uint64_t hash = kFnv1aStart;
  const auto add = [&hash](const std::vector<std::int32_t>& ids) {
    std::string text;
    for (const std::int32_t id : ids) text += std::to_string(id) + " ";
    hash = fnv1a(text + "\n", hash);
  };
  const auto add_words = [&hash](const Vocabulary& vocabulary) {
    for (const std::string& word : vocabulary.tokens()) hash = fnv1a(word + "\n", hash);
  };
  add_words(task->vocabulary());
  if (task->target_vocabulary()) add_words(*task->target_vocabulary());
  for (int at = 0; at < kExamples; ++at) {
    const Example example = task->draw(rng, Split::training);
    add(example.source);
    add(example.target);
    for (const std::vector<std::int32_t>& labels : example.labels) add(labels);
    if (example.span)
      add({static_cast<std::int32_t>(example.span->start), static_cast<std::int32_t>(example.span->end)});
  }
  return hash;
}

/// The newest parameters as a model's file.
std::string format_parameters(const Graph& graph, const Workspace<float>& workspace) {
  std::vector<TensorView> tensors;
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
    if (graph.spec({index}).role != Role::parameter) continue;
    const Shape& shape = workspace.shape({index});
    tensors.push_back({graph.spec({index}).name,
                       {shape.sides().begin(), shape.sides().end()},
                       workspace.values(TensorId{index})});
  }
  return format_safetensors_views(tensors);
}

}  // namespace

namespace {

/// run.json's text.
Result<std::string> read_run_text(const fs::path& directory) {
  Result<std::string> text = read_file(directory / "run.json", kMaxRunBytes);
  if (!text && text.error().key == "file.missing") return Error{"run.no_directory", directory.string()};
  return text;
}

}  // namespace

Result<StoredRun> read_run_directory(const fs::path& directory, RunAccess access) {
  StoredRun stored;
  stored.directory = directory;
  if (const Result<std::string> text = read_run_text(directory); !text) return text.error();
  if (access == RunAccess::change) {
    Result<FolderLock> lock = FolderLock::take(directory);
    if (!lock) return lock.error();
    stored.lock = *std::move(lock);
  }
  const Result<ModelConfig> model = read_config(directory / "config.json");
  if (!model) return model.error();
  const Result<Graph> graph = build_graph(*model, (directory / "config.json").string());
  if (!graph) return graph.error();
  const auto read_file_of_run = [&]() -> Result<void> {
    const Result<std::string> text = read_run_text(directory);
    if (!text) return text.error();
    Result<RunFile> file = parse_run_file(*text, *model, (directory / "run.json").string());
    if (!file) return file.error();
    stored.file = *std::move(file);
    return {};
  };
  if (Result<void> read = read_file_of_run(); !read) return read.error();
  Result<std::optional<Vocabulary>> source = read_vocabulary(directory / "vocab.json", model->vocab_size);
  if (!source) return source.error();
  stored.past.vocabularies.source = *std::move(source);
  if (model->architecture == Architecture::encoder_decoder) {
    Result<std::optional<Vocabulary>> target =
        read_vocabulary(directory / "target_vocab.json", model->target_vocab_size);
    if (!target) return target.error();
    stored.past.vocabularies.target = *std::move(target);
  }
  if (Result<void> read = read_checkpoints(stored, *graph, access); !read) return read.error();
  // whoever goes on with it writes an event before the checkpoints after it: now none of those read lacks its
  // events
  if (access == RunAccess::look)
    if (Result<void> read = read_file_of_run(); !read) return read.error();
  stored.past.events = stored.file.events;
  Result<std::string> series = read_file(directory / "history.csv", kMaxSeriesBytes);
  if (series) stored.series = *std::move(series);
  return stored;
}

Result<RunDirectory> RunDirectory::create(const fs::path& directory, const Run& run, Options options) {
  std::error_code ignored;
  const fs::path run_path = directory / "run.json";
  if (fs::exists(run_path, ignored) && options.existing == Existing::refuse)
    return Error{"run.exists", directory.string()};
  if (Result<void> made = make_folder(directory / "checkpoints"); !made) return made.error();
  Result<FolderLock> lock = FolderLock::take(directory);
  if (!lock) return lock.error();
  if (fs::exists(run_path, ignored) && options.existing == Existing::refuse)  // somebody was quicker
    return Error{"run.exists", directory.string()};
  RunDirectory made(directory, *std::move(lock));
  remove_leftovers(directory);
  remove_leftovers(directory / "checkpoints");
  made.interventions_ = std::move(options.interventions);
  made.seconds_ = options.seconds;
  made.data_hash_ = data_hash(run.trainer().task(), run.trainer().data_hash());
  // without run.json it is no run: nothing of the old one is taken for the new one's, whenever this ends
  fs::remove(run_path, ignored);
  if (fs::exists(run_path, ignored)) return Error{"file.unwritable", run_path.string()};
  for (const auto& [step, path] : list_checkpoints(directory / "checkpoints"))
    if (Result<void> removed = made.remove_checkpoint(step); !removed) return removed.error();
  const Trainer& trainer = run.trainer();
  if (Result<void> written = write_model_directory<float>(
          directory, run.config().model, trainer.graph(), trainer.training().workspace(),
          trainer.vocabularies().source, trainer.vocabularies().target);
      !written)
    return written.error();
  if (Result<void> written = made.write_newest(run); !written) return written.error();
  if (Result<void> written = made.write_all(run); !written) return written.error();
  return made;
}

RunDirectory RunDirectory::open(StoredRun& stored, double seconds) {
  assert(stored.lock);
  RunDirectory opened(stored.directory, *std::move(stored.lock));
  stored.lock.reset();
  opened.interventions_ = stored.file.interventions;
  opened.seconds_ = seconds;
  opened.data_hash_ = stored.file.data_hash;
  opened.events_ = stored.file.events;
  for (const TrainState& state : stored.past.checkpoints) opened.on_disk_.insert(state.step);
  opened.on_disk_.insert(stored.passed_over.begin(), stored.passed_over.end());
  remove_leftovers(stored.directory);
  remove_leftovers(stored.directory / "checkpoints");
  return opened;
}

fs::path RunDirectory::checkpoint_path(std::int64_t step) const {
  return path_ / "checkpoints" / name_of(step);
}

Result<void> RunDirectory::remove_checkpoint(std::int64_t step) {
  std::error_code error;
  fs::remove(checkpoint_path(step), error);
  if (error) return Error{"file.unwritable", checkpoint_path(step).string()};
  on_disk_.erase(step);
  return {};
}

Result<void> RunDirectory::write_run_file(const Run& run) {
  const RunFile file{.config = run.config(),
                     .events = run.trainer().events(),
                     .n_steps = run.trainer().step(),
                     .data_hash = data_hash_,
                     .interventions = interventions_};
  if (Result<void> written = write_file_atomically(path_ / "run.json", format_run_file(file)); !written)
    return written;
  events_ = file.events;
  return {};
}

Result<void> RunDirectory::write_checkpoint(const Graph& graph, const TrainState& state, Flush flush) {
  if (on_disk_.contains(state.step)) return {};
  Result<void> written =
      write_file_atomically(checkpoint_path(state.step), format_checkpoint(graph, state), flush);
  if (written) on_disk_.insert(state.step);
  return written;
}

/// This step's checkpoint. Those that the history has let go make room first, but for the newest: on a full
/// disk the run still has one to go on from.
Result<void> RunDirectory::write_newest(const Run& run) {
  const std::int64_t now = run.trainer().step();
  const auto let_go = [&](std::int64_t kept) -> Result<void> {
    const std::set<std::int64_t> written = on_disk_;
    for (const std::int64_t step : written)
      if (step != now && step != kept && !run.history().checkpoints().contains(step))
        if (Result<void> removed = remove_checkpoint(step); !removed) return removed;
    return {};
  };
  if (Result<void> gone = let_go(newest_step()); !gone) return gone;
  if (Result<void> written = write_checkpoint(run.trainer().graph(), run.trainer().state(), Flush::yes);
      !written)
    return written;
  return let_go(now);
}

/// Every checkpoint of the history that is not there yet: for looking back. A power cut may cost some, and
/// their checksums say so.
Result<void> RunDirectory::write_past(const Run& run) {
  for (const auto& [step, state] : run.history().checkpoints())
    if (Result<void> written = write_checkpoint(run.trainer().graph(), state, Flush::no); !written)
      return written;
  return {};
}

/// What the run needs to go on from this step, and its model.
Result<void> RunDirectory::write_needed(const Run& run) {
  // a future that was given up goes first, the newest first: what remains is the old run or the new one
  for (; n_returns_ < run.returns().size(); ++n_returns_)
    while (!on_disk_.empty() && *on_disk_.rbegin() > run.returns()[n_returns_])
      if (Result<void> removed = remove_checkpoint(*on_disk_.rbegin()); !removed) return removed;
  if (Result<void> written = write_file_atomically(path_ / "history.csv", format_series(run), Flush::no);
      !written)
    return written;
  if (Result<void> written = write_run_file(run); !written) return written;
  if (Result<void> written = write_newest(run); !written) return written;
  if (Result<void> written = write_file_atomically(
          path_ / "model.safetensors",
          format_parameters(run.trainer().graph(), run.trainer().training().workspace()), Flush::no);
      !written)
    return written;
  return {};
}

/// On a full disk: what is only for looking back goes; every step can be replayed from the first.
Result<void> RunDirectory::make_room() {
  const std::set<std::int64_t> written = on_disk_;
  for (const std::int64_t step : written)
    if (step != *written.begin() && step != *written.rbegin())
      if (Result<void> removed = remove_checkpoint(step); !removed) return removed;
  return {};
}

Result<void> RunDirectory::write_all(const Run& run) {
  const auto begin = std::chrono::steady_clock::now();
  Result<void> written = write_needed(run);
  if (!written && written.error().key == "file.disk_full" && make_room()) written = write_needed(run);
  if (written) written = write_past(run);
  if (written) saved_step_ = run.trainer().step();
  const auto end = std::chrono::steady_clock::now();
  constexpr double kTimes = 20;
  const double took = std::chrono::duration<double>(end - begin).count();
  const std::chrono::duration<double> pause(seconds_ > 0 ? std::max(seconds_, kTimes * took) : 0);
  next_ = end + std::chrono::duration_cast<std::chrono::steady_clock::duration>(pause);
  return written;
}

Result<void> RunDirectory::update(const Run& run) {
  if (n_returns_ < run.returns().size()) return write_all(run);
  // before the event's step runs: the run that goes on from any checkpoint meets it again
  if (run.trainer().events() != events_)
    if (Result<void> written = write_run_file(run); !written) return written;
  const bool is_new = run.trainer().step() != saved_step_;
  return is_new && std::chrono::steady_clock::now() >= next_ ? write_all(run) : Result<void>();
}

Result<void> RunDirectory::save(const Run& run) {
  return write_all(run);
}

namespace {

/// The run as it stands, without its series. Errors: as resume_run().
Result<std::unique_ptr<Run>> take_up(StoredRun& stored, const Run::Options& options) {
  const DataConfig& data = stored.file.config.data;
  // an older run.json has no hash of a task
  if (data.task && stored.file.data_hash != 0) {
    const Result<std::unique_ptr<const Task>> task = make_task(*data.task, options.assets);
    if (!task) return task.error();
    if (data_hash(task->get(), 0) != stored.file.data_hash)
      return Error{"run.task_changed", stored.directory.string(), {{"name", data.task->name}}};
  }
  Result<std::unique_ptr<Run>> run = Run::resume(stored.file.config, std::move(stored.past), options);
  if (run && data.file && (*run)->trainer().data_hash() != stored.file.data_hash)
    return Error{"run.data_changed", data.file->string()};
  return run;
}

}  // namespace

Result<ResumedRun> resume_run(StoredRun stored, const Run::Options& options, double seconds) {
  RunDirectory directory = RunDirectory::open(stored, seconds);
  Result<std::unique_ptr<Run>> run = take_up(stored, options);
  if (!run) return run.error();
  const fs::path series_path = stored.directory / "history.csv";
  if (Result<void> taken = (*run)->take_series(stored.series, series_path.string()); !taken) {
    stored.warnings.push_back(taken.error());
    set_aside(series_path);
  }
  return ResumedRun{*std::move(run), std::move(directory), std::move(stored.warnings)};
}

Result<std::unique_ptr<Run>> reopen_run(StoredRun stored, const Run::Options& options) {
  Result<std::unique_ptr<Run>> run = take_up(stored, options);
  if (run) static_cast<void>((*run)->take_series(stored.series, ""));
  return run;
}

}  // namespace headscope::core
