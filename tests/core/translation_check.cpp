// Whether both sides say the same, and which links that gives.
#include "core/translation_check.h"

#include <algorithm>

namespace headscope::tests {

namespace {

bool same(const Phrase& one, const Phrase& other);

bool same(const std::vector<Phrase>& one, const std::vector<Phrase>& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const Phrase& left, const Phrase& right) { return same(left, right); });
}

bool same(const Phrase& one, const Phrase& other) {
  return one.preposition == other.preposition && one.article == other.article && one.degree == other.degree &&
         one.adjective == other.adjective && one.noun == other.noun && one.number == other.number &&
         same(one.owner, other.owner) && same(one.attribute, other.attribute);
}

bool same(const Clause& one, const Clause& other) {
  return one.verb == other.verb && one.modal == other.modal && one.is_negative == other.is_negative &&
         same(one.subject, other.subject) && same(one.recipient, other.recipient) &&
         same(one.object, other.object) && same(one.place, other.place) && one.adverb == other.adverb &&
         one.degree == other.degree && one.weather == other.weather && one.predicate == other.predicate;
}

class Links {
 public:
  std::vector<ExpectedLink> take() {
    std::sort(links_.begin(), links_.end());
    return std::move(links_);
  }

  void align(int english, int german, bool is_sure = true) {
    if (english >= 0 && german >= 0) links_.push_back({"alignment", german, english, is_sure});
  }

  void clause(const Clause& english, const Clause& german) {
    align(english.conjunction_at, german.conjunction_at);
    align(english.modal_at, german.modal_at);
    align(english.negation_at, german.negation_at);
    align(english.adverb_at, german.adverb_at);
    align(english.degree_at, german.degree_at);
    align(english.predicate_at, german.predicate_at);
    align(english.weather_at, german.weather_at);
    align(english.it_at, german.it_at);
    for (int at = english.verb_at; at <= english.verb_end; ++at)
      for (const int target : {german.verb_at, german.particle_at, german.preposition_at}) align(at, target);
    phrases(english.subject, german.subject);
    phrases(english.recipient, german.recipient);
    phrases(english.object, german.object);
    phrases(english.place, german.place);

    link("modal_verb", english.modal_at, english.verb_at);
    link("negation_verb", english.predicate < 0 ? english.negation_at : -1, english.verb_at);
    if (!english.object.empty()) link("verb_object", english.verb_at, english.object[0].noun_at);
    const int finite = german.modal_at >= 0 ? german.modal_at : german.verb_at;
    if (english.subject.empty()) {
      link("verb_subject", english.verb_at, english.it_at);
    } else {
      link("verb_subject", english.verb_at, english.subject[0].noun_at);
      link("adjective_subject", english.predicate_at, english.subject[0].noun_at);
      link("verb_number", finite, english.subject[0].noun_at);
      link_back("verb_agreement", finite, german.subject[0].noun_at);
    }
    if (german.modal_at >= 0) link_back("infinitive_modal", german.verb_at, german.modal_at);
    link_back("particle_verb", german.particle_at, german.verb_at);
    link_back("verb_conjunction", finite, german.conjunction_at);
  }

 private:
  void link(const char* relation, int query, int key) {
    if (query >= 0 && key >= 0) links_.push_back({relation, query, key, true});
  }

  /// Within German: only what has been written can be looked at.
  void link_back(const char* relation, int query, int key) {
    if (key < query) link(relation, query, key);
  }

  void phrases(const std::vector<Phrase>& english, const std::vector<Phrase>& german) {
    for (std::size_t at = 0; at < english.size(); ++at) phrase(english[at], german[at]);
  }

  void phrase(const Phrase& english, const Phrase& german) {
    align(english.preposition_at, german.is_contracted ? german.article_at : german.preposition_at,
          !german.is_contracted);
    align(english.article_at, german.article_at);
    align(english.degree_at, german.degree_at);
    align(english.adjective_at, german.adjective_at);
    align(english.noun_at, german.noun_at);
    link("determiner_noun", english.article_at, english.noun_at);
    link("adjective_noun", english.adjective_at, english.noun_at);
    link("degree_adjective", english.degree_at, english.adjective_at);
    link("article_gender", german.article_at, english.noun_at);
    link("adjective_gender", german.adjective_at, english.noun_at);
    link_back("adjective_article", german.adjective_at, german.article_at);
    if (!english.owner.empty()) link("owner_owned", english.owner[0].noun_at, english.noun_at);
    phrases(english.owner, german.owner);
    phrases(english.attribute, german.attribute);
  }

  std::vector<ExpectedLink> links_;
};

}  // namespace

bool says_the_same(const SentenceReading& english, const SentenceReading& german) {
  return english.kind == german.kind &&
         std::equal(english.clauses.begin(), english.clauses.end(), german.clauses.begin(),
                    german.clauses.end(),
                    [](const Clause& left, const Clause& right) { return same(left, right); });
}

std::vector<ExpectedLink> expected_links(const SentenceReading& english, const SentenceReading& german) {
  Links links;
  links.align(english.teller_at, german.teller_at);
  links.align(english.know_at, german.know_at);
  links.align(english.front_at, german.front_at);
  for (std::size_t at = 0; at < english.clauses.size(); ++at)
    links.clause(english.clauses[at], german.clauses[at]);
  return links.take();
}

std::vector<std::vector<ExpectedLink>> check_translation(const TranslationLexicon& lexicon,
                                                         const Words& english, const Words& german) {
  std::vector<std::vector<ExpectedLink>> found;
  const std::vector<SentenceReading> targets = read_german(lexicon, german);
  if (targets.empty()) return found;
  for (const SentenceReading& source : read_english(lexicon, english))
    for (const SentenceReading& target : targets)
      if (says_the_same(source, target)) found.push_back(expected_links(source, target));
  return found;
}

}  // namespace headscope::tests
