// The checker's English.
#include "core/translation_check.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace headscope::tests {

namespace {

template <class T>
struct Parsed {
  T value;
  std::size_t end = 0;
};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool begins_with_vowel_sound(std::string_view word) {
  return word == "honest" || is_one_of(word.substr(0, 1), {"a", "e", "i", "o", "u"});
}

class English {
 public:
  English(const TranslationLexicon& lexicon, const Words& words) : lexicon_(lexicon), words_(words) {}

  std::vector<SentenceReading> read() {
    if (words_.size() < 3) return {};
    end_ = words_.size() - 1;
    if (words_[end_] == "?") return read_question();
    if (words_[end_] != ".") return {};
    std::vector<SentenceReading> found;
    const auto add = [&](SentenceReading reading, std::vector<Clause> clauses) {
      for (Clause& clause : clauses) {
        SentenceReading& each = found.emplace_back(reading);
        each.clauses.push_back(std::move(clause));
      }
    };
    add({.kind = "plain"}, clauses(0, end_, false));
    const std::array<std::pair<const char*, const char*>, 5> tellers = {
        {{"I", "know"}, {"he", "says"}, {"we", "think"}, {"she", "believes"}, {"they", "say"}}};
    for (const auto& [teller, verb] : tellers)
      if (word(0) == teller && word(1) == verb && word(2) == "that")
        add({.kind = "reported " + word(1), .teller_at = 0, .know_at = 1},
            with_conjunction(2, clauses(3, end_, false)));
    for (const AdverbEntry& adverb : lexicon_.adverbs)
      if (adverb.can_front && word(0) == adverb.english)
        add({.kind = "front " + word(0), .front_at = 0}, clauses(1, end_, false));
    read_joined(found);
    return found;
  }

 private:
  static bool is_conjunction(std::string_view word) {
    return is_one_of(word, {"while", "when", "before", "because", "although"});
  }

  std::string word(std::size_t at) const { return at < words_.size() ? words_[at] : ""; }

  static std::vector<Clause> with_conjunction(std::size_t at, std::vector<Clause> clauses) {
    for (Clause& clause : clauses) clause.conjunction_at = static_cast<int>(at);
    return clauses;
  }

  std::vector<SentenceReading> read_question() {
    std::vector<SentenceReading> found;
    const auto add = [&](const SentenceReading& reading, std::vector<Clause> clauses) {
      for (Clause& clause : clauses) {
        SentenceReading& each = found.emplace_back(reading);
        each.clauses.push_back(std::move(clause));
      }
    };
    add({.kind = "polar"}, clauses(0, end_, true));
    if (is_one_of(word(0), {"when", "where", "why"}))
      add({.kind = "asked " + word(0), .front_at = 0}, clauses(1, end_, true));
    if (word(0) == "do" && word(1) == "you" && word(2) == "know" && word(3) == "whether")
      add({.kind = "whether", .teller_at = 1, .know_at = 2}, with_conjunction(3, clauses(4, end_, false)));
    return found;
  }

  void read_joined(std::vector<SentenceReading>& found) {
    const auto add = [&](const std::string& kind, const std::vector<Clause>& mains,
                         const std::vector<Clause>& sides) {
      for (const Clause& main : mains)
        for (const Clause& side : sides) found.push_back({.kind = kind, .clauses = {main, side}});
    };
    for (std::size_t at = 1; at < end_; ++at) {
      if (word(at) == "," && is_conjunction(word(0)))
        add("first " + word(0), clauses(at + 1, end_, false), with_conjunction(0, clauses(1, at, false)));
      if (is_conjunction(word(at)))
        add("last " + word(at), clauses(0, at, false), with_conjunction(at, clauses(at + 1, end_, false)));
    }
  }

  // Phrases

  std::vector<Parsed<Phrase>> phrases(std::size_t at, bool may_be_long) const {
    std::vector<Parsed<Phrase>> found;
    nominal({}, at, at, may_be_long, found);
    const std::string first = word(at);
    if (!is_one_of(first, {"the", "a", "an", "my", "our", "this", "these", "every", "all", "many", "some",
                           "two", "three"}))
      return found;
    if (is_one_of(first, {"a", "an"}) && begins_with_vowel_sound(word(at + 1)) != (first == "an"))
      return found;
    Phrase phrase{.article = first == "an"      ? "a"
                             : first == "these" ? "this"
                                                : first,
                  .article_at = static_cast<int>(at)};
    nominal(phrase, at + 1, at, may_be_long, found);
    const auto owner = lexicon_.english_nouns.find(word(at + 1));
    if (may_be_long && owner != lexicon_.english_nouns.end() && owner->second.is_owner &&
        is_one_of(first, {"the", "my", "our"})) {
      phrase.noun = static_cast<int>(owner->second.noun), phrase.noun_at = static_cast<int>(at + 1);
      nominal({.article = "owned", .owner = {phrase}}, at + 2, at + 2, may_be_long, found);
    }
    return found;
  }

  /// From the degree on.
  void nominal(Phrase phrase, std::size_t at, std::size_t article_at, bool may_be_long,
               std::vector<Parsed<Phrase>>& found) const {
    for (const auto& [german, english] : lexicon_.degrees)
      if (word(at) == english && phrase.degree.empty())
        phrase.degree = english, phrase.degree_at = static_cast<int>(at);
    if (phrase.degree_at >= 0) ++at;
    const auto adjective = lexicon_.english_adjectives.find(word(at));
    if (adjective != lexicon_.english_adjectives.end())
      phrase.adjective = static_cast<int>(adjective->second), phrase.adjective_at = static_cast<int>(at++);
    else if (phrase.degree_at >= 0)
      return;
    const auto noun = lexicon_.english_nouns.find(word(at));
    if (noun == lexicon_.english_nouns.end() || noun->second.is_owner) return;
    phrase.noun = static_cast<int>(noun->second.noun), phrase.noun_at = static_cast<int>(at);
    phrase.number = noun->second.number;
    if (!can_go_with(phrase, word(article_at), lexicon_.nouns[noun->second.noun].is_mass)) return;
    found.push_back({phrase, at + 1});
    if (!may_be_long || !is_one_of(word(at + 1), {"beside", "behind", "with", "from", "on", "in"})) return;
    for (const Parsed<Phrase>& attribute : prepositional(at + 1)) {
      phrase.attribute = {attribute.value};
      found.push_back({phrase, attribute.end});
    }
  }

  static bool can_go_with(const Phrase& phrase, std::string_view article, bool is_mass) {
    const bool is_plural = phrase.number == Number::plural;
    if (phrase.article.empty()) return is_plural || is_mass;
    if (is_one_of(phrase.article, {"a", "every"}) || article == "this")
      return !is_plural && !(is_mass && article != "this");
    if (is_one_of(phrase.article, {"all", "many", "some", "two", "three"}) || article == "these")
      return is_plural;
    return true;
  }

  std::vector<Parsed<Phrase>> prepositional(std::size_t at) const {
    std::vector<Parsed<Phrase>> found = phrases(at + 1, false);
    for (Parsed<Phrase>& each : found)
      each.value.preposition = word(at), each.value.preposition_at = static_cast<int>(at);
    return found;
  }

  // Clauses

  std::vector<Clause> clauses(std::size_t begin, std::size_t end, bool is_question) const {
    std::vector<Clause> found;
    if (word(begin) == "it" && word(begin + 1) == "was" && end == begin + 3 && !is_question)
      for (const auto& [german, english] : lexicon_.conditions)
        if (word(begin + 2) == english)
          found.push_back({.verb = "be",
                           .weather = english,
                           .verb_at = static_cast<int>(begin + 1),
                           .verb_end = static_cast<int>(begin + 1),
                           .weather_at = static_cast<int>(begin + 2),
                           .it_at = static_cast<int>(begin)});
    Clause clause;
    std::size_t at = begin;
    bool has_did = false;
    if (is_question && !read_auxiliary(clause, at, has_did)) return found;
    for (const Parsed<Phrase>& subject : phrases(at, true)) {
      Clause own = clause;
      own.subject = {subject.value};
      std::size_t next = subject.end;
      bool own_did = has_did;
      if (!is_question) read_auxiliary(own, next, own_did);
      if (word(next) == "not" && (own_did || own.modal_at >= 0))
        own.is_negative = true, own.negation_at = static_cast<int>(next++);
      if (!is_question && own_did && !own.is_negative) continue;  // "he did read": emphasis, not here
      if (own.modal == "muss" && own.is_negative) own.modal = "darf";
      if (own.modal == "kann" && own.is_negative) continue;  // "cannot"
      if (next < end) read_verb(own, next, end, own_did || own.modal_at >= 0, found);
      if (!is_question && own.modal_at < 0 && !own_did) read_copula(own, next, end, found);
    }
    return found;
  }

  bool read_auxiliary(Clause& clause, std::size_t& at, bool& has_did) const {
    const std::array<std::pair<const char*, const char*>, 4> modals = {
        {{"can", "kann"}, {"must", "muss"}, {"should", "sollte"}, {"will", "wird"}}};
    for (const auto& [english, german] : modals)
      if (word(at) == english) {
        clause.modal = german, clause.modal_at = static_cast<int>(at++);
        return true;
      }
    has_did = word(at) == "did";
    if (has_did) ++at;
    return has_did;
  }

  void read_copula(const Clause& before, std::size_t at, std::size_t end, std::vector<Clause>& found) const {
    for (const VerbEntry& verb : lexicon_.verbs) {
      if (!verb.is_copula) continue;
      const bool is_be = verb.infinitive == "be";
      const bool is_plural = before.subject[0].number == Number::plural;
      if (word(at) != (is_be && is_plural ? "were" : verb.past)) continue;
      Clause clause = before;
      clause.verb = verb.key, clause.verb_at = clause.verb_end = static_cast<int>(at);
      std::size_t next = at + 1;
      if (is_be && word(next) == "not")
        clause.is_negative = true, clause.negation_at = static_cast<int>(next++);
      for (const auto& [german, english] : lexicon_.degrees)
        if (word(next) == english && clause.degree.empty())
          clause.degree = english, clause.degree_at = static_cast<int>(next);
      if (clause.degree_at >= 0) ++next;
      const auto adjective = lexicon_.english_adjectives.find(word(next));
      if (adjective == lexicon_.english_adjectives.end() || next + 1 != end) continue;
      clause.predicate = static_cast<int>(adjective->second), clause.predicate_at = static_cast<int>(next);
      found.push_back(std::move(clause));
    }
  }

  /// An adverb of that kind at `at`, if the clause has none yet.
  bool read_adverb(Clause& clause, std::size_t& at, std::string_view kind, std::string_view inside) const {
    if (!clause.adverb.empty()) return false;
    for (const AdverbEntry& adverb : lexicon_.adverbs)
      if (word(at) == adverb.english && adverb.inside == inside && (kind.empty() || adverb.kind == kind)) {
        clause.adverb = adverb.english, clause.adverb_at = static_cast<int>(at++);
        return true;
      }
    return false;
  }

  void read_verb(Clause clause, std::size_t at, std::size_t end, bool is_infinitive,
                 std::vector<Clause>& found) const {
    read_adverb(clause, at, "", "middle");
    for (const VerbEntry& verb : lexicon_.verbs) {
      if (verb.is_copula || word(at) != (is_infinitive ? verb.infinitive : verb.past)) continue;
      if (!verb.particle.empty() && word(at + 1) != verb.particle) continue;
      Clause own = clause;
      own.verb = verb.key, own.verb_at = static_cast<int>(at);
      own.verb_end = own.verb_at + (verb.particle.empty() ? 0 : 1);
      read_objects(own, verb, static_cast<std::size_t>(own.verb_end) + 1, end, found);
    }
  }

  void read_objects(const Clause& clause, const VerbEntry& verb, std::size_t at, std::size_t end,
                    std::vector<Clause>& found) const {
    if (is_one_of(verb.frame, {"durative", "placed", "punctual"}))
      return read_end(clause, verb, at, end, found);
    if (verb.frame != "ditransitive") {
      for (const Parsed<Phrase>& object : phrases(at, true)) {
        Clause own = clause;
        own.object = {object.value};
        read_end(own, verb, object.end, end, found);
      }
      return;
    }
    for (const Parsed<Phrase>& recipient : phrases(at, false))
      for (const Parsed<Phrase>& object : phrases(recipient.end, true)) {
        Clause own = clause;
        own.recipient = {recipient.value}, own.object = {object.value};
        read_end(own, verb, object.end, end, found);
      }
  }

  void read_end(Clause clause, const VerbEntry& verb, std::size_t at, std::size_t end,
                std::vector<Clause>& found) const {
    read_adverb(clause, at, "manner", "end");
    const auto finish = [&](Clause own, std::size_t next) {
      read_adverb(own, next, "time", "end");
      if (next == end) found.push_back(std::move(own));
    };
    finish(clause, at);
    if (!clause.object.empty() || !is_one_of(verb.frame, {"durative", "placed"}) ||
        !is_one_of(word(at), {"in", "on", "by", "behind", "beside", "under"}))
      return;
    for (const Parsed<Phrase>& place : prepositional(at)) {
      if (place.value.article != "the" || place.value.number == Number::plural) continue;
      Clause own = clause;
      own.place = {place.value};
      finish(own, place.end);
    }
  }

  const TranslationLexicon& lexicon_;
  const Words& words_;
  std::size_t end_ = 0;
};

}  // namespace

std::vector<SentenceReading> read_english(const TranslationLexicon& lexicon, const Words& words) {
  return English(lexicon, words).read();
}

}  // namespace headscope::tests
