#include "simulator/kept_sessions.h"

#include "core/formats/atomic_file.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <system_error>
#include <utility>

namespace headscope::simulator {

namespace fs = std::filesystem;

namespace {

constexpr const char* kEnding = ".headscope";

/// "20261201T031252.123Z", which sorts by time.
std::string time_stamp(KeptTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d%02u%02uT%02d%02d%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text.data();
}

/// The opposite; none where the text is not one of ours.
std::optional<KeptTime> read_time_stamp(const std::string& text) {
  unsigned year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, thousandth = 0;
  if (std::sscanf(text.c_str(), "%4u%2u%2uT%2u%2u%2u.%3uZ", &year, &month, &day, &hour, &minute, &second,
                  &thousandth) != 7)
    return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(year)), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok()) return std::nullopt;
  const KeptTime time = std::chrono::sys_days(date) + std::chrono::hours(hour) +
                        std::chrono::minutes(minute) + std::chrono::seconds(second) +
                        std::chrono::milliseconds(thousandth);
  // what we would not have written so is another's
  if (time_stamp(time) != text) return std::nullopt;
  return time;
}

/// As much of the name as a file's name takes.
std::string file_name(const std::string& name) {
  constexpr std::size_t kMost = 120;  // bytes; file systems take 255
  std::string safe;
  for (const char byte : name) {
    const bool is_control = static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f;
    safe += is_control || byte == '/' ? '_' : byte;
  }
  if (safe.size() > kMost) {
    std::size_t end = kMost;
    while (end > 0 && (static_cast<unsigned char>(safe[end]) & 0xc0U) == 0x80U) --end;  // inside a character
    safe.resize(end);
  }
  return safe.empty() ? "session" : safe;
}

/// A name that no file in the folder has, of this time, or of the next moment that is free.
fs::path free_path(const fs::path& folder, const std::string& name, KeptTime time) {
  while (true) {
    fs::path path = folder / (time_stamp(time) + " " + file_name(name) + kEnding);
    std::error_code failed;
    if (!fs::exists(fs::symlink_status(path, failed))) return path;
    time += std::chrono::milliseconds(1);
  }
}

void forget_oldest(const fs::path& folder) {
  std::uint64_t n_bytes = 0;
  std::size_t place = 0;
  for (const KeptSession& kept : list_kept(folder)) {
    std::error_code failed;
    const std::uintmax_t size = fs::file_size(kept.file, failed);
    if (!failed) n_bytes += size;
    if (place > 0 && (place >= kMostKept || n_bytes > kMostKeptBytes)) fs::remove(kept.file, failed);
    ++place;
  }
}

}  // namespace

bool has_work(const SessionFile& file) {
  if (file.lesson && !(file.lesson->answers.empty() && file.lesson->goals_reached.empty())) return true;
  return file.setup != file.initial;
}

std::vector<KeptSession> list_kept(const fs::path& folder) {
  std::vector<KeptSession> kept;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    const fs::path& path = entry->path();
    const std::string name = path.stem().string();
    const std::size_t blank = name.find(' ');
    if (path.extension() != kEnding || blank == std::string::npos) continue;
    const std::optional<KeptTime> time = read_time_stamp(name.substr(0, blank));
    if (time) kept.push_back({path, name.substr(blank + 1), *time});
  }
  std::ranges::sort(kept, [](const KeptSession& left, const KeptSession& right) {
    return std::pair(right.time, right.name) < std::pair(left.time, left.name);
  });
  return kept;
}

core::Result<void> keep_session(const fs::path& folder, const LeftSession& left, KeptTime now) {
  if (core::Result<void> made = core::make_folder(folder); !made) return made;
  const fs::path path = free_path(folder, left.file.name, now);
  if (core::Result<void> written = write_session(path, left.file); !written) return written;
  std::error_code ignored;  // it may have been forgotten before
  if (left.went_on_from) fs::remove(*left.went_on_from, ignored);
  forget_oldest(folder);
  return {};
}

core::Result<void> keep_file(const fs::path& folder, const fs::path& file, KeptTime now) {
  std::error_code failed;
  if (!fs::exists(file, failed)) return {};
  std::string name = file.stem().string();
  // kept as it is where this cannot be told: it may be mended, or read by a newer version
  if (const core::Result<SessionFile> read = read_session_file(file)) {
    if (!has_work(*read)) return {};
    name = read->name;
  }
  if (core::Result<void> made = core::make_folder(folder); !made) return made;
  fs::rename(file, free_path(folder, name, now), failed);
  if (failed) return core::Error{"file.unwritable", file.string()};
  forget_oldest(folder);
  return {};
}

std::string local_time(KeptTime time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm local{};
  if (!::localtime_r(&seconds, &local)) return {};
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &local)};
}

}  // namespace headscope::simulator
