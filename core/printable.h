// Text from files, arguments and keyboards, made safe to print: nothing in it steers a terminal or breaks a
// line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace headscope::core {

/// What stands for a character that must not be printed.
enum class Unprintable {
  escaped,  // its number, as "\x1b" or "\u202e"
  blank     // a blank; a byte that is no UTF-8 becomes U+FFFD
};

/// The text with its control characters, line separators, marks that turn the direction of writing, and bytes
/// that are no UTF-8 replaced; beyond `most` bytes an "…" stands for the rest.
std::string printable(std::string_view text, Unprintable unprintable = Unprintable::escaped,
                      std::size_t most = std::string_view::npos);

/// The offset of the first byte that begins no UTF-8 character, or begins a control character other than a
/// tab or a line's end; npos where there is none.
std::size_t find_control(std::string_view text);

}  // namespace headscope::core
