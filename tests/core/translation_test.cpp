// English to German: every sentence is parsed by a checker that does not know the grammar, and every link
// worked out a second time.
#include "core/tasks/sentence_text.h"
#include "core/tasks/task.h"
#include "core/temporary_folder.h"
#include "core/translation_check.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace headscope::core;
using namespace headscope::tests;

namespace {

constexpr int kSentences = 20'000;

std::filesystem::path assets() {
  return source_folder() / "assets";
}

std::unique_ptr<const Task> task_of(TaskSize size) {
  return make_task({.name = "translation", .size = size}, assets()).value();
}

TranslationLexicon lexicon() {
  return TranslationLexicon(assets() / "tasks" / "translation");
}

Words english_of(const Task& task, const Example& example) {
  Words words;
  for (const std::int32_t id : example.source) words.push_back(task.vocabulary().token(id));
  return words;
}

/// Without begin and end.
Words german_of(const Task& task, const Example& example) {
  Words words;
  for (std::size_t at = 1; at + 1 < example.target.size(); ++at)
    words.push_back(task.target_vocabulary()->token(example.target[at]));
  return words;
}

/// The example's links between words instead of fed positions.
std::vector<ExpectedLink> links_of(const Task& task, const Example& example) {
  std::vector<ExpectedLink> links;
  for (const Link& link : example.links) {
    const Relation& relation = task.relations()[static_cast<std::size_t>(link.relation)];
    // row t of the target predicts word t; position t + 1 holds it
    const int key = relation.key == TextSide::target ? link.key - 1 : link.key;
    links.push_back({relation.name, link.query, key, link.is_sure});
  }
  std::sort(links.begin(), links.end());
  return links;
}

std::string text(const Words& english, const Words& german) {
  return sentence_text(english) + " | " + sentence_text(german);
}

std::string text(const std::vector<ExpectedLink>& links) {
  std::string result;
  for (const ExpectedLink& link : links)
    result += link.relation + " " + std::to_string(link.query) + "-" + std::to_string(link.key) +
              (link.is_sure ? "\n" : "?\n");
  return result;
}

void check_sentences(TaskSize size, const std::set<std::string>& relations) {
  const auto task = task_of(size);
  const TranslationLexicon words = lexicon();
  std::set<std::string> seen;
  Rng rng(11);
  std::size_t n_wrong = 0;
  for (int drawn = 0; drawn < kSentences && n_wrong < 10; ++drawn) {
    const Example example = task->draw(rng, drawn % 10 == 0 ? Split::held_out : Split::training);
    const Words english = english_of(*task, example), german = german_of(*task, example);
    const auto readings = check_translation(words, english, german);
    const std::vector<ExpectedLink> links = links_of(*task, example);
    for (const ExpectedLink& link : links) seen.insert(link.relation);
    if (std::find(readings.begin(), readings.end(), links) != readings.end()) continue;
    ++n_wrong;
    UNSCOPED_INFO(text(english, german)
                  << "\n"
                  << (readings.empty() ? "is no translation"
                                       : "expected\n" + text(readings[0]) + "found\n" + text(links)));
  }
  CHECK(n_wrong == 0);
  CHECK(seen == relations);
}

// Mutations

/// For each German word those that a learner takes it for: other forms of the same word.
std::map<std::string, std::vector<std::string>> other_forms(const TranslationLexicon& words) {
  std::map<std::string, std::set<std::string>> groups;
  for (const auto& [form, noun] : words.german_nouns)
    groups["noun " + std::to_string(noun.noun)].insert(form);
  for (const auto& [form, adjective] : words.german_adjectives)
    groups["adjective " + std::to_string(adjective.adjective)].insert(form);
  for (const auto& [form, article] : words.articles) groups["article " + article.name].insert(form);
  for (std::size_t at = 0; at < words.verbs.size(); ++at)
    groups["verb " + std::to_string(at)] = {words.verbs[at].german_past, words.verbs[at].german_past_plural};
  for (const auto& [name, forms] :
       std::map<std::string, std::set<std::string>>{{"modal can", {"kann", "können"}},
                                                    {"modal must", {"muss", "müssen"}},
                                                    {"modal should", {"sollte", "sollten"}},
                                                    {"modal will", {"wird", "werden"}},
                                                    {"modal may", {"darf", "dürfen"}}})
    groups[name] = forms;
  std::map<std::string, std::vector<std::string>> others;
  for (const auto& [name, forms] : groups)
    for (const std::string& form : forms)
      for (const std::string& other : forms)
        if (other != form) others[form].push_back(other);
  return others;
}

struct Mutant {
  Words english, german;
  bool is_changed = false;
};

enum class Change { form, number, german_order, english_order, english_word };

Mutant mutate(Words english, Words german, Change change, const TranslationLexicon& lexicon,
              const std::map<std::string, std::vector<std::string>>& others, Rng& rng) {
  Words& words = change == Change::form || change == Change::german_order ? german : english;
  for (int tries = 0; tries < 30; ++tries) {
    const std::size_t at = rng.below(words.size());
    std::string& word = words[at];
    if (change == Change::form) {
      const auto found = others.find(word);
      if (found == others.end()) continue;
      word = found->second[rng.below(found->second.size())];
    } else if (change == Change::number) {
      const auto noun = lexicon.english_nouns.find(word);
      if (noun == lexicon.english_nouns.end() || noun->second.is_owner ||
          lexicon.nouns[noun->second.noun].is_mass)
        continue;
      const NounEntry& entry = lexicon.nouns[noun->second.noun];
      word = word == entry.english ? entry.english_plural : entry.english;
    } else if (change == Change::english_word) {
      const std::string& other = lexicon.nouns[rng.below(lexicon.nouns.size())].english;
      if (!lexicon.english_nouns.contains(word) || other == word) continue;
      word = other;
    } else {
      const std::size_t next = at + 1;
      if (next >= words.size() || words[next] == word) continue;
      std::swap(words[at], words[next]);
    }
    return {std::move(english), std::move(german), true};
  }
  return {};
}

void check_mutants(TaskSize size) {
  const auto task = task_of(size);
  const TranslationLexicon words = lexicon();
  const auto others = other_forms(words);
  for (const Change change :
       {Change::form, Change::number, Change::german_order, Change::english_order, Change::english_word}) {
    Rng rng(5);
    int n_mutants = 0, n_refused = 0;
    std::string accepted;
    for (int drawn = 0; drawn < 2'000; ++drawn) {
      const Example example = task->draw(rng, Split::training);
      const Mutant mutant =
          mutate(english_of(*task, example), german_of(*task, example), change, words, others, rng);
      if (!mutant.is_changed) continue;
      ++n_mutants;
      if (check_translation(words, mutant.english, mutant.german).empty())
        ++n_refused;
      else if (accepted.size() < 2'000)
        accepted += text(mutant.english, mutant.german) + "\n";
    }
    INFO(static_cast<int>(change) << ": " << n_refused << " of " << n_mutants << "; accepted\n" << accepted);
    CHECK(n_mutants > 1'500);
    CHECK(n_refused >= n_mutants * 0.99);
  }
}

/// What the sentence says of who does what to whom: the parts that are held out together.
std::set<std::string> combinations(const TranslationLexicon& lexicon, const SentenceReading& reading) {
  std::set<std::string> found;
  for (const Clause& clause : reading.clauses) {
    if (clause.subject.empty()) continue;  // the weather
    const auto verb = std::find_if(lexicon.verbs.begin(), lexicon.verbs.end(),
                                   [&](const VerbEntry& each) { return each.key == clause.verb; });
    REQUIRE(verb != lexicon.verbs.end());
    const int other = clause.predicate >= 0   ? clause.predicate
                      : clause.object.empty() ? -1
                                              : clause.object[0].noun;
    found.insert((clause.predicate >= 0 ? "is " : "does ") + verb->past + " " +
                 std::to_string(clause.subject[0].noun) + " " + std::to_string(other));
  }
  return found;
}

/// A sentence of one combination tells whether that one is held out; every sentence with it must agree.
void check_split(TaskSize size) {
  const auto task = task_of(size);
  const TranslationLexicon words = lexicon();
  std::set<Words> trained;
  std::map<std::string, bool> is_held_out;
  std::vector<std::set<std::string>> trained_combinations;
  Rng rng(7);
  std::size_t n_contradictions = 0;
  for (int drawn = 0; drawn < kSentences * 5 / 4; ++drawn) {
    const Split split = drawn % 5 > 0 ? Split::training : Split::held_out;
    const Example example = task->draw(rng, split);
    REQUIRE(example.is_held_out == (split == Split::held_out));
    const Words english = english_of(*task, example);
    if (split == Split::training)
      trained.insert(english);
    else if (trained.contains(english))
      ++n_contradictions;
    const std::vector<SentenceReading> readings = read_english(words, english);
    REQUIRE_FALSE(readings.empty());
    const std::set<std::string> own = combinations(words, readings[0]);
    if (split == Split::training) trained_combinations.push_back(own);
    if (own.size() != 1) continue;
    const auto [known, is_new] = is_held_out.emplace(*own.begin(), example.is_held_out);
    if (known->second != example.is_held_out) ++n_contradictions;
  }
  CHECK(n_contradictions == 0);
  std::size_t n_trained = 0;
  for (const std::set<std::string>& each : trained_combinations)
    for (const std::string& combination : each)
      if (const auto known = is_held_out.find(combination); known != is_held_out.end() && known->second)
        ++n_trained;
  CHECK(n_trained == 0);
  // both kinds were met often enough for this to mean something
  const auto n_held_out =
      std::count_if(is_held_out.begin(), is_held_out.end(), [](const auto& each) { return each.second; });
  CHECK(n_held_out > 30);
  CHECK(static_cast<std::size_t>(n_held_out) < is_held_out.size());
}

const std::set<std::string> kPocketRelations = {
    "alignment",      "verb_conjunction", "verb_subject",     "modal_verb",      "verb_object",
    "verb_number",    "verb_agreement",   "infinitive_modal", "determiner_noun", "adjective_noun",
    "article_gender", "adjective_gender", "adjective_article"};

}  // namespace

TEST_CASE("pocket translations parse back, and their links join the right words",
          "[core][tasks][translation]") {
  check_sentences(TaskSize::pocket, kPocketRelations);
}

TEST_CASE("full translations parse back, and their links join the right words",
          "[core][tasks][translation]") {
  std::set<std::string> relations = kPocketRelations;
  relations.insert(
      {"particle_verb", "negation_verb", "degree_adjective", "owner_owned", "adjective_subject"});
  check_sentences(TaskSize::full, relations);
}

TEST_CASE("the checker of translations refuses mutated sentences", "[core][tasks][translation]") {
  check_mutants(TaskSize::pocket);
  check_mutants(TaskSize::full);
}

TEST_CASE("no held-out combination of a translation is trained", "[core][tasks][translation]") {
  check_split(TaskSize::pocket);
  check_split(TaskSize::full);
}

TEST_CASE("a translation's examples are as the form says", "[core][tasks][translation]") {
  for (const TaskSize size : {TaskSize::pocket, TaskSize::full}) {
    const auto task = task_of(size);
    const ModelConfig& form = task->form();
    CHECK(form.architecture == Architecture::encoder_decoder);
    CHECK(form.vocab_size == task->vocabulary().size());
    CHECK(form.target_vocab_size == task->target_vocabulary()->size());
    CHECK(form.max_tokens <= 24);
    CHECK(task->score_kind() == ScoreKind::exact_match);
    Rng rng(3);
    std::set<std::int32_t> sources, targets;
    for (int drawn = 0; drawn < 5'000; ++drawn) {
      const Example example = task->draw(rng, Split::training);
      REQUIRE(static_cast<std::int64_t>(example.source.size()) <= form.max_tokens);
      REQUIRE(static_cast<std::int64_t>(example.target.size()) - 1 <= form.max_tokens);
      CHECK(example.target.front() == task->target_vocabulary()->begin());
      CHECK(example.target.back() == task->target_vocabulary()->end());
      CHECK(task->text_of(example.target, TextSide::target) == sentence_text(german_of(*task, example)));
      sources.insert(example.source.begin(), example.source.end());
      targets.insert(example.target.begin(), example.target.end());
      for (const Link& link : example.links) {
        const Relation& relation = task->relations()[static_cast<std::size_t>(link.relation)];
        const std::size_t n_query =
            relation.query == TextSide::source ? example.source.size() : example.target.size() - 1;
        const std::size_t n_key =
            relation.key == TextSide::source ? example.source.size() : example.target.size() - 1;
        CHECK((link.query >= 0 && static_cast<std::size_t>(link.query) < n_query));
        CHECK((link.key >= 0 && static_cast<std::size_t>(link.key) < n_key));
      }
    }
    // few rows of the vocabularies are never met
    CHECK(static_cast<std::int64_t>(sources.size()) >= task->vocabulary().size() * 98 / 100);
    CHECK(static_cast<std::int64_t>(targets.size()) >= task->target_vocabulary()->size() * 80 / 100);
  }
}

TEST_CASE("the full translation has at least 300 content words", "[core][tasks][translation]") {
  const auto task = task_of(TaskSize::full);
  std::set<std::string> content;
  const auto folder = assets() / "tasks" / "translation";
  for (const char* table : {"nouns.tsv", "verbs.tsv", "adjectives.tsv", "adverbs.tsv"})
    for (const auto& row : read_table(folder / table)) {
      const std::string& word = row.at("english");
      REQUIRE(task->vocabulary().find(word).has_value());
      content.insert(word);
    }
  CHECK(content.size() >= 300);
}

TEST_CASE("the tables of nouns inflect as grammar books say", "[core][tasks][translation]") {
  const auto folder = assets() / "tasks" / "translation";
  const TranslationLexicon words = lexicon();
  const auto rows = read_table(folder / "nouns.tsv");
  REQUIRE(rows.size() == words.nouns.size());
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const NounEntry& noun = words.nouns[at];
    INFO(noun.german);
    CHECK(rows[at].at("german_oblique") == noun_form(noun, Case::dative, Number::singular));
    CHECK(rows[at].at("german_plural_dative") == noun_form(noun, Case::dative, Number::plural));
    CHECK((rows[at].at("onset") == "vowel") ==
          (std::string("aeiou").find(noun.english[0]) != std::string::npos));
    const std::string& genitive = rows[at].at("german_genitive");
    if (genitive.empty()) continue;
    const auto [first, last] = words.german_nouns.equal_range(genitive);
    CHECK(std::any_of(first, last, [&](const auto& each) {
      return each.second.noun == at && each.second.in == Case::genitive;
    }));
  }
}

TEST_CASE("a sentence is shown as people write it", "[core][tasks]") {
  const auto shown = [](std::vector<std::string> tokens) { return sentence_text(tokens); };
  CHECK(shown({"ich", "weiß", ",", "dass", "es", "stimmt", "."}) == "Ich weiß, dass es stimmt.");
  CHECK(shown({"<begin>", "über", "wen", "?", "<end>", "<pad>"}) == "Über wen?");
  CHECK(shown({"I", "know", "the", "teacher's", "dog", "."}) == "I know the teacher's dog.");
  CHECK(shown({"<begin>", "where", "is", "it", "?", "<separator>", "it", "is", "here", ".", "so", "what",
               "!"}) == "Where is it? It is here. So what!");
  CHECK(shown({"<"}) == "<");
  CHECK(shown({"<begin>"}).empty());
  CHECK(shown({}).empty());
}

TEST_CASE("a translation has no settings and needs a grammar in two languages with a split",
          "[core][tasks][translation]") {
  const auto with_setting = make_task({.name = "translation", .settings = {{"period", "4"}}}, assets());
  REQUIRE_FALSE(with_setting);
  CHECK(with_setting.error().key == "task.no_settings");
  const auto error_of = [](const std::string& grammar) {
    const TemporaryFolder folder;
    const std::filesystem::path own = folder / "tasks" / "translation";
    std::filesystem::create_directories(own);
    std::ofstream(own / "pocket.grammar") << grammar;
    return make_task({.name = "translation"}, folder.path()).error().key;
  };
  CHECK(error_of("language en\nrule sentence\n  en : \"cat\"\n") == "task.languages");
  CHECK(error_of("language en\nlanguage de\nrule sentence\n  en : \"cat\"\n  de : \"Katze\"\n") ==
        "task.split");
}
