// What is wrong with a lesson file, and where.
#pragma once

#include "core/result.h"

#include <string>
#include <vector>

namespace headscope::lessons {

/// One finding. `error.where` is "file:line:column"; `error.key` names `[error.KEY]` of the text file, with
/// its hint.
struct Problem {
  std::string file;
  int line = 1;
  int column = 1;
  core::Error error;
};

using Problems = std::vector<Problem>;

}  // namespace headscope::lessons
