// A teacher's grammar that holds out nothing, or all: refused when the task is made, since drawing for the
// split that gets nothing would never end.
#include "core/tasks/task.h"
#include "core/temporary_folder.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <string>

using namespace headscope::core;
using namespace headscope::tests;
namespace fs = std::filesystem;

namespace {

/// The pocket grammar with this instead of what its lines hold out.
std::string error_with(const std::string& task, const std::string& hold_out, const std::string& line = "") {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "tasks");
  fs::copy(source_folder() / "assets/tasks" / task, folder.path() / "tasks" / task);
  const fs::path file = folder.path() / "tasks" / task / "pocket.grammar";
  std::string text = read_text(file);
  const std::string begin = "\n  hold out ";
  std::size_t at = text.find(begin);
  REQUIRE(at != std::string::npos);
  text.replace(at, text.find('\n', at + 1) - at, line + begin + hold_out);
  for (at = text.find(begin) + 1; (at = text.find(begin, at)) != std::string::npos;)
    text.erase(at, text.find('\n', at + 1) - at);
  std::ofstream(file, std::ios::binary) << text;
  const auto made = make_task({.name = task}, folder.path());
  return made ? "" : made.error().key;
}

}  // namespace

TEST_CASE("a grammar that holds out nothing is refused", "[core][tasks]") {
  CHECK(error_with("translation", "subject.noun when not subject") == "task.split");
  CHECK(error_with("sentiment", "adjective when not adjective") == "task.split");
  CHECK(error_with("questions", "type when not type") == "task.split");
}

TEST_CASE("a grammar of a single combination is refused, held out or not", "[core][tasks]") {
  for (const char* task : {"translation", "sentiment", "questions"})
    for (int k = 0; k < 12; ++k)  // about one of ten texts is held out
      CHECK(error_with(task, "single", "\n  choose single = v" + std::to_string(k)) == "task.split");
}
