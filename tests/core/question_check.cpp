#include "core/question_check.h"

#include <optional>
#include <utility>

namespace headscope::core::test {

namespace {

struct Wrong {
  std::string what;
};

/// A mention of a thing, a person or a place, [adjective] head, from its first token to its last.
struct Phrase {
  std::string adjective, head;
  int start = -1, at = -1;  // `at`: the head, which is also the last token
};

struct Place {
  std::string preposition;
  Phrase phrase;
  int at = -1;  // the preposition
};

struct Fact {
  std::string verb;  // its base form; "be" and "have", too
  std::optional<Phrase> person;
  Phrase thing;
  std::optional<Place> place;
};

}  // namespace

struct QuestionChecker::Run {
  const QuestionChecker& lexicon;
  const std::vector<std::string>& tokens;
  Reading& reading;
  int at = 0;

  std::string peek(int ahead = 0) const {
    const auto index = static_cast<std::size_t>(at + ahead);
    return index < tokens.size() ? tokens[index] : "";
  }
  bool skip(const std::string& token) {
    if (peek() != token) return false;
    ++at;
    return true;
  }
  void expect(const std::string& token) {
    if (!skip(token)) throw Wrong{"expected \"" + token + "\", found \"" + peek() + "\""};
  }
  static void require(bool holds, const std::string& what) {
    if (!holds) throw Wrong{what};
  }

  std::string skip_adjective(const std::string& column, const std::string& of) {
    const auto found = lexicon.adjectives_.find(peek());
    if (found == lexicon.adjectives_.end()) return "";
    require(has_member(found->second.at(column), of), peek() + " of a " + of);
    ++at;
    return found->first;
  }
  /// The word after "the" and perhaps an adjective.
  std::string head_ahead() const { return lexicon.adjectives_.contains(peek(1)) ? peek(2) : peek(1); }

  Phrase take_thing() {
    Phrase phrase{.start = at};
    const auto found = lexicon.things_.find(head_ahead());
    require(found != lexicon.things_.end(), "no thing: " + head_ahead());
    expect("the");
    phrase.adjective = skip_adjective("thing", found->second.at("class"));
    phrase.at = at;
    phrase.head = found->first;
    expect(phrase.head);
    return phrase;
  }

  bool at_person() const {
    if (peek() != "the") return lexicon.people_.contains(peek());
    return lexicon.people_.contains(head_ahead());
  }
  Phrase take_person() {
    Phrase phrase{.start = at};
    const bool is_name = !skip("the");
    if (!is_name) phrase.adjective = skip_adjective("person", "yes");
    const auto found = lexicon.people_.find(peek());
    require(found != lexicon.people_.end(), "nobody: " + peek());
    require((found->second.at("kind") == "name") == is_name, "article: " + peek());
    phrase.head = found->first;
    phrase.at = at++;
    return phrase;
  }

  const Row& spot(const std::string& preposition, const std::string& place) const {
    const auto found = lexicon.spots_.find(preposition + " " + place);
    require(found != lexicon.spots_.end(), "no such place: " + preposition + " the " + place);
    return found->second;
  }

  Place take_place(const std::string& use, const Phrase& thing) {
    Place place{.preposition = peek(), .phrase = {}, .at = at};
    ++at;
    place.phrase.start = at;
    const Row& row = spot(place.preposition, head_ahead());
    expect("the");
    place.phrase.adjective = skip_adjective("place", row.at("kind"));
    place.phrase.head = row.at("place");
    place.phrase.at = at;
    expect(place.phrase.head);
    const std::string& of = lexicon.things_.at(thing.head).at("class");
    require(has_member(row.at("holds"), of),
            "a " + of + " " + place.preposition + " the " + place.phrase.head);
    require(has_member(row.at("uses"), use), place.preposition + " the " + place.phrase.head + ": no " + use);
    require(thing.head != place.phrase.head, "a thing in itself");
    return place;
  }

  const Row& verb_of(const std::string& base, const Phrase& thing) const {
    const Row& verb = lexicon.verbs_.at(base);
    const std::string& of = lexicon.things_.at(thing.head).at("class");
    require(has_member(verb.at("thing"), of), base + " a " + of);
    return verb;
  }

  Fact take_fact() {
    Fact fact;
    if (at_person()) {
      fact.person = take_person();
      const std::string form = peek();
      ++at;
      if (form == "has") {
        fact.verb = "have";
        fact.thing = take_thing();
      } else {
        const auto base = lexicon.base_.find(form);
        require(base != lexicon.base_.end(), "no past: " + form);
        fact.verb = base->second;
        fact.thing = take_thing();
        const Row& verb = verb_of(fact.verb, fact.thing);
        if (peek() != ".") fact.place = take_place(verb.at("place"), fact.thing);
        require(fact.place || verb.at("alone") == "yes", fact.verb + " without a place");
      }
    } else {
      fact.verb = "be";
      fact.thing = take_thing();
      expect("is");
      fact.place = take_place("spot", fact.thing);
    }
    expect(".");
    return fact;
  }

  /// What the question names.
  struct Question {
    int word = -1;
    std::string kind, verb;  // the verb's base form
    std::optional<Phrase> thing, person;
    std::string preposition, place;  // "what is on the table ?"
    int place_at = -1;
  };

  Question take_question() {
    Question question{.word = at, .kind = peek()};
    ++at;
    const auto base = [&](const std::string& form) {
      require(lexicon.verbs_.contains(form), "no verb: " + form);
      return form;
    };
    if (question.kind == "where" && skip("is")) {
      question.verb = "be";
      question.thing = take_thing();
    } else if (question.kind == "where") {
      expect("did");
      question.person = take_person();
      question.verb = base(peek());
      ++at;
      question.thing = take_thing();
    } else if (question.kind == "what" && skip("is")) {
      question.verb = "be";
      question.preposition = peek();
      ++at;
      expect("the");
      question.place_at = at;
      question.place = peek();
      ++at;
      spot(question.preposition, question.place);
    } else if (question.kind == "what") {
      expect("did");
      question.person = take_person();
      question.verb = base(peek());
      ++at;
    } else {
      require(question.kind == "who", "no question word: " + question.kind);
      const std::string form = peek();
      ++at;
      if (form == "has") {
        question.verb = "have";
      } else {
        const auto found = lexicon.base_.find(form);
        require(found != lexicon.base_.end(), "no past: " + form);
        question.verb = found->second;
      }
      question.thing = take_thing();
    }
    reading.read = at - 1;
    expect("?");
    return question;
  }

  static bool fits(const Phrase& asked, const Phrase& told) {
    return asked.head == told.head && (asked.adjective.empty() || asked.adjective == told.adjective);
  }
  static bool answers(const Question& question, const Fact& fact) {
    if (question.verb != fact.verb) return false;
    if (question.thing && !fits(*question.thing, fact.thing)) return false;
    if (question.person && (!fact.person || !fits(*question.person, *fact.person))) return false;
    if (question.place_at >= 0 && (!fact.place || fact.place->preposition != question.preposition ||
                                   fact.place->phrase.head != question.place))
      return false;
    return question.kind != "where" || fact.place.has_value();
  }

  /// One entity, as far as the text tells: two adjectives make two of them.
  static bool is_same(const Phrase& left, const Phrase& right) {
    return left.head == right.head &&
           (left.adjective.empty() || right.adjective.empty() || left.adjective == right.adjective);
  }

  void link_facts(const Question& question, const std::vector<Fact>& facts, const Fact& asked) const {
    const auto link = [&](const char* relation, int query, int key) {
      reading.links.insert({relation, query, key});
    };
    for (const Fact& fact : facts) {
      if (question.kind == "where" && fact.place) link("question_candidate", question.word, fact.place->at);
      if (question.kind == "what") link("question_candidate", question.word, fact.thing.at);
      if (question.kind == "who" && fact.person) link("question_candidate", question.word, fact.person->at);
      if (question.thing && is_same(*question.thing, fact.thing))
        link("mention_mention", fact.thing.at, question.thing->at);
      if (question.person && fact.person && is_same(*question.person, *fact.person))
        link("mention_mention", fact.person->at, question.person->at);
      if (&fact == &asked && question.place_at >= 0)
        link("mention_mention", fact.place->phrase.at, question.place_at);
    }
    if (question.thing) link("question_fact", question.thing->at, asked.thing.at);
    if (question.person) link("question_fact", question.person->at, asked.person->at);
    if (question.place_at >= 0) link("question_fact", question.place_at, asked.place->phrase.at);
    if (question.kind == "where") {
      link("answer_entity", asked.place->at, asked.thing.at);
      link("answer_question", asked.place->at, question.word);
    } else if (question.kind == "what") {
      link("answer_entity", asked.thing.at,
           question.place_at >= 0 ? asked.place->phrase.at : asked.person->at);
      link("answer_question", asked.thing.at, question.word);
    } else {
      link("answer_entity", asked.person->at, asked.thing.at);
      link("answer_question", asked.person->at, question.word);
    }
  }

  void row() {
    expect("<begin>");
    const Question question = take_question();
    reading.kind = question.kind;
    expect("<separator>");
    std::vector<Fact> facts;
    while (at < static_cast<int>(tokens.size())) facts.push_back(take_fact());
    require(facts.size() == 2 || facts.size() == 3, "two or three facts");
    const Fact* asked = nullptr;
    for (const Fact& fact : facts) {
      reading.combinations.insert(
          fact.verb == "be" ? fact.thing.head + " " + fact.place->preposition + " " + fact.place->phrase.head
                            : fact.person->head + " " + fact.verb + " " + fact.thing.head);
      if (!answers(question, fact)) continue;
      require(!asked, "two facts answer");
      asked = &fact;
    }
    require(asked != nullptr, "no fact answers");
    // one thing in two places, or bought by two people, would leave open what is true
    for (const Fact& fact : facts)
      for (const Fact& other : facts) {
        if (&fact == &other) continue;
        require(fact.verb != other.verb || !is_same(fact.thing, other.thing), "one thing told twice");
        require(!fact.place || !other.place || fact.place->preposition != other.place->preposition ||
                    fact.place->phrase.head != other.place->phrase.head,
                "a place twice");
      }
    if (question.kind == "where") {
      reading.start = asked->place->at, reading.end = asked->place->phrase.at;
    } else {
      const Phrase& answer = question.kind == "what" ? asked->thing : *asked->person;
      reading.start = answer.start, reading.end = answer.at;
    }
    link_facts(question, facts, *asked);
  }
};

QuestionChecker::QuestionChecker()
    : things_(read_words("questions", "things.tsv")),
      adjectives_(read_words("questions", "adjectives.tsv")),
      people_(read_words("questions", "people.tsv")),
      verbs_(read_words("questions", "verbs.tsv", "base")) {
  for (const auto& [base, verb] : verbs_) base_[verb.at("past")] = base;
  for (Row& row : read_rows("questions", "spots.tsv"))
    spots_.emplace(row.at("preposition") + " " + row.at("place"), row);
}

QuestionChecker::Reading QuestionChecker::read(const std::vector<std::string>& tokens) const {
  Reading reading;
  try {
    Run{*this, tokens, reading}.row();
  } catch (const Wrong& wrong) {
    reading.wrong = wrong.what;
  }
  return reading;
}

}  // namespace headscope::core::test
