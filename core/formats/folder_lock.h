// One writer at a time in a folder: a lock that ends with its process, in whatever way that ends, and leaves
// no file behind.
#pragma once

#include "core/result.h"

#include <filesystem>
#include <utility>

namespace headscope::core {

/// Held as long as it lives. Readers do not ask for it. The folder itself is locked (flock), so a folder that
/// cannot be written can be held, too.
class FolderLock {
 public:
  /// Does not wait. Where the file system knows no locks, nothing is held and nothing refused. Errors:
  /// run.in_use (somebody holds it, in this process or another), file.missing, file.not_a_folder,
  /// file.unreadable.
  static Result<FolderLock> take(const std::filesystem::path& folder);

  FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FolderLock& operator=(FolderLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace headscope::core
