// Sessions that another one took the place of in a window, kept as files to come back to: the newest few,
// each called by its time and its name.
#pragma once

#include "core/result.h"
#include "simulator/session_file.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace headscope::simulator {

using KeptTime = std::chrono::sys_time<std::chrono::milliseconds>;

/// A session that was left, as it was then.
struct LeftSession {
  SessionFile file;
  std::optional<std::filesystem::path> went_on_from = {};  // a kept file, whose place it takes
};

/// A file in the folder.
struct KeptSession {
  std::filesystem::path file;
  std::string name;  // of the model, or a lesson's title; as much of it as a file's name takes
  KeptTime time;     // when it was left
};

/// How many are kept, and how many bytes at most beside the newest.
inline constexpr std::size_t kMostKept = 10;
inline constexpr std::uint64_t kMostKeptBytes = std::uint64_t{512} << 20;

/// Whether somebody set anything, or answered a lesson's question: what opening it again would not bring
/// back.
bool has_work(const SessionFile& file);

/// What lies in the folder, the newest first; nothing where there is no such folder. Other files are passed
/// over.
std::vector<KeptSession> list_kept(const std::filesystem::path& folder);

/// Writes the session into the folder, which is made where it is missing; then forgets the oldest that are
/// too many, and the file that it went on from. Never replaces another. Errors: those of make_folder() and
/// write_session(); then nothing is forgotten.
core::Result<void> keep_session(const std::filesystem::path& folder, const LeftSession& left, KeptTime now);

/// The same with a session's file, which moves there; nothing happens where there is none, or where nobody
/// had set anything in it. One that cannot be read is kept too. Errors: those of make_folder();
/// file.unwritable.
core::Result<void> keep_file(const std::filesystem::path& folder, const std::filesystem::path& file,
                             KeptTime now);

/// "2026-12-01 04:12", by this machine's clock.
std::string local_time(KeptTime time);

}  // namespace headscope::simulator
