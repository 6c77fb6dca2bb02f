// A cell's explanation as strings: what window, terminal and command line all display, and what tests read.
#pragma once

#include "core/explain.h"
#include "lessons/number_format.h"
#include "simulator/app_state.h"
#include "simulator/words.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator {

/// A number in a term. `quantity` (tensor_facts.h) gives its hue, `target` leads to its own explanation.
struct NarratedFactor {
  std::string number;
  std::string_view quantity;
  std::optional<CellAddress> target;
};

struct NarratedTerm {
  std::string index;  // along the summed axis: "0", or a word; empty outside the sum
  bool index_is_word = false;
  bool index_is_name = false;  // a tensor's, of an addend that is one number
  std::vector<NarratedFactor> factors;
  std::vector<std::string> signs;  // between the factors, one fewer
  std::string value;
  double amount = 0;
};

/// What stands over a column of factors: the word whose vector it is, and its quantity.
struct NarratedHead {
  std::string text;
  bool is_word = false;
  std::string_view quantity;
};

/// "queries[on, 1]" "−0.81": a cell that the lit one came from or goes to. Where it goes to a whole row or
/// column, the address says so, "[sat, :]", `number` is empty, and `target` is the cell of it that is
/// nearest.
struct NarratedLink {
  CellAddress target;
  std::string name, address, number;
  std::string_view quantity;
  std::string origin;  // of a computed cell: what it came from, as tensor names ("embedded · w_query"); or ""
};

struct Narration {
  CellAddress cell;
  std::string name;     // "scores"
  std::string address;  // "[on, sat]"
  std::string_view quantity;
  std::string value;
  bool is_computed = true;  // before the cursor
  std::string sentence;     // Markdown
  std::string index_head;   // "c"
  std::vector<NarratedHead> heads;
  std::string value_head;  // "q · k"
  std::vector<NarratedTerm> terms;
  std::optional<std::size_t> chosen;  // the term whose share the cell is
  std::string sum_word, sum;          // empty with fewer than two terms
  std::string conclusion;             // "0.57 ÷ 2.31 = 0.25", of a share
  std::string left_out;               // how many keys the mask left out of the sum
  std::string check;                  // "equals the stored value, 2.8940291", or how far it is off
  bool check_holds = true;
  std::string rounded;  // where the displayed terms visibly miss the displayed sum
  std::vector<NarratedLink> from, to;
};

/// Explains a cell of the session. Precondition: the cell exists.
Narration narrate(const core::Session& session, const core::Cursor& cursor, const CellAddress& cell,
                  const Words& words, const lessons::NumberRules& rules = {});

/// A word of the learner's, safe within Markdown.
std::string escape_markdown(std::string_view text);

}  // namespace headscope::simulator
