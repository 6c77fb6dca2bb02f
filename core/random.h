// The project's own random generator: the same numbers with every standard library.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace headscope::core {

/// xoshiro256** (Blackman and Vigna 2018), its four words the first four numbers of splitmix64 from `seed`.
/// next(), uniform() and below() give the same bits everywhere; normal() up to the last bit of the platform's
/// log().
class Rng {
 public:
  explicit Rng(std::uint64_t seed);
  /// An independent stream for a name: a parameter's numbers do not depend on which others exist.
  /// The same as Rng(splitmix64(seed) ^ FNV-1a(stream)).
  Rng(std::uint64_t seed, std::string_view stream);

  std::uint64_t next();
  /// In [0, 1), 53 bits: next() without its lowest 11, divided by 2^53.
  double uniform();
  /// A whole number in [0, n), each equally likely (Lemire 2019, without the division in most calls).
  /// Precondition: n > 0.
  std::uint64_t below(std::uint64_t n);
  /// N(0, 1), by Marsaglia's polar method (Marsaglia and Bray 1964); draws come in pairs, the second is kept.
  double normal();

 private:
  std::array<std::uint64_t, 4> state_{};
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace headscope::core
