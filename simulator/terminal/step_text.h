// A lesson's step in words: prose, formula, tensors, questions, experiments.
#pragma once

#include "lessons/runner.h"
#include "simulator/app_state.h"
#include "simulator/terminal/printer.h"
#include "simulator/words.h"

#include <string>
#include <string_view>

namespace headscope::simulator::terminal {

/// The formula markup of assets/formulas.toml as plain text: "{scores:s}_{ij}" is "s_ij".
std::string plain_formula(std::string_view markup);

/// Everything of the step, in reading order.
void print_step(Printer& printer, const AppState& state, const Words& words);
/// The tensors that the step shows, each as a table.
void print_tensors(Printer& printer, const AppState& state, const Words& words);
/// One question with its choices, and its result where there is one. `number` counts from 1.
void print_question(Printer& printer, const lessons::QuestionView& question, std::size_t number,
                    const Words& words);
/// What the last answer brought: right, wrong and the likely mistake, or the answer that was shown.
void print_result(Printer& printer, const lessons::QuestionView& question, const Words& words);
void print_experiments(Printer& printer, const lessons::StepView& view, const Words& words);
/// What this sentence could not give.
void print_notices(Printer& printer, const lessons::StepView& view, const Words& words);

}  // namespace headscope::simulator::terminal
