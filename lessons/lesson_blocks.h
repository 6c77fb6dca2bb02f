// Cuts a lesson file into its title, steps, prose and fenced TOML blocks, keeping line numbers. Knows no
// TOML.
#pragma once

#include "lessons/problem.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::lessons {

/// A fenced block whose info string is "toml KIND".
struct FencedBlock {
  std::string kind;
  std::string text;
  int line = 1;  // of the opening fence; the text begins one below
};

/// A heading and what stands below it. The prose has empty lines where blocks stood, so that its lines count.
struct Section {
  std::string title;
  int line = 1;  // of the heading; the prose begins one below
  std::string prose;
  std::vector<FencedBlock> blocks;
};

struct Sections {
  Section lesson;              // the "# " heading, front matter and introduction
  std::vector<Section> steps;  // a "## " heading each
};

/// Problems: lesson.no_title, lesson.title_twice, lesson.unclosed_fence, lesson.control_character (the
/// first).
Sections split_lesson(std::string_view text, const std::string& file, Problems& problems);

/// Adds a problem; its error's `where` becomes "file:line:column".
void add_problem(Problems& problems, const std::string& file, int line, int column, std::string key,
                 std::vector<std::pair<std::string, std::string>> values = {});

/// Orders problems by line and column.
void sort_by_place(Problems& problems);

}  // namespace headscope::lessons
