#include "core/formats/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace headscope::core {

Result<FolderLock> FolderLock::take(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) return Error{"file.missing", folder.string()};
  if (descriptor < 0 && errno == ENOTDIR) return Error{"file.not_a_folder", folder.string()};
  if (descriptor < 0) return Error{"file.unreadable", folder.string()};
  FolderLock lock(descriptor);
  int taken = 0;
  do taken = ::flock(descriptor, LOCK_EX | LOCK_NB);
  while (taken != 0 && errno == EINTR);
  if (taken != 0 && errno == EWOULDBLOCK) return Error{"run.in_use", folder.string()};
  return lock;
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace headscope::core
