// A cell's explanation as strings: what window, terminal and command line all display, and what tests read.
#pragma once

#include "core/explain.h"
#include "core/stepper.h"
#include "lessons/number_format.h"
#include "simulator/app_state.h"
#include "simulator/words.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator {

/// What a label is: a number, a word of the sentence, words of the text file, or a tensor's name.
enum class LabelKind : std::uint8_t { number, word, said, tensor };

/// A number in a term. `hue` (quantity_of() in tensor_facts.h, or "gradient") colours it, `target` leads to
/// its own explanation.
struct NarratedFactor {
  std::string number;
  std::string_view hue;
  std::optional<CellAddress> target;
};

struct NarratedTerm {
  std::string index;  // along the summed axis: "0", or a word; an addend's name; empty where there is none
  LabelKind index_kind = LabelKind::number;
  std::vector<NarratedFactor> factors;
  std::vector<std::string> signs;  // between the factors, one fewer
  std::string value;
  double amount = 0;
  std::vector<CellAddress> cells;  // all that the term names, also those that share a factor
  /// The whole arithmetic where `factors` are fewer than the core's: "−0.250 × 0.50 × (1 − 0.50)".
  std::string detail;
};

/// Terms that one operation sent back to a gradient, where several did: "residual1", their sum.
struct NarratedGroup {
  std::string name;
  std::size_t begin = 0, end = 0;  // of the terms
  std::string value;
};

/// What stands over a column of factors: the word whose vector it is, a tensor, or what the column holds.
struct NarratedHead {
  std::string text;
  LabelKind kind = LabelKind::tensor;
  std::string_view hue;
};

/// A cell's name with what marks its quantity: "∂L/∂" "scores" "[on, sat]" "", or "m(" "w_query" "[1, 2]"
/// ")".
struct NarratedName {
  std::string before, name, address, after;
  std::string_view hue;  // of `name`
  core::Quantity quantity = core::Quantity::value;

  std::string text() const { return before + name + address + after; }
};

/// A cell that the lit one came from or goes to. Where it goes to a whole row or column, the address says so,
/// "[sat, :]", `number` is empty, and `target` is the cell of it that is nearest.
struct NarratedLink {
  CellAddress target;
  NarratedName name;
  std::string number;
  std::string origin;  // of a computed value: what it came from, as tensor names ("embedded, w_query"); or ""
};

struct Narration {
  CellAddress cell;
  NarratedName name;
  std::string value;
  bool is_computed = true;  // before the cursor: the whole of it
  std::string not_yet;      // which step makes it, or what is missing still; empty where nothing is
  std::string sentence;     // Markdown
  std::string index_head;   // "c"
  std::vector<NarratedHead> heads;
  std::string value_head;  // "q · k"
  bool value_head_is_said = false;
  std::vector<NarratedTerm> terms;
  std::vector<NarratedGroup> groups;  // a gradient's, where several operations sent something
  std::optional<std::size_t> chosen;  // the term whose share the cell is
  std::string sum_word, sum;          // empty with fewer than two terms
  std::string conclusion;             // "0.57 ÷ 2.31 = 0.25", of a share
  std::string left_out;               // what the mask left out of the sum, what was set by hand
  std::string check;                  // "equals the stored value, 2.8940291", or how far it is off
  bool check_holds = true;
  std::string rounded;  // where the displayed terms visibly miss the displayed sum
  std::vector<NarratedLink> from, to;
  /// The cell's numbers that there are with this model, whatever the cursor says: the value, a gradient, a
  /// parameter's moments.
  std::vector<core::Quantity> quantities;
};

/// Explains a cell's number at the trace's cursor. The session gives words and names; the trace is of its
/// graph and sizes. Precondition: the cell exists. A number that there is not (a gradient without a loss) has
/// a sentence that says so.
Narration narrate(const core::Session& session, const core::Trace<float>& trace, const CellAddress& cell,
                  const Words& words, const lessons::NumberRules& rules = {});

/// The same at a cursor of the session's own.
Narration narrate(const core::Session& session, const core::Cursor& cursor, const CellAddress& cell,
                  const Words& words, const lessons::NumberRules& rules = {});

/// One sentence, Markdown, about what a step does with these numbers: "head 1, *not* → *bad*: 1.84 ÷ √4 =
/// 0.92". It speaks of `lit` where the step wrote that cell, else of one that tells something: the largest
/// (an update: what changed most), the first of equals. A step behind the cursor has no numbers yet: then its
/// title. Precondition: `step` is one of the graph's steps.
std::string narrate_step(const core::Session& session, const core::Trace<float>& trace,
                         const core::Step& step, const Words& words,
                         const std::optional<CellAddress>& lit = {}, const lessons::NumberRules& rules = {});

/// A gradient held against differences of the loss, line by line.
struct NarratedCheck {
  struct Line {
    std::string label, number;
  };
  std::vector<Line> lines;
  std::string verdict;  // "agree to 9 parts in 100 million"
  bool agrees = true;
  std::string kink;  // why the difference means little here, or empty
};
NarratedCheck narrate_check(const core::GradientCheck& check, const lessons::TextCatalog& text,
                            const lessons::NumberRules& rules = {});

/// A word of the learner's, safe within Markdown.
std::string escape_markdown(std::string_view text);

}  // namespace headscope::simulator
