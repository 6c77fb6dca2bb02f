#include "core/training/recipes.h"

#include <string>
#include <string_view>

namespace headscope::core {

namespace {

/// What differs from task to task.
struct Recipe {
  std::int64_t d_model = 32, n_heads = 4, n_layers = 1, d_ff = 0;
  Positions positions = Positions::learned;
  std::int64_t batch_size = 32, n_steps = 0;
  double rate = 8e-3;
  double embedding_deviation = 0.3;
  double decay_from = 1;  // share of the steps after which the rate falls to kFinalShare; 1: it stays
  double dropout = 0, label_smoothing = 0, weight_decay = 0;
};

constexpr double kFinalShare = 0.05;
constexpr std::int64_t kWarmUp = 50;

bool has_setting(const Task& task, std::string_view key, std::string_view value) {
  return find_setting(task.config(), key) == std::string(value);
}

Recipe find_recipe(const Task& task) {
  const std::string& name = task.config().name;
  const bool is_full = task.config().size == TaskSize::full;
  if (name == "look-ups") return {.d_model = 48, .n_steps = 400};
  if (name == "copying") return {.n_layers = 2, .n_steps = 600, .rate = 7e-3, .embedding_deviation = 1};
  if (name == "translation")
    return is_full ? Recipe{.d_model = 64,
                            .n_layers = 2,
                            .d_ff = 128,
                            .batch_size = 64,
                            .n_steps = 2000,
                            .rate = 4e-3,
                            .decay_from = 0.5}
                   : Recipe{.d_ff = 64, .n_steps = 1000, .decay_from = 0.7};
  if (name == "sentiment") {
    if (is_full) return {.n_layers = 2, .d_ff = 64, .n_steps = 3000, .rate = 5e-3, .decay_from = 0.5};
    return {.n_layers = 2,
            .d_ff = 64,
            .n_steps = has_setting(task, "labels", "sentence") ? 900 : 700,
            .decay_from = 0.7};
  }
  // questions
  Recipe recipe{.n_layers = 2,
                .d_ff = 64,
                .positions = Positions::relative,
                .batch_size = 64,
                .n_steps = 700,
                .rate = 5e-3,
                .decay_from = 0.85};
  if (is_full) recipe.n_steps = 3000, recipe.rate = 3e-3;
  if (has_setting(task, "kinds", "mixed")) recipe.n_steps = 4000, recipe.rate = 3e-3;
  return recipe;
}

}  // namespace

RunConfig recipe_of(const Task& task) {
  const Recipe recipe = find_recipe(task);
  RunConfig run;
  run.data.task = task.config();
  run.model = task.form();
  run.model.d_model = recipe.d_model;
  run.model.n_heads = recipe.n_heads;
  run.model.d_head = recipe.d_model / recipe.n_heads;
  run.model.n_layers = recipe.n_layers;
  run.model.d_ff = recipe.d_ff;
  run.model.positions = recipe.positions;
  run.model.norm = Norm::pre;
  run.model.bias = true;
  run.start.embedding_deviation = recipe.embedding_deviation;
  run.optimiser.rate = recipe.rate;
  run.optimiser.beta2 = 0.98;
  run.optimiser.weight_decay = recipe.weight_decay;
  run.optimiser.clip_norm = 1;
  run.optimiser.warm_up = kWarmUp;
  run.optimiser.schedule = recipe.decay_from < 1 ? Schedule::linear : Schedule::constant;
  run.optimiser.decay_from = recipe.decay_from < 1 ? recipe.decay_from : 0;
  run.optimiser.final_share = recipe.decay_from < 1 ? kFinalShare : 0;
  run.optimiser.total_steps = recipe.n_steps;
  run.graph = {.dropout = recipe.dropout, .label_smoothing = recipe.label_smoothing};
  run.batch_size = recipe.batch_size;
  run.stop.n_steps = recipe.n_steps;
  return run;
}

}  // namespace headscope::core
