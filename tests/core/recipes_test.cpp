// The recipes at a reduced length, over three seeds, and the symmetry of heads that begin alike.
#include "core/training/recipes.h"

#include "core/training/run.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

using namespace headscope::core;

namespace {

std::filesystem::path assets() {
  return headscope::tests::source_folder() / "assets";
}

RunConfig recipe_for(const TaskConfig& task) {
  return recipe_of(*make_task(task, assets()).value());
}

/// Runs to the end of a recipe that is cut short: the schedule too, so that its decay is seen.
std::unique_ptr<Run> train(RunConfig config, std::int64_t n_steps) {
  config.optimiser.total_steps = n_steps;
  config.stop.n_steps = n_steps;
  config.evaluate_every = n_steps;
  std::unique_ptr<Run> run = Run::make(std::move(config), {.assets = assets()}).value();
  while (!run->stop_reason()) REQUIRE(run->run_step());
  return run;
}

/// The largest difference between two heads' slices of a parameter, over all pairs.
double spread(const Run& run, const char* name) {
  const Graph& graph = run.trainer().graph();
  const TensorId tensor = *graph.find(name);
  const std::span<const float> values = run.trainer().training().workspace().values(tensor);
  const auto n_heads = static_cast<std::size_t>(run.config().model.n_heads);
  const std::size_t slice = values.size() / n_heads;
  double largest = 0;
  for (std::size_t at = slice; at < values.size(); ++at)
    largest = std::max(largest, std::abs(static_cast<double>(values[at] - values[at % slice])));
  return largest;
}

}  // namespace

namespace {

struct Short {
  TaskConfig task;
  std::int64_t n_steps;
  double
      score;  // below what the worst of three seeds reached in a build for another processor, with a margin
};

void check_learns(const Short& recipe) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    RunConfig config = recipe_for(recipe.task);
    config.seed = seed;
    const std::unique_ptr<Run> run = train(config, recipe.n_steps);
    CAPTURE(recipe.task.name, seed);
    CHECK(run->evaluation()->score >= recipe.score);
  }
}

}  // namespace

TEST_CASE("each pocket recipe learns its task when cut short", "[core][recipes]") {
  check_learns(GENERATE(Short{{.name = "look-ups"}, 150, 0.9}, Short{{.name = "copying"}, 300, 0.9},
                        Short{{.name = "translation"}, 400, 0.8}, Short{{.name = "sentiment"}, 350, 0.7},
                        Short{{.name = "questions"}, 400, 0.9}));
}

TEST_CASE("each full recipe learns its task when cut short", "[core][recipes][full]") {
  check_learns(GENERATE(Short{{.name = "translation", .size = TaskSize::full}, 800, 0.5},
                        Short{{.name = "sentiment", .size = TaskSize::full}, 1000, 0.8},
                        Short{{.name = "questions", .size = TaskSize::full}, 1500, 0.7}));
}

TEST_CASE("heads that begin alike stay alike, and part with a grain of noise", "[core][recipes]") {
  RunConfig config = recipe_for({.name = "look-ups"});
  config.start.has_equal_heads = true;
  const std::unique_ptr<Run> equal = train(config, 100);
  config.start.head_noise = 1e-3;
  const std::unique_ptr<Run> noisy = train(config, 100);
  for (const char* leaf : {"w_query", "w_key", "w_value", "w_output"}) {
    const std::string name = std::string("decoder.block0.self_attention.") + leaf;
    CAPTURE(name);
    CHECK(spread(*equal, name.c_str()) == 0);
    CHECK(spread(*noisy, name.c_str()) > 0.05);  // fifty times the noise
  }
  CHECK(noisy->evaluation()->loss < equal->evaluation()->loss);
}
