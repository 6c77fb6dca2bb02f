// The checksum of numbers in a file, and how it is written: of checkpoints and session files.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace headscope::core {

/// fnv1a() over the numbers' bytes, little-endian as in a safetensors file, behind the bytes of `hash`.
std::uint64_t hash_numbers(std::span<const float> numbers, std::uint64_t hash);

/// 16 digits, lower case.
std::string hexadecimal(std::uint64_t number);

}  // namespace headscope::core
