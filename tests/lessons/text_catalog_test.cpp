// The catalog of words: keys, placeholders, errors, the pseudo-language; and numbers as text.
#include "lessons/text_catalog.h"

#include "lesson_files.h"
#include "lessons/number_format.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <regex>
#include <set>

using namespace headscope;
using lessons::TextCatalog;

namespace {

TextCatalog catalog(std::string_view toml) {
  auto parsed = TextCatalog::parse(toml, "words.toml");
  REQUIRE(parsed);
  return *parsed;
}

TextCatalog english() {
  auto loaded = TextCatalog::load(test::assets() / "text/en.toml");
  REQUIRE(loaded);
  return *loaded;
}

std::multiset<std::string> placeholders(const std::string& text) {
  static const std::regex pattern(R"(\{[a-z0-9_]+\})");
  return {std::sregex_token_iterator(text.begin(), text.end(), pattern), std::sregex_token_iterator()};
}

}  // namespace

TEST_CASE("nested tables flatten to dotted keys", "[lessons][text]") {
  const TextCatalog words =
      catalog("top = 'a'\n[tensor.scores]\ntitle = 'Scores'\n[error]\n'file.missing' = {what = 'gone'}");
  CHECK(words.text("top") == "a");
  CHECK(words.text("tensor.scores.title") == "Scores");
  CHECK(words.text("error.file.missing.what") == "gone");
  CHECK(words.has("tensor.scores.title"));
  CHECK_FALSE(words.has("tensor.scores"));
  CHECK(words.keys() == std::vector<std::string>{"error.file.missing.what", "tensor.scores.title", "top"});
}

TEST_CASE("placeholders are filled, and braces that are none stay", "[lessons][text]") {
  const TextCatalog words =
      catalog("t = 'step {step} of {n_steps}, {step}'\nb = 'set {{x} and { y } and {z}'");
  CHECK(words.text("t", {{"step", "3"}, {"n_steps", "9"}}) == "step 3 of 9, 3");
  CHECK(words.text("t", {{"step", "{n_steps}"}, {"n_steps", "9"}}) == "step {n_steps} of 9, {n_steps}");
  CHECK(words.text("b") == "set {x} and { y } and {z}");
}

TEST_CASE("a missing key is visible", "[lessons][text]") {
  CHECK(catalog("").text("no.such") == "‹no.such›");
}

TEST_CASE("an error reads as one line: where, what, what to do", "[lessons][text]") {
  const TextCatalog words = catalog(
      "[error]\n'a.b' = {what = 'no {name} here', hint = 'Add {name} to {where}.'}\nc = {what = 'odd'}");
  CHECK(words.error({"a.b", "f.md:3:1", {{"name", "scores"}}}) ==
        "f.md:3:1: no scores here. Add scores to f.md:3:1.");
  CHECK(words.error({"c", "", {}}) == "odd.");
  CHECK(words.error({"d", "x", {}}) == "x: ‹error.d.what›.");
}

TEST_CASE("an error shows what a file or an argument holds, and does not obey it", "[lessons][text]") {
  const TextCatalog words = catalog("[error]\n'a.b' = {what = 'no {name} here', hint = 'Look in {where}.'}");
  CHECK(words.error({"a.b", "d\x1b[2J\n/f", {{"name", "\x1b]0;x\x07\u202e\n"}}}) ==
        "d\\x1b[2J\\x0a/f: no \\x1b]0;x\\x07\\u202e\\x0a here. Look in d\\x1b[2J\\x0a/f.");
  const std::string line = words.error({"a.b", "f", {{"name", std::string(100000, 'x')}}});
  CHECK(line.size() < 500);
  CHECK(line.ends_with("… here. Look in f."));
}

TEST_CASE("a catalog that is no TOML or holds a number is refused with its line", "[lessons][text]") {
  const auto broken = TextCatalog::parse("a = 'x'\nb = = 2", "words.toml");
  REQUIRE_FALSE(broken);
  CHECK(broken.error().key == "toml.syntax");
  CHECK(broken.error().where.starts_with("words.toml:2:"));
  const auto number = TextCatalog::parse("[t]\na = 'x'\nb = 2", "words.toml");
  REQUIRE_FALSE(number);
  CHECK(number.error().key == "text.not_a_string");
  CHECK(number.error().where.starts_with("words.toml:3:"));
  CHECK(TextCatalog::load("/nowhere/en.toml").error().key == "file.missing");
}

TEST_CASE("the pseudo-language marks every string and keeps its placeholders", "[lessons][text]") {
  CHECK(catalog("t = 'test {name}'").pseudo().text("t", {{"name", "sat"}}) == "⟦ťèšť sat⟧");
  const TextCatalog words = english();
  const TextCatalog pseudo = words.pseudo();
  REQUIRE(words.keys().size() > 50);
  REQUIRE(pseudo.keys() == words.keys());
  for (const std::string& key : words.keys()) {
    INFO(key);
    CHECK(pseudo.text(key).starts_with("⟦"));
    CHECK(pseudo.text(key).ends_with("⟧"));
    CHECK(placeholders(pseudo.text(key)) == placeholders(words.text(key)));
  }
}

TEST_CASE("the pseudo-language keeps a link's target and accents its words", "[lessons][text]") {
  const TextCatalog words = catalog("t = 'of [[weights|set]] and [[scores]]'").pseudo();
  CHECK(words.text("t") == "⟦öḟ [[weights|šèť]] áñď [[scores]]⟧");
}

TEST_CASE("every error key of lessons has its words", "[lessons][text]") {
  const TextCatalog words = english();
  static const std::regex pattern(R"RE("((lesson|expression|question|toml|text)\.[a-z_]+[a-z])")RE");
  int n_keys = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() / "lessons")) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream file(entry.path());
    const std::string source((std::istreambuf_iterator<char>(file)), {});
    for (std::sregex_iterator match(source.begin(), source.end(), pattern), end; match != end; ++match) {
      INFO(entry.path().filename() << " " << (*match)[1]);
      CHECK(words.has("error." + (*match)[1].str() + ".what"));
      CHECK(words.has("error." + (*match)[1].str() + ".hint"));
      ++n_keys;
    }
  }
  CHECK(n_keys > 40);
  for (const char* kind : {"text", "whole", "number", "truth", "list", "table"})
    CHECK(words.has(std::string("error.lesson.expects_") + kind + ".what"));
}

TEST_CASE("numbers are read as people type them", "[lessons][text]") {
  using lessons::parse_number;
  CHECK(parse_number(" 1.45 ") == 1.45);
  CHECK(parse_number("1,45") == 1.45);
  CHECK(parse_number("−0.5") == -0.5);
  CHECK(parse_number("+2") == 2.0);
  CHECK(parse_number("3e-2") == 0.03);
  CHECK(parse_number("−∞") == -std::numeric_limits<double>::infinity());
  for (const char* text : {"", "  ", "cat", "1.2.3", "1 2", "--1", "0x10"}) CHECK_FALSE(parse_number(text));
}
