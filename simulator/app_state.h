// Everything that the simulator knows about the learner's place: lesson, session, cursor, changes, look.
// Plain data; actions.h alone changes it, and every face (window, terminal) draws from it.
#pragma once

#include "core/session.h"
#include "lessons/library.h"
#include "lessons/runner.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace headscope::simulator {

/// A cell, the tensor that it belongs to, and which of its numbers is meant.
struct CellAddress {
  core::TensorId tensor;
  core::Cell cell;
  core::Quantity quantity = core::Quantity::value;
  auto operator<=>(const CellAddress&) const = default;
};

/// What the learner may change and take back: undo keeps whole documents, since they are small.
struct Document {
  std::string sentence;
  core::Edits edits;
  bool operator==(const Document&) const = default;
};

enum class Appearance : std::uint8_t { light, dark };
enum class Layout : std::uint8_t { study, presentation };
enum class Playing : std::uint8_t { no, yes };

struct AppState {
  std::filesystem::path assets;
  std::vector<lessons::LessonEntry> library;
  lessons::LessonRunner runner;
  core::Session session;
  core::Cursor cursor = core::Cursor();  // over the operations; follows the lesson's step until moved
  std::vector<CellAddress> trail = {};   // cells that the learner locked and followed; the last one is lit
  std::vector<Document> undo = {}, redo = {};  // the nearest last
  std::optional<core::Error> message = {};     // the last action's failure, shown until the next action
  Appearance appearance = Appearance::light;
  Layout layout = Layout::study;
  Playing playing = Playing::no;
  double text_scale = 1.0;
  std::uint64_t revision = 0;  // counts changes: views are rebuilt when it moved

  const lessons::Lesson& lesson() const { return *runner.lesson; }
  std::int64_t head() const { return lessons::current_head(runner, session); }
  Document document() const { return {session.text(), session.edits()}; }
  /// Whether there is such a cell, the sentence being as long as it is.
  bool has_cell(const CellAddress& address) const {
    return address.tensor.index < session.graph().n_tensors() &&
           session.trace().shape(address.tensor).contains(address.cell);
  }
  core::Trace<float> trace() const { return session.trace(cursor); }
};

/// Opens a lesson at its first step. Errors: those of find_lesson(), load_lesson(), make_session().
core::Result<AppState> open_lesson(const std::filesystem::path& assets,
                                   const std::filesystem::path& lesson_folder, const std::string& name);

}  // namespace headscope::simulator
