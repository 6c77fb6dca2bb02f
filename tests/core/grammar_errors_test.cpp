// Every mistake in a grammar or its tables is told by a key of its own, with the file and the line.
#include "core/small_grammar.h"
#include "core/tasks/grammar.h"
#include "core/tasks/word_table.h"
#include "core/temporary_folder.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;
using namespace headscope::core;
using namespace headscope::tests;

namespace {

struct Mistake {
  std::string key;
  int line;  // 0: of the whole file
  std::string text;
  Files files = {};
  std::string where = "g";
};

std::string value_of(const Error& error, std::string_view name) {
  for (const auto& [key, value] : error.values)
    if (key == name) return value;
  return "";
}

/// A grammar of one language whose rule has these lines; the first of them is line 6.
std::string rule(const std::string& lines, const std::string& top = "\n\n") {
  return "language en\nwords noun from nouns.tsv\n" + top + "rule s\n" + lines;
}

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int k = 0; k < count; ++k) result += text;
  return result;
}

std::string numbered(const std::string& before, const std::string& after, int count) {
  std::string result;
  for (int k = 0; k < count; ++k) result += before + std::to_string(k) + after;
  return result;
}

/// Constituents, each of which is handed the one before.
std::string handed_down(int count) {
  std::string result;
  for (int k = 1; k < count; ++k)
    result += "  let c" + std::to_string(k) + " = w(p=c" + std::to_string(k - 1) + ")\n";
  return result;
}

/// Variables that take what the next one has, in rules that are handed what the next one has: what is known
/// of them comes one line nearer each time that all are looked at.
std::string backwards(int n_rules) {
  std::string result = "language en\nrule s\n  choose c = a\n  let q = r" + std::to_string(n_rules - 1) +
                       "(p=c)\n  en : \"x\"\n";
  for (int rule = 0; rule < n_rules; ++rule) {
    result += "rule r" + std::to_string(rule) + "(p)\n";
    if (rule > 0) result += "  let q = r" + std::to_string(rule - 1) + "(p=v0)\n";
    for (int k = 0; k < 240; ++k)
      result += "  let v" + std::to_string(k) + " = " + (k == 239 ? "p" : "v" + std::to_string(k + 1)) + "\n";
    result += "  en : \"x\"\n";
  }
  return result;
}

const std::string kTwo = "language en\nlanguage de\nrule s\n";
const std::string kForm = "language en\nfeature number singular plural\nwords noun from nouns.tsv\n";

std::vector<Mistake> mistakes_of_writing() {
  return {
      {"grammar.encoding", 2, "language en\nrule \xFF\n"},
      {"grammar.encoding", 2, "language en\nrule \x01\n"},
      {"grammar.character", 2, "language en\nrule s;\n"},
      {"grammar.unclosed_quote", 3, "language en\nrule s\n  en : \"x\n"},
      {"grammar.statement", 2, "language en\nrules s\n"},
      {"grammar.indented", 2, "language en\n  en : \"x\"\n"},
      {"grammar.expected_sign", 3, "language en\nrule s\n  en \"x\"\n"},
      {"grammar.expected_sign", 2, "language en\nwords w nouns.tsv\n"},
      {"grammar.expected_name", 2, "language en\nrule 3\n"},
      {"grammar.expected_value", 3, "language en\nrule s\n  let a =\n"},
      {"grammar.expected_value", 2, "language en\nfeature number\n"},
      {"grammar.expected_path", 5, kTwo + "  en : a:\"x\"\n  link r : en a -> en \"x\"\n  de : \"x\"\n"},
      {"grammar.trailing", 1, "language en de\n"},
      {"grammar.reserved", 2, "language en\nrule when\n"},
      {"grammar.nesting", 3,
       "language en\nrule s\n  en : " + repeated("(", 40) + "\"x\"" + repeated(")", 40) + "\n"},
      {"grammar.nesting", 3,
       "language en\nrule s\n  let a = " + repeated("f(", 40) + "x" + repeated(")", 40) + "\n"},
      {"grammar.weight", 3, "language en\nrule s\n  choose a = b 0\n"},
      {"grammar.weight", 3, "language en\nrule s\n  choose a = b 1.2345\n"},
      {"grammar.weight", 3, "language en\nrule s\n  choose a = b 12345678\n"},
      {"grammar.file_name", 2, "language en\nwords w from \"../w.tsv\"\n"},
      {"grammar.include_twice",
       3,
       "language en\ninclude a.grammar\ninclude a.grammar\n",
       {{"a.grammar", ""}}},
      {"grammar.include_twice",
       1,
       "language en\ninclude a.grammar\n",
       {{"a.grammar", "include a.grammar\n"}},
       "a.grammar"},
      {"file.missing", 0, "language en\ninclude b.grammar\n", {}, "b.grammar"},
      {"file.too_large", 0, std::string(kMostGrammarBytes + 1, '\n')},
  };
}

std::vector<Mistake> mistakes_of_words() {
  const auto table = [](const std::string& text) { return Files{{"nouns.tsv", text}}; };
  const std::string words =
      "language en\nwords noun from nouns.tsv\nrule s\n  let noun = noun\n  en : noun.a\n";
  const std::string keyed = "language en\ntable t from nouns.tsv by a\nrule s\n  en : \"x\"\n";
  const std::string many_values = numbered(" v", "", 60);
  return {
      {"grammar.table_empty", 0, words, table("a\tb\n"), "nouns.tsv"},
      {"grammar.table_empty", 0, words, table(""), "nouns.tsv"},
      {"grammar.encoding", 2, words, table("a\n\xC3\n"), "nouns.tsv"},
      {"grammar.column_name", 1, words, table("a\tB\nx\ty\n"), "nouns.tsv"},
      {"grammar.column_twice", 1, words, table("a\ta\nx\ty\n"), "nouns.tsv"},
      {"grammar.cell_count", 4, words, table("a\tb\n#\nx\ty\nx\n"), "nouns.tsv"},
      {"grammar.cell", 2, words, table("a\tb\nx\t\n"), "nouns.tsv"},
      {"grammar.cell", 2, words, table("a\tb\nx  y\tz\n"), "nouns.tsv"},
      {"grammar.cell", 2, words, table("a\tb\nx \tz\n"), "nouns.tsv"},
      {"grammar.table_size", 20'002, words, table("a\n" + repeated("x\n", 20'001)), "nouns.tsv"},
      {"grammar.table_size", 1, words, table("a" + repeated("\ta", 70) + "\n"), "nouns.tsv"},
      {"grammar.table_weight", 3, words, table("a\tweight\nx\t1\ny\t0\n"), "nouns.tsv"},
      {"grammar.table_weight", 2, words, table("a\tweight\nx\t-\n"), "nouns.tsv"},
      {"grammar.key_twice", 4, keyed, table("a\tb\nx\t1\ny\t1\nx\t2\n"), "nouns.tsv"},
      {"grammar.too_many_combinations", 2,
       "language en\ntable t from nouns.tsv by a b\nrule s\n  en : \"x\"\n",
       table("a\tb\n" +
             [] {
               std::string rows;
               for (int k = 0; k < 300; ++k) rows += std::to_string(k) + "\t" + std::to_string(k) + "\n";
               return rows;
             }())},
      {"grammar.unknown_table", 2, "language en\nwords noun from verbs.tsv\n", table("a\nx\n")},
      {"grammar.no_entry", 2, "language en\nwords noun from nouns.tsv only english=elephant\n",
       small_tables()},
      {"grammar.unknown_column", 2, "language en\nwords noun from nouns.tsv only size=pocket\n",
       small_tables()},
      {"grammar.unknown_column", 2, "language en\ntable noun from nouns.tsv by size\n", small_tables()},
      {"grammar.duplicate", 3, "language en\nwords n from nouns.tsv\nwords n from nouns.tsv\n",
       small_tables()},
      {"grammar.duplicate", 2, "language en\nlanguage en\n"},
      {"grammar.duplicate", 3, "language en\nfeature number a b\nfeature number a b\n"},
      {"grammar.duplicate", 2, "language en\nfeature number a a\n"},
      {"grammar.no_language", 0, "rule s\n"},
      {"grammar.too_many_languages", 3, "language a\nlanguage b\nlanguage c\n"},
      {"grammar.too_many_values", 2, "language en\nfeature f" + numbered(" v", "", 65) + "\n"},
      {"grammar.too_many_tables", 66, "language en\n" + numbered("words w", " from nouns.tsv\n", 65),
       small_tables()},
      {"grammar.duplicate", 2, "language en\ntable t from nouns.tsv by english english\n", small_tables()},
      {"grammar.unknown_words", 2, "language en\nform x.y\n  else : \"a\"\n"},
      {"grammar.unknown_feature", 4, kForm + "form noun.f(case)\n  else : english\n", small_tables()},
      {"grammar.form_twice", 4, kForm + "form noun.english\n  else : plural\n", small_tables()},
      {"grammar.form_twice", 6, kForm + "form noun.f\n  else : plural\nform noun.f\n  else : plural\n",
       small_tables()},
      {"grammar.empty", 4, kForm + "form noun.f\n", small_tables()},
      {"grammar.unreachable", 6, kForm + "form noun.f\n  else : plural\n  else : english\n", small_tables()},
      {"grammar.unknown_column", 5, kForm + "form noun.f(number)\n  else : plurals\n", small_tables()},
      {"grammar.unknown_column", 5, kForm + "form noun.f(number)\n  numbers=plural : plural\n",
       small_tables()},
      {"grammar.unknown_value", 5, kForm + "form noun.f(number)\n  number=plurals : plural\n",
       small_tables()},
      {"grammar.unknown_table_name", 5, kForm + "form noun.f(number)\n  else : t(number).x\n",
       small_tables()},
      {"grammar.duplicate", 4, kForm + "form noun.f(number, number)\n  else : english\n", small_tables()},
      {"grammar.too_many_forms", 5,
       "language en\nfeature a" + many_values + "\nfeature b" + many_values +
           "\nwords noun from nouns.tsv\n" + "form noun.f(a, b)\n  else : english\n",
       table("english\n" + repeated("x\n", 40))},
      // no form is long, but their parts are many
      {"grammar.too_many_forms", 5,
       "language en\nfeature a" + many_values + "\nfeature b" + many_values +
           "\nwords noun from nouns.tsv\n" + "form noun.f(a, b)\n  else : english" +
           repeated(" + \"\"", 16384) + "\n",
       table("english\nx\n")},
      {"grammar.text_too_long", 4,
       kForm + "form noun.f\n  else : " + repeated("\"abcdefghij\" + ", 21) + "\"x\"\n", small_tables()},
      {"grammar.argument_count", 6,
       kForm +
           "table t from articles.tsv by case gender number\nform noun.f\n  else : t(nominative).article\n",
       small_tables()},
      {"grammar.unknown_argument", 6,
       kForm + "table t from articles.tsv by number case gender\nform noun.f(number)\n  else : t(num=number, "
               "nominative, gender).article\n",
       small_tables()},
  };
}

std::vector<Mistake> mistakes_of_rules() {
  const Files files = small_tables();
  const std::string form = "feature number singular plural\nform noun.f(number)\n  else : english\n\n";
  return {
      {"grammar.no_rule", 1, "language en\n"},
      {"grammar.duplicate", 4, "language en\nrule s\n  en : \"x\"\nrule s\n"},
      {"grammar.duplicate", 7, rule("  choose a = b, c\n  choose a = d\n"), files},
      {"grammar.duplicate", 6, rule("  choose a = b, b\n"), files},
      {"grammar.duplicate", 2, "language en\nrule s(a, a)\n"},
      {"grammar.duplicate", 3, "language en\nstart s\nstart s\nrule s\n  en : \"x\"\n"},
      {"grammar.name_taken", 3, "language en\nwords noun from nouns.tsv\nrule noun\n", files},
      {"grammar.unknown_rule", 2, "language en\nstart t\nrule s\n  en : \"x\"\n"},
      {"grammar.start_parameters", 2, "language en\nrule s(a)\n  en : \"x\"\n"},
      {"grammar.unknown_source", 6, rule("  let a = nouns\n  en : \"x\"\n"), files},
      {"grammar.unknown_language", 6, rule("  fr : \"x\"\n  en : \"x\"\n"), files},
      {"grammar.unknown_language", 7, rule("  en : a:\"x\"\n  link r : en a -> fr a\n"), files},
      {"grammar.unknown_variable", 6, rule("  en when kind=plain : \"x\"\n  en : \"x\"\n"), files},
      {"grammar.unknown_variable", 7,
       rule("  let a = noun\n  let b = noun where class in a.clas\n  en : \"x\"\n"), files},
      {"grammar.unknown_variable", 6,
       rule("  let a = noun where class in b.class\n  let b = noun\n  en : \"x\"\n"), files},
      {"grammar.unknown_variable", 7, rule("  en : a:\"x\"\n  link r : en a -> en b\n"), files},
      {"grammar.unknown_value", 7,
       rule("  choose kind = plain, other\n  en when kind=plane : \"x\"\n  en : \"x\"\n"), files},
      {"grammar.unknown_value", 6, rule("  let a = noun where english=elephant\n  en : \"x\"\n"), files},
      {"grammar.unknown_column", 6, rule("  let a = noun where size=pocket\n  en : \"x\"\n"), files},
      {"grammar.expected_column", 6, rule("  let a = noun where noun.class=animal\n  en : \"x\"\n"), files},
      {"grammar.expected_path", 7, rule("  en : a:\"x\"\n  hold out \"x\"\n"), files},
      {"grammar.no_candidate", 6, rule("  let a = noun where class=person, gender=neuter\n  en : \"x\"\n"),
       files},
      {"grammar.no_candidate", 7,
       rule("  let a = noun\n  let b = noun where b != a, gender=a.gender\n  en : \"x\"\n"), files},
      {"grammar.where", 6, rule("  let a = t where x=y\n  en : \"x\"\nrule t\n  en : \"x\"\n"), files},
      {"grammar.unknown_argument", 6, rule("  let a = t(x=y)\n  en : \"x\"\nrule t\n  en : \"x\"\n"), files},
      {"grammar.argument_twice", 6, rule("  let a = t(x=y, x=z)\n  en : \"x\"\nrule t(x)\n  en : \"x\"\n"),
       files},
      {"grammar.argument_missing", 6, rule("  let a = t\n  en : \"x\"\nrule t(x)\n  en : \"x\"\n"), files},
      {"grammar.argument_missing", 9, rule("  let a = noun\n  en : a.f\n", form), files},
      {"grammar.unknown_argument", 9, rule("  let a = noun\n  en : a.f(case=x)\n", form), files},
      {"grammar.unknown_value", 9, rule("  let a = noun\n  en : a.f(number=dual)\n", form), files},
      {"grammar.feature_value", 10,
       rule("  let a = noun\n  choose number = singular, dual\n  en : a.f(number)\n", form), files},
      {"grammar.unknown_form", 7, rule("  let a = noun\n  en : a.f(number=plural)\n"), files},
      {"grammar.unknown_form", 7, rule("  let a = noun\n  en : a.dative\n"), files},
      {"grammar.item", 7, rule("  let a = noun\n  en : a\n"), files},
      {"grammar.item", 7, rule("  choose a = x, y\n  en : a\n"), files},
      {"grammar.item", 6, rule("  en : \"\"\n"), files},
      {"grammar.label", 7, rule("  let a = t\n  en : x:a\nrule t\n  en : \"x\"\n"), files},
      {"grammar.no_tokens", 8, rule("  choose a = x, y\n  en : b:\"x\"\n  link r : en a -> en b\n"), files},
      {"grammar.no_text_in_language", 6, kTwo + "  let t = t\n  en : t\n  de : t\nrule t\n  en : \"x\"\n"},
      {"grammar.no_text_in_language", 3, kTwo + "  en : \"x\"\n"},
      {"grammar.unreachable", 7, rule("  en : \"x\"\n  en : \"y\"\n"), files},
      {"grammar.relation_languages", 7,
       kTwo + "  en : a:\"x\"\n  de : a:\"x\"\n  link r : en a -> de a\n  link r : de a -> en a\n"},
      {"grammar.one_language", 7, rule("  en : a:\"x\"\n  align a possible\n"), files},
      {"grammar.align", 6, kTwo + "  en : a:\"x\"\n  de : a:\"x\"\n  align a\n"},
      {"grammar.hold_out", 8, rule("  let a = t\n  en : a\n  hold out a\nrule t\n  en : \"x\"\n"), files},
      {"grammar.recursion", 5, rule("  let a = s\n  en : a\n"), files},
      {"grammar.absent_form", 5,
       "language en\nwords verb from verbs.tsv\nrule s\n  let a = verb\n  en : a.particle\n", files},
      {"grammar.no_row", 5,
       "language en\ntable t from endings.tsv by case gender number\nrule s\n"
       "  choose case = nominative, dative\n  en : t(case, neuter, singular).ending\n",
       files},
      {"grammar.unknown_value", 4,
       "language en\ntable t from endings.tsv by case gender number\nrule s\n  en : t(dative, neuter, "
       "singular).ending\n",
       files},
      {"grammar.argument_count", 4,
       "language en\ntable t from endings.tsv by case gender number\nrule s\n  en : t(nominative).ending\n",
       files},
      {"grammar.unknown_table_name", 6, rule("  let a = t(x).y\n  en : \"x\"\n"), files},
      {"grammar.no_line", 5, rule("  choose a = x, y\n  en when a=x : \"x\"\n"), files},
      {"grammar.too_deep", 7, rule("  choose a = x, y 99\n  let b = s if a=y\n  en : \"x\" b\n"), files},
      {"grammar.too_long", 6, rule("  en : " + repeated("\"x\" ", 513) + "\n"), files},
      // each constituent is written within the next one
      {"grammar.too_deep", 109,
       rule("  let c0 = t\n" + handed_down(100) + "  en : c99\nrule t\n  en : \"x\"\nrule w(p)\n  en : p\n"),
       files},
      // few tokens, but a link from each to each, again and again
      {"grammar.too_long", 11,
       kTwo + "  en : a:\"" + repeated("x ", 400) + "\"\n  de : a:\"" + repeated("x ", 400) + "\"\n" +
           repeated("  align a a possible\n", 100)},
      {"grammar.too_large", 3, "language en\nrule s\n  en :" + repeated(" =", 131073) + "\n"},
      {"grammar.too_large", 0, backwards(6)},
      {"grammar.text_too_long", 6, rule("  en : \"" + std::string(1001, 'x') + "\"\n"), files},
      {"grammar.too_large", 6, rule("  en :" + numbered(" l", ":\"x\"", 257) + "\n"), files},
  };
}

void check(const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    INFO(mistake.text.substr(0, 300));
    const Result<Grammar> grammar = Grammar::parse(mistake.text, "g", reader(mistake.files));
    CHECK_FALSE(grammar);
    if (grammar) continue;
    CHECK(grammar.error().key == mistake.key);
    CHECK(grammar.error().where == mistake.where);
    if (mistake.line > 0) CHECK(value_of(grammar.error(), "line") == std::to_string(mistake.line));
  }
}

}  // namespace

TEST_CASE("a line that cannot be read is named", "[core][grammar]") {
  check(mistakes_of_writing());
}

TEST_CASE("a mistake in tables, words, features or forms is named", "[core][grammar]") {
  check(mistakes_of_words());
}

TEST_CASE("a mistake in a rule is named, and so is one that only drawing finds", "[core][grammar]") {
  check(mistakes_of_rules());
}

TEST_CASE("every error of grammars has a mistake here that makes it", "[core][grammar]") {
  std::set<std::string> made, known;
  for (const std::vector<Mistake>& mistakes :
       {mistakes_of_writing(), mistakes_of_words(), mistakes_of_rules()})
    for (const Mistake& mistake : mistakes)
      if (mistake.key.starts_with("grammar.")) made.insert(mistake.key);
  const std::regex pattern("\"(grammar\\.[a-z_]+)\"");
  for (const fs::directory_entry& file : fs::directory_iterator(source_folder() / "core/tasks")) {
    const std::string source = read_text(file.path());
    for (std::sregex_iterator match(source.begin(), source.end(), pattern), end; match != end; ++match)
      known.insert((*match)[1]);
  }
  CHECK(made == known);
}

TEST_CASE("the place of a mistake has its column", "[core][grammar]") {
  const Result<Grammar> grammar =
      Grammar::parse("language en\nrule s\n  en : \"x\" nothing\n", "g", reader({}));
  REQUIRE_FALSE(grammar);
  CHECK(grammar.error() ==
        Error{"grammar.unknown_variable", "g", {{"name", "nothing"}, {"line", "3"}, {"column", "12"}}});
}
