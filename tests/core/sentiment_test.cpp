// The sentiment task against a recogniser that knows nothing of its grammar.
#include "core/tasks/sentiment.h"
#include "core/sentiment_check.h"
#include "core/tasks/task.h"
#include "core/temporary_folder.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace headscope::core;
using test::NamedLink;
using test::SentimentChecker;

namespace {

constexpr int kSentences = 20000;

struct Sample {
  std::vector<std::string> tokens;
  std::vector<int> labels;
  std::set<NamedLink> links;
  bool operator==(const Sample&) const = default;
};

std::unique_ptr<const Task> task_of(TaskSize size, const std::string& labels) {
  return make_task({.name = "sentiment", .size = size, .settings = {{"labels", labels}}},
                   headscope::tests::source_folder() / "assets")
      .value();
}

Sample sample_of(const Task& task, const Example& example) {
  Sample sample;
  for (const std::int32_t id : example.source) sample.tokens.push_back(task.vocabulary().token(id));
  for (const std::vector<std::int32_t>& labels : example.labels) sample.labels.push_back(labels.at(0));
  for (const Link& link : example.links)
    sample.links.insert(
        {task.relations()[static_cast<std::size_t>(link.relation)].name, link.query, link.key});
  return sample;
}

std::string text_of(const Sample& sample) {
  std::string text;
  for (const std::string& token : sample.tokens) text += token + " ";
  return text;
}

/// What is wrong with it; empty if nothing is.
std::string judge(const SentimentChecker& checker, const Sample& sample, bool asks_phrases) {
  SentimentChecker::Reading reading = checker.read(sample.tokens);
  if (!reading.wrong.empty()) return reading.wrong;
  if (!asks_phrases) std::fill(reading.labels.begin() + 1, reading.labels.end(), -1);
  if (reading.labels != sample.labels) return "labels";
  return reading.links == sample.links ? "" : "links";
}

TaskSize size_of(const std::string& name) {
  return name == "full" ? TaskSize::full : TaskSize::pocket;
}

/// Puts a word into the sentence; labels and links move with it.
void insert(Sample& sample, int at, const std::string& word) {
  sample.tokens.insert(sample.tokens.begin() + at, word);
  sample.labels.insert(sample.labels.begin() + at, -1);
  std::set<NamedLink> links;
  for (const NamedLink& link : sample.links)
    links.insert({link.relation, link.query + (link.query >= at), link.key + (link.key >= at)});
  sample.links = links;
}

void erase(Sample& sample, int at) {
  sample.tokens.erase(sample.tokens.begin() + at);
  sample.labels.erase(sample.labels.begin() + at);
  std::set<NamedLink> links;
  for (const NamedLink& link : sample.links)
    if (link.query != at && link.key != at)
      links.insert({link.relation, link.query - (link.query > at), link.key - (link.key > at)});
  sample.links = links;
}

bool has_link_from(const Sample& sample, int at) {
  return std::any_of(sample.links.begin(), sample.links.end(),
                     [at](const NamedLink& link) { return link.query == at; });
}

/// Ways to spoil a sentence; each leaves it as it is where it has nothing of the kind.
std::vector<std::pair<std::string, std::function<void(Sample&, Rng&)>>> mutations(const Task& task) {
  const auto replace = [](std::vector<std::pair<std::string, std::string>> pairs) {
    return [pairs = std::move(pairs)](Sample& sample, Rng&) {
      for (std::string& token : sample.tokens)
        for (const auto& [from, to] : pairs)
          if (token == from) {
            token = to;
            return;
          }
    };
  };
  const auto place = [](const Sample& sample, Rng& rng) {
    return static_cast<int>(1 + rng.below(sample.tokens.size() - 1));
  };
  return {
      {"number of the verb",
       replace(
           {{"was", "were"}, {"were", "was"}, {"is", "are"}, {"are", "is"}, {"does", "do"}, {"do", "does"}})},
      {"the other clause decides",
       replace({{"but", "although"}, {"although", "but"}, {"yet", "though"}, {"though", "yet"}})},
      {"degree", replace({{"very", "slightly"},
                          {"extremely", "fairly"},
                          {"absolutely", "somewhat"},
                          {"slightly", "very"},
                          {"fairly", "extremely"},
                          {"really", "fairly"}})},
      {"polarity of a word", replace({{"good", "weak"},
                                      {"clever", "dull"},
                                      {"superb", "awful"},
                                      {"wonderful", "terrible"},
                                      {"terrible", "wonderful"},
                                      {"dull", "moving"},
                                      {"weak", "brilliant"}})},
      {"strength of a word",
       [](Sample& sample, Rng&) {
         // a word that nothing bears on: "very good" and "very impressive" are of one class
         for (std::size_t at = 1; at < sample.tokens.size(); ++at)
           if (sample.labels[at] >= 0 && !has_link_from(sample, static_cast<int>(at)))
             for (const auto& [weak, strong] :
                  {std::pair{"good", "impressive"}, {"clever", "moving"}, {"weak", "embarrassing"}})
               if (sample.tokens[at] == weak) {
                 sample.tokens[at] = strong;
                 return;
               }
       }},
      {"negation put in",
       [](Sample& sample, Rng&) {
         for (std::size_t at = 0; at + 1 < sample.tokens.size(); ++at)
           if ((sample.tokens[at] == "was" || sample.tokens[at] == "is") && sample.tokens[at + 1] != "not" &&
               sample.tokens[at + 1] != "never") {
             insert(sample, static_cast<int>(at) + 1, "not");
             return;
           }
       }},
      {"a word taken out",
       [place](Sample& sample, Rng& rng) {
         // without its intensifier a word can be of the same class
         const int at = place(sample, rng);
         for (const NamedLink& link : sample.links)
           if (link.relation == "intensifier_adjective" && link.key == at) return;
         erase(sample, at);
       }},
      {"two words swapped",
       [](Sample& sample, Rng& rng) {
         const std::size_t at = 1 + rng.below(sample.tokens.size() - 2);
         std::swap(sample.tokens[at], sample.tokens[at + 1]);
       }},
      {"any word instead of an article, a comma or the stop",
       [&task, place](Sample& sample, Rng& rng) {
         std::string& token = sample.tokens[static_cast<std::size_t>(place(sample, rng))];
         if (token != "the" && token != "," && token != ".") return;
         const auto n_words = static_cast<std::uint64_t>(task.vocabulary().size()) - 2;
         token = task.vocabulary().token(static_cast<std::int32_t>(2 + rng.below(n_words)));
       }},
      {"the sentence's label",
       [](Sample& sample, Rng& rng) {
         sample.labels[0] = (sample.labels[0] + 1 + static_cast<int>(rng.below(4))) % 5;
       }},
      {"a phrase's label",
       [](Sample& sample, Rng& rng) {
         for (std::size_t at = 1; at < sample.labels.size(); ++at)
           if (sample.labels[at] >= 0)
             sample.labels[at] = (sample.labels[at] + 1 + static_cast<int>(rng.below(4))) % 5;
       }},
      {"a link's key",
       [place](Sample& sample, Rng& rng) {
         const auto link =
             std::next(sample.links.begin(), static_cast<std::ptrdiff_t>(rng.below(sample.links.size())));
         NamedLink other = *link;
         other.key = place(sample, rng);
         if (other.key == link->key) return;
         sample.links.erase(link);
         sample.links.insert(other);
       }},
      {"a link left out", [](Sample& sample, Rng&) { sample.links.erase(sample.links.begin()); }},
  };
}

}  // namespace

TEST_CASE("polarities fall into five classes", "[core][tasks]") {
  CHECK(polarity_class(-3) == 0);
  CHECK(polarity_class(-1.5) == 0);
  CHECK(polarity_class(-1) == 1);
  CHECK(polarity_class(-0.25) == 1);
  CHECK(polarity_class(0) == 2);
  CHECK(polarity_class(0.25) == 3);
  CHECK(polarity_class(1) == 3);
  CHECK(polarity_class(1.5) == 4);
  CHECK(polarity_class(2) == 4);
}

TEST_CASE("full sentiment has 300 content words or more", "[core][tasks]") {
  // forms of one word count once: a verb's past is left out
  CHECK(test::count_words(task_of(TaskSize::full, "phrases")->vocabulary(), "sentiment",
                          {{"nouns.tsv", "word"},
                           {"adjectives.tsv", "word"},
                           {"intensifiers.tsv", "word"},
                           {"adverbs.tsv", "word"}}) >= 300);
}

TEST_CASE("a recogniser finds the same in every sentence on sentiment", "[core][tasks]") {
  const SentimentChecker checker;
  const std::string size = GENERATE("pocket", "full");
  const std::string labels = GENERATE("phrases", "sentence");
  const auto task = task_of(size_of(size), labels);
  INFO(size << ", " << labels);
  CHECK(task->score_kind() == ScoreKind::accuracy);
  Rng rng(5);
  std::set<int> classes;
  for (int k = 0; k < kSentences; ++k) {
    const Example example = task->draw(rng, k % 4 == 0 ? Split::held_out : Split::training);
    const Sample sample = sample_of(*task, example);
    const std::string wrong = judge(checker, sample, labels == "phrases");
    if (!wrong.empty()) FAIL(text_of(sample) << ": " << wrong);
    if (example.judged != std::vector<std::int32_t>{0}) FAIL("judged");
    if (static_cast<std::int64_t>(example.source.size()) > task->form().max_tokens) FAIL("too long");
    classes.insert(sample.labels[0]);
  }
  CHECK(classes == std::set<int>{0, 1, 2, 3, 4});
}

TEST_CASE("no held-out combination on sentiment is trained on", "[core][tasks]") {
  const SentimentChecker checker;
  const std::string size = GENERATE("pocket", "full");
  INFO(size);
  const auto task = task_of(size_of(size), "phrases");
  Rng rng(6);
  std::set<std::string> trained, trained_sentences;
  for (int k = 0; k < kSentences; ++k) {
    const Sample sample = sample_of(*task, task->draw(rng, Split::training));
    for (const std::string& combination : checker.read(sample.tokens).combinations)
      trained.insert(combination);
    trained_sentences.insert(text_of(sample));
  }
  std::set<std::string> held_out;
  for (int k = 0; k < kSentences / 10; ++k) {
    const Sample sample = sample_of(*task, task->draw(rng, Split::held_out));
    if (trained_sentences.contains(text_of(sample))) FAIL(text_of(sample) << " was trained on");
    bool has_new = false;
    for (const std::string& combination : checker.read(sample.tokens).combinations)
      if (!trained.contains(combination)) has_new = true, held_out.insert(combination);
    if (!has_new) FAIL(text_of(sample) << ": nothing new");
  }
  // a tenth by the hash of each; with 200 combinations the share's deviation is .02
  const double share =
      static_cast<double>(held_out.size()) / static_cast<double>(held_out.size() + trained.size());
  CHECK(share > 0.04);
  CHECK(share < 0.16);
}

TEST_CASE("a spoilt sentence on sentiment is refused", "[core][tasks]") {
  const SentimentChecker checker;
  const std::string size = GENERATE("pocket", "full");
  const auto task = task_of(size_of(size), "phrases");
  Rng rng(7);
  for (const auto& [name, spoil] : mutations(*task)) {
    int spoilt = 0, passed = 0;
    std::string example;
    for (int k = 0; k < 2000; ++k) {
      const Sample sample = sample_of(*task, task->draw(rng, Split::training));
      Sample other = sample;
      spoil(other, rng);
      if (other == sample) continue;
      ++spoilt;
      if (!judge(checker, other, true).empty()) continue;
      ++passed;
      example = text_of(sample) + " -> " + text_of(other);
    }
    INFO(size << ", " << name << ": " << passed << " of " << spoilt << " passed, such as " << example);
    CHECK(spoilt >= 30);  // else the mutation hardly happens
    CHECK(passed * 100 <= spoilt);
  }
}

TEST_CASE("a grammar of sentiment that lacks what the program reads is refused by name", "[core][tasks]") {
  namespace fs = std::filesystem;
  const fs::path assets = headscope::tests::source_folder() / "assets";
  const auto error_with = [&](const std::string& file,
                              const std::vector<std::pair<std::string, std::string>>& changes) {
    const headscope::tests::TemporaryFolder folder;
    fs::create_directories(folder.path() / "tasks");
    fs::copy(assets / "tasks/sentiment", folder.path() / "tasks/sentiment");
    const fs::path changed = folder.path() / "tasks/sentiment" / file;
    std::string text = headscope::tests::read_text(changed);
    for (const auto& [from, to] : changes) {
      const std::size_t at = text.find(from);
      REQUIRE(at != std::string::npos);
      text.replace(at, from.size(), to);
    }
    std::ofstream(changed, std::ios::binary) << text;
    const auto task = make_task({.name = "sentiment"}, folder.path());
    REQUIRE(!task);
    return task.error();
  };
  const Error renamed = error_with(
      "pocket.grammar", {{"words negator", "words denial"}, {"= negator where", "= denial where"}});
  CHECK(renamed.key == "task.lacks");
  CHECK(renamed.values.at(0).second == "negator");
  // the last adjective's variable has another name: nothing is judged
  const Error unread =
      error_with("pocket.grammar", {{"let adjective =", "let opinion ="},
                                    {"adjective.scale=none", "opinion.scale=none"},
                                    {"adjective.scale=gradable", "opinion.scale=gradable"},
                                    {"has adjective.scale", "has opinion.scale"},
                                    {") adjective.word", ") opinion.word"},
                                    {"en adjective -> en negator", "en opinion -> en negator"},
                                    {"en adjective -> en intensifier", "en opinion -> en intensifier"},
                                    {"negation intensifier adjective", "negation intensifier opinion"},
                                    {"negation adjective when", "negation opinion when"}});
  CHECK(unread.key == "task.lacks");
  CHECK(unread.values.at(0).second == "adjective");
  const Error number = error_with("adjectives.tsv", {{"good\t1\t", "good\tone\t"}});
  CHECK(number.key == "task.number");
  CHECK(number.values.at(0).second == "good");
  CHECK(number.values.at(2).second == "one");
  CHECK(make_task({.name = "sentiment", .settings = {{"labels", "words"}}}, assets).error().key ==
        "task.setting_value");
  CHECK(make_task({.name = "sentiment", .settings = {{"kinds", "who"}}}, assets).error().key ==
        "task.setting");
}
