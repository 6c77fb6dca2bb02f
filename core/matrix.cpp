// Products by a register-tiled kernel. Written here rather than taken from a library since libraries choose
// their kernels, and with them the order of a cell's sum, by where a column stands (docs/adr/0005).
#include "core/matrix.h"

#include "core/aligned.h"
#include "core/simd.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace headscope::core {
namespace {

/// The summed index in blocks of this many: a panel of the right matrix then stays in the second-level cache.
constexpr std::int64_t kDepth = 512;

/// The widest panel, in vectors, and the rows of a tile for each width: as many sums as registers hold,
/// beside a row of the panel and one number of the left matrix.
constexpr std::size_t kWidest = kVectorRegisters >= 32 ? 4 : 2;
constexpr std::int64_t tile_rows(std::size_t vectors) {
  if (kVectorRegisters >= 32) return vectors == 4 ? 6 : 12;
  return vectors == 2 ? 6 : 12;
}

/// A vector's numbers, as a size.
template <class T>
constexpr std::size_t kWide = static_cast<std::size_t>(kLanes<T>);

/// `groups` groups of `length` steps along the summed side of the left matrix.
struct Steps {
  std::int64_t groups = 1, length = 0;
  std::int64_t stride = 1, group_stride = 0;
};

/// The left matrix's part in a tile, and the panel of the right matrix.
template <class T>
struct Factors {
  const T* left;
  std::int64_t row_stride;
  Steps steps;
  const T* panel;
  std::int64_t panel_stride;
  const T* start;  // a row that the sums begin with; null: 0
};

/// Where a panel's columns lie in the result: each vector in runs of lanes that lie together there.
template <class T>
class PanelColumns {
 public:
  PanelColumns(const Places& places, std::int64_t first, std::int64_t n_columns) {
    std::size_t n_runs = 0;
    for (std::int64_t column = 0; column < n_columns;) {
      if (column % kLanes<T> == 0) first_run_[static_cast<std::size_t>(column / kLanes<T>)] = n_runs;
      const std::int64_t lane = column % kLanes<T>;
      const std::int64_t left_in_group =
          places.group == 0 ? n_columns : places.group - (first + column) % places.group;
      const std::int64_t count =
          std::min({places.stride == 1 ? left_in_group : 1, kLanes<T> - lane, n_columns - column});
      runs_[n_runs++] = {places.at(first + column), lane, count};
      is_plain_ = is_plain_ && count == kLanes<T>;
      column += count;
    }
    for (auto v = static_cast<std::size_t>((n_columns + kLanes<T> - 1) / kLanes<T>); v <= kWidest; ++v)
      first_run_[v] = n_runs;
  }

  /// Whether every vector is one run of all lanes.
  bool is_plain() const { return is_plain_; }
  /// Where the first column of a vector lies.
  std::int64_t offset(std::size_t v) const { return runs_[first_run_[v]].offset; }

  /// One vector of sums into a row of the result.
  void put(T* row, std::size_t v, const Vector<T>& sums, Into into) const {
    for (std::size_t run = first_run_[v]; run < first_run_[v + 1]; ++run) {
      const auto [offset, lane, count] = runs_[run];
      if (into == Into::add)
        store_lanes(row + offset, lane, count, load_lanes(row + offset, lane, count) + sums);
      else
        store_lanes(row + offset, lane, count, sums);
    }
  }

 private:
  struct Run {
    std::int64_t offset, lane, count;
  };
  std::array<Run, kWidest * kWide<T>> runs_;
  std::array<std::size_t, kWidest + 1> first_run_;
  bool is_plain_ = true;
};

/// Walks over the places of consecutive indices without dividing at each.
class PlaceWalker {
 public:
  PlaceWalker(const Places& places, std::int64_t index)
      : places_(places), in_group_(index), place_(places.at(index)) {
    if (places.group != 0) in_group_ = index % places.group;
  }
  std::int64_t place() const { return place_; }
  void next() {
    place_ += places_.stride;
    if (++in_group_ != places_.group) return;
    place_ += places_.group_stride - places_.group * places_.stride;
    in_group_ = 0;
  }

 private:
  const Places& places_;
  std::int64_t in_group_, place_;
};

/// A tile: kRows × kVectors vectors of the result; `rows` moves on to the row after it.
template <class T, std::size_t kRows, std::size_t kVectors>
[[gnu::always_inline]] inline void run_tile(const Factors<T>& factors, const T* left, T* result,
                                            PlaceWalker& rows, const PanelColumns<T>& columns, Into into) {
  std::array<std::array<Vector<T>, kVectors>, kRows> sums;
  for (std::size_t v = 0; v < kVectors; ++v) {
    const Vector<T> first = factors.start ? load(factors.start + v * kWide<T>) : Vector<T>{};
    for (std::size_t r = 0; r < kRows; ++r) sums[r][v] = first;
  }
  PlaceWalker coming = rows;  // the result's lines, on their way into the cache while the sums are made
  for (std::size_t r = 0; r < kRows; ++r, coming.next())
    for (std::size_t v = 0; v < kVectors; ++v)
      __builtin_prefetch(result + coming.place() + columns.offset(v), 1);
  const Steps steps = factors.steps;
  const std::int64_t row_stride = factors.row_stride, panel_stride = factors.panel_stride;
  const T* panel = factors.panel;
  for (std::int64_t g = 0; g < steps.groups; ++g) {
    const T* at = left + g * steps.group_stride;
    for (std::int64_t k = 0; k < steps.length; ++k, at += steps.stride, panel += panel_stride) {
      std::array<Vector<T>, kVectors> row;
      for (std::size_t v = 0; v < kVectors; ++v) row[v] = load(panel + v * kWide<T>);
      for (std::size_t r = 0; r < kRows; ++r) {
        const T number = at[static_cast<std::int64_t>(r) * row_stride];
        for (std::size_t v = 0; v < kVectors; ++v) sums[r][v] += number * row[v];
      }
    }
  }
  const bool is_plain = columns.is_plain() && into == Into::replace;
#pragma GCC unroll 12
  for (std::size_t r = 0; r < kRows; ++r) {
    T* const row = result + rows.place();
    rows.next();
    if (is_plain)
      for (std::size_t v = 0; v < kVectors; ++v) store(row + columns.offset(v), sums[r][v]);
    else
      for (std::size_t v = 0; v < kVectors; ++v) columns.put(row, v, sums[r][v], into);
  }
}

/// `n_tiles` tiles below one another, from `first_row` of the result on.
template <class T, std::size_t kRows, std::size_t kVectors>
void run_tiles(const Factors<T>& factors, std::int64_t n_tiles, const MatrixView<T>& result,
               std::int64_t first_row, const PanelColumns<T>& columns, Into into) {
  PlaceWalker rows(result.rows, first_row);
  const T* left = factors.left;
  for (std::int64_t tile = 0; tile < n_tiles; ++tile) {
    run_tile<T, kRows, kVectors>(factors, left, result.data, rows, columns, into);
    left += static_cast<std::int64_t>(kRows) * factors.row_stride;
  }
}

template <class T>
using TileRunner = void (*)(const Factors<T>&, std::int64_t, const MatrixView<T>&, std::int64_t,
                            const PanelColumns<T>&, Into);

template <class T, std::size_t kVectors, std::size_t... kIndices>
constexpr std::array<TileRunner<T>, sizeof...(kIndices)> tile_runners(std::index_sequence<kIndices...>) {
  return {&run_tiles<T, kIndices + 1, kVectors>...};
}

/// All rows of the result for one panel; tiles of nearly equal height that cross no group of the left's rows.
template <class T, std::size_t kVectors>
void run_rows(const MatrixView<const T>& left, Factors<T> factors, const MatrixView<T>& result,
              const PanelColumns<T>& columns, Into into) {
  static constexpr auto kRunners =
      tile_runners<T, kVectors>(std::make_index_sequence<static_cast<std::size_t>(tile_rows(kVectors))>());
  const T* const first = factors.left;
  const std::int64_t n_rows = left.rows.count;
  const std::int64_t group = left.rows.group == 0 ? n_rows : left.rows.group;
  for (std::int64_t begin = 0; begin < n_rows; begin += group) {
    const std::int64_t n = std::min(group, n_rows - begin);
    const std::int64_t n_tiles = (n + tile_rows(kVectors) - 1) / tile_rows(kVectors);
    const std::int64_t low = n / n_tiles, n_high = n % n_tiles;  // high ones have a row more
    factors.left = first + left.rows.at(begin);
    if (n_high > 0) kRunners[static_cast<std::size_t>(low)](factors, n_high, result, begin, columns, into);
    const std::int64_t done = n_high * (low + 1);
    factors.left += done * factors.row_stride;
    kRunners[static_cast<std::size_t>(low - 1)](factors, n_tiles - n_high, result, begin + done, columns,
                                                into);
  }
}

/// The numbers of two vectors in turn: of their first halves, or their second halves.
template <class T, std::size_t kFirst, std::size_t... kLane>
Vector<T> interleave(const Vector<T>& left, const Vector<T>& right, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(left, right, (kFirst + kLane / 2 + kLane % 2 * kWide<T>)...);
}

/// A block of up to kLanes columns, each contiguous along the summed index, as up to kLanes rows of a panel.
template <class T>
void transpose_block(const T* from, std::int64_t column_stride, std::int64_t n_columns, std::int64_t n_steps,
                     T* to, std::int64_t width) {
  std::array<Vector<T>, kWide<T>> block{}, mixed;
  for (std::int64_t c = 0; c < n_columns; ++c)
    block[static_cast<std::size_t>(c)] = load_some<T>(from + c * column_stride, n_steps);
  constexpr auto kLaneIndices = std::make_index_sequence<kWide<T>>();
  for (std::size_t halves = 1; halves < kWide<T>;
       halves *= 2) {  // a perfect shuffle for each bit of the index
    for (std::size_t c = 0; c < kWide<T> / 2; ++c) {
      mixed[2 * c] = interleave<T, 0>(block[c], block[c + kWide<T> / 2], kLaneIndices);
      mixed[2 * c + 1] = interleave<T, kWide<T> / 2>(block[c], block[c + kWide<T> / 2], kLaneIndices);
    }
    block = mixed;
  }
  for (std::int64_t step = 0; step < n_steps; ++step)
    store(to + step * width, block[static_cast<std::size_t>(step)]);
}

/// Sets the vectors of a panel that no column reaches to 0.
template <class T>
void clear_vectors(T* panel, std::int64_t n_steps, std::int64_t count, std::int64_t width) {
  const std::int64_t first = (count + kLanes<T> - 1) / kLanes<T> * kLanes<T>;
  if (first == width) return;
  for (std::int64_t k = 0; k < n_steps; ++k, panel += width)
    for (std::int64_t c = first; c < width; c += kLanes<T>) store(panel + c, Vector<T>{});
}

/// Copies steps [begin, end) of `count` columns of the right matrix into rows of `width` numbers, 0 beyond.
template <class T>
void fill_panel(const MatrixView<const T>& right, std::int64_t begin, std::int64_t end, std::int64_t column,
                std::int64_t count, std::int64_t width, T* panel) {
  const Places& columns = right.columns;
  clear_vectors(panel, end - begin, count, width);
  if (columns.stride == 1) {  // runs of numbers, each at most a vector
    const std::int64_t group = columns.group == 0 ? columns.count : columns.group;
    for (std::int64_t c = 0; c < count;) {
      const std::int64_t run = std::min({kLanes<T> - c % kLanes<T>, group - (column + c) % group, count - c});
      const T* const from = right.data + columns.at(column + c);
      T* to = panel + c;
      PlaceWalker step(right.rows, begin);
      if (c % kLanes<T> == 0)  // a whole vector, 0 where this run ends: read back at once
        for (std::int64_t k = begin; k < end; ++k, step.next(), to += width)
          store(to, load_some<T>(from + step.place(), run));
      else
        for (std::int64_t k = begin; k < end; ++k, step.next(), to += width)
          store_part(to, load_part<T>(from + step.place(), run, 0), run);
      c += run;
    }
    return;
  }
  if (right.rows.stride == 1 && columns.group == 0) {
    const std::int64_t group = right.rows.group == 0 ? end : right.rows.group;
    for (std::int64_t k = begin; k < end;) {
      const std::int64_t n_steps = std::min({std::int64_t{kLanes<T>}, group - k % group, end - k});
      const T* const from = right.data + columns.at(column) + right.rows.at(k);
      for (std::int64_t c = 0; c < count; c += kLanes<T>)
        transpose_block<T>(from + c * columns.stride, columns.stride,
                           std::min<std::int64_t>(count - c, kLanes<T>), n_steps,
                           panel + (k - begin) * width + c, width);
      k += n_steps;
    }
    return;
  }
  for (std::int64_t k = 0; k < end - begin && count % kLanes<T> != 0; ++k)
    store(panel + k * width + count / kLanes<T> * kLanes<T>, Vector<T>{});
  PlaceWalker place(columns, column);
  for (std::int64_t c = 0; c < count; ++c, place.next()) {
    T* to = panel + c;
    PlaceWalker step(right.rows, begin);
    for (std::int64_t k = begin; k < end; ++k, step.next(), to += width)
      *to = right.data[place.place() + step.place()];
  }
}

/// Where the block of the summed index that begins at `begin` ends: within kDepth, and between two of the
/// groups that the caller named unless one alone is longer. Of the groups as named, also where they follow
/// one another evenly: a sum's blocks must not depend on how many tokens lie between two heads.
std::int64_t block_end(std::int64_t count, std::int64_t group, std::int64_t begin) {
  const std::int64_t end = std::min(begin + kDepth, count);
  if (group == 0 || end == count) return end;
  const std::int64_t whole = end - end % group;
  return whole > begin ? whole : std::min(end, begin - begin % group + group);
}

Steps steps_of(const Places& summed, std::int64_t begin, std::int64_t end) {
  if (summed.group == 0 || end - begin < summed.group) return {1, end - begin, summed.stride, 0};
  return {(end - begin) / summed.group, summed.group, summed.stride, summed.group_stride};
}

/// Groups that follow one another evenly are none.
Places simplified(Places places) {
  if (places.group != 0 &&
      (places.count <= places.group || places.group_stride == places.group * places.stride))
    places.group = 0;
  return places;
}
template <class T>
MatrixView<T> simplified(const MatrixView<T>& view) {
  return {view.data, simplified(view.rows), simplified(view.columns)};
}

/// Whether a panel of whole vectors can be read where it lies: worth it where few tiles read it.
template <class T>
bool lies_ready(const MatrixView<const T>& right, std::int64_t n_rows, std::int64_t column,
                std::int64_t count, std::int64_t width) {
  constexpr std::int64_t kFewRows = 64;
  const Places& columns = right.columns;
  return count == width && n_rows <= kFewRows && right.rows.group == 0 && columns.stride == 1 &&
         (columns.group == 0 || column % columns.group + count <= columns.group);
}

template <class T, std::size_t kVectors>
void run_panel(MatrixView<const T> left, MatrixView<const T> right, MatrixView<T> result, const Batch& batch,
               std::int64_t group, std::int64_t column, std::int64_t count, Into into, const T* bias,
               T* panel) {
  constexpr std::size_t kWidth = kVectors * kWide<T>;
  std::array<T, kWidth> start{};
  if (bias) std::copy_n(bias + column, count, start.begin());
  const PanelColumns<T> columns(result.columns, column, count);
  const bool is_ready = lies_ready(right, left.rows.count, column, count, kWidth);
  for (std::int64_t product = 0; product < batch.count; ++product) {
    for (std::int64_t begin = 0; begin < left.columns.count;) {
      const std::int64_t end = block_end(left.columns.count, group, begin);
      if (!is_ready) fill_panel<T>(right, begin, end, column, count, kWidth, panel);
      const Factors<T> factors{
          left.data + left.columns.at(begin),
          left.rows.stride,
          steps_of(left.columns, begin, end),
          is_ready ? right.data + right.rows.at(begin) + right.columns.at(column) : panel,
          is_ready ? right.rows.stride : std::int64_t{kWidth},
          bias && begin == 0 ? start.data() : nullptr};
      run_rows<T, kVectors>(left, factors, result, columns, begin == 0 ? into : Into::add);
      begin = end;
    }
    left.data += batch.left_step, right.data += batch.right_step, result.data += batch.result_step;
  }
}

}  // namespace

template <class T>
void multiply(const MatrixView<const T>& left, const MatrixView<const T>& right, const MatrixView<T>& result,
              Into into, const T* bias, const Batch& batch) {
  assert(left.columns.count == right.rows.count && left.rows.count == result.rows.count &&
         right.columns.count == result.columns.count && left.columns.count > 0);
  const MatrixView<const T> a = simplified(left), b = simplified(right);
  const MatrixView<T> c = simplified(result);
  alignas(kCacheLine) T panel[kDepth * kWidest * kWide<T>];  // written before it is read
  const std::int64_t n_columns = b.columns.count;
  for (std::int64_t column = 0; column < n_columns;) {
    const std::int64_t n_left = n_columns - column;
    const std::int64_t n_vectors = (n_left + kLanes<T> - 1) / kLanes<T>;
    constexpr auto kMost = static_cast<std::int64_t>(kWidest);
    const std::int64_t width = n_vectors >= kMost ? kMost : std::min<std::int64_t>(n_vectors, 2);
    const std::int64_t count = std::min<std::int64_t>(n_left, width * kLanes<T>);
    if (width == kMost)
      run_panel<T, kWidest>(a, b, c, batch, left.columns.group, column, count, into, bias, panel);
    else if (width == 2)
      run_panel<T, 2>(a, b, c, batch, left.columns.group, column, count, into, bias, panel);
    else
      run_panel<T, 1>(a, b, c, batch, left.columns.group, column, count, into, bias, panel);
    column += count;
  }
}

template void multiply(const MatrixView<const float>&, const MatrixView<const float>&,
                       const MatrixView<float>&, Into, const float*, const Batch&);
template void multiply(const MatrixView<const double>&, const MatrixView<const double>&,
                       const MatrixView<double>&, Into, const double*, const Batch&);

}  // namespace headscope::core
