// A state's numbers to the bit: what an undo or a replay must bring back.
#pragma once

#include "simulator/app_state.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace headscope::simulator::test {

/// The values of every tensor of real numbers.
inline std::vector<float> all_numbers(const AppState& state) {
  std::vector<float> numbers;
  const core::Trace<float> trace = state.session.trace();
  for (std::uint32_t index = 0; index < state.session.graph().n_tensors(); ++index)
    if (state.session.graph().spec({index}).element == core::Element::real) {
      const auto values = trace.workspace().values({index});
      numbers.insert(numbers.end(), values.begin(), values.end());
    }
  return numbers;
}

inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace headscope::simulator::test
