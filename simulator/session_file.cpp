// Session files on disk, and what only a run of their model can check.
#include "simulator/session_file.h"

#include "core/formats/atomic_file.h"

#include <utility>

namespace headscope::simulator {
namespace {

using core::Error;

constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30;

/// The error with the field at fault beside the file; what its own place was follows in brackets.
Error located(const Error& error, const std::string& where, const std::string& field) {
  return {error.key, where + ": " + field + (error.where.empty() ? "" : " (" + error.where + ")"),
          error.values};
}

Error above(const std::string& where, const std::string& key, std::size_t value, std::size_t highest) {
  return {"config.range",
          where,
          {{"key", key},
           {"value", std::to_string(value)},
           {"lowest", "0"},
           {"highest", std::to_string(highest)}}};
}

/// Puts the setup into the session, edit by edit in what is checked, so that an error names the one.
core::Result<void> put(core::Session& session, const core::Setup& setup, const std::string& where,
                       const std::string& field) {
  core::Setup without = setup;
  without.edits.clear();
  if (core::Result<void> set = session.set(std::move(without)); !set)
    return located(set.error(), where, field);
  std::size_t place = 0;
  for (const auto& [at, value] : setup.edits) {
    if (core::Result<void> valid = session.check_edit(at.first, at.second, value); !valid)
      return located(valid.error(), where, field + ".edits[" + std::to_string(place) + "]");
    ++place;
  }
  if (setup.edits.empty()) return {};
  if (core::Result<void> set = session.set(setup); !set) return located(set.error(), where, field);
  return {};
}

core::Result<void> check_view(const SessionFile& file, const core::Session& session,
                              const std::string& where) {
  const auto last_head = static_cast<std::size_t>(session.config().n_heads - 1);
  if (const auto head = static_cast<std::size_t>(file.view.head); head > last_head)
    return above(where, "view.head", head, last_head);
  for (std::size_t place = 0; place < file.view.trail.size(); ++place) {
    const CellAddress& address = file.view.trail[place];
    if (!session.trace().shape(address.tensor).contains(address.cell))
      return Error{"edit.no_such_cell", where + ": view.trail[" + std::to_string(place) + "]"};
  }
  return {};
}

}  // namespace

core::Result<SessionFile> read_session_file(const std::filesystem::path& path) {
  const core::Result<std::string> bytes = core::read_file(path, kMostBytes);
  if (!bytes) return bytes.error();
  return parse_session(*bytes, path.string());
}

core::Result<ReadSession> read_session(const std::filesystem::path& path) {
  const std::string where = path.string();
  core::Result<SessionFile> file = read_session_file(path);
  if (!file) return file.error();

  core::Setup plain{.text = file->initial.text};
  core::Result<core::Session> session = core::Session::make(file->model, std::move(plain));
  if (!session) return located(session.error(), where, "initial");
  if (core::Result<void> set = put(*session, file->initial, where, "initial"); !set) return set.error();
  if (core::Result<void> set = put(*session, file->setup, where, "setup"); !set) return set.error();
  if (file->cursor > session->n_steps()) return above(where, "cursor", file->cursor, session->n_steps());
  session->move_to(file->cursor);
  if (core::Result<void> valid = check_view(*file, *session, where); !valid) return valid.error();
  return ReadSession{*std::move(file), *std::move(session)};
}

core::Result<void> write_session(const std::filesystem::path& path, const SessionFile& file) {
  return core::write_file_atomically(path, format_session(file));
}

}  // namespace headscope::simulator
