// A term's arithmetic in one line, as its form says: "1.84 ÷ √4", "exp(0.72 − 2.31)".
#pragma once

#include "core/explain.h"

#include <functional>
#include <string>

namespace headscope::simulator {

/// The factors joined by the signs of the term's form, each written by `write`.
std::string joined_factors(const core::Term& term,
                           const std::function<std::string(const core::Factor&)>& write);

}  // namespace headscope::simulator
