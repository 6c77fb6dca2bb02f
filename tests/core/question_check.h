// What a row of question answering must be, found from its words alone: a reader written by hand, which knows
// the tables of words and nothing of the grammar files.
#pragma once

#include "core/lexicon_table.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace headscope::core::test {

class QuestionChecker {
 public:
  QuestionChecker();

  struct Reading {
    std::string wrong;  // empty: the row is sound, and one fact alone answers
    int start = 0, end = 0, read = 0;
    std::set<NamedLink> links;
    std::set<std::string> combinations;  // what must not be both trained on and held out
    std::string kind;                    // where, what or who
  };
  /// Of "<begin>", the question, "<separator>", the facts.
  Reading read(const std::vector<std::string>& tokens) const;

 private:
  struct Run;
  std::map<std::string, Row> things_, adjectives_, people_, verbs_;  // verbs by their base form
  std::map<std::string, std::string> base_;                          // of a past form
  std::map<std::string, Row> spots_;                                 // "in box"
};

}  // namespace headscope::core::test
