// Text that is safe to print: what is replaced, by what, and what stays.
#include "core/printable.h"

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

using namespace headscope::core;
using namespace std::string_literals;

TEST_CASE("ordinary text of any script is printed as it is", "[core][printable]") {
  for (const char* text : {"", "scores[on, sat]", "naïve", "猫が座った", "שלום", "👨‍👩‍👧",
                           "e\u0301", "{name} ‹key›"})
    CHECK(printable(text) == text);
}

TEST_CASE("what would steer a terminal or break a line is printed as its number", "[core][printable]") {
  CHECK(printable("\x1b[2J\x07") == "\\x1b[2J\\x07");
  CHECK(printable("a\nb\tc\rd") == "a\\x0ab\\x09c\\x0dd");
  CHECK(printable("a\0b"s) == "a\\x00b");
  CHECK(printable("\x7f") == "\\x7f");
  CHECK(printable("\u009b31m") == "\\x9b31m");                   // ESC [ in one character
  CHECK(printable("\u202eevil\u2066") == "\\u202eevil\\u2066");  // right to left from here on
  CHECK(printable("a\u2028b") == "a\\u2028b");
}

TEST_CASE("bytes that are no UTF-8 are printed as numbers", "[core][printable]") {
  CHECK(printable("caf\xe9") == "caf\\xe9");
  CHECK(printable("\xff\xfe") == "\\xff\\xfe");
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // half of a surrogate pair
  CHECK(printable("\xe7\x8c") == "\\xe7\\x8c");           // cut off
}

TEST_CASE("typed text gets blanks instead of numbers", "[core][printable]") {
  CHECK(printable("\x1b[31mcat\u009b\u202e", Unprintable::blank) == " [31mcat  ");
  CHECK(printable("caf\xe9", Unprintable::blank) == "caf\uFFFD");
}

TEST_CASE("long text is cut between characters", "[core][printable]") {
  CHECK(printable("abcdef", Unprintable::escaped, 3) == "abc…");
  CHECK(printable("abc", Unprintable::escaped, 3) == "abc");
  CHECK(printable("猫猫", Unprintable::escaped, 4) == "猫…");
}

TEST_CASE("control characters are found, a line's layout is none", "[core][printable]") {
  CHECK(find_control("a\tb\r\n猫") == std::string_view::npos);
  CHECK(find_control("ab\x1b") == 2);
  CHECK(find_control("猫\0"s) == 3);
  CHECK(find_control("caf\xe9") == 3);
  CHECK(find_control("\u200f\u202e") == std::string_view::npos);  // a lesson in Hebrew may need them
}
