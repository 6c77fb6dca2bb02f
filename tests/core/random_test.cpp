// Rng against reference numbers, and its distributions.
//
// The 64-bit numbers come from a separate Python implementation of the published algorithms, itself held
// against splitmix64(1234567) = 6457827717110365317, 3203168211198807973, … (Rosetta Code, "Pseudo-random
// numbers/Splitmix64") and xoshiro256** from state {1, 2, 3, 4} = 11520, 0, 1509978240, 1215971899390074240,
// … (Rust's rand_xoshiro).
#include "core/random.h"
#include "core/hash.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using headscope::core::fnv1a;
using headscope::core::Rng;

namespace {

std::vector<std::uint64_t> draw(Rng rng, int count) {
  std::vector<std::uint64_t> numbers;
  for (int k = 0; k < count; ++k) numbers.push_back(rng.next());
  return numbers;
}

/// Mean and central moments 2 to 4 of `count` draws.
template <class Draw>
std::array<double, 4> moments(Draw draw_one, int count) {
  std::vector<double> values;
  double mean = 0;
  for (int k = 0; k < count; ++k) values.push_back(draw_one());
  for (const double value : values) mean += value / count;
  std::array<double, 4> result = {mean, 0, 0, 0};
  for (const double value : values)
    for (int power = 2; power <= 4; ++power)
      result[static_cast<std::size_t>(power - 1)] += std::pow(value - mean, power) / count;
  return result;
}

constexpr int kDraws = 1'000'000;

}  // namespace

TEST_CASE("the generator gives the published algorithm's numbers", "[core][random]") {
  using Numbers = std::vector<std::uint64_t>;
  CHECK(draw(Rng(0), 4) ==
        Numbers{0x99ec5f36cb75f2b4, 0xbf6e1f784956452a, 0x1a5f849d4933e6e0, 0x6aa594f1262d2d2c});
  CHECK(draw(Rng(1), 4) ==
        Numbers{0xb3f2af6d0fc710c5, 0x853b559647364cea, 0x92f89756082a4514, 0x642e1c7bc266a3a7});
  CHECK(draw(Rng(42), 4) ==
        Numbers{0x15780b2e0c2ec716, 0x6104d9866d113a7e, 0xae17533239e499a1, 0xecb8ad4703b360a1});
  CHECK(draw(Rng(UINT64_MAX), 4) ==
        Numbers{0x8f5520d52a7ead08, 0xc476a018caa1802d, 0x81de31c0d260469e, 0xbf658d7e065f3c2f});
  CHECK(draw(Rng(42), 1000).back() == 0x8de5848c61ab8968);
}

TEST_CASE("a stream's numbers depend on its seed and its name alone", "[core][random]") {
  CHECK(draw(Rng(7, "decoder.token_embedding"), 3) ==
        std::vector<std::uint64_t>{0x42d59993fad61767, 0x229eda24fe7260ec, 0x83d47c0ebf0d937a});
  CHECK(draw(Rng(7, "w_query"), 8) == draw(Rng(7, "w_query"), 8));
  CHECK(draw(Rng(7, "w_query"), 8) != draw(Rng(7, "w_key"), 8));
  CHECK(draw(Rng(7, "w_query"), 8) != draw(Rng(8, "w_query"), 8));
  CHECK(draw(Rng(7, ""), 8) != draw(Rng(7), 8));
}

TEST_CASE("streams of different names are not correlated", "[core][random]") {
  Rng left(7, "block0.w_query"), right(7, "block1.w_query");
  double sum = 0;
  for (int k = 0; k < kDraws; ++k) sum += left.normal() * right.normal();
  // the mean of a product of independent N(0, 1) has a deviation of 1/√kDraws; five of them
  CHECK(std::abs(sum / kDraws) < 5 / std::sqrt(kDraws));
}

TEST_CASE("FNV-1a gives its authors' test values", "[core][random]") {
  CHECK(fnv1a("") == 0xcbf29ce484222325);
  CHECK(fnv1a("a") == 0xaf63dc4c8601ec8c);
  CHECK(fnv1a("foobar") == 0x85944171f73967e8);
  CHECK(fnv1a("\xC3\xA4") != fnv1a("\xC3\xB6"));  // bytes above 127 count as 0 to 255, whatever char's sign
}

TEST_CASE("uniform numbers are the upper 53 bits, at least 0 and below 1", "[core][random]") {
  Rng rng(42);
  CHECK(rng.uniform() == 0.08386297105988216);
  CHECK(rng.uniform() == 0.3789802506626686);
  CHECK(rng.uniform() == 0.6800434110281394);
  for (int k = 0; k < kDraws; ++k) {
    const double value = rng.uniform();
    if (!(value >= 0 && value < 1)) FAIL("draw " << k << " is " << value);
  }
}

TEST_CASE("uniform numbers have the mean and variance of the uniform distribution", "[core][random]") {
  Rng rng(5);
  const auto [mean, variance, third, fourth] = moments([&rng] { return rng.uniform(); }, kDraws);
  const double unit = 5 / std::sqrt(kDraws);  // five deviations of a mean of numbers of variance 1
  CHECK(mean == Approx(0.5).margin(unit * std::sqrt(1.0 / 12)));
  CHECK(variance == Approx(1.0 / 12).margin(unit * std::sqrt(1.0 / 180)));
  CHECK(third == Approx(0).margin(unit * std::sqrt(1.0 / 448)));
  CHECK(fourth == Approx(1.0 / 80).margin(unit * std::sqrt(1.0 / 2304 - 1.0 / 6400)));
}

TEST_CASE("normal numbers are the polar method's", "[core][random]") {
  Rng rng(42);
  // from the same Python script; 1e-15 relative allows for another library's log()
  for (const double expected : {-0.7262191382447857, -0.21119691823195985, 0.2216227015035933,
                                0.5227716877560146, 0.46417731016247366, 0.7409788916865562})
    CHECK(rng.normal() == Approx(expected).epsilon(1e-15));
}

TEST_CASE("normal numbers have the moments of the normal distribution", "[core][random]") {
  Rng rng(9, "weights");
  const auto [mean, variance, third, fourth] = moments([&rng] { return rng.normal(); }, kDraws);
  const double unit = 5 / std::sqrt(kDraws);
  // Var(x) = 1, Var(x²) = 2, Var(x³ - 3x) = 6, Var(x⁴) = 96
  CHECK(mean == Approx(0).margin(unit));
  CHECK(variance == Approx(1).margin(unit * std::sqrt(2)));
  CHECK(third == Approx(0).margin(unit * std::sqrt(6)));
  CHECK(fourth == Approx(3).margin(unit * std::sqrt(96)));
}

TEST_CASE("normal numbers fall into the quantiles of the normal distribution", "[core][random]") {
  Rng rng(11);
  const std::array<double, 4> borders = {-1.959963985, -0.6744897502, 0.6744897502, 1.959963985};
  const std::array<double, 5> shares = {0.025, 0.225, 0.5, 0.225, 0.025};
  std::array<int, 5> counts = {};
  for (int k = 0; k < kDraws; ++k) {
    const double value = rng.normal();
    std::size_t bin = 0;
    while (bin < borders.size() && value > borders[bin]) ++bin;
    ++counts[bin];
  }
  for (std::size_t bin = 0; bin < shares.size(); ++bin) {
    INFO("bin " << bin);
    const double deviation = std::sqrt(kDraws * shares[bin] * (1 - shares[bin]));
    CHECK(counts[bin] == Approx(kDraws * shares[bin]).margin(5 * deviation));
  }
}

TEST_CASE("whole numbers are the high half of a product, those that would come too often left out",
          "[core][random]") {
  // from a Python script that draws again where the low half is below 2^64 mod n
  const auto draws = [](std::uint64_t n) {
    Rng rng(42);
    std::vector<std::uint64_t> drawn;
    for (int k = 0; k < 6; ++k) drawn.push_back(rng.below(n));
    return drawn;
  };
  CHECK(draws(6) == std::vector<std::uint64_t>{0, 2, 4, 5, 5, 4});
  CHECK(draws(1000) == std::vector<std::uint64_t>{83, 378, 680, 924, 991, 769});
  CHECK(draws(std::uint64_t{1} << 63 | 1) ==
        std::vector<std::uint64_t>{9147776489032658738U, 7099593415032875292U, 6633989454467100377U,
                                   7022439175346172479U, 2681029139591840946, 7388145106668446555U});
}

TEST_CASE("whole numbers are equally likely", "[core][random]") {
  for (const std::uint64_t n : {1U, 2U, 3U, 7U, 10U}) {
    Rng rng(n);
    std::vector<int> counts(n);
    for (int k = 0; k < kDraws; ++k) ++counts.at(rng.below(n));
    const double share = 1 / static_cast<double>(n);
    for (const int count : counts)
      CHECK(count == Approx(kDraws * share).margin(5 * std::sqrt(kDraws * share * (1 - share)) + 1e-9));
  }
}
