// The tasks without language: look-ups and copying.
#include "core/tasks/letters.h"
#include "core/tasks/task.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

using namespace headscope::core;

namespace {

std::unique_ptr<const Task> task_of(const std::string& name,
                                    std::vector<std::pair<std::string, std::string>> settings = {}) {
  return make_task({.name = name, .settings = std::move(settings)}, "").value();
}

std::string word(const Task& task, std::int32_t id) {
  return task.vocabulary().token(id);
}

bool is_capital(const std::string& token) {
  return token.size() == 1 && token[0] >= 'A' && token[0] <= 'Z';
}

}  // namespace

TEST_CASE("look-ups ask for four other tokens", "[core][tasks]") {
  const auto task = task_of("look-ups");
  REQUIRE(task->relations().size() == 4);
  Rng rng(1);
  std::set<std::int32_t> capitals_at;
  for (int k = 0; k < 500; ++k) {
    const Example example = task->draw(rng, Split::training);
    REQUIRE(example.source.size() == 12);
    std::int32_t capital = -1;
    for (std::int32_t at = 0; at < 12; ++at)
      if (is_capital(word(*task, example.source[static_cast<std::size_t>(at)]))) {
        CHECK(capital == -1);
        capital = at;
      }
    REQUIRE((capital >= 1 && capital <= 3));
    capitals_at.insert(capital);
    REQUIRE(example.labels.size() == 12);
    for (std::int32_t at = 0; at < 12; ++at) {
      const auto& labels = example.labels[static_cast<std::size_t>(at)];
      if (at < 6) {
        CHECK(labels == std::vector<std::int32_t>(4, -1));
        continue;
      }
      const auto token = [&](std::int32_t position) {
        return example.source[static_cast<std::size_t>(position)];
      };
      CHECK(labels == std::vector<std::int32_t>{token(at - 1), token(at - 2), token(0), token(capital)});
    }
    // a link's key holds what its output asks for
    CHECK(example.links.size() == 6U * 4U);
    for (const Link& link : example.links)
      CHECK(example.source.at(static_cast<std::size_t>(link.key)) ==
            example.labels.at(static_cast<std::size_t>(link.query))
                .at(static_cast<std::size_t>(link.relation)));
  }
  CHECK(capitals_at == std::set<std::int32_t>{1, 2, 3});
}

TEST_CASE("copying repeats a segment of different letters", "[core][tasks]") {
  const bool is_fixed = GENERATE(false, true);
  const auto task = is_fixed ? task_of("copying", {{"period", "8"}}) : task_of("copying");
  Rng rng(2);
  std::set<std::size_t> periods;
  for (int k = 0; k < 500; ++k) {
    const Example example = task->draw(rng, Split::training);
    REQUIRE(example.source.size() == 24);
    const auto again = std::find(example.source.begin() + 1, example.source.end(), example.source[0]);
    const auto period = static_cast<std::size_t>(again - example.source.begin());
    periods.insert(period);
    for (std::size_t at = period; at < 24; ++at) CHECK(example.source[at] == example.source[at - period]);
    CHECK(std::set(example.source.begin(), again).size() == period);
    CHECK(example.judged.front() == static_cast<std::int32_t>(period));
    CHECK(example.judged.back() == 22);
    for (const Link& link : example.links) {
      const auto query = static_cast<std::size_t>(link.query), key = static_cast<std::size_t>(link.key);
      REQUIRE(key < query);
      const std::string& relation = task->relations().at(static_cast<std::size_t>(link.relation)).name;
      if (relation == "previous_token") CHECK(key == query - 1);
      if (relation == "duplicate_token") CHECK(example.source[key] == example.source[query]);
      // what follows an earlier occurrence is what comes next
      if (relation == "induction") CHECK(example.source[key] == example.source[query + 1]);
    }
  }
  if (is_fixed)
    CHECK(periods == std::set<std::size_t>{8});
  else
    CHECK(periods == std::set<std::size_t>{4, 5, 6, 7, 8, 9, 10});
}

TEST_CASE("a tenth of all rows is held out, whatever repeats in them", "[core][tasks]") {
  const auto period = GENERATE(range(std::size_t{2}, std::size_t{25}));
  Rng rng(4);
  int n_held_out = 0, n_odd = 0;
  constexpr int kRows = 8000;
  for (int k = 0; k < kRows; ++k) {
    std::vector<std::int32_t> row(24);
    for (std::size_t at = 0; at < row.size(); ++at)
      row[at] = at < period ? letter(rng, 1 << 6) : row[at - period];
    const std::uint64_t hash = hash_row(row);
    if (is_held_out_hash(hash)) ++n_held_out;
    n_odd += static_cast<int>(hash & 1U);
  }
  // the shares' deviations are √(.1 · .9 / n) = .0034 and √(.25 / n) = .0056
  INFO(period);
  CHECK(n_held_out / double{kRows} == Approx(0.1).margin(0.017));
  CHECK(n_odd / double{kRows} == Approx(0.5).margin(0.028));
}

TEST_CASE("no held-out row is trained on", "[core][tasks]") {
  const char* const period = GENERATE("", "random", "4", "5", "6", "7", "8", "9", "10");
  const auto task = *period ? task_of("copying", {{"period", period}}) : task_of("look-ups");
  Rng rng(3);
  std::set<std::vector<std::int32_t>> held_out;
  for (int k = 0; k < 2000; ++k) held_out.insert(task->draw(rng, Split::held_out).source);
  int n_seen = 0;
  for (int k = 0; k < 10000; ++k)
    n_seen += static_cast<int>(held_out.count(task->draw(rng, Split::training).source));
  CHECK(n_seen == 0);
}

TEST_CASE("a task's examples depend on the generator alone", "[core][tasks]") {
  const auto task = task_of(GENERATE("look-ups", "copying"));
  Rng one(7), other(7);
  for (int k = 0; k < 100; ++k)
    CHECK(task->draw(one, Split::training).source == task->draw(other, Split::training).source);
}

TEST_CASE("an unknown task, size or setting is refused by name", "[core][tasks]") {
  const auto key_of = [](const TaskConfig& config) { return make_task(config, "").error().key; };
  CHECK(key_of({.name = "counting"}) == "task.unknown");
  CHECK(key_of({.name = "copying", .size = TaskSize::full}) == "task.size");
  CHECK(key_of({.name = "look-ups", .size = TaskSize::full}) == "task.size");
  CHECK(key_of({.name = "copying", .settings = {{"length", "9"}}}) == "task.setting");
  CHECK(key_of({.name = "look-ups", .settings = {{"period", "9"}}}) == "task.no_settings");
  for (const char* value : {"3", "11", "", "8x", "-4", "99999999999"})
    CHECK(key_of({.name = "copying", .settings = {{"period", value}}}) == "task.setting_value");
}
