// From a typed answer to what the runner takes.
#pragma once

#include "core/result.h"
#include "simulator/app_state.h"

#include <string_view>

namespace headscope::simulator::terminal {

/// The cell that a text names, "scores[on, sat]", in the lesson's scope and at the current head; nothing
/// where it is something else.
std::optional<CellAddress> find_cell(const AppState& state, std::string_view text);
/// The tensor that a text names, short or in full.
std::optional<core::TensorId> find_tensor(const AppState& state, std::string_view text);

/// Reads an answer: a word or its number, a head, "row, column", a number, the numbers of statements ("1 3",
/// or 0 for none of them), an order ("2 1 3"). Errors: answer.choice (count), answer.several (word),
/// answer.cell, answer.number, answer.list (count), answer.order (count).
core::Result<lessons::Given> read_answer(const AppState& state, const lessons::QuestionView& question,
                                         std::string_view text);

}  // namespace headscope::simulator::terminal
