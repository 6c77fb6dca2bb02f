#include "simulator/autosave.h"

#include "core/formats/atomic_file.h"
#include "simulator/kept_sessions.h"
#include "simulator/session_file.h"
#include "simulator/session_state.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace headscope::simulator {

namespace fs = std::filesystem;

fs::path state_folder(const std::string& own, const std::string& xdg, const std::string& home) {
  if (!own.empty()) return own;
  // a relative one is to be ignored (XDG Base Directory Specification 0.8)
  if (fs::path(xdg).is_absolute()) return fs::path(xdg) / "headscope";
  return home.empty() ? fs::path() : fs::path(home) / ".local/state/headscope";
}

core::Result<fs::path> set_aside(const fs::path& file) {
  constexpr int kMost = 10'000;
  for (int number = 1; number <= kMost; ++number) {
    const fs::path name = file.string() + ".damaged-" + std::to_string(number);
    std::error_code failed;
    if (fs::exists(fs::symlink_status(name, failed))) continue;
    // a link fails where the name is taken meanwhile, a renaming would overwrite
    fs::create_hard_link(file, name, failed);
    if (failed == std::errc::file_exists) continue;
    if (failed) {
      fs::rename(file, name, failed);  // a file system without links
      if (failed) return core::Error{"file.unwritable", file.string()};
      return name;
    }
    fs::remove(file, failed);
    if (failed) return core::Error{"file.unwritable", file.string()};
    return name;
  }
  return core::Error{"file.unwritable", file.string()};
}

/// The thread that writes. It has the newest state that it was given, and nothing else of the window.
class Autosave::Writer {
 public:
  Writer(fs::path file, fs::path kept_folder)
      : file_(std::move(file)), kept_folder_(std::move(kept_folder)), thread_([this] { work(); }) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() {
    {
      const std::lock_guard guard(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  const fs::path& file() const { return file_; }

  void set_earlier(Earlier earlier) {
    const std::lock_guard guard(mutex_);
    earlier_ = earlier;
  }

  void hand_over(SessionFile state) {
    {
      const std::lock_guard guard(mutex_);
      next_ = std::move(state);
    }
    changed_.notify_all();
  }

  void keep(std::vector<std::shared_ptr<const LeftSession>> left) {
    {
      const std::lock_guard guard(mutex_);
      std::ranges::move(left, std::back_inserter(left_));
    }
    changed_.notify_all();
  }

  core::Result<void> wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !next_ && left_.empty() && !is_writing_; });
    if (error_) return *std::exchange(error_, std::nullopt);
    return {};
  }

  std::optional<core::Error> take_error() {
    const std::lock_guard guard(mutex_);
    return std::exchange(error_, std::nullopt);
  }

 private:
  /// What is written at one go.
  struct Work {
    std::vector<std::shared_ptr<const LeftSession>> left;
    std::optional<SessionFile> state;
    Earlier earlier = Earlier::replaced;
  };

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return next_ || !left_.empty() || is_ending_; });
      if (!next_ && left_.empty()) return;
      Work work{.left = std::exchange(left_, {}), .state = std::exchange(next_, std::nullopt)};
      if (work.state) work.earlier = std::exchange(earlier_, Earlier::replaced);
      is_writing_ = true;
      lock.unlock();
      std::optional<core::Error> error = write(std::move(work));
      lock.lock();
      is_writing_ = false;
      error_ = std::move(error);
      changed_.notify_all();
    }
  }

  /// The first failure; whatever can be written is. A session that was left and could not be kept is tried
  /// again with the next.
  std::optional<core::Error> write(Work work) {
    std::optional<core::Error> error;
    const auto is_written = [&](const core::Result<void>& written) {
      if (!written && !error) error = written.error();
      return written.has_value();
    };
    const KeptTime now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    std::ranges::move(work.left, std::back_inserter(unkept_));
    if (unkept_.size() > kMostKept) unkept_.erase(unkept_.begin(), unkept_.end() - kMostKept);
    try {
      if (work.earlier == Earlier::kept) is_written(keep_file(kept_folder_, file_, now));
      std::erase_if(unkept_, [&](const std::shared_ptr<const LeftSession>& left) {
        return is_written(keep_session(kept_folder_, *left, now));
      });
      if (work.state) is_written(write_session(file_, *work.state));
    } catch (const std::bad_alloc&) {
      return core::Error{"autosave.memory", file_.string()};
    }
    return error;
  }

  const fs::path file_, kept_folder_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::shared_ptr<const LeftSession>> left_;
  std::optional<SessionFile> next_;
  std::optional<core::Error> error_;
  Earlier earlier_ = Earlier::replaced;
  bool is_writing_ = false, is_ending_ = false;
  std::vector<std::shared_ptr<const LeftSession>> unkept_;  // the thread's own
  std::thread thread_;                                      // last: it uses all of the above
};

core::Result<Autosave> Autosave::open(const fs::path& folder) {
  constexpr int kPlaces = 9;
  for (int place = 1; place <= kPlaces; ++place) {
    const fs::path own = place == 1 ? folder : folder / std::to_string(place);
    if (core::Result<void> made = core::make_folder(own); !made) return made.error();
    core::Result<core::FolderLock> lock = core::FolderLock::take(own);
    if (lock) return Autosave(own / "last.headscope", kept_folder_in(folder), *std::move(lock));
    if (lock.error().key != "run.in_use") return lock.error();
  }
  return core::Error{"autosave.many", folder.string(), {{"count", std::to_string(kPlaces)}}};
}

Autosave::Autosave(fs::path file, fs::path kept_folder, core::FolderLock lock)
    : lock_(std::move(lock)),
      kept_folder_(std::move(kept_folder)),
      writer_(std::make_unique<Writer>(std::move(file), kept_folder_)) {}
Autosave::Autosave(Autosave&&) noexcept = default;
Autosave& Autosave::operator=(Autosave&&) noexcept = default;
Autosave::~Autosave() = default;  // the writer ends before the lock is given back

const fs::path& Autosave::file() const {
  return writer_->file();
}

void Autosave::set_earlier(Earlier earlier) {
  writer_->set_earlier(earlier);
}

void Autosave::look(const AppState& state, double time) {
  if (!saved_revision_) saved_revision_ = state.revision;  // what was opened is no change
  if (*saved_revision_ == state.revision) return;
  if (!changed_since_) changed_since_ = time;
  if (time - *changed_since_ < kDelay) return;
  saved_revision_ = state.revision;
  changed_since_.reset();
  writer_->hand_over(save_state(state));
}

void Autosave::keep(std::vector<std::shared_ptr<const LeftSession>> left) {
  if (!left.empty()) writer_->keep(std::move(left));
}

std::optional<double> Autosave::due_within(double time) const {
  if (!changed_since_) return std::nullopt;
  return std::max(0.0, *changed_since_ + kDelay - time);
}

core::Result<void> Autosave::finish(const AppState& state) {
  if (saved_revision_ && *saved_revision_ != state.revision) {
    saved_revision_ = state.revision;
    changed_since_.reset();
    writer_->hand_over(save_state(state));
  }
  return writer_->wait();
}

std::optional<core::Error> Autosave::take_error() {
  return writer_->take_error();
}

}  // namespace headscope::simulator
