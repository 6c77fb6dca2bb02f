// A tensor as the rows and columns that a person sees: one head, one row of the batch. The window's heat maps
// and the terminal's tables are both drawn from slices.
#pragma once

#include "core/interventions.h"
#include "core/session.h"
#include "simulator/app_state.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headscope::simulator {

enum class Turn : std::uint8_t { none, transposed };

/// One side of a slice: an axis of the tensor, a flattened pair ((head, channel) of a joined weight; (output,
/// class) of independent classifiers), or a single row where the tensor has none.
struct SliceSide {
  core::Axis axis = core::Axis::one;
  std::int64_t size = 1;
  int place = -1;                // among the tensor's sides; -1: a single row or column
  int joined_place = -1;         // the inner side of a flattened pair, or -1
  std::int64_t joined_size = 0;  // how long that is, where the labels need it
  bool is_target = false;        // positions or words of an encoder-decoder's target: not the sentence's

  /// Whose words its positions, or its vocabulary, are.
  core::TextSide text() const { return is_target ? core::TextSide::target : core::TextSide::source; }
};

struct Slice {
  core::TensorId tensor;
  SliceSide rows, columns;
  core::Cell base;  // the indices of the sides that are not shown
  core::Shape shape;
  core::Quantity quantity = core::Quantity::value;  // which of each cell's numbers

  core::Cell cell_at(std::int64_t row, std::int64_t column) const;
  /// Row and column of a cell; nothing where it lies in another head or row of the batch, or past `size`.
  struct Place {
    std::int64_t row = 0, column = 0;
    auto operator<=>(const Place&) const = default;
  };
  std::optional<Place> find(const core::Cell& cell) const;
};

/// One side of a tensor as it is, whole.
SliceSide whole_side(const core::Trace<float>& trace, core::TensorId tensor, int place);
SliceSide whole_side(const core::Session& session, core::TensorId tensor, int place);
/// Two sides as one, the inner one counting fastest.
SliceSide joined_side(const core::Trace<float>& trace, core::TensorId tensor, core::Axis axis, int outer,
                      int inner);

/// The slice of a tensor at a head (where it has heads) and batch row 0.
Slice slice_of(const core::Trace<float>& trace, core::TensorId tensor, std::int64_t head,
               Turn turn = Turn::none);
Slice slice_of(const core::Session& session, core::TensorId tensor, std::int64_t head,
               Turn turn = Turn::none);

/// The numbers of a slice, each a look-up or two: for matrices of thousands of cells, where finding each
/// cell's place anew would take longer than drawing it. Holds while the trace's workspace does.
class SliceNumbers {
 public:
  /// Precondition: the workspace or the update holds such numbers; `loss` itself has the gradient 1.
  SliceNumbers(const core::Trace<float>& trace, const Slice& slice);
  /// Of so many rows and columns, evenly spread: a small picture of a large matrix. at() counts those.
  SliceNumbers(const core::Trace<float>& trace, const Slice& slice, std::int64_t n_rows,
               std::int64_t n_columns);
  double at(std::int64_t row, std::int64_t column) const;

 private:
  std::vector<std::size_t> rows_, columns_;  // what each index adds to a cell's place
  std::span<const float> reals_;
  std::span<const std::int32_t> integers_;  // instead, of an integer tensor; neither: all are 1
};

/// What stands at a row or column: the word of a position, "c 2", a vocabulary's token, a class's name ("v 2"
/// where it has none), "h1c2". A target's
/// positions are "y 0", its vocabulary's tokens "v 5": a session has no words for them.
std::string side_label(const core::Session& session, const SliceSide& side, std::int64_t index);
/// What people call the class; none where classes are but numbers.
std::optional<std::string> class_name(const core::Session& session, std::int64_t index);

/// Whether side_label() is a word of the sentence (or a vocabulary's token).
bool labels_are_tokens(const SliceSide& side);

/// The same, or the names of classes, alone or behind their predictions: nothing of the program's own.
bool labels_are_words(const core::Session& session, const SliceSide& side);

/// "[on, sat]" of a cell: words for positions, numbers for channels, the batch and head left out.
std::string address_text(const core::Session& session, const CellAddress& address);
/// The same of all cells that an influence reaches: "[sat, :]" for a row.
std::string address_text(const core::Session& session, const CellAddress& address,
                         const core::Region& reached);

}  // namespace headscope::simulator
