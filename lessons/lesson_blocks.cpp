// Cuts a lesson file into sections, line by line.
#include "lessons/lesson_blocks.h"

#include "core/printable.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace headscope::lessons {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// An opening fence: its character, its length and its info string (CommonMark 0.30, section 4.5).
struct Fence {
  char mark = '`';
  std::size_t length = 0;
  std::string info;  // its own: the line may have been made, without its control characters
};

std::optional<Fence> read_fence(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin > 3) return std::nullopt;  // an empty line, too: npos
  const char mark = line[begin];
  if (mark != '`' && mark != '~') return std::nullopt;
  std::size_t end = begin;
  while (end < line.size() && line[end] == mark) ++end;
  if (end - begin < 3) return std::nullopt;
  const std::string_view info = trimmed(line.substr(end));
  if (mark == '`' && info.find('`') != std::string_view::npos) return std::nullopt;
  return Fence{mark, end - begin, std::string(info)};
}

bool closes(const Fence& fence, std::string_view line) {
  const std::optional<Fence> other = read_fence(line);
  return other && other->mark == fence.mark && other->length >= fence.length && other->info.empty();
}

/// "title" of "## title", where the line is a heading of that level.
std::optional<std::string> heading(std::string_view line, std::string_view marks) {
  if (!line.starts_with(marks) || line.size() <= marks.size()) return std::nullopt;
  const char after = line[marks.size()];
  if (after != ' ' && after != '\t') return std::nullopt;
  return std::string(trimmed(line.substr(marks.size())));
}

class Splitter {
 public:
  Splitter(const std::string& file, Problems& problems) : file_(file), problems_(problems) {}
  void add_line(std::string_view line);
  void add_control(std::string_view line, std::size_t at);
  Sections finish();

 private:
  Section& section() { return sections_.steps.empty() ? sections_.lesson : sections_.steps.back(); }
  void open_fence(const Fence& fence, std::string_view line);
  bool add_heading(std::string_view line);

  const std::string& file_;
  Problems& problems_;
  Sections sections_;
  int line_ = 0;
  bool has_title_ = false, has_control_ = false;
  std::optional<Fence> fence_;
  int fence_line_ = 0;
  bool is_block_ = false;  // the open fence is one of ours
};

void Splitter::open_fence(const Fence& fence, std::string_view line) {
  fence_ = fence;
  fence_line_ = line_;
  is_block_ = fence.info.starts_with("toml ");
  if (is_block_) {
    section().blocks.push_back({std::string(trimmed(std::string_view(fence.info).substr(5))), "", line_});
    section().prose += '\n';
  } else {
    section().prose += std::string(line) + '\n';
  }
}

bool Splitter::add_heading(std::string_view line) {
  if (const auto title = heading(line, "#")) {
    if (has_title_) add_problem(problems_, file_, line_, 1, "lesson.title_twice", {{"title", *title}});
    if (!has_title_) sections_.lesson = {*title, line_, "", {}};
    has_title_ = true;
    return true;
  }
  if (const auto title = heading(line, "##")) {
    sections_.steps.push_back({*title, line_, "", {}});
    return true;
  }
  return false;
}

/// A line that may hold anything, an escape sequence for instance: told once, and added without it.
void Splitter::add_control(std::string_view line, std::size_t at) {
  if (!std::exchange(has_control_, true))
    add_problem(problems_, file_, line_ + 1, static_cast<int>(at) + 1, "lesson.control_character");
  add_line(core::printable(line, core::Unprintable::blank));
}

void Splitter::add_line(std::string_view line) {
  if (const std::size_t at = core::find_control(line); at != std::string_view::npos)
    return add_control(line, at);
  ++line_;
  if (fence_) {
    const bool is_end = closes(*fence_, line);
    if (is_block_) {
      if (!is_end) section().blocks.back().text += std::string(line) + '\n';
      section().prose += '\n';
    } else {
      section().prose += std::string(line) + '\n';
    }
    if (is_end) fence_.reset();
    return;
  }
  if (const std::optional<Fence> fence = read_fence(line)) return open_fence(*fence, line);
  if (!add_heading(line)) section().prose += std::string(line) + '\n';
}

Sections Splitter::finish() {
  if (fence_)
    add_problem(problems_, file_, fence_line_, 1, "lesson.unclosed_fence", {{"info", fence_->info}});
  if (!has_title_) add_problem(problems_, file_, 1, 1, "lesson.no_title");
  return std::move(sections_);
}

}  // namespace

Sections split_lesson(std::string_view text, const std::string& file, Problems& problems) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark is no text
  Splitter splitter(file, problems);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    splitter.add_line(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return splitter.finish();
}

void add_problem(Problems& problems, const std::string& file, int line, int column, std::string key,
                 std::vector<std::pair<std::string, std::string>> values) {
  const std::string where = file + ":" + std::to_string(line) + ":" + std::to_string(column);
  problems.push_back({file, line, column, {std::move(key), where, std::move(values)}});
}

void sort_by_place(Problems& problems) {
  std::stable_sort(problems.begin(), problems.end(), [](const Problem& left, const Problem& right) {
    return std::pair(left.line, left.column) < std::pair(right.line, right.column);
  });
}

}  // namespace headscope::lessons
