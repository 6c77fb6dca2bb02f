// Shapes: a tensor's sides as expressions over named axes (ShapeSpec), and as numbers once a plan has bound
// the sizes (Shape). No storage here.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <initializer_list>
#include <span>

namespace headscope::core {

inline constexpr int kMaxRank = 4;

/// What an index along a side counts. Names the axis in labels and says which words stand along it.
enum class Axis : std::uint8_t {
  batch,         // b, a row of the batch
  head,          // h
  query,         // i, the position that asks
  key,           // j, the position that is asked
  model,         // c in 0 … d_model-1
  head_channel,  // c in 0 … d_head-1
  concat,        // c in 0 … n_heads·d_head-1, heads side by side
  vocabulary,    // v
  position,      // a position in the table of positions
  feed_forward,  // c in 0 … d_ff-1
  class_label,   // v, one of n_classes
  output,        // o, one of n_outputs independent predictions at a position
  edge,          // 0 start, 1 end of a span
  distance,      // j - i, shifted so that the first column is the farthest on the left
  token_type,    // a row of the table of token types
  one            // the single cell of a scalar
};

/// The length of a side: fixed by the model, or bound with the batch.
struct Extent {
  enum class Kind : std::uint8_t { fixed, batch, source, target };
  Kind kind = Kind::fixed;
  std::int64_t size = 0;  // fixed only

  static constexpr Extent fixed(std::int64_t size) { return {Kind::fixed, size}; }
  static constexpr Extent batch() { return {Kind::batch, 0}; }
  static constexpr Extent source() { return {Kind::source, 0}; }
  static constexpr Extent target() { return {Kind::target, 0}; }
  bool operator==(const Extent&) const = default;
};

/// The sizes that change from batch to batch: rows, and the longest fed source and target row.
struct Sizes {
  std::int64_t batch = 1;
  std::int64_t source = 1;
  std::int64_t target = 0;
  bool operator==(const Sizes&) const = default;
};

struct Side {
  Axis axis = Axis::one;
  Extent extent;
  bool operator==(const Side&) const = default;
};

/// Up to kMaxRank sides, outermost first (row-major).
class ShapeSpec {
 public:
  constexpr ShapeSpec() = default;
  constexpr ShapeSpec(std::initializer_list<Side> sides) {
    assert(sides.size() <= kMaxRank);
    for (const Side& side : sides) sides_[static_cast<std::size_t>(rank_++)] = side;
  }
  constexpr int rank() const { return rank_; }
  constexpr const Side& operator[](int axis) const { return sides_[static_cast<std::size_t>(axis)]; }
  bool operator==(const ShapeSpec&) const = default;

  /// The place of `axis` among the sides, or -1.
  constexpr int find(Axis axis) const {
    for (int place = 0; place < rank_; ++place)
      if ((*this)[place].axis == axis) return place;
    return -1;
  }

 private:
  std::array<Side, kMaxRank> sides_{};
  int rank_ = 0;
};

/// One index per side; the address of a cell within its tensor.
class Cell {
 public:
  constexpr Cell() = default;
  constexpr Cell(std::initializer_list<std::int64_t> indices) {
    assert(indices.size() <= kMaxRank);
    for (std::int64_t index : indices) push_back(index);
  }
  constexpr void push_back(std::int64_t index) { index_[static_cast<std::size_t>(rank_++)] = index; }
  constexpr int rank() const { return rank_; }
  constexpr std::int64_t operator[](int axis) const { return index_[static_cast<std::size_t>(axis)]; }
  constexpr std::int64_t& operator[](int axis) { return index_[static_cast<std::size_t>(axis)]; }
  auto operator<=>(const Cell&) const = default;

 private:
  std::array<std::int64_t, kMaxRank> index_{};
  int rank_ = 0;
};

/// Bound sides; row-major and dense.
class Shape {
 public:
  constexpr Shape() = default;
  constexpr Shape(std::initializer_list<std::int64_t> sides) {
    assert(sides.size() <= kMaxRank);
    for (std::int64_t side : sides) push_back(side);
  }
  constexpr void push_back(std::int64_t side) { sides_[static_cast<std::size_t>(rank_++)] = side; }
  constexpr int rank() const { return rank_; }
  constexpr std::int64_t operator[](int axis) const { return sides_[static_cast<std::size_t>(axis)]; }
  constexpr std::span<const std::int64_t> sides() const& {
    return {sides_.data(), static_cast<std::size_t>(rank_)};
  }
  void sides() const&& = delete;  // the view would outlive the shape
  bool operator==(const Shape&) const = default;

  /// How many cells; 1 for rank 0.
  constexpr std::int64_t count() const {
    std::int64_t count = 1;
    for (int axis = 0; axis < rank_; ++axis) count *= (*this)[axis];
    return count;
  }

  constexpr bool contains(const Cell& cell) const {
    if (cell.rank() != rank_) return false;
    for (int axis = 0; axis < rank_; ++axis)
      if (cell[axis] < 0 || cell[axis] >= (*this)[axis]) return false;
    return true;
  }

  /// The cell's place in the row-major data. Precondition: contains(cell).
  constexpr std::int64_t flat(const Cell& cell) const {
    assert(contains(cell));
    std::int64_t place = 0;
    for (int axis = 0; axis < rank_; ++axis) place = place * (*this)[axis] + cell[axis];
    return place;
  }

  /// The inverse of flat().
  constexpr Cell cell(std::int64_t place) const {
    Cell cell;
    for (int axis = 0; axis < rank_; ++axis) cell.push_back(0);
    for (int axis = rank_ - 1; axis >= 0; --axis) {
      cell[axis] = place % (*this)[axis];
      place /= (*this)[axis];
    }
    return cell;
  }

 private:
  std::array<std::int64_t, kMaxRank> sides_{};
  int rank_ = 0;
};

/// The sides of `spec` with `sizes` in place of batch, source and target.
Shape bind(const ShapeSpec& spec, const Sizes& sizes);

}  // namespace headscope::core
