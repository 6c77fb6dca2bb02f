// Where the project's own files are, for tests that read them. A function, not a definition on the command
// line: the objects of the tests are then the same in every clone, and ccache may reuse them.
#pragma once

#include <filesystem>

namespace headscope::tests {

std::filesystem::path source_folder();

}  // namespace headscope::tests
