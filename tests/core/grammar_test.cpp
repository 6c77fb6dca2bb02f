// Grammars: what each construct makes, how it is drawn, and what links it.
#include "core/tasks/grammar.h"
#include "core/small_grammar.h"
#include "core/temporary_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace headscope::core;
using namespace headscope::tests;

namespace {

Grammar grammar_of(std::string_view text, const Files& files = small_tables()) {
  const Result<Grammar> grammar = Grammar::parse(text, "test.grammar", reader(files));
  if (!grammar) {
    std::string values;
    for (const auto& [name, value] : grammar.error().values) values += " " + name + "=" + value;
    FAIL(grammar.error().key << " in " << grammar.error().where << values);
  }
  return *grammar;
}

/// How often each sentence of a language comes up.
std::map<std::string, double> counts(const Grammar& grammar, int n_draws, std::size_t language = 0) {
  std::map<std::string, double> counts;
  Rng rng(7);
  Derivation derivation;
  for (int k = 0; k < n_draws; ++k) {
    REQUIRE(grammar.draw(rng, derivation));
    ++counts[sentence(grammar, derivation, language)];
  }
  return counts;
}

std::set<std::string> sentences(const Grammar& grammar, std::size_t language = 0) {
  std::set<std::string> result;
  for (const auto& [text, count] : counts(grammar, 2000, language)) result.insert(text);
  return result;
}

/// Of counts against shares that sum to 1.
double chi_square(const std::map<std::string, double>& counts, const std::map<std::string, double>& shares,
                  int n_draws) {
  double sum = 0;
  for (const auto& [text, share] : shares) {
    const auto found = counts.find(text);
    const double expected = share * n_draws;
    const double difference = (found == counts.end() ? 0 : found->second) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

/// A link as "relation query>key", with "?" after it where it is only possible.
std::multiset<std::string> links(const Grammar& grammar, const Derivation& derivation) {
  std::multiset<std::string> result;
  for (const Link& link : derivation.links) {
    const Relation& relation = grammar.relations()[static_cast<std::size_t>(link.relation)];
    const auto word = [&](TextSide side, std::int32_t position) {
      const std::size_t language = side == TextSide::target ? 1 : 0;
      return grammar.tokens(language)[static_cast<std::size_t>(
          derivation.tokens[language][static_cast<std::size_t>(position)])];
    };
    result.insert(relation.name + " " + word(relation.query, link.query) + ">" +
                  word(relation.key, link.key) + (link.is_sure ? "" : "?"));
  }
  return result;
}

/// The first drawn derivation whose source reads so.
Derivation find(const Grammar& grammar, const std::string& source, const std::string& target = "") {
  Rng rng(1);
  Derivation derivation;
  for (int k = 0; k < 200'000; ++k) {
    REQUIRE(grammar.draw(rng, derivation));
    if (sentence(grammar, derivation, 0) == source &&
        (target.empty() || sentence(grammar, derivation, 1) == target))
      return derivation;
  }
  FAIL("never drawn: " << source);
  return derivation;
}

constexpr int kDraws = 60'000;

}  // namespace

TEST_CASE("the small grammar makes pairs of sentences that agree", "[core][grammar]") {
  const Grammar grammar = grammar_of(kSmallGrammar);
  CHECK(grammar.languages() == std::vector<std::string>{"en", "de"});
  // four singular and plural nouns, two adjectives, three words of verbs (one is of two), "the she says ."
  CHECK(grammar.tokens(0) == std::vector<std::string>{".", "at", "cat", "cats", "dog", "dogs", "house",
                                                      "houses", "hungry", "looked", "old", "saw", "says",
                                                      "she", "the", "woman", "women"});
  CHECK(std::is_sorted(grammar.tokens(1).begin(), grammar.tokens(1).end()));
  const auto has = [&](const std::string& token) {
    return std::binary_search(grammar.tokens(1).begin(), grammar.tokens(1).end(), token);
  };
  CHECK(has("hungrigen"));
  CHECK(has("ansahen"));
  CHECK_FALSE(has("hungrig"));  // a column that no line writes

  find(grammar, "she says the dogs looked at the old house .",
       "sie sagt , dass die Hunde das alte Haus ansahen .");
  find(grammar, "the hungry dog saw the old dog .", "der hungrige Hund sah den alten Hund .");
  find(grammar, "the women looked at the houses .", "die Frauen sahen die Häuser an .");
}

TEST_CASE("tokens of one variable or label are aligned, a separable verb's both", "[core][grammar]") {
  const Grammar grammar = grammar_of(kSmallGrammar);
  REQUIRE(grammar.relations().size() == 4);
  CHECK(grammar.relations()[0] == Relation{"alignment", TextSide::target, TextSide::source});

  Derivation drawn = find(grammar, "the woman looked at the old house .");
  CHECK(links(grammar, drawn) ==
        std::multiset<std::string>{"alignment sah>looked", "alignment sah>at", "alignment an>looked",
                                   "alignment an>at", "alignment die>the", "alignment Frau>woman",
                                   "alignment das>the", "alignment alte>old", "alignment Haus>house",
                                   "verb_subject sah>Frau", "article_noun die>woman",
                                   "article_noun das>house", "adjective_noun old>house"});
  // positions, not just words: the second "the" is the house's
  for (const Link& link : drawn.links)
    if (link.relation == 0 && link.query == 3) CHECK(link.key == 4);  // "das" → "the" before "old house"
}

TEST_CASE("drawing depends on the generator alone", "[core][grammar]") {
  const Grammar grammar = grammar_of(kSmallGrammar), same = grammar_of(kSmallGrammar);
  Rng rng(11), other(11);
  Derivation reused;
  for (int k = 0; k < 500; ++k) {
    Derivation fresh;
    REQUIRE(grammar.draw(rng, reused));
    REQUIRE(same.draw(other, fresh));
    REQUIRE(reused.tokens == fresh.tokens);
    REQUIRE(reused.links == fresh.links);
    REQUIRE(reused.values == fresh.values);
    REQUIRE(reused.combinations == fresh.combinations);
  }
  CHECK(rng.next() == other.next());
  // pinned, so that another machine or version that draws otherwise is noticed
  Rng pinned(2026);
  std::uint64_t hash = 0;
  for (int k = 0; k < 1000; ++k) {
    REQUIRE(grammar.draw(pinned, reused));
    for (const std::size_t language : {0U, 1U})
      for (const std::int32_t token : reused.tokens[language])
        hash = hash * 0x100000001b3U + static_cast<std::uint64_t>(token) + 1;
  }
  CHECK(hash == 0xa85d2ce98def8698U);
}

TEST_CASE("choices come up by their weights", "[core][grammar]") {
  const Grammar grammar = grammar_of(R"(
language en
rule sentence
  choose kind = a 60, b 30.5, c 9.5
  choose more = yes, no
  en when kind=a : "a" ("yes" when more=yes)
  en when kind=b : "b" ("yes" when more=yes)
  en             : "c" ("yes" when more=yes)
)");
  const std::map<std::string, double> shares = {{"a", .3},        {"a yes", .3}, {"b", .1525},
                                                {"b yes", .1525}, {"c", .0475},  {"c yes", .0475}};
  // five degrees of freedom: exceeded by one seed in a thousand
  CHECK(chi_square(counts(grammar, kDraws), shares, kDraws) < 20.52);
}

TEST_CASE("entries are equally likely, whatever the condition, or go by weight", "[core][grammar]") {
  const Files files = {{"w.tsv",
                        "word\tkind\ttags\tweight\n"
                        "a\tx\tp q\t1\nb\tx\tq\t2\nc\ty\tp\t3\nd\ty\tr\t0.5\ne\tz\tp r\t2.5\n"},
                       {"v.tsv", "word\tkind\ttags\na\tx\tp q\nb\tx\tq\nc\ty\tp\nd\ty\tr\ne\tz\tp r\n"}};
  const auto shares_of = [&](const std::string& words, const std::string& condition) {
    return counts(
        grammar_of("language en\nwords w from " + words + "\nrule sentence\n  choose list = \"y x\"\n" +
                       "  choose kind = x\n  choose tag = p\n  let other = w where word=b\n  let w = w" +
                       condition + "\n  en : w.word\n",
                   files),
        kDraws);
  };
  // four degrees of freedom at most: 18.47 is exceeded by one seed in a thousand
  CHECK(chi_square(shares_of("v.tsv", ""), {{"a", .2}, {"b", .2}, {"c", .2}, {"d", .2}, {"e", .2}}, kDraws) <
        18.47);
  CHECK(chi_square(shares_of("v.tsv", " where kind in list"),
                   {{"a", .25}, {"b", .25}, {"c", .25}, {"d", .25}}, kDraws) < 18.47);
  CHECK(chi_square(shares_of("v.tsv", " where w != other and kind in list"),
                   {{"a", 1. / 3}, {"c", 1. / 3}, {"d", 1. / 3}}, kDraws) < 18.47);
  CHECK(chi_square(shares_of("v.tsv", " where tags has tag"), {{"a", 1. / 3}, {"c", 1. / 3}, {"e", 1. / 3}},
                   kDraws) < 18.47);
  CHECK(shares_of("v.tsv", " where kind=kind, tags has p") == std::map<std::string, double>{{"a", kDraws}});
  CHECK(shares_of("v.tsv", " where kind!=kind and w != other and tags has r and kind in \"y\"") ==
        std::map<std::string, double>{{"d", kDraws}});
  const double all = 9;
  CHECK(chi_square(shares_of("w.tsv", ""),
                   {{"a", 1 / all}, {"b", 2 / all}, {"c", 3 / all}, {"d", .5 / all}, {"e", 2.5 / all}},
                   kDraws) < 18.47);
  CHECK(chi_square(shares_of("w.tsv", " where w != other and kind in list"),
                   {{"a", 1 / 4.5}, {"c", 3 / 4.5}, {"d", .5 / 4.5}}, kDraws) < 18.47);
}

TEST_CASE("one candidate among many is found exactly, however rarely it passes", "[core][grammar]") {
  std::string table = "word\tgroup\n";
  for (int k = 0; k < 500; ++k) table += "w" + std::to_string(k) + "\t" + (k < 2 ? "few" : "many") + "\n";
  const Grammar grammar = grammar_of(R"(
language en
words w from w.tsv
rule sentence
  choose unwanted = many
  let w = w where group != unwanted
  en : w.word
)",
                                     {{"w.tsv", table}});
  const double share = 0.5;
  CHECK(chi_square(counts(grammar, 10'000), {{"w0", share}, {"w1", share}}, 10'000) <
        10.83);  // one in a thousand
}

TEST_CASE("a tenth of the combinations is held out, always the same ones", "[core][grammar]") {
  std::string table = "word\tother\n";
  for (int k = 0; k < 100; ++k) table += "n" + std::to_string(k) + "\t" + std::to_string(k) + "\n";
  const Grammar grammar = grammar_of(
      "language en\nwords n from n.tsv\nrule sentence\n  let a = n\n  let b = n\n  choose end = \"!\", "
      "\"?\"\n"
      "  en when end=\"!\" : a.word b.word \"!\"\n  en : a.word b.word \"?\"\n  hold out a b\n",
      {{"n.tsv", table}});
  std::map<std::string, bool> is_held_out;
  double n_held_out = 0;
  Rng rng(3);
  Derivation derivation;
  for (int k = 0; k < kDraws; ++k) {
    REQUIRE(grammar.draw(rng, derivation));
    REQUIRE(derivation.combinations.size() == 1);
    std::string pair = sentence(grammar, derivation, 0);
    pair.pop_back();  // whatever the end
    const auto [entry, is_new] = is_held_out.emplace(pair, derivation.is_held_out);
    REQUIRE(entry->second == derivation.is_held_out);
    if (is_new && derivation.is_held_out) ++n_held_out;
  }
  const auto n_pairs = static_cast<double>(is_held_out.size());
  CHECK(n_pairs > 9'900);  // nearly all of 10,000
  // five deviations of a share of 0.1
  CHECK(n_held_out / n_pairs == Approx(0.1).margin(5 * std::sqrt(0.09 / n_pairs)));
}

TEST_CASE("a combination with something absent does not count; without any, whole sentences do",
          "[core][grammar]") {
  const Grammar partly = grammar_of(R"(
language en
words noun from nouns.tsv
rule sentence
  choose kind = one, two
  let a = noun
  let b = noun if kind=two
  en : a.english b.english
  hold out a b
)");
  Rng rng(5);
  Derivation derivation;
  for (int k = 0; k < 200; ++k) {
    REQUIRE(partly.draw(rng, derivation));
    REQUIRE(derivation.combinations.size() == derivation.tokens[0].size() - 1);
  }
  std::string text(kSmallGrammar);
  const std::size_t line = text.find("  hold out");
  text.erase(line, text.find('\n', line) - line);
  const Grammar whole = grammar_of(text);
  std::map<std::string, bool> is_held_out;
  int n_held_out = 0;
  for (int k = 0; k < 4000; ++k) {
    REQUIRE(whole.draw(rng, derivation));
    const auto [entry, is_new] = is_held_out.emplace(sentence(whole, derivation, 0), derivation.is_held_out);
    REQUIRE(entry->second == derivation.is_held_out);
    n_held_out += derivation.is_held_out ? 1 : 0;
  }
  CHECK(n_held_out > 0);
  CHECK(n_held_out < 2000);
}

TEST_CASE("a text of several words is several tokens; an empty one is none", "[core][grammar]") {
  const Grammar grammar =
      grammar_of(R"(
language en
language de
feature number singular plural
words thing from things.tsv
table article from articles.tsv by number
form thing.spelled(number)
  number=plural, not plural : "none"
  else : word + article(number).letter
rule sentence
  choose number = singular, plural
  let thing = thing
  en : det:article(number).article "of it" thing.spelled(number)
  de : det:"der" ("x" when number=plural) both:("y" "z")
  link end : en both -> en thing
)",
                 {{"things.tsv", "name\tword\tplural\nt\tice cream\t-\n"},
                  {"articles.tsv", "number\tarticle\tletter\nsingular\ta\t\"\"\nplural\t\"\"\ts\n"}});
  CHECK(sentences(grammar, 0) == std::set<std::string>{"a of it ice cream", "of it none"});
  CHECK(sentences(grammar, 1) == std::set<std::string>{"der y z", "der x y z"});
  CHECK(links(grammar, find(grammar, "of it none")).empty());  // no "det" on that side, no "both" in English
  CHECK(links(grammar, find(grammar, "a of it ice cream")) == std::multiset<std::string>{"alignment der>a"});
}

TEST_CASE("align adds links between two variables, or makes a variable's own only possible",
          "[core][grammar]") {
  const Grammar grammar = grammar_of(R"(
language en
language de
words noun from nouns.tsv
rule sentence
  let noun = noun where english=dog
  let part = part
  en : aux:"does" noun.english part
  de : verb:"macht" noun.german part end:"zu"
  align noun possible
  align aux verb
  align part end possible
rule part
  en : "a" "b"
  de : "c"
)");
  CHECK(links(grammar, find(grammar, "does dog a b")) ==
        std::multiset<std::string>{"alignment Hund>dog?", "alignment macht>does", "alignment zu>a?",
                                   "alignment zu>b?"});
}

TEST_CASE("values: of several lines the first whose condition holds; aliases, tables, paths in conditions",
          "[core][grammar]") {
  const Grammar grammar = grammar_of(R"(
language en
words noun from nouns.tsv
table article from articles.tsv by case gender number
rule sentence
  choose kind = animal, thing
  choose size = big when kind=animal
  choose size = small, tiny
  let subject = noun where class=kind
  let gender = subject.gender
  let list = "Hund Katze"
  let article = article(case=nominative, gender, singular).article
  let word = word(noun=subject, article)
  let other = word.noun if kind=thing
  let other = subject
  en when subject.german in list, size=big, other=subject : word "known" (other.plural when not word.extra)
  en when word.article != "das" : "never"
  en : word size_is:("tiny" when size=tiny) ("small" when size!=tiny)
rule word(noun, article)
  choose extra = yes when article="das"
  en when article=der : "der" noun.german
  en when article=die : "die" noun.german
  en : "das" noun.german ("too" when extra=yes)
)");
  CHECK(sentences(grammar) == std::set<std::string>{"der Hund known dogs", "die Katze known cats",
                                                    "das Haus too tiny", "das Haus too small"});
}

TEST_CASE("a grammar includes another, and may recurse", "[core][grammar]") {
  const Grammar grammar =
      grammar_of("language en\ninclude more.grammar\nstart top\n",
                 {{"more.grammar",
                   "rule list\n  choose goes_on = yes, no\n  let rest = list if goes_on=yes\n"
                   "  en : \"x\" rest\nrule top\n  let list = list\n  en : list \".\"\n"}});
  double n_tokens = 0;
  Rng rng(2);
  Derivation derivation;
  for (int k = 0; k < kDraws; ++k) {
    REQUIRE(grammar.draw(rng, derivation));
    n_tokens += static_cast<double>(derivation.tokens[0].size()) - 1;
  }
  // geometric: mean 2, variance 2; five deviations
  CHECK(n_tokens / kDraws == Approx(2).margin(5 * std::sqrt(2.0 / kDraws)));
}

TEST_CASE("C++ drives a rule by name, and reads the tree", "[core][grammar]") {
  const Grammar grammar = grammar_of(kSmallGrammar);
  const std::size_t clause = *grammar.find_rule("clause"), noun = *grammar.find_words("noun");
  CHECK(grammar.rule_name(clause) == "clause");
  CHECK_FALSE(grammar.find_rule("nothing"));
  CHECK_FALSE(grammar.find_path(clause, "subject.nothing"));
  CHECK_FALSE(grammar.find_text("elephant"));
  const std::size_t order = *grammar.find_variable(clause, "order"),
                    verb = *grammar.find_variable(clause, "verb");
  const GrammarValue look{.kind = GrammarValue::Kind::entry,
                          .words = static_cast<std::int16_t>(*grammar.find_words("verb")),
                          .id = 1};
  CHECK(grammar.cell(look, "english") == "look");
  CHECK_FALSE(grammar.cell(look, "nothing"));
  const std::vector<GrammarPreset> presets = {{order, *grammar.find_text("final")}, {verb, look}};
  const GrammarPath gender = *grammar.find_path(clause, "object.noun.gender");
  const GrammarPath object = *grammar.find_path(clause, "object"),
                    the = *grammar.find_path(clause, "object.det");
  Rng rng(4);
  Derivation derivation;
  for (int k = 0; k < 100; ++k) {
    REQUIRE(grammar.draw(clause, presets, rng, derivation));
    INFO(sentence(grammar, derivation, 0) << " | " << sentence(grammar, derivation, 1));
    const auto n_source = static_cast<std::int32_t>(derivation.tokens[0].size());
    CHECK(grammar.text(grammar.value(derivation, 0, gender)) == "neuter");  // one looks at houses alone
    const TokenRange range = grammar.range(derivation, 0, object, 0);
    CHECK(range.last == n_source - 1);
    CHECK(sentence(grammar, derivation, 0).find("looked at the") != std::string::npos);
    CHECK(grammar.range(derivation, 0, the, 0) == TokenRange{range.first, range.first});
    const std::string german = sentence(grammar, derivation, 1);
    CHECK(german.find(" ansah") != std::string::npos);
    CHECK(grammar.range(derivation, 0, object, 1).last ==
          static_cast<std::int32_t>(derivation.tokens[1].size()) - 2);
  }
  CHECK(grammar.n_entries(noun) == 4);
}

TEST_CASE("words can be limited to a size; letters are composed as the tokenizer composes them",
          "[core][grammar]") {
  const Grammar grammar = grammar_of(
      "\xEF\xBB\xBFlanguage de\r\nwords w from w.tsv only size=pocket\r\n"
      "rule s\r\n  let w = w\r\n  de : w.word \"u\xCC\x88\"\r\n",
      {{"w.tsv", "word\tsize\r\na\xCC\x88\tfull pocket\r\nb\tfull\r\n"}});
  CHECK(sentences(grammar) == std::set<std::string>{"\xC3\xA4 \xC3\xBC"});
  CHECK(grammar.tokens(0).size() == 2);
}

TEST_CASE("a grammar is loaded from its folder", "[core][grammar]") {
  const TemporaryFolder folder;
  for (const auto& [name, text] : small_tables()) write_text(folder / name, text);
  write_text(folder / "small.grammar", kSmallGrammar);
  CHECK(Grammar::problems(folder / "small.grammar").empty());
  const Result<Grammar> grammar = Grammar::load(folder / "small.grammar");
  REQUIRE(grammar);
  CHECK(grammar->tokens(0) == grammar_of(kSmallGrammar).tokens(0));

  write_text(folder / "wrong.grammar", "language en\nrule s\n  en : x\n  let a b\n  en y\nfoo\n");
  const std::vector<Error> problems = Grammar::problems(folder / "wrong.grammar");
  REQUIRE(problems.size() == 3);  // all that cannot be read; names are looked up once everything can
  CHECK(problems[0].where == (folder / "wrong.grammar").string());
  CHECK(Grammar::load(folder / "wrong.grammar").error() == problems[0]);
  CHECK(Grammar::load(folder / "none.grammar").error().key == "file.missing");
}
