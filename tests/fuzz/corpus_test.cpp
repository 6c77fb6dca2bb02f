// Every file of the corpus through its target as ordinary code: what once crashed a loader never does again.
#include "tests/fuzz/targets.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace headscope::fuzz;
namespace fs = std::filesystem;

namespace {

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("every file of the corpus is refused or accepted, within the memory allowed", "[fuzz]") {
  for (const Target& target : kTargets) {
    int n_files = 0;
    for (const fs::directory_entry& file :
         fs::directory_iterator(headscope::tests::source_folder() / "tests/fuzz/corpus" / target.name)) {
      INFO(file.path().string());
      const std::string bytes = bytes_of(file.path());
      std::size_t peak = 0;
      CHECK_NOTHROW(peak = peak_bytes(target, bytes));
      CHECK(peak <= bytes.size() + kAllowance);
      ++n_files;
    }
    INFO(target.name);
    CHECK(n_files > 0);
  }
}

TEST_CASE("every folder of the corpus has its target", "[fuzz]") {
  for (const fs::directory_entry& folder :
       fs::directory_iterator(headscope::tests::source_folder() / "tests/fuzz/corpus")) {
    INFO(folder.path().string());
    CHECK(std::count_if(kTargets.begin(), kTargets.end(), [&](const Target& target) {
            return target.name == folder.path().filename().string();
          }) == 1);
  }
}

TEST_CASE("the heap meter sees what a target took and gave back", "[fuzz]") {
  constexpr Target kTakes = {"takes",
                             [](std::string_view bytes) { const std::string copy(100 * bytes.size(), 'x'); }};
  const std::string bytes(10'000, 'x');
  CHECK(peak_bytes(kTakes, bytes) >= 1'000'000);
  CHECK(peak_bytes(kTakes, bytes) < 1'100'000);  // what it gave back the first time is not held the second
}
