// Reading and writing over POSIX calls: std::ofstream can neither flush to disk nor say "full".
#include "core/formats/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

namespace headscope::core {

namespace fs = std::filesystem;

namespace {

/// An open file, closed when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }

  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  /// False if the last data could not be stored (some network file systems say so only here).
  bool close() {
    const int descriptor = std::exchange(descriptor_, -1);
    return descriptor < 0 || ::close(descriptor) == 0;
  }

 private:
  int descriptor_;
};

Error read_error(int error, const std::string& where) {
  if (error == ENOENT || error == ENOTDIR) return {"file.missing", where};
  if (error == EISDIR) return {"file.is_directory", where};
  return {"file.unreadable", where};
}

Error write_error(int error, const std::string& where) {
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) return {"file.disk_full", where};
  if (error == EISDIR) return {"file.is_directory", where};
  if (error == ENOENT || error == ENOTDIR) return {"file.folder_missing", where};
  return {"file.unwritable", where};
}

Error too_large(std::uint64_t limit, const std::string& where) {
  return {"file.too_large", where, {{"limit", std::to_string(limit)}}};
}

/// All bytes, however few the system takes at a time. 0 or an errno.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n_written = ::write(descriptor, bytes.data(), bytes.size());
    if (n_written < 0 && errno == EINTR) continue;
    if (n_written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(n_written));
  }
  return 0;
}

/// A device or a pipe has no old content to keep, and renaming over /dev/null would destroy it.
Result<void> write_through(const fs::path& path, std::string_view bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return write_error(errno, path.string());
  if (const int error = write_all(file.get(), bytes)) return write_error(error, path.string());
  if (!file.close()) return write_error(errno, path.string());
  return {};
}

/// Creates a file beside `target` that nobody else has; its name goes to `temporary`. A descriptor, or -1 and
/// errno.
int create_beside(const fs::path& target, fs::path& temporary) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    temporary = target.parent_path() /
                (".headscope-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp");
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

/// Fills, flushes and renames the temporary file. 0 or an errno; the caller removes what is left.
int replace(Descriptor& file, const fs::path& temporary, const fs::path& target, std::string_view bytes,
            Flush flush) {
  if (const int error = write_all(file.get(), bytes)) return error;
  if (flush == Flush::yes && ::fsync(file.get()) != 0) return errno;
  if (!file.close()) return errno;
  return ::rename(temporary.c_str(), target.c_str()) == 0 ? 0 : errno;
}

/// Makes the rename itself survive a power cut. Some file systems cannot, and the file is in place: not an
/// error.
void flush_directory(const fs::path& directory) {
  const Descriptor open_directory(
      ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (open_directory.is_open()) static_cast<void>(::fsync(open_directory.get()));
}

}  // namespace

Result<std::string> read_file(const fs::path& path, std::uint64_t limit) try {
  const std::string where = path.string();
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return read_error(errno, where);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return read_error(errno, where);
  if (S_ISDIR(status.st_mode)) return Error{"file.is_directory", where};
  const std::uint64_t expected = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
  if (expected > limit) return too_large(limit, where);

  // The size is only a hint: a pipe has none, and a file can grow while it is read.
  constexpr std::size_t kChunk = 1 << 16;
  std::string bytes;
  std::size_t n_read = 0;
  bytes.resize(static_cast<std::size_t>(expected) + 1);
  while (true) {
    if (n_read == bytes.size()) bytes.resize(std::max(bytes.size() + kChunk, bytes.size() * 2));
    const ssize_t n_more = ::read(file.get(), bytes.data() + n_read, bytes.size() - n_read);
    if (n_more < 0 && errno == EINTR) continue;
    if (n_more < 0) return read_error(errno, where);
    if (n_more == 0) break;
    n_read += static_cast<std::size_t>(n_more);
    if (n_read > limit) return too_large(limit, where);
  }
  bytes.resize(n_read);
  return bytes;
} catch (const std::bad_alloc&) {
  return too_large(limit, path.string());
}

Result<void> write_file_atomically(const fs::path& path, std::string_view bytes, Flush flush) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) return Error{"file.is_directory", path.string()};
  if (exists && !S_ISREG(status.st_mode)) return write_through(path, bytes);
  // through a symbolic link: the file that it names is replaced, the link stays
  std::error_code ignored;
  const fs::path target = fs::is_symlink(path, ignored) ? fs::weakly_canonical(path, ignored) : path;
  // rename() would replace a write-protected file without a word
  if (exists && ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0)
    return write_error(errno, path.string());

  fs::path temporary;
  Descriptor file(create_beside(target, temporary));
  if (!file.is_open()) return write_error(errno, path.string());
  if (exists) static_cast<void>(::fchmod(file.get(), status.st_mode & 07777));
  if (const int error = replace(file, temporary, target, bytes, flush)) {
    file.close();
    ::unlink(temporary.c_str());
    return write_error(error, path.string());
  }
  if (flush == Flush::yes) flush_directory(target.parent_path());
  return {};
}

Result<void> make_folder(const fs::path& path) {
  std::error_code error, ignored;
  fs::create_directories(path, error);
  if (error == std::errc::not_a_directory || error == std::errc::file_exists ||
      (!error && !fs::is_directory(path, ignored)))
    return Error{"file.not_a_folder", path.string()};
  if (error) return write_error(error.value() == ENOENT ? EACCES : error.value(), path.string());
  fs::path temporary;
  const Descriptor file(create_beside(path / "probe", temporary));
  if (!file.is_open()) return write_error(errno, path.string());
  ::unlink(temporary.c_str());
  return {};
}

}  // namespace headscope::core
