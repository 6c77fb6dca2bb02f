// Every error that the core can return has words in assets/text/en.toml.
#include "core/temporary_folder.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

namespace fs = std::filesystem;
using headscope::tests::read_text;

namespace {

/// The keys in the core's sources, by the families that errors belong to.
std::set<std::string> error_keys() {
  static constexpr const char* kKey =
      R"key("((batch|checkpoint|config|edit|file|grammar|history|json|model|optimiser|run|safetensors|session|task|text|train|training|vocabulary)\.[a-z_]+)")key";
  const std::regex pattern(kKey);
  std::set<std::string> keys;
  for (const fs::directory_entry& file :
       fs::recursive_directory_iterator(headscope::tests::source_folder() / "core")) {
    if (file.path().extension() != ".cpp") continue;
    const std::string source = read_text(file.path());
    for (std::sregex_iterator match(source.begin(), source.end(), pattern), end; match != end; ++match)
      keys.insert((*match)[1]);
  }
  for (const char* file_name : {"config.json", "model.json", "model.safetensors", "run.json", "history.csv"})
    keys.erase(file_name);
  return keys;
}

/// The lines about an error: `"KEY" = { … }`, or a table `[error."KEY"]` to the next one. Empty if there are
/// none.
std::string find_entry(const std::string& words, const std::string& key) {
  if (const std::size_t line = words.find("\n\"" + key + "\" = {"); line != std::string::npos)
    return words.substr(line, words.find('\n', line + 1) - line);
  const std::size_t table = words.find("\n[error.\"" + key + "\"]\n");
  return table == std::string::npos ? "" : words.substr(table, words.find("\n[", table + 1) - table);
}

}  // namespace

TEST_CASE("every error of the core has words and a hint", "[core][text]") {
  const std::string words = read_text(headscope::tests::source_folder() / "assets/text/en.toml");
  const std::set<std::string> keys = error_keys();
  CHECK(keys.size() > 50);  // else the search itself is broken
  for (const std::string& key : keys) {
    INFO(key);
    const std::string entry = find_entry(words, key);
    CHECK(entry.find("what = ") != std::string::npos);
    CHECK(entry.find("hint = ") != std::string::npos);
  }
}
