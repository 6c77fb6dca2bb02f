// The parts of the "What if?" panel, drawn one under the other.
#pragma once

#include "simulator/panels/panel.h"
#include "simulator/rich_text.h"
#include "simulator/widgets/controls.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator {

/// What leaving a field does with what was typed: it is taken as Enter takes it, or waits in the field.
enum class Leaving : std::uint8_t { commits, keeps };

/// A column that is filled from above. Whatever it is given wraps at its width.
class Column {
 public:
  Column(Panel& panel, ImVec2 at, float width) : panel_(panel), x_(at.x), y_(at.y), width_(width) {}

  Panel& panel() const { return panel_; }
  Ui& ui() const { return panel_.ui; }
  Painter& painter() const { return panel_.painter(); }
  const Palette& colour() const { return panel_.painter().colour(); }
  std::string text(std::string_view key, const lessons::TextValues& values = {}) const {
    return panel_.text(key, values);
  }
  ImVec2 at() const { return {x_, y_}; }
  float x() const { return x_; }
  float y() const { return y_; }
  float width() const { return width_; }
  /// Takes so much of the column, in screen pixels.
  void take(float height) { y_ += height; }
  void space(float theme_pixels) { y_ += panel_.px(theme_pixels); }

  void heading(std::string_view words);
  void say(std::string_view words, Source source = Source::catalog);
  /// The same in the main colour.
  void say_loud(std::string_view words, Source source = Source::catalog);
  void note(Note kind, std::string_view words);
  /// A button; words too long for the column wrap in it. Returns whether it was pressed.
  bool press(std::string_view id, std::string_view words, Emphasis emphasis = Emphasis::filled,
             Ability ability = Ability::enabled);
  /// A line with a square mark. Returns whether it was pressed.
  bool check(std::string_view id, std::string_view words, Chosen chosen, Ability ability = Ability::enabled);
  std::optional<int> choose(std::string_view id, const std::vector<std::string>& words,
                            std::optional<int> chosen, Source source = Source::catalog);
  /// Chips of which any number are chosen.
  std::optional<int> choose(std::string_view id, const std::vector<std::string>& words,
                            const std::vector<Chosen>& chosen, Source source = Source::catalog);
  /// A field that commits on Enter, and as it says when it is left; Esc brings the old text back.
  std::optional<std::string> field(std::string_view id, const std::string& current, std::string_view hint,
                                   float most_width = 0, Leaving leaving = Leaving::commits);
  /// A field with a button: only Enter in it or the button commit, for what must not happen by the way. What
  /// is typed stays until Esc.
  std::optional<std::string> entry(std::string_view id, const std::string& current, std::string_view hint,
                                   std::string_view button_word);
  /// As field(), for a number; empty where there is none yet.
  std::optional<double> number_field(std::string_view id, std::optional<double> current,
                                     lessons::NumberKind kind);
  /// A number between two limits, on a scale of powers: a slider, and a field beside or under it. `is_drag`:
  /// more of the same stroke may come.
  struct Slid {
    double value = 0;
    bool is_drag = false;
  };
  std::optional<Slid> power_slider(std::string_view id, double value, double lowest, double highest,
                                   lessons::NumberKind kind);

  /// A new stroke's number.
  std::uint32_t new_stroke() const { return ++panel_.window.strokes; }

 private:
  void write(std::string_view words, TypeStyle type, ImU32 colour, Source source);

  Panel& panel_;
  float x_, y_, width_;
};

/// A text field that keeps what is typed until Enter, or until it is left; and what was refused, with the
/// reason below it: in the column, or over whatever is there. Returns what was committed.
enum class Reason : std::uint8_t { in_column, over };
struct DraftOptions {
  Leaving leaving = Leaving::commits;
  Reason reason = Reason::in_column;
};
struct DraftField {
  std::optional<std::string> committed;
  float height = 0;
};
DraftField draft_field(Panel& panel, std::string_view id, ImVec2 at, float width, const std::string& current,
                       std::string_view hint, const DraftOptions& options = {});

void draw_sentence_part(Column& column);
void draw_answer_part(Column& column);
void draw_heads_part(Column& column);
void draw_attention_part(Column& column);
void draw_training_part(Column& column);
void draw_changes_part(Column& column);
void draw_difference_part(Column& column);

}  // namespace headscope::simulator
