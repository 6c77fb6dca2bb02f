// The line that headscope train writes over itself: it fits, whatever the terminal's width.
#include "simulator/command_line/train_report.h"
#include "simulator/terminal/text_layout.h"
#include "tests/simulator/program.h"

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace headscope::simulator;
using namespace headscope::simulator::test;
using Catch::Matchers::Contains;

/// What a program prints whose standard error is a terminal of so many columns, 0: one that does not say.
std::string on_terminal(std::uint16_t n_columns, const std::vector<std::string>& arguments) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(terminal >= 0);
  REQUIRE(::grantpt(terminal) == 0);
  REQUIRE(::unlockpt(terminal) == 0);
  const std::string name = ::ptsname(terminal);
  const int other_end = ::open(name.c_str(), O_RDWR | O_NOCTTY);
  REQUIRE(other_end >= 0);
  winsize size{};
  size.ws_col = n_columns;
  size.ws_row = 24;
  REQUIRE(::ioctl(other_end, TIOCSWINSZ, &size) == 0);
  std::string line = quoted(HEADSCOPE_PROGRAM);
  for (const std::string& argument : arguments) line += " " + quoted(argument);
  line += " >/dev/null 2>" + quoted(name) + " &";
  REQUIRE(std::system(line.c_str()) == 0);
  std::string text;
  char buffer[4096];
  ::close(other_end);  // the program's is then the only one; its end is the end of what can be read
  for (ssize_t n_read = 0; (n_read = ::read(terminal, buffer, sizeof buffer)) != 0;) {
    if (n_read < 0 && text.empty()) continue;  // the program has not opened it yet
    if (n_read < 0) break;
    text.append(buffer, static_cast<std::size_t>(n_read));
  }
  ::close(terminal);
  return text;
}

}  // namespace

TEST_CASE("a progress line leaves out the least wanted first", "[simulator][command_line]") {
  const std::vector<ProgressPart> parts = {
      {0, "5/9"}, {1, "loss 1.2"}, {2, ""}, {4, "7 steps/s"}, {3, "0:01 left"}};
  CHECK(progress_line(0.5, parts, 80) == "██████████░░░░░░░░░░ 5/9 · loss 1.2 · 7 steps/s · 0:01 left");
  CHECK(progress_line(0.5, parts, 44) == "██░░░ 5/9 · loss 1.2 · 7 steps/s · 0:01 left");
  CHECK(progress_line(0, parts, 38) == "5/9 · loss 1.2 · 7 steps/s · 0:01 left");
  CHECK(progress_line(1, parts, 37) == "██████████ 5/9 · loss 1.2 · 0:01 left");
  CHECK(progress_line(1, parts, 25) == "██████████ 5/9 · loss 1.2");
  CHECK(progress_line(1, parts, 13) == "█████ 5/9");
  CHECK(progress_line(1, parts, 3) == "5/9");
  CHECK(progress_line(1, parts, 2) == "5…");
  for (std::size_t n_columns = 1; n_columns < 90; ++n_columns)
    CHECK(terminal::display_width(progress_line(0.3, parts, n_columns)) <= n_columns);
}

TEST_CASE("the progress of a training never wraps", "[simulator][command_line]") {
  for (const std::uint16_t n_columns : std::vector<std::uint16_t>{80, 60, 40, 20, 0}) {
    INFO(n_columns);
    const Scratch scratch;
    const std::string text =
        on_terminal(n_columns, {"train", "--task", "look-ups", "--steps", "60", "--evaluate-every", "20",
                                "--out", (scratch / "run").string()});
    CHECK_THAT(text, Contains("60/60"));
    std::size_t n_lines = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
      std::string line = text.substr(begin, end - begin);
      begin = end + 1;
      if (const std::size_t erase = line.find("\x1b[K"); erase != std::string::npos) line.erase(erase, 3);
      if (line.empty()) continue;
      INFO(line);
      CHECK(terminal::display_width(line) < (n_columns > 0 ? n_columns : 80U));
      ++n_lines;
    }
    CHECK(n_lines > 1);
  }
}
