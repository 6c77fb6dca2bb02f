// Numbers as people read and type them: one rule for prose, tables and answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headscope::lessons {

/// A true minus (U+2212), `digits` after the point, one less from |x| ≥ 100; scientific below 0.0005 and from
/// 100,000
/// ("3.1e−5"); exactly 0 is "0", never "-0.00"; −∞, ∞, NaN.
std::string number_text(double value, int digits = 2);

/// What a person typed: accepts both minus signs, a decimal comma, ∞, surrounding blanks. Nothing for
/// anything else.
std::optional<double> parse_number(std::string_view text);

}  // namespace headscope::lessons
