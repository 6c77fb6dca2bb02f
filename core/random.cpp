// xoshiro256** and splitmix64, after the public-domain descriptions by Blackman and Vigna (prng.di.unimi.it).
#include "core/random.h"

#include "core/hash.h"

#include <bit>
#include <cmath>

namespace headscope::core {

namespace {

/// Advances `state` and returns the next number of splitmix64.
std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// The seed is mixed before the name enters: seeds 1 and 2 then differ in half their bits, not in one.
std::uint64_t stream_seed(std::uint64_t seed, std::string_view stream) {
  return splitmix64(seed) ^ fnv1a(stream);
}

}  // namespace

Rng::Rng(std::uint64_t seed) {
  for (std::uint64_t& word : state_) word = splitmix64(seed);
}

Rng::Rng(std::uint64_t seed, std::string_view stream) : Rng(stream_seed(seed, stream)) {}

std::uint64_t Rng::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::uniform() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

std::uint64_t Rng::below(std::uint64_t n) {
  // the high half of next() · n is the number; of the low halves, those below 2^64 mod n would come once too
  // often
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(next()) * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t least = -n % n;
    while (static_cast<std::uint64_t>(product) < least) product = static_cast<Wide>(next()) * n;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Rng::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  double u = 0, v = 0, square = 0;
  do {
    u = 2 * uniform() - 1;
    v = 2 * uniform() - 1;
    // fma by name: whether the compiler fuses u·u + v·v depends on its flags, and the bits would with it
    square = std::fma(u, u, v * v);
  } while (square >= 1 || square == 0);
  const double factor = std::sqrt(-2 * std::log(square) / square);
  spare_ = v * factor;
  has_spare_ = true;
  return u * factor;
}

}  // namespace headscope::core
