#include "core/formats/run_directory.h"

#include "core/formats/atomic_file.h"
#include "core/formats/checkpoint.h"
#include "core/formats/model_directory.h"
#include "core/formats/safetensors.h"
#include "core/workspace.h"

#include <algorithm>
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
/// the first.
void read_checkpoints(StoredRun& stored, const Graph& graph) {
  std::size_t n_bytes = 0;
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
      continue;
    }
    stored.warnings.push_back({"run.checkpoint_damaged", path.string(), {{"reason", state.error().key}}});
    set_aside(path);
  }
  std::ranges::reverse(stored.past.checkpoints);
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

Result<StoredRun> read_run_directory(const fs::path& directory) {
  const Result<std::string> text = read_file(directory / "run.json", kMaxRunBytes);
  if (!text && text.error().key == "file.missing") return Error{"run.no_directory", directory.string()};
  if (!text) return text.error();
  const Result<ModelConfig> model = read_config(directory / "config.json");
  if (!model) return model.error();
  const Result<Graph> graph = build_graph(*model, (directory / "config.json").string());
  if (!graph) return graph.error();
  Result<RunFile> file = parse_run_file(*text, *model, (directory / "run.json").string());
  if (!file) return file.error();
  StoredRun stored;
  stored.directory = directory;
  stored.file = *std::move(file);

  Result<std::optional<Vocabulary>> source = read_vocabulary(directory / "vocab.json", model->vocab_size);
  if (!source) return source.error();
  stored.past.vocabularies.source = *std::move(source);
  if (model->architecture == Architecture::encoder_decoder) {
    Result<std::optional<Vocabulary>> target =
        read_vocabulary(directory / "target_vocab.json", model->target_vocab_size);
    if (!target) return target.error();
    stored.past.vocabularies.target = *std::move(target);
  }
  read_checkpoints(stored, *graph);
  if (stored.past.checkpoints.empty()) return Error{"run.no_checkpoint", directory.string()};
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
  RunDirectory made(directory);
  made.interventions_ = std::move(options.interventions);
  made.seconds_ = options.seconds;
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
  if (Result<void> written = made.write_checkpoints(run); !written) return written.error();
  if (Result<void> written = made.write_all(run); !written) return written.error();
  return made;
}

RunDirectory RunDirectory::open(const StoredRun& stored, double seconds) {
  RunDirectory opened(stored.directory);
  opened.interventions_ = stored.file.interventions;
  opened.seconds_ = seconds;
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
                     .data_hash = run.trainer().data_hash(),
                     .interventions = interventions_};
  if (Result<void> written = write_file_atomically(path_ / "run.json", format_run_file(file)); !written)
    return written;
  events_ = file.events;
  return {};
}

/// Every checkpoint of the history that is not there yet, and this step's; then those go that the history has
/// let go.
Result<void> RunDirectory::write_checkpoints(const Run& run) {
  const Graph& graph = run.trainer().graph();
  const std::int64_t now = run.trainer().step();
  const auto write = [&](const TrainState& state, Flush flush) -> Result<void> {
    if (on_disk_.contains(state.step)) return {};
    Result<void> written =
        write_file_atomically(checkpoint_path(state.step), format_checkpoint(graph, state), flush);
    if (written) on_disk_.insert(state.step);
    return written;
  };
  // a power cut may cost older ones, which are for looking back: their checksums say so
  const auto& checkpoints = run.history().checkpoints();
  for (const auto& [step, state] : checkpoints)
    if (Result<void> written = write(state, step == now ? Flush::yes : Flush::no); !written) return written;
  if (Result<void> written = write(run.trainer().state(), Flush::yes); !written) return written;
  const std::set<std::int64_t> written = on_disk_;
  for (const std::int64_t step : written)
    if (step != now && !checkpoints.contains(step))
      if (Result<void> removed = remove_checkpoint(step); !removed) return removed;
  return {};
}

Result<void> RunDirectory::write_all(const Run& run) {
  const auto begin = std::chrono::steady_clock::now();
  // a future that was given up goes first, the newest first: what remains is the old run or the new one
  for (; n_returns_ < run.returns().size(); ++n_returns_)
    while (!on_disk_.empty() && *on_disk_.rbegin() > run.returns()[n_returns_])
      if (Result<void> removed = remove_checkpoint(*on_disk_.rbegin()); !removed) return removed;
  if (Result<void> written = write_file_atomically(path_ / "history.csv", format_series(run), Flush::no);
      !written)
    return written;
  if (Result<void> written = write_run_file(run); !written) return written;
  if (Result<void> written = write_checkpoints(run); !written) return written;
  if (Result<void> written = write_file_atomically(
          path_ / "model.safetensors",
          format_parameters(run.trainer().graph(), run.trainer().training().workspace()), Flush::no);
      !written)
    return written;
  saved_step_ = run.trainer().step();
  const auto end = std::chrono::steady_clock::now();
  constexpr double kTimes = 20;
  const double took = std::chrono::duration<double>(end - begin).count();
  const std::chrono::duration<double> pause(seconds_ > 0 ? std::max(seconds_, kTimes * took) : 0);
  next_ = end + std::chrono::duration_cast<std::chrono::steady_clock::duration>(pause);
  return {};
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

Result<ResumedRun> resume_run(StoredRun stored, const Run::Options& options, double seconds) {
  RunDirectory directory = RunDirectory::open(stored, seconds);
  Result<std::unique_ptr<Run>> run = Run::resume(stored.file.config, std::move(stored.past), options);
  if (!run) return run.error();
  if ((*run)->trainer().data_hash() != stored.file.data_hash)
    return Error{"run.data_changed", stored.file.config.data.file->string()};
  const fs::path series_path = stored.directory / "history.csv";
  if (Result<void> taken = (*run)->take_series(stored.series, series_path.string()); !taken) {
    stored.warnings.push_back(taken.error());
    set_aside(series_path);
  }
  return ResumedRun{*std::move(run), std::move(directory), std::move(stored.warnings)};
}

}  // namespace headscope::core
