// A table of words as the checkers of generated sentences read it: by a reader of their own.
#pragma once

#include "tests/source_folder.h"

#include <algorithm>
#include <compare>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace headscope::core::test {

using Row = std::map<std::string, std::string>;

inline std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) parts.push_back(part);
  return parts;
}

inline bool has_member(const std::string& list, const std::string& member) {
  const std::vector<std::string> members = split(list, ' ');
  return std::find(members.begin(), members.end(), member) != members.end();
}

/// The rows of assets/tasks/`task`/`file`, by column.
inline std::vector<Row> read_rows(const std::string& task, const std::string& file) {
  const std::filesystem::path path = headscope::tests::source_folder() / "assets" / "tasks" / task / file;
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("no table " + path.string());
  std::vector<std::string> columns;
  std::vector<Row> rows;
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> cells = split(line, '\t');
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    if (cells.size() != columns.size()) throw std::runtime_error(path.string() + ": " + line);
    Row& row = rows.emplace_back();
    for (std::size_t column = 0; column < cells.size(); ++column) row[columns[column]] = cells[column];
  }
  return rows;
}

/// The same by the word in the column.
inline std::map<std::string, Row> read_words(const std::string& task, const std::string& file,
                                             const std::string& column = "word") {
  std::map<std::string, Row> words;
  for (Row& row : read_rows(task, file)) {
    const std::string word = row.at(column);
    if (!words.emplace(word, std::move(row)).second) throw std::runtime_error(file + ": " + word + " twice");
  }
  return words;
}

/// How many words of those tables' columns a vocabulary has.
template <class Vocabulary>
std::size_t count_words(const Vocabulary& vocabulary, const std::string& task,
                        const std::vector<std::pair<std::string, std::string>>& columns) {
  std::set<std::string> words;
  for (const auto& [file, column] : columns)
    for (const Row& row : read_rows(task, file))
      if (vocabulary.find(row.at(column))) words.insert(row.at(column));
  return words.size();
}

/// A link by its relation's name, to compare what two sides think.
struct NamedLink {
  std::string relation;
  int query = 0, key = 0;
  auto operator<=>(const NamedLink&) const = default;
};

}  // namespace headscope::core::test
