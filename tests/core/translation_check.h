// A checker of translated sentences that does not know the grammar which made them: it parses English and
// German by itself, compares what both say, and works out which words belong together.
#pragma once

#include "core/translation_lexicon.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::tests {

/// "the very old dog beside the house"; positions are those of its words, -1 where it has none.
struct Phrase {
  std::string preposition;  // English
  std::string article;      // English; empty: none
  std::string degree;       // English
  int adjective = -1;
  int noun = -1;
  Number number = Number::singular;
  std::vector<Phrase> owner = {}, attribute = {};  // at most one each
  int preposition_at = -1, article_at = -1, degree_at = -1, adjective_at = -1, noun_at = -1;
  bool is_contracted = false;  // "im": the preposition's place is the article's
};

struct Clause {
  std::string verb;   // VerbEntry::key; "be" for the weather
  std::string modal;  // German, in the singular
  bool is_negative = false;
  std::vector<Phrase> subject = {}, recipient = {}, object = {}, place = {};  // at most one each
  std::string adverb, degree, weather;                                        // English
  int predicate = -1;                                                         // an adjective
  int conjunction_at = -1, verb_at = -1, verb_end = -1, modal_at = -1, negation_at = -1, adverb_at = -1;
  int degree_at = -1, predicate_at = -1, weather_at = -1, it_at = -1;
  int particle_at = -1, preposition_at = -1;  // German
};

struct SentenceReading {
  std::string kind;  // what surrounds the clauses, in English
  std::vector<Clause> clauses = {};
  int teller_at = -1, know_at = -1, front_at = -1;
};

/// Positions of words in their sentences.
struct ExpectedLink {
  std::string relation;
  int query = 0, key = 0;
  bool is_sure = true;
  auto operator<=>(const ExpectedLink&) const = default;
};

using Words = std::vector<std::string>;

/// All ways to understand the sentence; empty: it is none of the language.
std::vector<SentenceReading> read_english(const TranslationLexicon& lexicon, const Words& words);
std::vector<SentenceReading> read_german(const TranslationLexicon& lexicon, const Words& words);

bool says_the_same(const SentenceReading& english, const SentenceReading& german);

/// Every link that two sentences which say the same should have, sorted.
std::vector<ExpectedLink> expected_links(const SentenceReading& english, const SentenceReading& german);

/// The links of each way to understand the pair as a right translation; empty: it is none.
std::vector<std::vector<ExpectedLink>> check_translation(const TranslationLexicon& lexicon,
                                                         const Words& english, const Words& german);

}  // namespace headscope::tests
