// Finds the files that the program reads at run time: texts, theme, vocabularies, lessons.
#pragma once

#include "core/result.h"

#include <filesystem>

namespace headscope::simulator {

struct DataFolders {
  std::filesystem::path assets;   // holds text/, theme.toml, vocabulary/
  std::filesystem::path lessons;  // lessons/content: a folder a language
};

/// Where this program's file lies; empty where the system does not tell.
std::filesystem::path executable_path();

/// Looks in `data_variable` (the environment's HEADSCOPE_DATA, empty if unset) alone if it is set; else in
/// the folders above the executable, in the source tree that it was built from, and in ../share/headscope
/// beside the executable. Errors: data.variable (set, but no data there), data.missing.
core::Result<DataFolders> find_data(const std::filesystem::path& executable,
                                    const std::filesystem::path& data_variable);

}  // namespace headscope::simulator
