// "Numbers" of the look's rules, digit by digit.
#include "lessons/number_format.h"

#include <catch2/catch.hpp>

#include <clocale>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace headscope::lessons;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Case {
  double x;
  NumberKind kind;
  std::string text;
};

}  // namespace

TEST_CASE("each kind of number has its digits", "[lessons][number]") {
  using enum NumberKind;
  const std::vector<Case> cases = {{2.894, value, "2.89"},
                                   {-0.81, value, "−0.81"},
                                   {0.005, value, "0.01"},
                                   {1, value, "1.00"},
                                   {-0.25, gradient, "−0.250"},
                                   {0.0424, gradient, "0.042"},
                                   {0.96, probability, "0.96"},
                                   {1, probability, "1.00"},
                                   {0.6034, loss, "0.603"},
                                   {2.72390612, check, "2.7239061"},
                                   {-0.0804467, check, "−0.0804467"},
                                   {17, integer, "17"},
                                   {-3, integer, "−3"},
                                   {123456, integer, "123456"},
                                   {1e9, integer, "1000000000"}};
  for (const Case& c : cases) {
    CAPTURE(c.x);
    CHECK(format_number(c.x, c.kind) == c.text);
  }
}

TEST_CASE("exactly zero is a bare 0, and what rounds to zero has no sign", "[lessons][number]") {
  using enum NumberKind;
  for (const NumberKind kind : {value, gradient, probability, loss, check, integer}) {
    CHECK(format_number(0.0, kind) == "0");
    CHECK(format_number(-0.0, kind) == "0");
  }
  CHECK(format_number(0.004, value) == "0.00");
  CHECK(format_number(-0.004, value) == "0.00");
  CHECK(format_number(-0.004, value, {}, Plus::always) == "0.00");
  CHECK(format_number(-0.4, integer) == "0");
  CHECK(format_digits(-0.04, 1) == "0.0");
}

TEST_CASE("from 100 a number has one digit less", "[lessons][number]") {
  using enum NumberKind;
  CHECK(format_number(99.99, value) == "99.99");
  CHECK(format_number(99.999, value) == "100.0");  // as displayed, it is 100
  CHECK(format_number(100, value) == "100.0");
  CHECK(format_number(-1234.56, value) == "−1234.6");
  CHECK(format_number(100.12345, gradient) == "100.12");
  CHECK(format_number(123.456789012, check) == "123.456789");
}

TEST_CASE("tiny and huge numbers are written with a power of ten", "[lessons][number]") {
  using enum NumberKind;
  CHECK(format_number(3.14e-5, value) == "3.1e−5");
  CHECK(format_number(-3.14e-5, gradient) == "−3.1e−5");
  CHECK(format_number(0.0005, gradient) == "0.001");
  CHECK(format_number(0.000499, gradient) == "5.0e−4");
  CHECK(format_number(9.96e-5, value) == "1.0e−4");
  CHECK(format_number(1e-300, value) == "1.0e−300");
  CHECK(format_number(99999, value) == "99999.0");
  CHECK(format_number(100000, value) == "1.0e5");
  CHECK(format_number(99999.96, value) == "1.0e5");  // not 100000.0
  CHECK(format_number(-2.5e10, loss) == "−2.5e10");
  CHECK(format_number(1.23456789e-5, check) == "1.234568e−5");
}

TEST_CASE("infinities and NaN have names", "[lessons][number]") {
  CHECK(format_number(kInfinity, NumberKind::value) == "∞");
  CHECK(format_number(-kInfinity, NumberKind::value) == "−∞");
  CHECK(format_number(std::nan(""), NumberKind::integer) == "NaN");
}

TEST_CASE("a plus stands before differences only", "[lessons][number]") {
  CHECK(format_number(0.207, NumberKind::loss) == "0.207");
  CHECK(format_number(0.207, NumberKind::loss, {}, Plus::always) == "+0.207");
  CHECK(format_number(-0.207, NumberKind::loss, {}, Plus::always) == "−0.207");
  CHECK(format_number(0, NumberKind::loss, {}, Plus::always) == "0");
}

TEST_CASE("a number that does not fit loses digits, then disappears", "[lessons][number]") {
  using Forms = std::vector<std::string>;
  CHECK(number_ladder(2.894, NumberKind::value) == Forms{"2.89", "2.9"});
  CHECK(number_ladder(0.96, NumberKind::probability) == Forms{"0.96", ".96"});
  CHECK(number_ladder(1, NumberKind::probability) == Forms{"1.00", "1.0"});
  CHECK(number_ladder(0.999, NumberKind::probability) == Forms{"1.00", "1.0"});
  CHECK(number_ladder(-0.27, NumberKind::probability) == Forms{"−0.27", "−.27"});
  CHECK(number_ladder(0.002, NumberKind::probability) == Forms{"0.00", ".00"});
  CHECK(number_ladder(-3.1e-5, NumberKind::probability) == Forms{"−3.1e−5", ".00"});
  CHECK(number_ladder(3.1e-5, NumberKind::value) == Forms{"3.1e−5", "3e−5"});
  CHECK(number_ladder(0, NumberKind::value) == Forms{"0"});
  CHECK(number_ladder(7, NumberKind::integer) == Forms{"7"});
}

TEST_CASE("numbers are read with a true minus, a comma or a point", "[lessons][number]") {
  CHECK(parse_number("−1.5") == -1.5);
  CHECK(parse_number("-1,5") == -1.5);
  CHECK(parse_number(" +0.25 ") == 0.25);
  CHECK(parse_number("3.1e−5") == 3.1e-5);
  for (const char* text : {"", "-", "1.2.3", "abc", "1e999", "inf", "nan", "1 2x"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_number(text));
  }
}

TEST_CASE("a German locale changes no number", "[lessons][number]") {
  // where the locale is not installed this still holds, and proves less
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "de_DE"})
    if (std::setlocale(LC_ALL, name) != nullptr) break;
  CHECK(format_number(2.894, NumberKind::value) == "2.89");
  CHECK(format_number(3.14e-5, NumberKind::value) == "3.1e−5");
  std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("the rules' digits and signs are used", "[lessons][number]") {
  const NumberRules rules{.decimal_point = ",", .minus = "-", .value_digits = 3, .scientific_below = 0.1};
  CHECK(format_number(-2.8944, NumberKind::value, rules) == "-2,894");
  CHECK(format_number(0.05, NumberKind::value, rules) == "5,0e-2");
}

TEST_CASE("displayed numbers stay within half a last digit of the truth", "[lessons][number]") {
  for (int i = -4000; i <= 4000; ++i) {
    const double x = i * 0.0237 + 0.0011;
    std::string text = format_number(x, NumberKind::value);
    if (text.starts_with("−")) text = "-" + text.substr(std::string("−").size());
    CAPTURE(x, text);
    CHECK(std::fabs(std::stod(text) - x) <= 0.005 + 1e-12);
  }
}
