// What is wrong with a grammar, collected while it is compiled.
#pragma once

#include "core/tasks/grammar_syntax.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace headscope::core::grammar {

/// The list of errors, and the files that their places are in.
class Problems {
 public:
  Problems(const std::vector<std::string>& files, std::vector<Error>& errors)
      : files_(files), errors_(errors) {}

  bool is_empty() const { return errors_.empty(); }

  /// Runs a part of the work; where it finds something wrong that is collected, and the next part can go on.
  template <class Function>
  void collect(Function function) {
    try {
      function();
    } catch (Wrong& wrong) {
      errors_.push_back(std::move(wrong.error));
    }
  }

  /// Ends the part that is being collected.
  [[noreturn]] void fail(std::string key, const Place& place,
                         std::vector<std::pair<std::string, std::string>> values = {}) const {
    throw Wrong{error_at(std::move(key), files_, place, std::move(values))};
  }

  /// Fails at a name's second use; `names` are those of its kind. Error: grammar.duplicate (name, first).
  void claim(std::map<std::string, Place>& names, const std::string& name, const Place& place) const {
    const auto [first, is_new] = names.emplace(name, place);
    if (!is_new)
      fail("grammar.duplicate", place, {{"name", name}, {"first", std::to_string(first->second.line)}});
  }

 private:
  const std::vector<std::string>& files_;
  std::vector<Error>& errors_;
};

}  // namespace headscope::core::grammar
