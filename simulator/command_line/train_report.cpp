#include "simulator/command_line/train_report.h"

#include "core/graph_paths.h"

#include "simulator/terminal/text_layout.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iomanip>
#include <limits>
#include <ostream>
#include <sstream>
#include <string_view>
#include <vector>

namespace headscope::simulator {

namespace {

constexpr double kInterval = 0.1;  // seconds between two looks of the line
constexpr std::size_t kBarColumns = 20, kBarStep = 5;

std::string bar(double share, std::size_t n_columns) {
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(n_columns));
  std::string text;
  for (std::size_t column = 0; column < n_columns; ++column) text += column < full ? "█" : "░";
  return text;
}

/// Columns of the terminal that standard error is; 80 where it does not say. Asked each time: windows change.
std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

double seconds_since(std::chrono::steady_clock::time_point then) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then).count();
}

}  // namespace

std::string digits(double value) {
  std::array<char, 40> buffer{};
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), written.ptr};
}

std::string rounded(double value) {
  constexpr int kDigits = 3;
  std::array<char, 40> buffer{};
  const auto written =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, kDigits);
  return {buffer.data(), written.ptr};
}

std::string fixed(double value, int decimals) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << std::fixed << std::setprecision(decimals) << value;
  return text.str();
}

std::string clock(double seconds) {
  const std::int64_t all = std::llround(seconds);
  const auto two = [](std::int64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  if (all < 3600) return std::to_string(all / 60) + ":" + two(all % 60);
  return std::to_string(all / 3600) + ":" + two(all / 60 % 60) + ":" + two(all % 60);
}

std::string score_text(const core::Run& run, const core::Evaluation& evaluation,
                       const lessons::TextCatalog& text) {
  const core::Task* task = run.trainer().task();
  const bool is_exact = task && task->score_kind() == core::ScoreKind::exact_match;
  return text.text(is_exact ? "command.train.exact_match" : "command.train.accuracy",
                   {{"score", fixed(evaluation.score, 3)}});
}

TrainProgress::TrainProgress(const CommandContext& context, const core::Run& run)
    : context_(context),
      run_(run),
      first_step_(run.trainer().step()),
      start_(std::chrono::steady_clock::now()),
      n_rows_shown_(run.series().size()) {}

TrainProgress::~TrainProgress() {
  if (is_line_open_) context_.errors << "\n";
}

void TrainProgress::show() {
  if (!context_.errors_are_terminal) {
    show_evaluation();
    return;
  }
  const bool is_last = run_.trainer().step() >= run_.config().stop.n_steps;
  if (is_line_open_ && seconds_since(shown_) < kInterval && !is_last) return;
  show_line();
}

void TrainProgress::say(const std::string& line) {
  if (is_line_open_) context_.errors << "\r\x1b[K";
  context_.errors << line << "\n" << std::flush;
  is_line_open_ = false;
}

std::string progress_line(double share, const std::vector<ProgressPart>& parts, std::size_t n_columns) {
  constexpr std::string_view kBetween = " · ";
  std::string line;
  // the first parts are the least wanted where not all fit
  for (int most = std::numeric_limits<int>::max(); most > 0;) {
    line.clear();
    int least_wanted = 0;
    for (const ProgressPart& part : parts) {
      if (part.text.empty() || part.rank >= most) continue;
      line += (line.empty() ? "" : std::string(kBetween)) + part.text;
      least_wanted = std::max(least_wanted, part.rank);
    }
    if (terminal::display_width(line) <= n_columns) break;
    most = least_wanted;
  }
  const std::size_t width = terminal::display_width(line);
  const std::size_t left = n_columns > width ? n_columns - width - 1 : 0;
  // in steps, so that it does not tremble with the digits beside it
  const std::size_t n_bar = std::min(kBarColumns, left / kBarStep * kBarStep);
  return n_bar > 0 ? bar(share, n_bar) + " " + line : terminal::shorten(line, n_columns);
}

void TrainProgress::show_line() {
  const std::int64_t step = run_.trainer().step(), steps = run_.config().stop.n_steps;
  const double rate = static_cast<double>(step - first_step_) / std::max(seconds_since(start_), 1e-9);
  const core::Evaluation* evaluation = run_.evaluation();
  const lessons::TextCatalog& text = context_.text;
  const double left = rate > 0 ? static_cast<double>(steps - step) / rate : 0;
  const std::vector<ProgressPart> parts = {
      {0, std::to_string(step) + "/" + std::to_string(steps)},
      {1, text.text("command.train.progress.loss", {{"loss", fixed(run_.series().back().report.loss, 4)}})},
      {2, evaluation ? score_text(run_, *evaluation, text) : ""},
      {4, text.text("command.train.progress.rate",
                    {{"rate", rate < 10 ? fixed(rate, 1) : std::to_string(std::llround(rate))}})},
      {3, text.text("command.train.progress.left", {{"left", clock(left)}})}};
  // the last column stays free: some terminals wrap as soon as it is written
  const std::string line =
      progress_line(static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(steps, 1)), parts,
                    terminal_columns() - 1);
  context_.errors << "\r" << line << "\x1b[K" << std::flush;
  shown_ = std::chrono::steady_clock::now();
  is_line_open_ = true;
}

void TrainProgress::show_evaluation() {
  const std::vector<core::SeriesRow>& series = run_.series();
  for (; n_rows_shown_ < series.size(); ++n_rows_shown_) {
    const core::SeriesRow& row = series[n_rows_shown_];
    if (!row.evaluation) continue;
    context_.errors << context_.text.text("command.train.evaluation",
                                          {{"step", std::to_string(row.step)},
                                           {"loss", fixed(row.report.loss, 4)},
                                           {"held_out_loss", fixed(row.evaluation->loss, 4)},
                                           {"score", score_text(run_, *row.evaluation, context_.text)}})
                    << "\n"
                    << std::flush;
  }
}

std::string mass_table(const core::Run& run, const lessons::TextCatalog& text) {
  const core::Evaluation* evaluation = run.evaluation();
  const core::Task* task = run.trainer().task();
  if (!evaluation || !task || evaluation->masses.empty()) return "";
  struct Line {
    std::string relation, attention;
    std::vector<double> heads;
  };
  std::vector<Line> lines;
  std::size_t relation_width = 0, attention_width = 0;
  for (const core::RelationMass& mass : evaluation->masses) {
    const std::string attention(core::owner(run.evaluator()->graph().spec(mass.weights).name));
    lines.push_back({task->relations()[static_cast<std::size_t>(mass.relation)].name, attention, mass.heads});
    relation_width = std::max(relation_width, lines.back().relation.size());
    attention_width = std::max(attention_width, attention.size());
  }
  std::string table = text.text("command.train.masses") + "\n";
  for (const Line& line : lines) {
    table += "  " + terminal::pad(line.relation, relation_width + 2, terminal::Align::left) +
             terminal::pad(line.attention, attention_width + 1, terminal::Align::left);
    for (const double head : line.heads) table += " " + fixed(head, 2);
    table += "\n";
  }
  return table;
}

}  // namespace headscope::simulator
