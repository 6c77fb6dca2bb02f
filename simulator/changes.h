// What a person changed, in words: the list of the "What if?" panel, what undo and redo would do, an answer
// as people say it. No graphics.
#pragma once

#include "lessons/number_format.h"
#include "simulator/actions.h"
#include "simulator/words.h"

#include <optional>
#include <string>
#include <vector>

namespace headscope::simulator {

/// One thing that two setups differ in.
struct Change {
  std::string words;                     // "w_query[0, 3], head 1: 0.31 → 2.00"
  std::optional<Action> take_back = {};  // none: training, which only undo and reset take back
};

/// What leads from one setup to another of the same model, sentence first, training last; each can be taken
/// back to `from`.
std::vector<Change> changes_between(const AppState& state, const core::Setup& from, const core::Setup& to,
                                    const Words& words, const lessons::NumberRules& rules);

/// The same as one line: the first change, and how many more there are; empty: none.
std::string summary_of(const std::vector<Change>& changes, const Words& words);

/// An answer as people say it: a class's name, "good: very positive" of each word that is asked about, the
/// words of a span, a sentence. Empty where there is none.
std::string answer_text(const AppState& state, const core::Gold& gold);

/// The name of a class, of a task's model; else its number.
std::string class_name(const AppState& state, std::int32_t label);

/// "block 0", "decoder block 1, cross-attention": where a path lies, for people; empty where there is but one
/// such place.
std::string place_name(const core::Graph& graph, std::string_view path, const Words& words);

/// The number that an edit replaces: of a parameter the one before its update.
double settable_value(const core::Session& session, const CellAddress& address);

/// A cell by name: "w_query[0, 3]", with its head and place where there are several.
std::string cell_name(const AppState& state, const CellAddress& address, const Words& words);

}  // namespace headscope::simulator
