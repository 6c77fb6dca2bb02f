// The project's own random generator: the same numbers with every standard library.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace headscope::core {

/// xoshiro256** (Blackman and Vigna 2018), seeded by splitmix64.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);
  /// An independent stream for a name: a parameter's numbers do not depend on which others exist.
  Rng(std::uint64_t seed, std::string_view stream);

  std::uint64_t next();
  /// In [0, 1), 53 bits.
  double uniform();
  /// N(0, 1), by Marsaglia's polar method.
  double normal();

 private:
  std::array<std::uint64_t, 4> state_{};
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace headscope::core
