// The command line's words by option, as typed, and what they mean: one function a command. No CLI11.
#pragma once

#include "core/result.h"
#include "simulator/command_line/commands.h"

#include <optional>
#include <string>
#include <vector>

namespace headscope::simulator {

using OptionalText = std::optional<std::string>;

/// Every option of every command. Only one command is parsed at a time, so they share.
struct Typed {
  OptionalText model, text, batch, out, tensor, cell, lesson, step, size, theme, text_scale;
  OptionalText target_text, label, span, read;
  OptionalText temperature;
  std::vector<std::string> zero_head, mean_head, mean_data, freeze_activation, uniform_attention, set, freeze;
  OptionalText optimiser, lr, weight_decay, clip, momentum, schedule, warm_up;
  OptionalText from, data, steps, dropout, label_smoothing, seed, threads, seconds;
  OptionalText head_noise, config, embedding_deviation;
  OptionalText task, resume, back_to, batch_size, evaluate_every, held_out_size, target_score, plateau;
  OptionalText what, save, position, at, level;
  OptionalText d_model, heads, layers, d_ff, count, run, compare, beam, length_penalty;
  std::vector<std::string> setting, change;
  std::vector<std::string> files;
  bool twofold = false, json = false, presentation = false, backward = false, gradient = false;
  bool check = false, update = false, no_scale = false, leak_future = false, full_batch = false;
  bool formulas = false, head_contributions = false, equal_heads = false, replace = false, relations = false,
       held_out_split = false, anew = false;
};

/// The first option whose value is empty, where something must stand.
std::optional<std::string> find_empty(const Typed& typed);

core::Error missing(std::string option);
core::Error no_value(std::string option);

// Errors: arguments.missing (option), arguments.value (option, given, allowed), arguments.one_of (first,
// second: exactly one of them), arguments.needs (option, needed), arguments.not_with (first, second).
core::Result<Command> trace_command(const Typed& typed);
core::Result<Command> explain_command(const Typed& typed);
core::Result<Command> steps_command(const Typed& typed);
core::Result<Command> train_command(const Typed& typed);
core::Result<Command> task_show_command(const Typed& typed);
core::Result<Command> history_command(const Typed& typed);
core::Result<Command> translate_command(const Typed& typed);
core::Result<Command> model_new_command(const Typed& typed);
core::Result<Command> bench_command(const Typed& typed);
core::Result<Command> window_command(const Typed& typed);
core::Result<Command> open_command(const Typed& typed);
core::Result<Command> screenshot_command(const Typed& typed);

}  // namespace headscope::simulator
