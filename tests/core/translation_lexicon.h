// What the checker of translations knows about words: the lexicon's tables, and German inflection as grammar
// books give it, written down here a second time, so that an error in the grammar's own tables is seen.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headscope::tests {

/// A table's rows, each by column name; "-" is the empty text.
std::vector<std::map<std::string, std::string>> read_table(const std::filesystem::path& file);

enum class Case { nominative, accusative, dative, genitive };
enum class Gender { masculine, feminine, neuter };
enum class Number { singular, plural };
enum class Declension { strong, weak, mixed };

/// What an article can be: the same word may be several ("der": nominative masculine, dative feminine, …).
struct ArticleReading {
  std::string name;  // "the", "a", "my", "our", "this", "every", "all", "many", "some", "two", "three", "no"
  Case in = Case::nominative;
  Gender gender = Gender::masculine;
  Number number = Number::singular;
};

struct NounEntry {
  std::string english, english_plural, german, german_plural, kind;
  Gender gender = Gender::masculine;
  bool is_mass = false, is_weak = false;  // weak: "den Jungen" (the n-declension)
};

struct EnglishNoun {
  std::size_t noun = 0;
  Number number = Number::singular;
  bool is_owner = false;
};

struct GermanNoun {
  std::size_t noun = 0;
  Number number = Number::singular;
  Case in = Case::nominative;
};

struct AdjectiveReading {
  std::size_t adjective = 0;
  std::string ending;
};

struct VerbEntry {
  std::string key;                         // the same for all rows that differ only in who does it to what
  std::string past, infinitive, particle;  // English
  std::string german_past, german_past_plural, german_infinitive,
      german_particle;  // the infinitive with its particle
  std::string frame, preposition;
  Case preposition_case = Case::accusative;
  bool is_copula = false;
};

struct AdverbEntry {
  std::string english, german, kind, inside;
  bool can_front = false;
};

class TranslationLexicon {
 public:
  explicit TranslationLexicon(const std::filesystem::path& folder);

  std::vector<NounEntry> nouns;
  std::vector<VerbEntry> verbs;
  std::vector<std::pair<std::string, std::string>> adjectives;  // English, German predicative
  std::unordered_map<std::string, EnglishNoun> english_nouns;
  std::unordered_multimap<std::string, GermanNoun> german_nouns;
  std::unordered_map<std::string, std::size_t> english_adjectives, german_predicatives;
  std::unordered_multimap<std::string, AdjectiveReading> german_adjectives;
  std::unordered_multimap<std::string, ArticleReading> articles;
  std::vector<AdverbEntry> adverbs;
  std::map<std::string, std::string> degrees, conditions;  // German to English

 private:
  void add_nouns(const std::filesystem::path& folder);
  void add_verbs(const std::filesystem::path& folder);
  void add_adjectives(const std::filesystem::path& folder);
  void add_articles();
};

/// The ending of an adjective before its noun.
std::string adjective_ending(Declension declension, Case in, Gender gender, Number number);
/// What an adjective does after that article; an empty name: no article.
Declension declension_after(std::string_view article);
/// A noun's form; empty where it has none.
std::string noun_form(const NounEntry& noun, Case in, Number number);

}  // namespace headscope::tests
