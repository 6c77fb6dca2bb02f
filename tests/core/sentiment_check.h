// What a sentence of the sentiment task must be, found from its words alone: a recogniser written by hand,
// which knows the tables of words and nothing of the grammar files.
#pragma once

#include "core/lexicon_table.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace headscope::core::test {

class SentimentChecker {
 public:
  SentimentChecker();

  struct Reading {
    std::string wrong;        // empty: the sentence is one
    std::vector<int> labels;  // [position], -1 where nothing is asked; position 0 is the sentence's
    std::set<NamedLink> links;
    std::set<std::string> combinations;  // what must not be both trained on and held out
  };
  /// Of "<begin>", the words, ".".
  Reading read(const std::vector<std::string>& tokens) const;

 private:
  struct Run;
  std::map<std::string, Row> nouns_, adjectives_, intensifiers_, judges_, reports_, adverbs_;
  std::set<std::string> venues_;      // "topic preposition word"
  std::map<std::string, Row> verbs_;  // by each of its forms, with "form" beside
};

}  // namespace headscope::core::test
