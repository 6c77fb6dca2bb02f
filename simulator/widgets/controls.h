// Buttons, chips, key caps and progress, all without hue: colour belongs to the model. Every control draws
// its focus ring, and Enter or Space press it.
#pragma once

#include "simulator/widgets/interaction.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headscope::simulator {

enum class Emphasis : std::uint8_t { quiet, filled, dark };  // text only, inset chip, accent
enum class Ability : std::uint8_t { enabled, disabled };

/// A button as wide as its word; `at` is its top left. Returns whether it was pressed.
Touch button(Ui& ui, std::string_view id, ImVec2 at, std::string_view word,
             Emphasis emphasis = Emphasis::filled, Ability ability = Ability::enabled);
ImVec2 button_size(const Painter& painter, std::string_view word);

/// Signs of the transport, drawn as shapes.
enum class Icon : std::uint8_t {
  first,
  previous,
  play,
  pause,
  next,
  last,
  help,
  close,
  pager_back,
  pager_on
};
/// Bare icon in a target of `size` × `size` around `centre`; play and pause stand in a dark disc.
Touch icon_button(Ui& ui, std::string_view id, ImVec2 centre, float size, Icon icon,
                  Ability ability = Ability::enabled);

/// A word on an inset chip to choose (tokens, heads); the chosen one is dark.
enum class Chosen : std::uint8_t { no, yes };
Touch chip(Ui& ui, std::string_view id, ImVec2 at, std::string_view word, Chosen chosen,
           Source source = Source::token, Ability ability = Ability::enabled, float most_width = 0);
/// A word that `most_width` cannot hold is cut; 0: no limit.
ImVec2 chip_size(const Painter& painter, std::string_view word, float most_width = 0);

struct ChipChoice {
  std::optional<int> pressed;
  float height = 0;
};
/// Chips in rows that wrap at `width`. Left and right arrows move among them.
ChipChoice chip_choice(Ui& ui, std::string_view id, ImVec2 at, float width,
                       std::span<const std::string> words, std::optional<int> chosen,
                       Source source = Source::token, Ability ability = Ability::enabled);
/// The same with any number of them chosen. Precondition: as many marks as words.
ChipChoice chip_choice(Ui& ui, std::string_view id, ImVec2 at, float width,
                       std::span<const std::string> words, std::span<const Chosen> chosen,
                       Source source = Source::token, Ability ability = Ability::enabled);

/// Words side by side, of which one is chosen: what a region shows. Fills the box's width; words that do not
/// fit are shortened.
std::optional<int> tab_bar(Ui& ui, std::string_view id, const Rect& box, std::span<const std::string> words,
                           int chosen);

/// A line with a round mark (one of several) or a square one (on, off); the sentence wraps. `height` is used.
enum class MarkShape : std::uint8_t { radio, check };
struct ChoiceLine {
  Touch touch;
  float height = 0;
};
ChoiceLine choice_line(Ui& ui, std::string_view id, ImVec2 at, float width, std::string_view sentence,
                       MarkShape shape, Chosen chosen, Source source = Source::lesson,
                       Ability ability = Ability::enabled);

/// A key cap with its word: [Enter] follow. Returns the box of both.
Rect key_cap(Painter& painter, ImVec2 at, std::string_view key, std::string_view word);
float key_cap_width(const Painter& painter, std::string_view key, std::string_view word);

/// "Step 3 of 9" and a dash a step, those done dark (or in the gradient hue). Returns the box.
Rect progress_dashes(Painter& painter, ImVec2 at, std::string_view words, int done, int all,
                     Concept hue = Concept::none);
/// Dashes alone over the width; more than it has room for become one line.
Rect progress_line(Painter& painter, ImVec2 at, float width, int done, int all);

/// A word that links: underlined in its colour when hovered. Cut at `most_width`; 0: no limit.
Touch text_link(Ui& ui, std::string_view id, ImVec2 at, std::string_view word, const TextStyle& style,
                float most_width = 0);

/// A popup-coloured box with a hairline at the pointer, kept inside the screen; one or more lines.
void tooltip(Painter& painter, ImVec2 pointer, std::string_view text, Source source = Source::catalog);

/// ✓ right, ✕ error, ▲ warning, with a sentence that wraps. Returns the height. Loud: the sentence is
/// semibold and coloured too; quiet: the sign alone is coloured (an
/// error is coloured always).
enum class Note : std::uint8_t { success, error, warning };
enum class Tone : std::uint8_t { loud, quiet };
/// What note_line() returns for the same.
float note_height(const Painter& painter, float width, std::string_view sentence, Tone tone = Tone::loud);
float note_line(Painter& painter, ImVec2 at, float width, Note kind, std::string_view sentence,
                Source source = Source::catalog, Tone tone = Tone::loud);

}  // namespace headscope::simulator
