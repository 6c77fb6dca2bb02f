// Takes a lesson in a terminal: another face on the same runner and actions as the window's.
#pragma once

#include "simulator/app_state.h"
#include "simulator/terminal/printer.h"
#include "simulator/words.h"

#include <iosfwd>

namespace headscope::simulator::terminal {

/// A prompt alone for a person at a keyboard; with input from a pipe, each line is repeated after its prompt,
/// so that the output reads as a conversation.
enum class Echo { no, yes };

/// Reads commands from `in` until "q" or its end. Every change of the lesson goes through apply_action().
void read_lesson(AppState state, const Words& words, std::istream& in, std::ostream& out,
                 const Screen& screen, Echo echo);

}  // namespace headscope::simulator::terminal
