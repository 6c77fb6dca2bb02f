// The checker's German: where the verb stands, and cases, genders and endings that agree.
#include "core/translation_check.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace headscope::tests {

namespace {

struct Parsed {
  Phrase phrase;
  std::size_t end = 0;
};

/// Where the finite verb stands.
enum class Order { second, first, last };

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

struct Preposition {
  std::string_view german, english;
  Case in = Case::dative;
};

constexpr std::array<Preposition, 8> kPrepositions = {{{"neben", "beside"},
                                                       {"hinter", "behind"},
                                                       {"mit", "with"},
                                                       {"aus", "from"},
                                                       {"auf", "on"},
                                                       {"in", "in"},
                                                       {"an", "by"},
                                                       {"unter", "under"}}};

std::string english_conjunction(std::string_view german) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kPairs = {{{"während", "while"},
                                                                                    {"als", "when"},
                                                                                    {"bevor", "before"},
                                                                                    {"weil", "because"},
                                                                                    {"obwohl", "although"}}};
  for (const auto& [own, english] : kPairs)
    if (own == german) return std::string(english);
  return "";
}

class German {
 public:
  German(const TranslationLexicon& lexicon, const Words& words) : lexicon_(lexicon), words_(words) {}

  std::vector<SentenceReading> read() {
    if (words_.size() < 3) return {};
    const std::size_t end = words_.size() - 1;
    const bool is_question = words_[end] == "?";
    if (!is_question && words_[end] != ".") return {};
    const std::size_t comma =
        static_cast<std::size_t>(std::find(words_.begin(), words_.end(), ",") - words_.begin());
    if (std::count(words_.begin(), words_.end(), ",") > 1) return {};
    if (comma < end)
      read_two(comma, end, is_question);
    else
      read_one(end, is_question);
    return std::move(found_);
  }

 private:
  std::string word(std::size_t at) const { return at < words_.size() ? words_[at] : ""; }

  void add(const SentenceReading& reading, std::vector<Clause> clauses) {
    for (Clause& clause : clauses) {
      SentenceReading& each = found_.emplace_back(reading);
      each.clauses.push_back(std::move(clause));
    }
  }

  void read_one(std::size_t end, bool is_question) {
    if (is_question) {
      add({.kind = "polar"}, clauses(0, end, Order::first));
      const std::array<std::pair<const char*, const char*>, 3> askers = {
          {{"wann", "when"}, {"wo", "where"}, {"warum", "why"}}};
      for (const auto& [german, english] : askers)
        if (word(0) == german)
          add({.kind = std::string("asked ") + english, .front_at = 0}, clauses(1, end, Order::first));
      return;
    }
    add({.kind = "plain"}, clauses(0, end, Order::second));
    for (const AdverbEntry& adverb : lexicon_.adverbs)
      if (adverb.can_front && word(0) == adverb.german)
        add({.kind = "front " + adverb.english, .front_at = 0}, clauses(1, end, Order::first));
  }

  void read_two(std::size_t comma, std::size_t end, bool is_question) {
    const std::string after = word(comma + 1);
    const auto last = [&](std::size_t at, std::size_t to) {
      std::vector<Clause> result = clauses(at + 1, to, Order::last);
      for (Clause& clause : result) clause.conjunction_at = static_cast<int>(at);
      return result;
    };
    if (is_question) {
      if (comma == 2 && word(0) == "weißt" && word(1) == "du" && after == "ob")
        add({.kind = "whether", .teller_at = 1, .know_at = 0}, last(3, end));
      return;
    }
    const std::array<std::array<const char*, 3>, 5> tellers = {{{"ich", "weiß", "know"},
                                                                {"er", "sagt", "says"},
                                                                {"wir", "glauben", "think"},
                                                                {"sie", "glaubt", "believes"},
                                                                {"sie", "sagen", "say"}}};
    for (const auto& [teller, verb, english] : tellers)
      if (comma == 2 && word(0) == teller && word(1) == verb && after == "dass")
        add({.kind = std::string("reported ") + english, .teller_at = 0, .know_at = 1}, last(3, end));
    const auto join = [&](const std::string& kind, const std::vector<Clause>& mains,
                          const std::vector<Clause>& sides) {
      for (const Clause& main : mains)
        for (const Clause& side : sides) found_.push_back({.kind = kind, .clauses = {main, side}});
    };
    if (const std::string english = english_conjunction(word(0)); !english.empty())
      join("first " + english, clauses(comma + 1, end, Order::first), last(0, comma));
    if (const std::string english = english_conjunction(after); !english.empty())
      join("last " + english, clauses(0, comma, Order::second), last(comma + 1, end));
  }

  // Phrases

  std::vector<Parsed> phrases(std::size_t at, Case in, bool may_be_long) const {
    std::vector<Parsed> found;
    for (const Gender gender : {Gender::masculine, Gender::feminine, Gender::neuter})
      for (const Number number : {Number::singular, Number::plural})
        nominal({.number = number}, at, in, gender, may_be_long, found);
    const auto [first, last] = lexicon_.articles.equal_range(word(at));
    for (auto article = first; article != last; ++article) {
      if (article->second.in != in) continue;
      nominal({.article = article->second.name,
               .number = article->second.number,
               .article_at = static_cast<int>(at)},
              at + 1, in, article->second.gender, may_be_long, found);
    }
    return found;
  }

  /// From the degree on.
  void nominal(Phrase phrase, std::size_t at, Case in, Gender gender, bool may_be_long,
               std::vector<Parsed>& found) const {
    if (const auto degree = lexicon_.degrees.find(word(at)); degree != lexicon_.degrees.end())
      phrase.degree = degree->second, phrase.degree_at = static_cast<int>(at++);
    const std::string ending = adjective_ending(declension_after(phrase.article), in, gender, phrase.number);
    const auto [first, last] = lexicon_.german_adjectives.equal_range(word(at));
    for (auto adjective = first; adjective != last; ++adjective)
      if (adjective->second.ending == ending) {
        Phrase own = phrase;
        own.adjective = static_cast<int>(adjective->second.adjective),
        own.adjective_at = static_cast<int>(at);
        end_in_noun(own, at + 1, in, gender, may_be_long, found);
      }
    if (phrase.degree_at < 0) end_in_noun(phrase, at, in, gender, may_be_long, found);
  }

  void end_in_noun(Phrase phrase, std::size_t at, Case in, Gender gender, bool may_be_long,
                   std::vector<Parsed>& found) const {
    const auto [first, last] = lexicon_.german_nouns.equal_range(word(at));
    for (auto noun = first; noun != last; ++noun) {
      const NounEntry& entry = lexicon_.nouns[noun->second.noun];
      if (noun->second.in != in || noun->second.number != phrase.number || entry.gender != gender) continue;
      const bool needs_article = phrase.number == Number::singular && !entry.is_mass;
      if (phrase.article.empty() && needs_article) continue;
      if (entry.is_mass && is_one_of(phrase.article, {"a", "every"})) continue;
      phrase.noun = static_cast<int>(noun->second.noun), phrase.noun_at = static_cast<int>(at);
      found.push_back({phrase, at + 1});
      if (may_be_long) add_more(phrase, at + 1, found);
    }
  }

  void add_more(Phrase phrase, std::size_t at, std::vector<Parsed>& found) const {
    for (const Parsed& attribute : prepositional(at, {"neben", "hinter", "mit", "aus", "auf", "in", "im"})) {
      Phrase own = phrase;
      own.attribute = {attribute.phrase};
      found.push_back({own, attribute.end});
    }
    if (phrase.article != "the" || !phrase.attribute.empty()) return;
    for (const Parsed& owner : phrases(at, Case::genitive, false)) {
      const bool is_plain = owner.phrase.adjective < 0 && owner.phrase.number == Number::singular;
      if (!is_plain || !is_one_of(owner.phrase.article, {"the", "my", "our"})) continue;
      Phrase own = phrase;
      own.article = "owned", own.owner = {owner.phrase};
      found.push_back({own, owner.end});
    }
  }

  std::vector<Parsed> prepositional(std::size_t at, std::initializer_list<std::string_view> allowed) const {
    std::vector<Parsed> found;
    const std::string first = word(at);
    if (!is_one_of(first, allowed)) return found;
    const bool is_im = first == "im";
    if (is_im || first == "am") {
      for (const Gender gender : {Gender::masculine, Gender::neuter})
        nominal({.preposition = is_im ? "in" : "by",
                 .article = "the",
                 .article_at = static_cast<int>(at),
                 .is_contracted = true},
                at + 1, Case::dative, gender, false, found);
      return found;
    }
    for (const Preposition& preposition : kPrepositions) {
      if (preposition.german != first) continue;
      if (is_one_of(first, {"in", "an"}) && word(at + 1) == "dem") return found;  // "im", "am"
      found = phrases(at + 1, preposition.in, false);
      for (Parsed& each : found) {
        each.phrase.preposition = preposition.english;
        each.phrase.preposition_at = static_cast<int>(at);
      }
    }
    std::erase_if(found, [](const Parsed& each) { return each.phrase.article == "no"; });
    return found;
  }

  // Clauses

  std::vector<Clause> clauses(std::size_t begin, std::size_t end, Order order) const {
    std::vector<Clause> found;
    if (end < begin + 2) return found;
    const std::size_t subject_at = order == Order::first ? begin + 1 : begin;
    if (order == Order::last && word(begin) == "es") read_weather(begin, end, found);
    for (const Parsed& subject : phrases(subject_at, Case::nominative, true)) {
      if (subject.phrase.article == "no") continue;
      Clause clause;
      clause.subject = {subject.phrase};
      std::size_t finite = begin, from = subject.end, to = end;
      if (order == Order::second) finite = subject.end, from = subject.end + 1;
      if (order == Order::last) finite = --to;
      if (finite >= end || from > to) continue;
      read_modal(clause, finite, from, to, found);
      read_finite(clause, finite, from, to, order, found);
    }
    return found;
  }

  void read_weather(std::size_t begin, std::size_t end, std::vector<Clause>& found) const {
    const auto condition = lexicon_.conditions.find(word(begin + 1));
    if (condition == lexicon_.conditions.end() || word(begin + 2) != "war" || end != begin + 3) return;
    found.push_back({.verb = "be",
                     .weather = condition->second,
                     .verb_at = static_cast<int>(begin + 2),
                     .verb_end = static_cast<int>(begin + 2),
                     .weather_at = static_cast<int>(begin + 1),
                     .it_at = static_cast<int>(begin)});
  }

  void read_modal(Clause clause, std::size_t finite, std::size_t from, std::size_t to,
                  std::vector<Clause>& found) const {
    const std::array<std::pair<const char*, const char*>, 5> modals = {{{"kann", "können"},
                                                                        {"muss", "müssen"},
                                                                        {"sollte", "sollten"},
                                                                        {"wird", "werden"},
                                                                        {"darf", "dürfen"}}};
    for (const auto& [singular, plural] : modals) {
      if (word(finite) != (clause.subject[0].number == Number::plural ? plural : singular) || to <= from)
        continue;
      clause.modal = singular, clause.modal_at = static_cast<int>(finite);
      for (const VerbEntry& verb : lexicon_.verbs)
        if (!verb.is_copula && word(to - 1) == verb.german_infinitive) {
          Clause own = clause;
          own.verb = verb.key, own.verb_at = static_cast<int>(to - 1);
          read_middle(own, verb, from, to - 1, found);
        }
    }
  }

  void read_finite(const Clause& clause, std::size_t finite, std::size_t from, std::size_t to, Order order,
                   std::vector<Clause>& found) const {
    for (const VerbEntry& verb : lexicon_.verbs) {
      const bool is_plural = clause.subject[0].number == Number::plural;
      const std::string& past = is_plural ? verb.german_past_plural : verb.german_past;
      if (word(finite) != (order == Order::last ? verb.german_particle + past : past)) continue;
      Clause own = clause;
      own.verb = verb.key, own.verb_at = static_cast<int>(finite);
      std::size_t end = to;
      if (order != Order::last && !verb.german_particle.empty()) {
        if (to <= from || word(to - 1) != verb.german_particle) continue;
        own.particle_at = static_cast<int>(--end);
      }
      if (verb.is_copula)
        read_predicate(own, verb, from, end, found);
      else
        read_middle(own, verb, from, end, found);
    }
  }

  void read_predicate(Clause clause, const VerbEntry& verb, std::size_t at, std::size_t end,
                      std::vector<Clause>& found) const {
    if (word(at) == "nicht" && verb.infinitive == "be")
      clause.is_negative = true, clause.negation_at = static_cast<int>(at++);
    if (const auto degree = lexicon_.degrees.find(word(at)); degree != lexicon_.degrees.end())
      clause.degree = degree->second, clause.degree_at = static_cast<int>(at++);
    const auto adjective = lexicon_.german_predicatives.find(word(at));
    if (adjective == lexicon_.german_predicatives.end() || at + 1 != end) return;
    clause.predicate = static_cast<int>(adjective->second), clause.predicate_at = static_cast<int>(at);
    found.push_back(std::move(clause));
  }

  bool read_adverb(Clause& clause, std::size_t& at, std::string_view kind) const {
    if (!clause.adverb.empty()) return false;
    for (const AdverbEntry& adverb : lexicon_.adverbs)
      if (word(at) == adverb.german && adverb.kind == kind) {
        clause.adverb = adverb.english, clause.adverb_at = static_cast<int>(at++);
        return true;
      }
    return false;
  }

  /// What stands between the verb's two places, in its order: time, recipient, object, manner, "nicht",
  /// object with a preposition, place.
  void read_middle(Clause clause, const VerbEntry& verb, std::size_t at, std::size_t end,
                   std::vector<Clause>& found) const {
    read_adverb(clause, at, "time");
    if (verb.frame == "ditransitive") {
      for (const Parsed& recipient : phrases(at, Case::dative, false))
        for (const Parsed& object : phrases(recipient.end, Case::accusative, true)) {
          Clause own = clause;
          own.recipient = {recipient.phrase};
          read_object(own, verb, object, end, found);
        }
      return;
    }
    if (verb.frame != "transitive" && verb.frame != "dative")
      return read_negation(clause, verb, at, end, found);
    for (const Parsed& object : phrases(at, verb.frame == "dative" ? Case::dative : Case::accusative, true))
      read_object(clause, verb, object, end, found);
  }

  /// "kein" belongs to an object without "the" and its like, "nicht" to all others.
  void read_object(Clause clause, const VerbEntry& verb, const Parsed& object, std::size_t end,
                   std::vector<Clause>& found) const {
    clause.object = {object.phrase};
    Phrase& phrase = clause.object[0];
    const bool is_indefinite = is_one_of(phrase.article, {"a", ""});
    if (phrase.article == "no") {
      if (verb.frame == "dative") return;
      const bool is_bare =
          phrase.number == Number::plural || lexicon_.nouns[static_cast<std::size_t>(phrase.noun)].is_mass;
      phrase.article = is_bare ? "" : "a";
      clause.is_negative = true;
    }
    for (Clause& own : with_negation(clause, verb, object.end, end))
      if (!(is_indefinite && own.negation_at >= 0)) found.push_back(std::move(own));
  }

  std::vector<Clause> with_negation(const Clause& clause, const VerbEntry& verb, std::size_t at,
                                    std::size_t end) const {
    std::vector<Clause> found;
    read_negation(clause, verb, at, end, found);
    return found;
  }

  void read_negation(Clause clause, const VerbEntry& verb, std::size_t at, std::size_t end,
                     std::vector<Clause>& found) const {
    read_adverb(clause, at, "manner");
    if (word(at) == "nicht" && at < end) {
      if (clause.is_negative) return;
      clause.is_negative = true, clause.negation_at = static_cast<int>(at++);
    }
    if (verb.frame == "prepositional") {
      if (word(at) != verb.preposition) return;
      clause.preposition_at = static_cast<int>(at);
      for (const Parsed& object : phrases(at + 1, verb.preposition_case, true))
        if (object.end == end && object.phrase.article != "no") {
          Clause own = clause;
          own.object = {object.phrase};
          found.push_back(std::move(own));
        }
      return;
    }
    if (at == end) found.push_back(clause);
    if (!is_one_of(verb.frame, {"durative", "placed"})) return;
    for (const Parsed& place : prepositional(at, {"in", "im", "auf", "an", "am", "hinter", "neben", "unter"}))
      if (place.end == end && place.phrase.article == "the" && place.phrase.number == Number::singular) {
        Clause own = clause;
        own.place = {place.phrase};
        found.push_back(std::move(own));
      }
  }

  const TranslationLexicon& lexicon_;
  const Words& words_;
  std::vector<SentenceReading> found_;
};

}  // namespace

std::vector<SentenceReading> read_german(const TranslationLexicon& lexicon, const Words& words) {
  return German(lexicon, words).read();
}

}  // namespace headscope::tests
