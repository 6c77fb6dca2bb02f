// A tensor's numbers as aligned text, cut into blocks of columns that fit the screen.
#pragma once

#include "lessons/text_catalog.h"
#include "simulator/app_state.h"
#include "simulator/terminal/printer.h"

namespace headscope::simulator::terminal {

/// Announces the tensor with its axes in a sentence, then its rows and columns with their words; says so
/// where it is not computed yet.
void print_tensor(Printer& printer, const AppState& state, core::TensorId tensor,
                  const lessons::TextCatalog& text);

}  // namespace headscope::simulator::terminal
