// The one main of every test program, and what the build tells the tests.
#define CATCH_CONFIG_MAIN
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

std::filesystem::path headscope::tests::source_folder() {
  return HEADSCOPE_SOURCE_DIR;
}
