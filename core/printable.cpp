// Which characters those are: Unicode's categories by utf8proc, and the bidirectional controls (Unicode
// Standard Annex 9, section 2).
#include "core/printable.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace headscope::core {

namespace {

using Codepoint = utf8proc_int32_t;

struct Character {
  std::string_view bytes;
  Codepoint code = -1;  // -1: a byte that is no UTF-8
};

/// Precondition: text is not empty.
Character first_character(std::string_view text) {
  Codepoint code = -1;
  const utf8proc_ssize_t n_bytes =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size(), 4)), &code);
  if (n_bytes <= 0) return {text.substr(0, 1), -1};
  return {text.substr(0, static_cast<std::size_t>(n_bytes)), code};
}

bool turns_direction(Codepoint c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

bool is_printable(Codepoint c) {
  if (c < 0) return false;
  const utf8proc_category_t category = utf8proc_category(c);
  return category != UTF8PROC_CATEGORY_CC && category != UTF8PROC_CATEGORY_ZL &&
         category != UTF8PROC_CATEGORY_ZP && !turns_direction(c);
}

/// "\x1b" or "\u202e".
std::string escape(const Character& character) {
  const auto code = static_cast<unsigned>(character.code < 0 ? static_cast<unsigned char>(character.bytes[0])
                                                             : character.code);
  std::array<char, 8> digits{};
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), code, 16).ptr;
  const std::string number(digits.data(), static_cast<std::size_t>(end - digits.data()));
  const std::size_t n_digits = code < 0x100 ? 2 : 4;
  return (n_digits == 2 ? "\\x" : "\\u") + std::string(n_digits - std::min(n_digits, number.size()), '0') +
         number;
}

}  // namespace

std::string printable(std::string_view text, Unprintable unprintable, std::size_t most) {
  std::string result;
  result.reserve(std::min(text.size(), most));
  while (!text.empty()) {
    const Character character = first_character(text);
    text.remove_prefix(character.bytes.size());
    if (result.size() + character.bytes.size() > most) return result + "…";
    if (is_printable(character.code))
      result += character.bytes;
    else if (unprintable == Unprintable::escaped)
      result += escape(character);
    else
      result += character.code < 0 ? "\uFFFD" : " ";
  }
  return result;
}

std::size_t find_control(std::string_view text) {
  for (std::size_t place = 0; place < text.size();) {
    const Character character = first_character(text.substr(place));
    const bool is_layout = character.code == '\t' || character.code == '\n' || character.code == '\r';
    const bool is_control = character.code < 0 || utf8proc_category(character.code) == UTF8PROC_CATEGORY_CC;
    if (is_control && !is_layout) return place;
    place += character.bytes.size();
  }
  return std::string_view::npos;
}

}  // namespace headscope::core
