// libFuzzer's entry: one target, HEADSCOPE_FUZZ_TARGET, and the check of its memory. What ends the program
// here is a finding, and libFuzzer keeps the bytes.
#include "tests/fuzz/targets.h"
#include "tests/source_folder.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

std::filesystem::path headscope::tests::source_folder() {
  return HEADSCOPE_SOURCE_DIR;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headscope::fuzz;
  const auto* const target = std::find_if(kTargets.begin(), kTargets.end(), [](const Target& candidate) {
    return candidate.name == HEADSCOPE_FUZZ_TARGET;
  });
  const std::size_t peak = peak_bytes(*target, {reinterpret_cast<const char*>(data), size});
  if (peak > size + kAllowance) {
    std::fprintf(stderr, "%zu bytes of input took %zu bytes of memory, more than its size and %zu\n", size,
                 peak, kAllowance);
    std::abort();
  }
  return 0;
}
