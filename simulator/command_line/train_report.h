// What headscope train says while it trains, and at its end.
#pragma once

#include "core/training/run.h"
#include "simulator/command_line/commands.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headscope::simulator {

/// The shortest digits that read back as the same number.
std::string digits(double value);
/// The same, rounded to three significant digits.
std::string rounded(double value);
/// A number for people: `decimals` after the point.
std::string fixed(double value, int decimals);
/// "1:05", "2:00:07": how long.
std::string clock(double seconds);

/// One figure of the line: parts with a higher rank are left out first where the line is short; rank 0 stays.
struct ProgressPart {
  int rank = 0;
  std::string text;  // empty: nothing to say
};

/// A bar, as wide as there is room for, and the parts in their order, in at most `n_columns` columns, 1 at
/// least. `share` of the bar, 0 to 1, is filled.
std::string progress_line(double share, const std::vector<ProgressPart>& parts, std::size_t n_columns);

/// One line on standard error, written over itself: a bar, loss, score, steps per second, time left, what
/// fits. Where standard error is no terminal, a line for each evaluation instead.
class TrainProgress {
 public:
  TrainProgress(const CommandContext& context, const core::Run& run);
  ~TrainProgress();
  /// After a step.
  void show();
  /// A line of its own, above what is written over.
  void say(const std::string& line);

 private:
  void show_line();
  void show_evaluation();

  const CommandContext& context_;
  const core::Run& run_;
  std::int64_t first_step_;
  std::chrono::steady_clock::time_point start_, shown_;
  std::size_t n_rows_shown_ = 0;  // of the series
  bool is_line_open_ = false;
};

/// The held-out score as people read it: "exact match 0.998".
std::string score_text(const core::Run& run, const core::Evaluation& evaluation,
                       const lessons::TextCatalog& text);

/// For each relation and attention that can show it, what share of their attention the heads give to the gold
/// partner: a table, or nothing where there are no relations.
std::string mass_table(const core::Run& run, const lessons::TextCatalog& text);

}  // namespace headscope::simulator
