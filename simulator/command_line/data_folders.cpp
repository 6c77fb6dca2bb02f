// One search for all data files.
#include "simulator/command_line/data_folders.h"

#include <optional>
#include <system_error>
#include <vector>

namespace headscope::simulator {
namespace {

std::optional<DataFolders> data_in(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(folder / "assets" / "text" / "en.toml", ignored)) return std::nullopt;
  return DataFolders{.assets = folder / "assets", .lessons = folder / "lessons" / "content"};
}

}  // namespace

std::filesystem::path executable_path() {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? std::filesystem::path() : path;
}

core::Result<DataFolders> find_data(const std::filesystem::path& executable,
                                    const std::filesystem::path& data_variable) {
  if (!data_variable.empty()) {
    if (std::optional<DataFolders> found = data_in(data_variable)) return *found;
    return core::Error{.key = "data.variable", .where = data_variable.string()};
  }
  std::vector<std::filesystem::path> candidates;
  const std::filesystem::path folder = executable.parent_path();
  if (!folder.empty()) {
    // a build folder lies inside the source tree: build/release/bin/headscope
    std::filesystem::path above = folder;
    for (int level = 0; level < 4 && above.has_parent_path(); ++level, above = above.parent_path())
      candidates.push_back(above);
    candidates.push_back(folder.parent_path() / "share" / "headscope");
  }
  candidates.emplace_back(HEADSCOPE_SOURCE_DIR);
  for (const std::filesystem::path& candidate : candidates)
    if (std::optional<DataFolders> found = data_in(candidate)) return *found;
  return core::Error{.key = "data.missing", .where = folder.string()};
}

}  // namespace headscope::simulator
