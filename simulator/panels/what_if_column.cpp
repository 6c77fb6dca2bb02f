// The column that the "What if?" panel is written into.
#include "simulator/panels/what_if.h"

#include "simulator/widgets/fields.h"
#include "simulator/widgets/slider.h"

#include <algorithm>
#include <cmath>

namespace headscope::simulator {

void Column::write(std::string_view words, TypeStyle type, ImU32 ink, Source source) {
  if (words.empty()) return;
  const RichBlock block =
      lay_out(painter(), {Run{.text = std::string(words), .colour = ink, .source = source}},
              {.type = type, .width = width_, .role = "what_if"});
  draw(painter(), at(), block);
  take(block.height);
  space(6);
}

void Column::heading(std::string_view words) {
  const RichBlock block = lay_out(
      painter(), {Run{.text = std::string(words), .weight = Weight::semibold, .source = Source::catalog}},
      {.type = TypeStyle::body, .width = width_, .role = "what_if_heading"});
  draw(painter(), at(), block);
  take(block.height);
  space(8);
}

void Column::say(std::string_view words, Source source) {
  write(words, TypeStyle::label, colour().secondary, source);
}

void Column::say_loud(std::string_view words, Source source) {
  write(words, TypeStyle::label, colour().primary, source);
}

void Column::note(Note kind, std::string_view words) {
  take(note_line(painter(), at(), width_, kind, words, Source::catalog, Tone::quiet));
  space(6);
}

bool Column::press(std::string_view id, std::string_view words, Emphasis emphasis, Ability ability) {
  const ImVec2 size = button_size(painter(), words);
  if (size.x <= width_) {
    const bool pressed = button(ui(), id, at(), words, emphasis, ability).clicked;
    take(size.y);
    space(8);
    return pressed && ability == Ability::enabled;
  }
  const float padding = panel_.px(12), margin = panel_.px(7);
  const ImU32 ink = ability == Ability::disabled ? colour().tertiary
                    : emphasis == Emphasis::dark ? colour().on_accent
                                                 : colour().primary;
  const RichBlock block = lay_out(
      painter(),
      {Run{.text = std::string(words), .weight = Weight::medium, .colour = ink, .source = Source::catalog}},
      {.type = TypeStyle::number, .width = std::max(1.0F, width_ - 2 * padding), .role = "button"});
  const Rect box = rect_at(at(), {width_, block.height + 2 * margin});
  const Touch touched =
      touch(ui(), id, box, ability == Ability::enabled ? Reach::pointer_and_tab : Reach::none);
  const float radius = panel_.theme().radius.chip;
  const ImU32 fill = emphasis == Emphasis::dark ? (touched.hovered ? colour().accent_hover : colour().accent)
                     : touched.hovered          ? colour().hair
                                                : colour().inset;
  if (emphasis != Emphasis::quiet || touched.hovered) painter().fill(box, fill, panel_.px(radius));
  draw(painter(), {box.min.x + padding, box.min.y + margin}, block);
  draw_focus_ring(ui(), box, touched, radius);
  take(box.height());
  space(8);
  return touched.clicked;
}

bool Column::check(std::string_view id, std::string_view words, Chosen chosen, Ability ability) {
  const ChoiceLine line =
      choice_line(ui(), id, at(), width_, words, MarkShape::check, chosen, Source::catalog, ability);
  take(line.height);
  space(8);
  return line.touch.clicked && ability == Ability::enabled;
}

std::optional<int> Column::choose(std::string_view id, const std::vector<std::string>& words,
                                  std::optional<int> chosen, Source source) {
  std::vector<Chosen> marks(words.size(), Chosen::no);
  if (chosen && *chosen >= 0 && static_cast<std::size_t>(*chosen) < marks.size())
    marks[static_cast<std::size_t>(*chosen)] = Chosen::yes;
  return choose(id, words, marks, source);
}

std::optional<int> Column::choose(std::string_view id, const std::vector<std::string>& words,
                                  const std::vector<Chosen>& chosen, Source source) {
  const ChipChoice response = chip_choice(ui(), id, at(), width_, words, chosen, source);
  take(response.height);
  space(8);
  return response.pressed;
}

std::optional<std::string> Column::field(std::string_view id, const std::string& current,
                                         std::string_view hint, float most_width, Leaving leaving) {
  const float wide = most_width > 0 ? std::min(width_, most_width) : width_;
  const DraftField response = draft_field(panel_, id, at(), wide, current, hint, {.leaving = leaving});
  take(response.height);
  space(8);
  if (response.committed == current) return std::nullopt;
  return response.committed;
}

std::optional<std::string> Column::entry(std::string_view id, const std::string& current,
                                         std::string_view hint, std::string_view button_word) {
  std::map<std::string, std::string>& drafts = panel_.window.field_drafts;
  const std::string name(id);
  std::optional<std::string> committed = field(id, current, hint, 0, Leaving::keeps);
  const auto draft = drafts.find(name);
  const std::string typed = draft == drafts.end() ? current : draft->second;
  const Ability ability = typed.empty() ? Ability::disabled : Ability::enabled;
  if (press(name + "_button", button_word, Emphasis::filled, ability)) {
    committed = typed;
    drafts.erase(name);
    panel_.window.field_tries[name] = typed;  // as Enter in the field
  }
  if (!committed || committed->empty()) return std::nullopt;
  return committed;
}

std::optional<double> Column::number_field(std::string_view id, std::optional<double> current,
                                           lessons::NumberKind kind) {
  const std::string shown =
      current ? lessons::format_number(*current, kind, panel_.theme().numbers) : std::string();
  const std::optional<std::string> typed = field(id, shown, {}, panel_.px(130));
  const auto draft = panel_.window.field_drafts.find(std::string(id));
  if (draft != panel_.window.field_drafts.end() && !lessons::parse_number(draft->second))
    note(Note::error, text("lesson.not_a_number"));
  if (!typed) return std::nullopt;
  return lessons::parse_number(*typed);
}

std::optional<Column::Slid> Column::power_slider(std::string_view id, double value, double lowest,
                                                 double highest, lessons::NumberKind kind) {
  const double range = std::log(highest / lowest);
  const auto share = static_cast<float>(std::clamp(std::log(value / lowest) / range, 0.0, 1.0));
  const SliderResponse response = slider(ui(), std::string(id) + "_slider", at(), width_, share);
  take(slider_height(painter()));
  std::optional<Slid> result;
  if (response.began) new_stroke();
  if (response.moved) {
    // two digits: what a hand can aim at
    const double wanted = lowest * std::exp(range * static_cast<double>(*response.moved));
    const double unit = std::pow(10.0, std::floor(std::log10(wanted)) - 1);
    const double rounded = std::clamp(std::round(wanted / unit) * unit, lowest, highest);
    if (rounded != value) result = Slid{rounded, true};
  }
  if (const std::optional<double> typed = number_field(id, value, kind)) result = Slid{*typed, false};
  return result;
}

}  // namespace headscope::simulator
