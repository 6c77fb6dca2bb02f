// Runs the built program as a user's shell would, and keeps what it printed.
#pragma once

#include <sys/wait.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace headscope::simulator::test {

/// A folder of its own for one test, removed at its end.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "headscope test XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

struct Ran {
  int status = -1;
  std::string out, errors;
};

/// `before` stands before the program in the shell's line: variables, or "env -u DISPLAY".
inline Ran run_program(const std::vector<std::string>& arguments, const std::string& input = "",
                       const std::string& before = "") {
  const Scratch scratch;
  std::ofstream(scratch / "in", std::ios::binary) << input;
  // what a window keeps is nobody else's; `before` may name a folder of its own
  std::string line = "HEADSCOPE_STATE=" + quoted((scratch / "state").string()) + " " + before + " " +
                     quoted(HEADSCOPE_PROGRAM);
  for (const std::string& argument : arguments) line += " " + quoted(argument);
  line += " <" + quoted((scratch / "in").string()) + " >" + quoted((scratch / "out").string()) + " 2>" +
          quoted((scratch / "errors").string());
  const int status = std::system(line.c_str());
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .out = read_text(scratch / "out"),
          .errors = read_text(scratch / "errors")};
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace headscope::simulator::test
