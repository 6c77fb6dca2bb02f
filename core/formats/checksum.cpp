#include "core/formats/checksum.h"

#include "core/hash.h"

#include <array>
#include <bit>
#include <cstddef>

namespace headscope::core {

std::uint64_t hash_numbers(std::span<const float> numbers, std::uint64_t hash) {
  for (const float number : numbers) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    std::array<char, 4> bytes{};
    for (std::size_t place = 0; place < bytes.size(); ++place)
      bytes[place] = static_cast<char>(static_cast<unsigned char>(bits >> (8 * place)));
    hash = fnv1a({bytes.data(), bytes.size()}, hash);
  }
  return hash;
}

std::string hexadecimal(std::uint64_t number) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[number >> shift & 0xfU];
  return text;
}

}  // namespace headscope::core
