// Products: the values, whatever the shape; and the bits, which depend on a cell's row and column alone.
#include "core/matrix.h"
#include "core/random.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace headscope::core {
namespace {

template <class T>
std::vector<T> random_numbers(std::int64_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (T& number : numbers) number = static_cast<T>(rng.normal());
  return numbers;
}

template <class T>
T& at(const MatrixView<T>& view, std::int64_t row, std::int64_t column) {
  return view.data[view.rows.at(row) + view.columns.at(column)];
}

/// Holds a product against sums in double.
template <class T>
void check_product(const MatrixView<const T>& left, const MatrixView<const T>& right,
                   const MatrixView<T>& result, const T* bias = nullptr) {
  multiply<T>(left, right, result, Into::replace, bias);
  // a chain of multiply-adds rounds each sum: at most n times half a unit of the terms' size
  constexpr double kUnit = std::is_same_v<T, float> ? 6e-8 : 1.2e-16;
  for (std::int64_t r = 0; r < left.rows.count; ++r)
    for (std::int64_t c = 0; c < right.columns.count; ++c) {
      double sum = bias ? static_cast<double>(bias[c]) : 0, size = std::abs(sum);
      for (std::int64_t k = 0; k < left.columns.count; ++k) {
        const double term = static_cast<double>(at(left, r, k)) * static_cast<double>(at(right, k, c));
        sum += term, size += std::abs(term);
      }
      INFO("cell " << r << ", " << c);
      REQUIRE(std::abs(static_cast<double>(at(result, r, c)) - sum) <=
              kUnit * static_cast<double>(left.columns.count + 1) * size);
    }
}

TEMPLATE_TEST_CASE("a product is the sum of products, for every size about a tile's", "[core][matrix]", float,
                   double) {
  for (const std::int64_t rows : {1, 2, 5, 6, 7, 11, 12, 13, 25})
    for (const std::int64_t columns : {1, 3, 4, 7, 8, 9, 16, 17, 31, 32, 33, 48, 64, 65, 100})
      for (const std::int64_t depth : {1, 2, 8, 15, 16, 17, 40}) {
        const auto left = random_numbers<TestType>(rows * depth, 1);
        const auto right = random_numbers<TestType>(depth * columns, 2);
        const auto bias = random_numbers<TestType>(columns, 3);
        std::vector<TestType> result(static_cast<std::size_t>(rows * columns));
        const auto out = row_major(result.data(), rows, columns, columns);
        INFO(rows << " × " << depth << " · " << depth << " × " << columns);
        using View = MatrixView<const TestType>;
        const View a = row_major(left.data(), rows, depth, depth);
        const View b = row_major(right.data(), depth, columns, columns);
        check_product<TestType>(a, b, out, bias.data());
        const View a_turned = transposed(View(row_major(left.data(), depth, rows, rows)));
        const View b_turned = transposed(View(row_major(right.data(), columns, depth, depth)));
        check_product<TestType>(a_turned, b, out);
        check_product<TestType>(a, b_turned, out);
      }
}

TEST_CASE("a long sum goes through several blocks", "[core][matrix]") {
  for (const std::int64_t depth : {511, 512, 513, 1024, 1500}) {
    const auto left = random_numbers<float>(3 * depth, 1), right = random_numbers<float>(depth * 5, 2);
    std::vector<float> result(15);
    check_product<float>(row_major(left.data(), 3, depth, depth), row_major(right.data(), depth, 5, 5),
                         row_major(result.data(), 3, 5, 5));
    // and with the summed side in groups, among them one longer than a block
    for (const std::int64_t group : {3, 100, 600}) {
      const std::int64_t n_groups = depth / group;
      if (n_groups < 2) continue;
      const Places summed{n_groups * group, 1, group, group + 2};
      const auto wide = random_numbers<float>(3 * n_groups * (group + 2), 4);
      INFO("depth " << depth << " in groups of " << group);
      check_product<float>({wide.data(), {3, n_groups * (group + 2)}, summed},
                           row_major(right.data(), n_groups * group, 5, 5),
                           row_major(result.data(), 3, 5, 5));
    }
  }
}

TEST_CASE("rows and columns may lie in groups on every side", "[core][matrix]") {
  for (const std::int64_t n_tokens : {1, 5, 12, 32})
    for (const std::int64_t d_head : {1, 3, 8, 16, 20}) {
      constexpr std::int64_t kBatch = 3, kHeads = 3, kModel = 10;
      const std::int64_t n_rows = kBatch * n_tokens, n_columns = kHeads * d_head;
      const auto input = random_numbers<float>(n_rows * kModel, 1);
      const auto weight = random_numbers<float>(kHeads * kModel * d_head, 2);
      std::vector<float> heads(static_cast<std::size_t>(n_rows * n_columns)),
          back(static_cast<std::size_t>(n_rows * kModel));
      const Places by_head{n_columns, 1, d_head, n_tokens * d_head};
      const Places by_row{n_rows, d_head, n_tokens, kHeads * n_tokens * d_head};
      const MatrixView<const float> weights{
          weight.data(), {kModel, d_head}, {n_columns, 1, d_head, kModel * d_head}};
      INFO(n_tokens << " tokens, heads of width " << d_head);
      check_product<float>(row_major(input.data(), n_rows, kModel, kModel), weights,
                           {heads.data(), by_row, by_head});
      check_product<float>({heads.data(), by_row, by_head}, transposed(weights),
                           row_major(back.data(), n_rows, kModel, kModel));
      std::vector<float> outer(weight.size());
      check_product<float>(
          transposed(MatrixView<const float>(row_major(input.data(), n_rows, kModel, kModel))),
          {heads.data(), by_row, by_head},
          {outer.data(), {kModel, d_head}, {n_columns, 1, d_head, kModel * d_head}});
    }
}

TEST_CASE("a product is added to what is there", "[core][matrix]") {
  const auto left = random_numbers<float>(7 * 9, 1), right = random_numbers<float>(9 * 21, 2);
  const auto before = random_numbers<float>(7 * 21, 3);
  std::vector<float> product(before.size()), sum = before;
  const auto a = row_major(left.data(), 7, 9, 9), b = row_major(right.data(), 9, 21, 21);
  multiply<float>(a, b, row_major(product.data(), 7, 21, 21));
  multiply<float>(a, b, row_major(sum.data(), 7, 21, 21), Into::add);
  for (std::size_t cell = 0; cell < sum.size(); ++cell) CHECK(sum[cell] == before[cell] + product[cell]);
}

TEST_CASE("a batch of products is each of them", "[core][matrix]") {
  constexpr std::int64_t kCount = 5, kRows = 7, kDepth = 6, kColumns = 19;
  const auto left = random_numbers<float>(kCount * kRows * kDepth, 1);
  const auto right = random_numbers<float>(kCount * kColumns * kDepth, 2);
  std::vector<float> together(kCount * kRows * kColumns), apart(together.size());
  multiply<float>(row_major(left.data(), kRows, kDepth, kDepth),
                  transposed(MatrixView<const float>(row_major(right.data(), kColumns, kDepth, kDepth))),
                  row_major(together.data(), kRows, kColumns, kColumns), Into::replace, nullptr,
                  {kCount, kRows * kDepth, kColumns * kDepth, kRows * kColumns});
  for (std::int64_t n = 0; n < kCount; ++n)
    multiply<float>(row_major(left.data() + n * kRows * kDepth, kRows, kDepth, kDepth),
                    transposed(MatrixView<const float>(
                        row_major(right.data() + n * kColumns * kDepth, kColumns, kDepth, kDepth))),
                    row_major(apart.data() + n * kRows * kColumns, kRows, kColumns, kColumns));
  CHECK(std::memcmp(together.data(), apart.data(), together.size() * sizeof(float)) == 0);
}

TEMPLATE_TEST_CASE("a cell's bits do not depend on where it stands", "[core][matrix]", float, double) {
  // the same row and column again and again, among others, at every place of matrices of every width
  constexpr std::int64_t kDepth = 37;
  const auto row = random_numbers<TestType>(kDepth, 1), column = random_numbers<TestType>(kDepth, 2);
  TestType expected = 0;
  multiply<TestType>(row_major(row.data(), 1, kDepth, kDepth), row_major(column.data(), kDepth, 1, 1),
                     row_major(&expected, 1, 1, 1));
  for (const std::int64_t rows : {1, 3, 6, 7, 12, 14, 26})
    for (const std::int64_t columns : {1, 2, 4, 8, 12, 15, 16, 24, 32, 40, 64, 72, 96}) {
      auto left = random_numbers<TestType>(rows * kDepth, 3),
           right = random_numbers<TestType>(kDepth * columns, 4);
      std::vector<TestType> result(static_cast<std::size_t>(rows * columns));
      for (std::int64_t r = 0; r < rows; ++r) std::ranges::copy(row, left.begin() + r * kDepth);
      for (std::int64_t c = 0; c < columns; ++c)
        for (std::int64_t k = 0; k < kDepth; ++k)
          right[static_cast<std::size_t>(k * columns + c)] = column[static_cast<std::size_t>(k)];
      multiply<TestType>(row_major(std::as_const(left).data(), rows, kDepth, kDepth),
                         row_major(std::as_const(right).data(), kDepth, columns, columns),
                         row_major(result.data(), rows, columns, columns));
      INFO(rows << " rows, " << columns << " columns");
      REQUIRE(std::ranges::all_of(
          result, [&](TestType cell) { return std::memcmp(&cell, &expected, sizeof cell) == 0; }));
    }
}

TEST_CASE("the blocks of a long sum do not depend on how its groups lie", "[core][matrix]") {
  // heads of 96 side by side: blocks end between heads, whether the heads' numbers follow one another or not
  constexpr std::int64_t kHeads = 8, kWidth = 96, kDepth = kHeads * kWidth;
  const auto numbers = random_numbers<float>(kDepth, 1), right = random_numbers<float>(kDepth, 2);
  float together = 0, apart = 0;
  const auto column = row_major<const float>(right.data(), kDepth, 1, 1);
  multiply<float>({numbers.data(), {1, kDepth}, {kDepth, 1, kWidth, kWidth}}, column,
                  row_major(&together, 1, 1, 1));
  std::vector<float> spread(static_cast<std::size_t>(2 * kDepth));
  for (std::int64_t h = 0; h < kHeads; ++h)
    std::copy_n(numbers.begin() + h * kWidth, kWidth, spread.begin() + h * 2 * kWidth);
  multiply<float>({spread.data(), {1, 2 * kDepth}, {kDepth, 1, kWidth, 2 * kWidth}}, column,
                  row_major(&apart, 1, 1, 1));
  CHECK(std::memcmp(&together, &apart, sizeof together) == 0);
}

}  // namespace
}  // namespace headscope::core
