#include "core/sentiment_check.h"

#include <cmath>
#include <cstdlib>
#include <utility>

namespace headscope::core::test {

namespace {

struct Wrong {
  std::string what;
};

/// From the classes' definition: ±1.2 and ±.2.
int class_of(double polarity) {
  if (polarity < -1.2) return 0;
  if (polarity < -0.2) return 1;
  if (polarity <= 0.2) return 2;
  return polarity <= 1.2 ? 3 : 4;
}

int sign_of(double number) {
  return number < 0 ? -1 : number > 0 ? 1 : 0;
}

/// How English writes it: by the sound, which the spelling mostly tells.
std::string article_before(const std::string& word) {
  for (const char* consonant : {"use", "uni", "usu", "one"})
    if (word.starts_with(consonant) && !word.starts_with("unim") && !word.starts_with("unin")) return "a";
  if (word.starts_with("hon")) return "an";
  return std::string("aeiou").find(word[0]) == std::string::npos ? "a" : "an";
}

/// An adjective with what bears on it.
struct Quality {
  double polarity = 0;
  int at = 0;
  const Row* adjective = nullptr;
};

struct Clause {
  Quality decides;
  std::string noun;
  const Row* row = nullptr;
  std::string tense;  // past or present
};

}  // namespace

struct SentimentChecker::Run {
  const SentimentChecker& lexicon;
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
  const Row& take(const std::map<std::string, Row>& words, const char* what) {
    const auto found = words.find(peek());
    if (found == words.end()) throw Wrong{std::string("no ") + what + ": \"" + peek() + "\""};
    ++at;
    return found->second;
  }
  const Row& take_noun() {
    expect("the");
    return take(lexicon.nouns_, "noun");
  }

  /// "not" or "never", and where it stands.
  struct Negator {
    std::string word = "none";
    int at = -1;
  };
  Negator skip_negator() {
    Negator negator;
    if (peek() == "not" || peek() == "never") negator = {peek(), at++};
    return negator;
  }

  /// [intensifier] adjective. `noun`: what it is said of.
  Quality quality(const Negator& negator, const Row& noun) {
    Quality result;
    std::string intensity = "none";
    int intensifier_at = -1;
    double factor = 1;
    const Row* intensifier = nullptr;
    if (const auto found = lexicon.intensifiers_.find(peek()); found != lexicon.intensifiers_.end()) {
      intensity = peek(), intensifier_at = at++, intensifier = &found->second;
      factor = intensifier->at("kind") == "amplifier" ? 1.5 : 0.5;
    }
    result.at = at;
    const std::string word = peek();
    const Row& adjective = take(lexicon.adjectives_, "adjective");
    result.adjective = &adjective;
    const double strength = std::atof(adjective.at("strength").c_str());
    result.polarity = strength * factor * (negator.at >= 0 ? -0.5 : 1);
    require(has_member(adjective.at("noun"), noun.at("class")), word + " does not fit a " + noun.at("class"));
    if (intensifier) {
      require(has_member(intensifier->at("scale"), adjective.at("scale")), intensity + " " + word);
      require(has_member(intensifier->at("sign"), strength < 0 ? "negative" : "positive"),
              intensity + " " + word);
      require(factor > 1 || negator.at < 0, "negated " + intensity);
      require(has_member(intensifier->at("negation"), negator.word), negator.word + " " + intensity);
      reading.links.insert({"intensifier_adjective", result.at, intensifier_at});
    }
    if (negator.at >= 0) reading.links.insert({"negator_adjective", result.at, negator.at});
    require(strength != 0 || (!intensifier && negator.at < 0), "more than a neutral word: " + word);
    reading.labels[static_cast<std::size_t>(result.at)] = class_of(result.polarity);
    if (intensifier || negator.at >= 0)
      reading.combinations.insert(negator.word + " " + intensity + " " + word);
    return result;
  }

  static void require_verb(const Row& verb, const Quality& quality, const Row& noun) {
    require(has_member(quality.adjective->at("verb"), verb.at("word")),
            verb.at("word") + " " + quality.adjective->at("word"));
    require(has_member(verb.at("class"), noun.at("class")), verb.at("word") + " of a " + noun.at("class"));
  }

  /// A form of a verb that agrees with the noun. The tense is found, or held against what was found.
  const Row& take_finite(const Row& noun, std::string& tense) {
    const std::string form = peek();
    const Row& verb = take(lexicon.verbs_, "verb");
    const bool is_plural = noun.at("number") == "plural";
    const bool is_past = form == verb.at("past") || form == verb.at("past_plural");
    require(form == verb.at(std::string(is_past ? "past" : "present") + (is_plural ? "_plural" : "")),
            form + " does not agree with " + noun.at("word"));
    set_tense(tense, is_past ? "past" : "present");
    return verb;
  }
  static void set_tense(std::string& tense, const std::string& found) {
    require(tense.empty() || tense == found, "two tenses");
    tense = found;
  }

  Quality predicate(const Row& noun, const Row* rival, bool rival_by_not, std::string& tense) {
    Quality first;
    const Row* verb = nullptr;
    if (peek() == "did" || peek() == "do" || peek() == "does") {
      const std::string helper = peek();
      ++at;
      const bool is_plural = noun.at("number") == "plural";
      require(helper == "did" || helper == (is_plural ? "do" : "does"), helper + " does not agree");
      set_tense(tense, helper == "did" ? "past" : "present");
      const Negator negator = skip_negator();
      require(negator.word == "not", "\"do\" without \"not\"");
      const std::string form = peek();
      verb = &take(lexicon.verbs_, "verb");
      require(form == verb->at("word") && form != "be", "no infinitive: " + form);
      first = quality(negator, noun);
    } else if (peek() == "never") {
      const Negator negator = skip_negator();
      verb = &take_finite(noun, tense);
      require(verb->at("word") != "be", "\"never\" before \"be\"");
      first = quality(negator, noun);
    } else {
      verb = &take_finite(noun, tense);
      const Negator negator = verb->at("word") == "be" ? skip_negator() : Negator();
      first = quality(negator, noun);
      require(!(rival_by_not && negator.at >= 0), "negation beside \"not the …\"");
      if (!rival && negator.at < 0 && (peek() == "but" || peek() == "yet")) {
        const int conjunction = at++;
        const Quality second = quality(skip_negator(), noun);
        require_verb(*verb, first, noun);
        require_verb(*verb, second, noun);
        require(sign_of(first.polarity) * sign_of(second.polarity) < 0, "no contrast of adjectives");
        require(first.adjective->at("aspect") != second.adjective->at("aspect") &&
                    first.adjective->at("aspect") != "none" && second.adjective->at("aspect") != "none",
                "adjectives that contradict each other");
        reading.links.insert({"contrast", 0, conjunction});
        return second;
      }
    }
    require_verb(*verb, first, noun);
    if (rival) require_verb(*verb, first, *rival);
    if (rival)
      require(has_member(first.adjective->at("noun"), rival->at("class")), "a rival that it does not fit");
    return first;
  }

  bool at_judge() const {
    return (peek() == "the" || peek() == "my" || peek() == "our") && lexicon.judges_.contains(peek(1));
  }
  const Row& take_judge() {
    const std::string determiner = peek();
    ++at;
    const Row& judge = take(lexicon.judges_, "judge");
    require(determiner == judge.at("determiner"), determiner + " " + judge.at("word"));
    return judge;
  }

  Clause clause(std::string& tense, const Row* other, bool is_reported) {
    Clause result;
    if (skip("it")) {
      const std::string verb = peek();
      require(verb == "was" || verb == "is", "no verb after \"it\"");
      ++at;
      set_tense(tense, verb == "was" ? "past" : "present");
      const Negator negator = skip_negator();
      const std::string article = peek();
      ++at;
      require(article == article_before(peek()), article + " " + peek());
      // the noun stands last: look ahead past one or two words
      const int ahead = lexicon.nouns_.contains(peek(1)) ? 1 : 2;
      const auto noun = lexicon.nouns_.find(peek(ahead));
      require(noun != lexicon.nouns_.end(), "no noun after the adjective");
      result.row = &noun->second;
      require(noun->second.at("number") == "singular" && has_member(noun->second.at("use"), "naming"),
              "not after an article: " + noun->first);
      result.decides = quality(negator, noun->second);
      expect(noun->first);
    } else if (at_judge()) {
      require(!is_reported, "two judges");
      const Row& judge = take_judge();
      set_tense(tense, "past");
      Negator negator;
      if (skip("did")) {
        negator = skip_negator();
        require(negator.word == "not", "\"did\" without \"not\"");
        expect("find");
      } else {
        expect("found");
      }
      result.row = &take_noun();
      result.decides = quality(negator, *result.row);
      require_shared_topic(judge.at("topic"), result.row->at("topic"));
    } else {
      result.row = &take_noun();
      const Row* rival = nullptr;
      bool rival_by_not = false;
      if (peek() == "," && (peek(1) == "not" || peek(1) == "unlike")) {
        rival_by_not = peek(1) == "not";
        at += 2;
        rival = &take_noun();
        expect(",");
        require(rival != result.row && rival != other, "a rival of itself");
        require(rival->at("group") == result.row->at("group"), "a rival of another kind");
        require_shared_topic(rival->at("topic"), result.row->at("topic"));
      } else if (peek(1) == "the") {
        require_venue(*result.row, peek(), peek(2));
        at += 3;
      }
      result.decides = predicate(*result.row, rival, rival_by_not, tense);
    }
    result.noun = result.row->at("word");
    return result;
  }

  /// "the soup at the hotel": what of its topics has such a place. "of" goes with some nouns, whatever the
  /// place.
  void require_venue(const Row& noun, const std::string& preposition, const std::string& place) const {
    const std::string& joint = noun.at("venue");
    require(joint == "of" ? preposition == "of" : joint == "yes", "no place goes with " + noun.at("word"));
    bool is_known = false;
    for (const std::string& venue : lexicon.venues_) {
      const std::vector<std::string> parts = split(venue, ' ');
      is_known = is_known || (parts[2] == place && (joint == "of" || parts[1] == preposition) &&
                              has_member(noun.at("topic"), parts[0]));
    }
    require(is_known, "no such place: " + preposition + " the " + place);
  }

  static void require_shared_topic(const std::string& left, const std::string& right) {
    bool is_shared = false;
    for (const std::string& topic : split(left, ' ')) is_shared = is_shared || has_member(right, topic);
    require(is_shared, "two topics: " + left + " / " + right);
  }

  void sentence() {
    expect("<begin>");
    std::string tense;
    Clause winner;
    if (peek() == "although" || peek() == "though") {
      reading.links.insert({"contrast", 0, at});
      ++at;
      const Clause yielding = clause(tense, nullptr, false);
      expect(",");
      winner = clause(tense, yielding.row, false);
      require_contrast(yielding, winner);
    } else {
      if (lexicon.adverbs_.contains(peek())) {
        ++at;
        expect(",");
      }
      const Row* judge = nullptr;
      // "my sister said that …", but "my sister found the film …" is a clause
      if (at_judge() && peek(2) != "found" && peek(2) != "did") {
        judge = &take_judge();
        take(lexicon.reports_, "verb of saying");
        expect("that");
        set_tense(tense, "past");
      }
      const Clause first = clause(tense, nullptr, judge != nullptr);
      winner = first;
      if (judge) require_shared_topic(judge->at("topic"), first.row->at("topic"));
      if (skip(",")) {
        const std::string word = peek();
        const bool second_wins = word == "but" || word == "yet";
        require(second_wins || word == "although" || word == "though", "no conjunction: " + word);
        reading.links.insert({"contrast", 0, at});
        ++at;
        const Clause second = clause(tense, first.row, true);
        require_contrast(first, second);
        if (second_wins) winner = second;
      }
    }
    expect(".");
    require(at == static_cast<int>(tokens.size()), "words after the end");
    reading.labels[0] = class_of(winner.decides.polarity);
    reading.links.insert({"winning_adjective", 0, winner.decides.at});
  }

  static void require_contrast(const Clause& first, const Clause& second) {
    require(first.row != second.row, "one noun twice");
    require_shared_topic(first.row->at("topic"), second.row->at("topic"));
    require(sign_of(first.decides.polarity) != sign_of(second.decides.polarity), "no contrast of clauses");
  }
};

SentimentChecker::SentimentChecker()
    : nouns_(read_words("sentiment", "nouns.tsv")),
      adjectives_(read_words("sentiment", "adjectives.tsv")),
      intensifiers_(read_words("sentiment", "intensifiers.tsv")),
      judges_(read_words("sentiment", "judges.tsv")),
      reports_(read_words("sentiment", "reports.tsv", "past")),
      adverbs_(read_words("sentiment", "adverbs.tsv")) {
  for (const Row& row : read_rows("sentiment", "venues.tsv"))
    venues_.insert(row.at("topic") + " " + row.at("preposition") + " " + row.at("word"));
  for (const Row& row : read_rows("sentiment", "verbs.tsv"))
    for (const char* form : {"word", "past", "past_plural", "present", "present_plural"})
      verbs_[row.at(form)] = row;
}

SentimentChecker::Reading SentimentChecker::read(const std::vector<std::string>& tokens) const {
  Reading reading;
  reading.labels.assign(tokens.size(), -1);
  try {
    Run{*this, tokens, reading}.sentence();
  } catch (const Wrong& wrong) {
    reading.wrong = wrong.what;
  }
  return reading;
}

}  // namespace headscope::core::test
