// Writes the reference pictures anew: reference_pictures --write. Not a test; reference_test.cpp compares.
#include "simulator/platform/png.h"
#include "tests/simulator/reference_views.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

std::filesystem::path headscope::tests::source_folder() {
  return HEADSCOPE_SOURCE_DIR;
}

int main(int n_arguments, char** arguments) {
  using namespace headscope::simulator;
  if (n_arguments != 2 || std::string_view(arguments[1]) != "--write") {
    std::fputs("usage: reference_pictures --write\n", stderr);
    return EXIT_FAILURE;
  }
  try {
    std::filesystem::create_directories(test::reference_folder());
    for (const test::ReferenceView& view : test::reference_views()) {
      const std::filesystem::path file = test::reference_folder() / (view.name + ".png");
      if (const auto written = platform::write_png(file, test::draw_reference(view)); !written)
        throw std::runtime_error(written.error().key + " " + written.error().where);
      std::puts(file.c_str());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
