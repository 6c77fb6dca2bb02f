#include "simulator/autosave.h"

#include "core/formats/atomic_file.h"
#include "simulator/session_file.h"
#include "simulator/session_state.h"

#include <condition_variable>
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
  explicit Writer(fs::path file) : file_(std::move(file)), thread_([this] { work(); }) {}
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

  core::Result<void> wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !next_ && !is_writing_; });
    if (error_) return *std::exchange(error_, std::nullopt);
    return {};
  }

  std::optional<core::Error> take_error() {
    const std::lock_guard guard(mutex_);
    return std::exchange(error_, std::nullopt);
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return next_ || is_ending_; });
      if (!next_) return;
      const SessionFile state = *std::exchange(next_, std::nullopt);
      const Earlier earlier = std::exchange(earlier_, Earlier::replaced);
      is_writing_ = true;
      lock.unlock();
      std::optional<core::Error> error = write(state, earlier);
      lock.lock();
      is_writing_ = false;
      error_ = std::move(error);
      changed_.notify_all();
    }
  }

  std::optional<core::Error> write(const SessionFile& state, Earlier earlier) const {
    try {
      if (earlier == Earlier::kept) {
        std::error_code ignored;  // there may be none
        fs::rename(file_, file_.parent_path() / "previous.headscope", ignored);
      }
      const core::Result<void> written = write_session(file_, state);
      if (!written) return written.error();
      return std::nullopt;
    } catch (const std::bad_alloc&) {
      return core::Error{"file.too_large", file_.string(), {{"limit", "0"}}};
    }
  }

  const fs::path file_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<SessionFile> next_;
  std::optional<core::Error> error_;
  Earlier earlier_ = Earlier::replaced;
  bool is_writing_ = false, is_ending_ = false;
  std::thread thread_;  // last: it uses all of the above
};

core::Result<Autosave> Autosave::open(const fs::path& folder) {
  constexpr int kPlaces = 9;
  for (int place = 1; place <= kPlaces; ++place) {
    const fs::path own = place == 1 ? folder : folder / std::to_string(place);
    if (core::Result<void> made = core::make_folder(own); !made) return made.error();
    core::Result<core::FolderLock> lock = core::FolderLock::take(own);
    if (lock) return Autosave(own / "last.headscope", *std::move(lock));
    if (lock.error().key != "run.in_use") return lock.error();
  }
  return core::Error{"autosave.many", folder.string(), {{"count", std::to_string(kPlaces)}}};
}

Autosave::Autosave(fs::path file, core::FolderLock lock)
    : lock_(std::move(lock)), writer_(std::make_unique<Writer>(std::move(file))) {}
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
