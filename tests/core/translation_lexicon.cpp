#include "core/translation_lexicon.h"

#include <array>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace headscope::tests {

namespace {

using Row = std::map<std::string, std::string>;

constexpr std::array kCases = {Case::nominative, Case::accusative, Case::dative, Case::genitive};
constexpr std::array kGenders = {Gender::masculine, Gender::feminine, Gender::neuter};
constexpr std::array kNumbers = {Number::singular, Number::plural};

// Those of the strong or n-declension cannot be told from their nominative: a list, as in grammar books.
constexpr std::array<std::string_view, 16> kWeakNouns = {
    "Junge", "Bauer",  "Nachbar", "Herr", "Prinz", "Student", "Kollege", "Kunde",
    "Pilot", "Soldat", "Bär",     "Löwe", "Affe",  "Elefant", "Hase",    "Held"};

/// "dieser, diese, dieses …": the endings that an article has, or an adjective in its place.
std::string pronominal_ending(Case in, Gender gender, Number number) {
  const auto at = static_cast<std::size_t>(in);
  if (number == Number::plural) return std::array{"e", "e", "en", "er"}[at];
  switch (gender) {
    case Gender::masculine:
      return std::array{"er", "en", "em", "es"}[at];
    case Gender::feminine:
      return std::array{"e", "e", "er", "er"}[at];
    case Gender::neuter:
      break;
  }
  return std::array{"es", "es", "em", "es"}[at];
}

std::string definite_article(Case in, Gender gender, Number number) {
  const std::string ending = pronominal_ending(in, gender, number);
  if (ending == "e") return "die";
  if (ending == "es" && in != Case::genitive) return "das";
  return "d" + ending;
}

bool is_bare_ein(Case in, Gender gender, Number number) {
  return number == Number::singular && ((gender == Gender::masculine && in == Case::nominative) ||
                                        (gender == Gender::neuter && in < Case::dative));
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

std::vector<Row> read_table(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  std::vector<std::string> columns;
  std::vector<Row> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> cells;
    std::istringstream split(line);
    for (std::string cell; std::getline(split, cell, '\t');) cells.push_back(cell == "-" ? "" : cell);
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    Row& row = rows.emplace_back();
    for (std::size_t at = 0; at < columns.size(); ++at) row[columns[at]] = cells.at(at);
  }
  return rows;
}

std::string adjective_ending(Declension declension, Case in, Gender gender, Number number) {
  if (declension == Declension::mixed)  // where "ein" shows nothing, the adjective does
    declension = is_bare_ein(in, gender, number) ? Declension::strong : Declension::weak;
  if (declension == Declension::weak) {
    const bool is_short = number == Number::singular &&
                          (in == Case::nominative || (in == Case::accusative && gender != Gender::masculine));
    return is_short ? "e" : "en";
  }
  const bool shows_by_noun = in == Case::genitive && number == Number::singular && gender != Gender::feminine;
  return shows_by_noun ? "en" : pronominal_ending(in, gender, number);
}

Declension declension_after(std::string_view article) {
  for (const std::string_view name : {"the", "this", "every", "all"})
    if (article == name) return Declension::weak;
  for (const std::string_view name : {"a", "my", "our", "no"})
    if (article == name) return Declension::mixed;
  return Declension::strong;
}

std::string noun_form(const NounEntry& noun, Case in, Number number) {
  if (number == Number::plural) {
    if (noun.is_mass) return "";
    const std::string& plural = noun.german_plural;
    return in == Case::dative && !ends_with(plural, "n") && !ends_with(plural, "s") ? plural + "n" : plural;
  }
  if (in == Case::nominative || noun.gender == Gender::feminine) return noun.german;
  if (noun.is_weak) {
    const bool is_short = ends_with(noun.german, "e") || ends_with(noun.german, "er") ||
                          noun.german == "Nachbar" || noun.german == "Herr";
    return noun.german + (is_short ? "n" : "en");
  }
  return noun.german;  // the genitive is in add_nouns(): -s or -es
}

TranslationLexicon::TranslationLexicon(const std::filesystem::path& folder) {
  add_nouns(folder);
  add_verbs(folder);
  add_adjectives(folder);
  add_articles();
  for (const Row& row : read_table(folder / "adverbs.tsv"))
    adverbs.push_back(
        {row.at("english"), row.at("german"), row.at("kind"), row.at("inside"), !row.at("front").empty()});
  for (const Row& row : read_table(folder / "degrees.tsv")) degrees[row.at("german")] = row.at("english");
  for (const Row& row : read_table(folder / "conditions.tsv"))
    conditions[row.at("german")] = row.at("english");
}

void TranslationLexicon::add_nouns(const std::filesystem::path& folder) {
  for (const Row& row : read_table(folder / "nouns.tsv")) {
    NounEntry noun{.english = row.at("english"),
                   .english_plural = row.at("english_plural"),
                   .german = row.at("german"),
                   .german_plural = row.at("german_plural"),
                   .kind = row.at("kind"),
                   .gender = row.at("gender") == "feminine"    ? Gender::feminine
                             : row.at("gender") == "masculine" ? Gender::masculine
                                                               : Gender::neuter,
                   .is_mass = row.at("english_plural").empty()};
    for (const std::string_view weak : kWeakNouns) noun.is_weak = noun.is_weak || noun.german == weak;
    const std::size_t index = nouns.size();
    english_nouns[noun.english] = {index, Number::singular, false};
    english_nouns[noun.english + "'s"] = {index, Number::singular, true};
    if (!noun.is_mass) english_nouns[noun.english_plural] = {index, Number::plural, false};
    for (const Number number : kNumbers)
      for (const Case in : kCases) {
        const std::string form = noun_form(noun, in, number);
        if (form.empty()) continue;
        if (in == Case::genitive && number == Number::singular && form == noun.german &&
            noun.gender != Gender::feminine) {
          german_nouns.insert({form + "s", {index, number, in}});
          german_nouns.insert({form + "es", {index, number, in}});
        } else {
          german_nouns.insert({form, {index, number, in}});
        }
      }
    nouns.push_back(std::move(noun));
  }
}

void TranslationLexicon::add_verbs(const std::filesystem::path& folder) {
  std::map<std::string, bool> known;
  const auto add = [&](const Row& row, bool is_copula) {
    const auto cell = [&](const char* column) {
      const auto found = row.find(column);
      return found == row.end() ? std::string() : found->second;
    };
    VerbEntry verb{.key = {},
                   .past = cell("english_past"),
                   .infinitive = cell("english"),
                   .particle = cell("english_particle"),
                   .german_past = cell("german_past"),
                   .german_past_plural = cell("german_past_plural"),
                   .german_infinitive = cell("german"),
                   .german_particle = cell("german_particle"),
                   .frame = is_copula ? "copula" : cell("frame"),
                   .preposition = cell("preposition"),
                   .preposition_case = cell("preposition_case") == "dative" ? Case::dative : Case::accusative,
                   .is_copula = is_copula};
    verb.key = verb.infinitive + " " + verb.particle + " " + verb.frame + " " + verb.german_infinitive;
    if (std::exchange(known[verb.key], true)) return;
    verbs.push_back(std::move(verb));
  };
  for (const Row& row : read_table(folder / "verbs.tsv")) add(row, false);
  for (const Row& row : read_table(folder / "copulas.tsv")) add(row, true);
}

void TranslationLexicon::add_adjectives(const std::filesystem::path& folder) {
  for (const Row& row : read_table(folder / "adjectives.tsv")) {
    const std::size_t index = adjectives.size();
    const std::string& german = row.at("german");
    english_adjectives[row.at("english")] = index;
    german_predicatives[german] = index;
    // before a noun: "dunkel" and "teuer" lose their e, "hoch" its c, "müde" its own ending
    std::string stem = german;
    if (ends_with(german, "el")) stem = german.substr(0, german.size() - 2) + "l";
    if (ends_with(german, "euer")) stem = german.substr(0, german.size() - 2) + "r";
    if (ends_with(german, "e")) stem = german.substr(0, german.size() - 1);
    if (german == "hoch") stem = "hoh";
    for (const char* ending : {"e", "en", "er", "es", "em"})
      german_adjectives.insert({stem + ending, {index, ending}});
    adjectives.emplace_back(row.at("english"), german);
  }
}

void TranslationLexicon::add_articles() {
  const std::map<std::string, std::string> der_words = {
      {"this", "dies"}, {"every", "jed"}, {"all", "all"}, {"many", "viel"}, {"some", "einig"}};
  const std::map<std::string, std::string> ein_words = {
      {"a", "ein"}, {"my", "mein"}, {"our", "unser"}, {"no", "kein"}};
  for (const Case in : kCases)
    for (const Gender gender : kGenders)
      for (const Number number : kNumbers) {
        const bool is_plural = number == Number::plural;
        const std::string ending = pronominal_ending(in, gender, number);
        const auto add = [&](const std::string& form, const std::string& name) {
          articles.insert({form, {name, in, gender, number}});
        };
        add(definite_article(in, gender, number), "the");
        for (const auto& [name, stem] : der_words) {
          const bool is_only_plural = name == "all" || name == "many" || name == "some";
          if (is_only_plural ? is_plural : !(name == "every" && is_plural)) add(stem + ending, name);
        }
        for (const auto& [name, stem] : ein_words)
          if (!(name == "a" && is_plural)) add(is_bare_ein(in, gender, number) ? stem : stem + ending, name);
        if (is_plural && in != Case::genitive) add("zwei", "two"), add("drei", "three");
      }
}

}  // namespace headscope::tests
