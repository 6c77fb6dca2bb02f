#include "simulator/command_line/train_choices.h"

#include <string>

namespace headscope::simulator {

namespace {

template <class Value, class Target>
void choose(const std::optional<Value>& choice, Target& target) {
  if (choice) target = *choice;
}

}  // namespace

core::Result<void> apply(const TrainChoices& choices, core::RunConfig& run) {
  core::OptimiserConfig& optimiser = run.optimiser;
  const bool ends_with_run = optimiser.total_steps == run.stop.n_steps;
  choose(choices.n_steps, run.stop.n_steps);
  if (ends_with_run) optimiser.total_steps = run.stop.n_steps;
  choose(choices.optimiser, optimiser.kind);
  choose(choices.rate, optimiser.rate);
  choose(choices.weight_decay, optimiser.weight_decay);
  choose(choices.clip_norm, optimiser.clip_norm);
  choose(choices.momentum, optimiser.momentum);
  choose(choices.warm_up, optimiser.warm_up);
  if (choices.schedule) {
    optimiser.schedule = *choices.schedule;
    optimiser.decay_from = 0, optimiser.final_share = 0;  // were the recipe's own schedule's
  }
  choose(choices.dropout, run.graph.dropout);
  choose(choices.label_smoothing, run.graph.label_smoothing);
  choose(choices.batch_size, run.batch_size);
  choose(choices.evaluate_every, run.evaluate_every);
  choose(choices.n_held_out, run.n_held_out);
  choose(choices.target_score, run.stop.target_score);
  choose(choices.plateau, run.stop.plateau);
  choose(choices.seed, run.seed);
  choose(choices.embedding_deviation, run.start.embedding_deviation);
  core::ModelConfig& model = run.model;
  choose(choices.d_model, model.d_model);
  choose(choices.n_heads, model.n_heads);
  choose(choices.n_layers, model.n_layers);
  choose(choices.d_ff, model.d_ff);
  if (choices.d_model || choices.n_heads) {
    if (model.n_heads == 0 || model.d_model % model.n_heads != 0)
      return core::Error{
          .key = "train.heads",
          .where = "--heads",
          .values = {{"d_model", std::to_string(model.d_model)}, {"n_heads", std::to_string(model.n_heads)}}};
    model.d_head = model.d_model / model.n_heads;
  }
  return core::validate(run, "");
}

std::vector<core::Change> changes_of(const TrainChoices& choices) {
  std::vector<core::Change> changes;
  if (choices.rate) changes.emplace_back(core::SetRate{*choices.rate});
  if (choices.weight_decay) changes.emplace_back(core::SetWeightDecay{*choices.weight_decay});
  if (choices.dropout) changes.emplace_back(core::SetDropout{*choices.dropout});
  if (choices.batch_size) changes.emplace_back(core::SetBatchSize{*choices.batch_size});
  return changes;
}

}  // namespace headscope::simulator
