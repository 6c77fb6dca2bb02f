// Question answering against a reader that knows nothing of its grammar.
#include "core/question_check.h"
#include "core/tasks/task.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace headscope::core;
using test::NamedLink;
using test::QuestionChecker;

namespace {

constexpr int kSentences = 20000;

struct Sample {
  std::vector<std::string> tokens;
  int start = 0, end = 0, read = 0;
  std::set<NamedLink> links;
  bool operator==(const Sample&) const = default;
};

std::unique_ptr<const Task> task_of(const std::string& size, const std::string& kinds) {
  return make_task({.name = "questions",
                    .size = size == "full" ? TaskSize::full : TaskSize::pocket,
                    .settings = {{"kinds", kinds}}},
                   headscope::tests::source_folder() / "assets")
      .value();
}

Sample sample_of(const Task& task, const Example& example) {
  Sample sample{.start = example.span.value().start, .end = example.span.value().end, .read = *example.read};
  for (const std::int32_t id : example.source) sample.tokens.push_back(task.vocabulary().token(id));
  for (const Link& link : example.links)
    sample.links.insert(
        {task.relations()[static_cast<std::size_t>(link.relation)].name, link.query, link.key});
  return sample;
}

std::string text_of(const Sample& sample) {
  std::string text;
  for (const std::string& token : sample.tokens) text += token + " ";
  return text + "[" + std::to_string(sample.start) + ", " + std::to_string(sample.end) + "]";
}

/// What is wrong with it; empty if nothing is.
std::string judge(const QuestionChecker& checker, const Sample& sample) {
  const QuestionChecker::Reading reading = checker.read(sample.tokens);
  if (!reading.wrong.empty()) return reading.wrong;
  if (reading.start != sample.start || reading.end != sample.end) return "span";
  if (reading.read != sample.read) return "read";
  return reading.links == sample.links ? "" : "links";
}

using Mutation = std::function<void(Sample&, Rng&)>;

std::vector<std::size_t> places_of(const Sample& sample, const std::string& token) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < sample.tokens.size(); ++at)
    if (sample.tokens[at] == token) places.push_back(at);
  return places;
}

int any_place(const Sample& sample, Rng& rng) {
  return static_cast<int>(1 + rng.below(sample.tokens.size() - 1));
}

/// Ways to spoil a row; each leaves it as it is where it has nothing of the kind.
std::vector<std::pair<std::string, Mutation>> mutations() {
  return {
      {"the span's start", [](Sample& sample, Rng& rng) { sample.start += rng.below(2) == 0 ? 1 : -1; }},
      {"the span's end", [](Sample& sample, Rng& rng) { sample.end += rng.below(2) == 0 ? 1 : -1; }},
      {"where it is read", [](Sample& sample, Rng& rng) { sample.read += rng.below(2) == 0 ? 1 : -1; }},
      {"the question word",
       [](Sample& sample, Rng&) { sample.tokens[1] = sample.tokens[1] == "who" ? "what" : "who"; }},
      {"what is asked for",
       [](Sample& sample, Rng&) {
         // another fact's word at the question's last place, without its adjective
         for (const NamedLink& link : sample.links)
           if (link.relation == "question_candidate" && link.key != sample.start && link.key != sample.end &&
               sample.tokens[static_cast<std::size_t>(link.key)] !=
                   sample.tokens[static_cast<std::size_t>(sample.read)]) {
             sample.tokens[static_cast<std::size_t>(sample.read)] =
                 sample.tokens[static_cast<std::size_t>(link.key)];
             return;
           }
       }},
      {"a fact twice",
       [](Sample& sample, Rng&) {
         const std::vector<std::size_t> stops = places_of(sample, ".");
         const std::size_t begin = places_of(sample, "<separator>").at(0) + 1;
         const std::vector<std::string> first(
             sample.tokens.begin() + static_cast<std::ptrdiff_t>(begin),
             sample.tokens.begin() + static_cast<std::ptrdiff_t>(stops.at(0)) + 1);
         sample.tokens.resize(stops.at(stops.size() - 2) + 1);
         sample.tokens.insert(sample.tokens.end(), first.begin(), first.end());
       }},
      {"two facts swapped",
       [](Sample& sample, Rng&) {
         const std::vector<std::size_t> stops = places_of(sample, ".");
         if (static_cast<std::size_t>(sample.start) > stops.at(1))
           return;  // the answer would stay where it is
         const auto begin =
             sample.tokens.begin() + static_cast<std::ptrdiff_t>(places_of(sample, "<separator>").at(0)) + 1;
         std::rotate(begin, sample.tokens.begin() + static_cast<std::ptrdiff_t>(stops.at(0)) + 1,
                     sample.tokens.begin() + static_cast<std::ptrdiff_t>(stops.at(1)) + 1);
       }},
      {"two words swapped",
       [](Sample& sample, Rng& rng) {
         const std::size_t at = 1 + rng.below(sample.tokens.size() - 2);
         std::swap(sample.tokens[at], sample.tokens[at + 1]);
       }},
      {"a word taken out",
       [](Sample& sample, Rng& rng) {
         // behind the answer an adjective can go unnoticed: links do not touch it
         const auto at = static_cast<std::ptrdiff_t>(1 + rng.below(static_cast<std::uint64_t>(sample.start)));
         sample.tokens.erase(sample.tokens.begin() + at);
       }},
      {"an impossible adjective",
       [](Sample& sample, Rng&) {
         // what is old, red or new is no food
         for (std::string& token : sample.tokens)
           if (token == "old" || token == "red" || token == "new") {
             token = "delicious";
             return;
           }
       }},
      {"another preposition",
       [](Sample& sample, Rng&) {
         for (std::size_t at = 0; at < sample.tokens.size(); ++at)
           if (sample.tokens[at] == "in" || sample.tokens[at] == "on" || sample.tokens[at] == "under") {
             sample.tokens[at] = sample.tokens[at] == "in" ? "beside" : "from";
             return;
           }
       }},
      {"a link's key",
       [](Sample& sample, Rng& rng) {
         const auto link =
             std::next(sample.links.begin(), static_cast<std::ptrdiff_t>(rng.below(sample.links.size())));
         NamedLink other = *link;
         other.key = any_place(sample, rng);
         if (sample.links.contains(other)) return;
         sample.links.erase(link);
         sample.links.insert(other);
       }},
      {"a link left out", [](Sample& sample, Rng&) { sample.links.erase(sample.links.begin()); }},
  };
}

}  // namespace

TEST_CASE("a reader finds the same answer to every question", "[core][tasks]") {
  const QuestionChecker checker;
  const std::string size = GENERATE("pocket", "full");
  const std::string kinds = GENERATE("where", "what", "who", "mixed");
  INFO(size << ", " << kinds);
  const auto task = task_of(size, kinds);
  CHECK(task->score_kind() == ScoreKind::exact_match);
  CHECK(task->form().span_reader == SpanReader::pointer);
  Rng rng(8);
  std::map<std::string, int> seen;
  for (int k = 0; k < kSentences; ++k) {
    const Example example = task->draw(rng, k % 4 == 0 ? Split::held_out : Split::training);
    const Sample sample = sample_of(*task, example);
    const std::string wrong = judge(checker, sample);
    if (!wrong.empty()) FAIL(text_of(sample) << ": " << wrong);
    if (static_cast<std::int64_t>(example.source.size()) > task->form().max_tokens) FAIL("too long");
    ++seen[sample.tokens[1]];
  }
  if (kinds != "mixed") {
    CHECK(seen == std::map<std::string, int>{{kinds, kSentences}});
  } else {
    // a third each: the deviation of a count of 20,000 is 67, and held-out shares differ a little
    for (const char* kind : {"where", "what", "who"}) CHECK(std::abs(seen[kind] - kSentences / 3) < 600);
  }
}

TEST_CASE("full question answering has 300 content words or more", "[core][tasks]") {
  CHECK(test::count_words(task_of("full", "where")->vocabulary(), "questions",
                          {{"things.tsv", "word"},
                           {"spots.tsv", "place"},
                           {"adjectives.tsv", "word"},
                           {"people.tsv", "word"},
                           {"verbs.tsv", "past"}}) >= 300);
}

TEST_CASE("all kinds of questions have one vocabulary and one form", "[core][tasks]") {
  const std::string size = GENERATE("pocket", "full");
  const auto where = task_of(size, "where"), mixed = task_of(size, "mixed");
  CHECK(where->vocabulary().tokens() == mixed->vocabulary().tokens());
  CHECK(where->form() == mixed->form());
}

TEST_CASE("no held-out fact is trained on", "[core][tasks]") {
  const QuestionChecker checker;
  const std::string size = GENERATE("pocket", "full");
  INFO(size);
  const auto task = task_of(size, "mixed");
  Rng rng(9);
  std::set<std::string> trained, trained_rows;
  for (int k = 0; k < kSentences; ++k) {
    const Sample sample = sample_of(*task, task->draw(rng, Split::training));
    for (const std::string& combination : checker.read(sample.tokens).combinations)
      trained.insert(combination);
    trained_rows.insert(text_of(sample));
  }
  for (int k = 0; k < kSentences / 10; ++k) {
    const Sample sample = sample_of(*task, task->draw(rng, Split::held_out));
    if (trained_rows.contains(text_of(sample))) FAIL(text_of(sample) << " was trained on");
    const std::set<std::string> combinations = checker.read(sample.tokens).combinations;
    if (std::all_of(combinations.begin(), combinations.end(),
                    [&](const std::string& each) { return trained.contains(each); }))
      FAIL(text_of(sample) << ": nothing new");
  }
}

TEST_CASE("a spoilt question or fact is refused", "[core][tasks]") {
  const QuestionChecker checker;
  const std::string size = GENERATE("pocket", "full");
  const auto task = task_of(size, "mixed");
  Rng rng(10);
  for (const auto& [name, spoil] : mutations()) {
    int spoilt = 0, passed = 0;
    std::string example;
    for (int k = 0; k < 2000; ++k) {
      const Sample sample = sample_of(*task, task->draw(rng, Split::training));
      Sample other = sample;
      spoil(other, rng);
      if (other == sample) continue;
      ++spoilt;
      if (!judge(checker, other).empty()) continue;
      ++passed;
      example = text_of(sample) + " -> " + text_of(other);
    }
    INFO(size << ", " << name << ": " << passed << " of " << spoilt << " passed, such as " << example);
    CHECK(spoilt >= 100);  // else the mutation hardly happens
    CHECK(passed * 100 <= spoilt);
  }
}

TEST_CASE("a setting that questions do not have is refused by name", "[core][tasks]") {
  const auto assets = headscope::tests::source_folder() / "assets";
  const auto error = make_task({.name = "questions", .settings = {{"kinds", "why"}}}, assets).error();
  CHECK(error.key == "task.setting_value");
  CHECK(error.values.at(2).second == "where, what, who, mixed");
  CHECK(make_task({.name = "questions", .settings = {{"labels", "sentence"}}}, assets).error().key ==
        "task.setting");
}
