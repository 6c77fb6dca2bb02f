// Words of typed text in many scripts, the vocabulary, and from words to ids.
#include "core/tokenizer.h"
#include "core/vocabulary.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

using namespace headscope::core;

namespace {

using Words = std::vector<std::string>;

Words split(std::string_view text) {
  return split_words(text, {});
}
Words split_lower(std::string_view text) {
  return split_words(text, {.kind = "word", .lower_case = true});
}

Vocabulary make_vocabulary(Words tokens) {
  Result<Vocabulary> vocabulary = Vocabulary::make(std::move(tokens), "test");
  REQUIRE(vocabulary);
  return *vocabulary;
}

/// Padding, begin, end, three spare rows, then the words.
Vocabulary with_spare_rows(const Words& words) {
  Words tokens = {"<pad>", "<begin>", "<end>", "<unknown 0>", "<unknown 1>", "<unknown 2>"};
  tokens.insert(tokens.end(), words.begin(), words.end());
  return make_vocabulary(tokens);
}

std::string repeat(std::string_view text, std::size_t count) {
  std::string repeated;
  for (std::size_t k = 0; k < count; ++k) repeated += text;
  return repeated;
}

double seconds_to_split(const std::string& text) {
  const auto start = std::chrono::steady_clock::now();
  static_cast<void>(split(text));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("white space separates words and punctuation stands apart", "[core][tokenizer]") {
  CHECK(split("The cat sat.") == Words{"The", "cat", "sat", "."});
  CHECK(split("  a\tb\nc\r\nd\u00A0e\u3000f  ") == Words{"a", "b", "c", "d", "e", "f"});
  CHECK(split("(yes) \"no\" — really?!") ==
        Words{"(", "yes", ")", "\"", "no", "\"", "—", "really", "?", "!"});
  CHECK(split("snake_case a+b $5 x...") ==
        Words{"snake", "_", "case", "a", "+", "b", "$", "5", "x", ".", ".", "."});
  CHECK(split("").empty());
  CHECK(split(" \n\t ").empty());
}

TEST_CASE("apostrophes and hyphens between letters stay within the word", "[core][tokenizer]") {
  CHECK(split("don't don\u2019t well-known rock'n'roll") ==
        Words{"don't", "don\u2019t", "well-known", "rock'n'roll"});
  CHECK(split("'tis dogs' -a a- a--b") ==
        Words{"'", "tis", "dogs", "'", "-", "a", "a", "-", "a", "-", "-", "b"});
  CHECK(split("E-Mail-Adresse A-4") == Words{"E-Mail-Adresse", "A-4"});
  CHECK(split("-") == Words{"-"});
  CHECK(split("a-") == Words{"a", "-"});
}

TEST_CASE("full stops and commas stay within numbers only", "[core][tokenizer]") {
  CHECK(split("3.14 1,000,000.5 3. .5") == Words{"3.14", "1,000,000.5", "3", ".", ".", "5"});
  CHECK(split("end.Next yes,no") == Words{"end", ".", "Next", "yes", ",", "no"});
  CHECK(split("x2.5") == Words{"x2.5"});
  CHECK(split("1..2") == Words{"1", ".", ".", "2"});
  CHECK(split("1.a") == Words{"1", ".", "a"});
}

TEST_CASE("text is normalised, so that one letter has one spelling", "[core][tokenizer]") {
  CHECK(split("Ca\u0308sar") == Words{"C\u00E4sar"});
  CHECK(split("\u212B") == Words{"\u00C5"});                // Ångström sign
  CHECK(split("\u1112\u1161\u11AB") == Words{"\uD55C"});    // Hangul from its parts
  CHECK(split("q\u0323\u0307") == split("q\u0307\u0323"));  // marks in either order
}

TEST_CASE("lower-casing is a setting", "[core][tokenizer]") {
  CHECK(split("Der Ärger") == Words{"Der", "Ärger"});
  CHECK(split_lower("Der ÄRGER, STRAẞE Straße") == Words{"der", "ärger", ",", "straße", "straße"});
  CHECK(split_lower("ΑΘΗΝΑ МОСКВА") == Words{"αθηνα", "москва"});
  CHECK(split_lower("H\u0331") == Words{"\u1E96"});  // only the small letter has a form of its own
}

TEST_CASE("marks stay with their letter", "[core][tokenizer]") {
  CHECK(split("q\u0307a") == Words{"q\u0307a"});
  CHECK(split("हिन्दी भाषा") == Words{"हिन्दी", "भाषा"});
  CHECK(split("עִבְרִית") == Words{"עִבְרִית"});
  CHECK(split("می\u200Cخواهم") == Words{"می\u200Cخواهم"});  // a zero-width non-joiner within a Persian word
  CHECK(split("a \u0301b") == Words{"a", "\u0301", "b"});   // a mark that has only a space to stand on
  CHECK(split("a-\u0301b") == Words{"a", "-\u0301", "b"});  // an accented hyphen is no hyphen
}

TEST_CASE("Chinese characters stand one by one, kana and Hangul in runs", "[core][tokenizer]") {
  CHECK(split("我爱北京。") == Words{"我", "爱", "北", "京", "。"});
  CHECK(split("私はネコです") == Words{"私", "はネコです"});
  CHECK(split("한국어 단어") == Words{"한국어", "단어"});
  CHECK(split("\U00020000a") == Words{"\U00020000", "a"});
}

TEST_CASE("an emoji stands apart and is never cut", "[core][tokenizer]") {
  CHECK(split("cat🐱dog") == Words{"cat", "🐱", "dog"});
  CHECK(split("😀😀") == Words{"😀", "😀"});
  CHECK(split("👩\u200D👩\u200D👧\u200D👦!") == Words{"👩\u200D👩\u200D👧\u200D👦", "!"});  // a family
  CHECK(split("👍🏽x") == Words{"👍🏽", "x"});                              // a skin tone
  CHECK(split("🇩🇪🇫🇷") == Words{"🇩🇪", "🇫🇷"});                                        // two flags
  CHECK(split("❤\uFE0F") == Words{"❤\uFE0F"});
}

TEST_CASE("control characters and invisible format characters separate", "[core][tokenizer]") {
  CHECK(split(std::string_view("a\0b\x01"
                               "c\x7F"
                               "d",
                               7)) == Words{"a", "b", "c", "d"});
  CHECK(split("\uFEFFa\u200Bb\u202Ec") == Words{"a", "b", "c"});
  CHECK(split("Donau\u00ADdampf\u00ADschiff") == Words{"Donaudampfschiff"});
}

TEST_CASE("invalid UTF-8 becomes replacement characters", "[core][tokenizer]") {
  CHECK(split("a\xFF"
              "b") == Words{"a", "\uFFFD", "b"});
  CHECK(split("\xC3") == Words{"\uFFFD"});                              // cut off
  CHECK(split("\xC0\xAF") == Words{"\uFFFD", "\uFFFD"});                // an overlong slash
  CHECK(split("\xED\xA0\x80") == Words{"\uFFFD", "\uFFFD", "\uFFFD"});  // half a surrogate pair
  CHECK(split("\xF4\x90\x80\x80").size() == 4);                         // beyond U+10FFFF
  for (int byte = 0; byte < 256; ++byte) {                              // any byte after any start
    for (const char* start : {"", "a", "\xE2\x82", "\xF0\x9F\x98"}) {
      const std::string text = start + std::string(1, static_cast<char>(byte)) + "z";
      for (const std::string& word : split(text)) CHECK(split(word) == Words{word});
    }
  }
}

TEST_CASE("a megabyte of text is split quickly", "[core][tokenizer]") {
  // each takes about 0.2 s, up to 2 s under a sanitizer; a quadratic step would take minutes
  CHECK(seconds_to_split(repeat("word ", 200'000)) < 20);
  CHECK(seconds_to_split(repeat("a", 1'000'000)) < 20);
  CHECK(seconds_to_split(repeat("\u0301\u0323", 250'000)) < 20);  // marks that must change places
  CHECK(seconds_to_split("a" + repeat("\u0301\u0323", 250'000)) < 20);
  CHECK(seconds_to_split(repeat("👩\u200D", 140'000)) < 20);
  CHECK(seconds_to_split(repeat("a-", 500'000)) < 20);
  CHECK(seconds_to_split(repeat("\xFF", 1'000'000)) < 20);
}

TEST_CASE("a vocabulary finds tokens by id and ids by token", "[core][vocabulary]") {
  const Vocabulary vocabulary = make_vocabulary({"<pad>", "the", "cat"});
  CHECK(vocabulary.size() == 3);
  CHECK(vocabulary.token(2) == "cat");
  CHECK(vocabulary.find("the") == 1);
  CHECK_FALSE(vocabulary.find("dog"));
  CHECK_FALSE(vocabulary.begin());
  CHECK_FALSE(vocabulary.end());
  CHECK_FALSE(vocabulary.spare_row("dog"));
  CHECK(with_spare_rows({}).begin() == 1);
  CHECK(with_spare_rows({}).end() == 2);
}

TEST_CASE("spare rows are those called unknown with a number", "[core][vocabulary]") {
  const Vocabulary vocabulary = make_vocabulary({"<pad>", "<unknown 0>", "<unknown>", "<unknown x>",
                                                 "<unknown 17>", "unknown 1", "<unknown 1", "<unknown >"});
  std::vector<std::int32_t> spare;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id)
    if (vocabulary.is_spare(id)) spare.push_back(id);
  CHECK(spare == std::vector<std::int32_t>{1, 4});
}

TEST_CASE("row 0 is padding, whatever it is called", "[core][vocabulary]") {
  CHECK_FALSE(make_vocabulary({"<begin>", "a"}).begin());
  CHECK_FALSE(make_vocabulary({"<end>", "a"}).end());
  const Vocabulary vocabulary = make_vocabulary({"<unknown 0>", "a"});
  CHECK_FALSE(vocabulary.is_spare(0));
  CHECK_FALSE(vocabulary.spare_row("b"));
}

TEST_CASE("an unknown word has the spare row of its hash", "[core][vocabulary]") {
  const Vocabulary vocabulary = with_spare_rows({"the"});
  // FNV-1a("a") = 0xaf63dc4c8601ec8c = 1 modulo 3, FNV-1a("foobar") = 0x85944171f73967e8 = 1 modulo 3
  CHECK(vocabulary.spare_row("a") == 3 + static_cast<std::int32_t>(0xaf63dc4c8601ec8c % 3));
  CHECK(vocabulary.spare_row("foobar") == 3 + static_cast<std::int32_t>(0x85944171f73967e8 % 3));
  std::set<std::int32_t> rows;
  for (int k = 0; k < 50; ++k) rows.insert(*vocabulary.spare_row("word" + std::to_string(k)));
  CHECK(rows == std::set<std::int32_t>{3, 4, 5});
}

TEST_CASE("a malformed vocabulary is refused by name", "[core][vocabulary]") {
  const auto key = [](const std::string& json) {
    const Result<Vocabulary> vocabulary = Vocabulary::parse(json, "vocab.json");
    return vocabulary ? std::string("accepted") : vocabulary.error().key;
  };
  CHECK(key(R"(["<pad>", "a"])") == "accepted");
  CHECK(key("[]") == "vocabulary.empty");
  CHECK(key(R"({"a": 0})") == "vocabulary.type");
  CHECK(key(R"(["a", 1])") == "vocabulary.entry_type");
  CHECK(key(R"(["a", ["b"]])") == "vocabulary.entry_type");
  CHECK(key(R"(["a", "b"] x)") == "json.syntax");
  CHECK(key("[\"\xFF\"]") == "json.syntax");
  CHECK(key("") == "json.syntax");
  const Result<Vocabulary> twice = Vocabulary::parse(R"(["a", "b", "a"])", "vocab.json");
  REQUIRE_FALSE(twice);
  CHECK(twice.error() ==
        Error{"vocabulary.duplicate", "vocab.json", {{"token", "a"}, {"first", "0"}, {"second", "2"}}});
}

TEST_CASE("tokenize looks words up and marks the unknown ones", "[core][tokenizer]") {
  const Vocabulary vocabulary = with_spare_rows({"the", "cat", "."});
  const Result<Sentence> sentence = tokenize("the zebra .", vocabulary, {}, 10);
  REQUIRE(sentence);
  REQUIRE(sentence->tokens.size() == 3);
  CHECK(sentence->tokens[0].id == 6);
  CHECK_FALSE(sentence->tokens[0].is_unknown);
  CHECK(sentence->tokens[1].text == "zebra");
  CHECK(sentence->tokens[1].id == vocabulary.spare_row("zebra"));
  CHECK(sentence->tokens[1].is_unknown);
  CHECK(sentence->tokens[2].id == 8);
  CHECK(sentence->n_cut == 0);
  CHECK(token_row(*sentence, vocabulary) ==
        std::vector<std::int32_t>{1, 6, *vocabulary.spare_row("zebra"), 8, 2});
  CHECK(token_row(*sentence, make_vocabulary({"<pad>", "x"})).size() == 3);  // no begin, no end
}

TEST_CASE("a question and its text are separated where the vocabulary has a mark for it",
          "[core][tokenizer]") {
  const auto ids = [](const std::vector<std::string>& tokens, const std::string& text) {
    const Result<Sentence> sentence = tokenize(text, *Vocabulary::make(tokens, "test"), {}, 100);
    REQUIRE(sentence);
    return token_row(*sentence, *Vocabulary::make(tokens, "test"));
  };
  const std::vector<std::string> with = {"<pad>", "a", "?", "<separator>", "<", "separator", ">"};
  CHECK(ids(with, "a ? a a ? a") == std::vector<std::int32_t>{1, 2, 3, 1, 1, 2, 1});
  CHECK(ids(with, "a a") == std::vector<std::int32_t>{1, 1});
  CHECK(ids(with, "a ?") == std::vector<std::int32_t>{1, 2});
  CHECK(ids(with, "a a ? <separator> a") == std::vector<std::int32_t>{1, 1, 2, 3, 1});
  CHECK(ids({"<pad>", "a", "?"}, "a ? a") == std::vector<std::int32_t>{1, 2, 1});
}

TEST_CASE("words beyond the limit are cut and counted", "[core][tokenizer]") {
  const Vocabulary vocabulary = with_spare_rows({"a"});
  const Result<Sentence> sentence = tokenize("a b c d e", vocabulary, {}, 3);
  REQUIRE(sentence);
  CHECK(sentence->tokens.size() == 3);
  CHECK(sentence->tokens.back().text == "c");
  CHECK(sentence->n_cut == 2);
  const Result<Sentence> large = tokenize(repeat("a ", 500'000), vocabulary, {}, 64);
  REQUIRE(large);
  CHECK(large->tokens.size() == 64);
  CHECK(large->n_cut == 500'000 - 64);
  // a word that is cut off cannot be unknown
  CHECK(tokenize("a b", make_vocabulary({"<pad>", "a"}), {}, 1));
}

TEST_CASE("a typed name of a special row is ordinary text", "[core][tokenizer]") {
  const Vocabulary vocabulary = with_spare_rows({"<", ">", "pad", "unknown", "3"});
  const auto texts = [&vocabulary](std::string_view typed) {
    const Result<Sentence> sentence = tokenize(typed, vocabulary, {}, 20);
    REQUIRE(sentence);
    Words words;
    for (const Token& token : sentence->tokens) {
      CHECK(token.id > 2);
      words.push_back(token.text);
    }
    return words;
  };
  CHECK(texts("<pad>") == Words{"<", "pad", ">"});
  CHECK(texts("<unknown 3>") == Words{"<", "unknown", "3", ">"});
  CHECK(texts("<begin><end>") == Words{"<", "begin", ">", "<", "end", ">"});
  // not even where padding bears the name of a word
  const Vocabulary sloppy = make_vocabulary({"the", "<unknown 0>"});
  const Result<Sentence> sentence = tokenize("the", sloppy, {}, 20);
  REQUIRE(sentence);
  CHECK(sentence->tokens[0].id == 1);
  CHECK(sentence->tokens[0].is_unknown);
}

TEST_CASE("what cannot be tokenized is refused by name", "[core][tokenizer]") {
  const Vocabulary vocabulary = make_vocabulary({"<pad>", "the"});
  CHECK(tokenize("", vocabulary, {}, 10).error() == Error{"text.empty", ""});
  CHECK(tokenize(" \n", vocabulary, {}, 10).error() == Error{"text.empty", ""});
  CHECK(tokenize("the cat", vocabulary, {}, 10).error() ==
        Error{"text.unknown_word", "", {{"words", "cat"}}});
  CHECK(tokenize("the", vocabulary, {.kind = "byte_bpe"}, 10).error() ==
        Error{"text.tokenizer_unsupported", "", {{"kind", "byte_bpe"}}});
}

TEST_CASE("all unknown words are named, each once, with the words that are spelled most like them",
          "[core][tokenizer]") {
  const Vocabulary vocabulary =
      make_vocabulary({"<pad>", "the", "film", "was", "good", "bad", ".", "<separator>"});
  const auto refused = [&](std::string_view text) {
    return tokenize(text, vocabulary, {}, 20).error().values;
  };
  using Values = decltype(Error::values);
  CHECK(refused("the movie was goood .") == Values{{"words", "movie, goood"}, {"near", "good"}});
  CHECK(refused("films films was separator") == Values{{"words", "films, separator"}, {"near", "film"}});
  CHECK(refused("bat ded gad film") == Values{{"words", "bat, ded, gad"}, {"near", "bad"}});
  CHECK(refused("a b c d e f g h i") == Values{{"words", "a, b, c, d, e, f, g, h, …"}});
  // nothing is offered that has little to do with it
  CHECK(tokenize("theatre", vocabulary, {}, 9).error().key == "text.unknown_word");
  CHECK(tokenize("thee", vocabulary, {}, 9).error().key == "text.unknown_word_near");
}

TEST_CASE("a mark of the vocabulary's own is typed as it is shown", "[core][tokenizer]") {
  const Vocabulary vocabulary = with_spare_rows({"a", "b", "<separator>", "<", ">"});
  const auto ids = [&vocabulary](std::string_view text) {
    const Result<Sentence> sentence = tokenize(text, vocabulary, {}, 20);
    REQUIRE(sentence);
    std::vector<std::string> words;
    for (const Token& token : sentence->tokens)
      words.push_back(token.is_unknown ? "unknown" : vocabulary.token(token.id));
    return words;
  };
  CHECK(ids("a <separator> b") == Words{"a", "<separator>", "b"});
  CHECK(ids("<separator><separator>") == Words{"<separator>", "<separator>"});
  CHECK(ids("a < b") == Words{"a", "<", "b"});
  CHECK(ids("<separator") == Words{"<", "unknown"});
  // begin, end and spare rows have a meaning that no sentence can give
  CHECK(ids("<begin>") == Words{"<", "unknown", ">"});
  CHECK(ids("<pad>") == Words{"<", "unknown", ">"});
}
