// Controls through synthetic input, as a hand and a keyboard reach them.
#include "simulator/widgets/controls.h"

#include "simulator/null_backend.h"
#include "simulator/widgets/fields.h"
#include "simulator/widgets/scroll_area.h"
#include "simulator/widgets/term_table.h"
#include "simulator/widgets/track.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

namespace {

using namespace headscope;
using namespace headscope::simulator;

}  // namespace

TEST_CASE("a button is pressed by a click, and by Enter when Tab reached it", "[simulator][widgets]") {
  test::Look look;
  int first = 0, second = 0;
  const auto draw = [&](Ui& ui) {
    first += button(ui, "first", {100, 100}, "Check").clicked ? 1 : 0;
    second += button(ui, "second", {100, 200}, "Reveal", Emphasis::dark).clicked ? 1 : 0;
  };
  look.frame(draw);
  look.backend.click({110, 110}, look.in_ui(draw));
  CHECK(first == 1);
  look.backend.press(ImGuiKey_Enter, look.in_ui(draw));
  CHECK(first == 1);  // a click leaves the keys to the window's shortcuts
  look.backend.press(ImGuiKey_Tab, look.in_ui(draw));
  look.backend.press(ImGuiKey_Enter, look.in_ui(draw));
  CHECK(second == 1);
  look.backend.press(ImGuiKey_Tab, look.in_ui(draw), test::NullBackend::Modifier::shift);
  look.backend.press(ImGuiKey_Space, look.in_ui(draw));
  CHECK(first == 2);
  CHECK(second == 1);
}

TEST_CASE("a disabled button does nothing and is not in the order of Tab", "[simulator][widgets]") {
  test::Look look;
  int pressed = 0;
  const auto draw = [&](Ui& ui) {
    pressed += button(ui, "off", {100, 100}, "Check", Emphasis::filled, Ability::disabled).clicked ? 1 : 0;
  };
  look.frame(draw);
  look.backend.click({110, 110}, look.in_ui(draw));
  CHECK(pressed == 0);
  CHECK(look.focus.focused() == 0);
  look.backend.press(ImGuiKey_Tab, look.in_ui(draw));
  CHECK(look.focus.focused() == 0);
}

TEST_CASE("chips wrap within their width and the clicked one is told", "[simulator][widgets]") {
  test::Look look;
  const std::vector<std::string> words = {"the", "cat", "sat", "on", "the", "mat"};
  std::optional<int> chosen;
  ChipChoice choice;
  const auto draw = [&](Ui& ui) {
    choice = chip_choice(ui, "which", {100, 100}, 160, words, chosen);
    if (choice.pressed) chosen = choice.pressed;
  };
  look.frame(draw);
  CHECK(choice.height > 64);
  const std::vector<const TextEntry*> chips = look.record.with_role("chip");
  REQUIRE(chips.size() == 6);
  for (const TextEntry* chip : chips) CHECK(chip->rect.max.x <= 260);
  const ImVec2 last = chips[5]->rect.centre();
  look.backend.click(last, look.in_ui(draw));
  CHECK(chosen == 5);
  look.frame(draw);
  CHECK(look.record.with_role("chip")[5]->style.colour == look.theme.colour.on_accent);
}

TEST_CASE("typing in a field changes its text, Enter commits", "[simulator][widgets]") {
  test::Look look;
  std::string text = "the cat";
  int committed = 0;
  bool active = false;
  const auto draw = [&](Ui& ui) {
    const FieldResponse response = text_field(ui, "sentence", {100, 100}, text, {.width = 300});
    committed += response.committed ? 1 : 0;
    active = response.active;
  };
  look.frame(draw);
  look.backend.click({380, 117}, look.in_ui(draw));
  CHECK(active);
  look.backend.press(ImGuiKey_End, look.in_ui(draw));
  look.backend.type(" säß", look.in_ui(draw));
  CHECK(text == "the cat säß");
  look.backend.press(ImGuiKey_Enter, look.in_ui(draw));
  CHECK(committed == 1);
  REQUIRE(look.record.with_role("field").size() == 1);
  CHECK(look.record.with_role("field")[0]->text == "the cat säß");
}

TEST_CASE("Tab enters a text field and leaves it again", "[simulator][widgets]") {
  test::Look look;
  std::string text;
  bool active = false;
  int pressed = 0;
  const auto draw = [&](Ui& ui) {
    active = text_field(ui, "sentence", {100, 100}, text, {.width = 300}).active;
    pressed += button(ui, "go", {100, 200}, "Go").clicked ? 1 : 0;
  };
  look.frame(draw);
  look.backend.press(ImGuiKey_Tab, look.in_ui(draw));
  look.frame(draw);
  REQUIRE(active);
  look.backend.type("hi", look.in_ui(draw));
  CHECK(text == "hi");
  look.backend.press(ImGuiKey_Tab, look.in_ui(draw));
  look.frame(draw);
  CHECK_FALSE(active);
  CHECK(text == "hi");
  look.backend.press(ImGuiKey_Enter, look.in_ui(draw));
  CHECK(pressed == 1);
}

TEST_CASE("a field's error stands below it", "[simulator][widgets]") {
  test::Look look;
  std::string text = "abc";
  float plain = 0, with_error = 0;
  look.frame([&](Ui& ui) {
    plain = text_field(ui, "a", {100, 100}, text, {.width = 200}).height;
    with_error = text_field(ui, "b", {100, 200}, text, {.width = 200, .error = "That is no number."}).height;
  });
  CHECK(with_error > plain + 15);
  CHECK(look.record.find("That is no number.") != nullptr);
}

TEST_CASE("a number editor opens with the caret, replaces the number, and gives it on Enter",
          "[simulator][widgets]") {
  test::Look look;
  std::string text = "2.89";
  std::optional<double> value;
  bool cancelled = false, open = true;
  const auto draw = [&](Ui& ui) {
    if (!open) return;
    const NumberEdit edit = number_editor(ui, "edit", {{100, 100}, {162, 144}}, text);
    if (edit.value) value = edit.value, open = false;
    cancelled = cancelled || edit.cancelled;
  };
  for (int i = 0; i < 3; ++i) look.frame(draw);
  look.backend.type("-1.5", look.in_ui(draw));
  CHECK(text == "-1.5");
  look.backend.press(ImGuiKey_Enter, look.in_ui(draw));
  CHECK(value == -1.5);
  CHECK_FALSE(cancelled);
}

TEST_CASE("Esc leaves a number editor without a number", "[simulator][widgets]") {
  test::Look look;
  std::string text = "2.89";
  bool cancelled = false;
  const auto draw = [&](Ui& ui) {
    if (cancelled) return;
    const NumberEdit edit = number_editor(ui, "edit", {{100, 100}, {162, 144}}, text);
    CHECK_FALSE(edit.value);
    cancelled = edit.cancelled;
  };
  for (int i = 0; i < 3; ++i) look.frame(draw);
  look.backend.type("7", look.in_ui(draw));
  look.backend.press(ImGuiKey_Escape, look.in_ui(draw));
  CHECK(cancelled);
}

TEST_CASE("the track jumps to the clicked operation and follows the arrows", "[simulator][widgets]") {
  test::Look look;
  const std::vector<TrackSegment> segments = {{"forward", 10}, {"loss", 2}};
  int position = 3;
  const auto draw = [&](Ui& ui) {
    const TrackResponse response = track(ui, "track", {100, 100}, 614, {segments, position, "scores"});
    if (response.moved) position = *response.moved;
  };
  look.frame(draw);
  CHECK(look.record.with_role("segment").size() == 2);
  CHECK(look.record.find("scores") != nullptr);
  // 12 slots of 50 and a gap of 14: the seventh tick stands at 100 + 6.5 · 50
  look.backend.click({425, 128}, look.in_ui(draw));
  CHECK(position == 7);
  look.backend.click({100 + 500 + 14 + 75, 128}, look.in_ui(draw));
  CHECK(position == 12);
  look.backend.press(ImGuiKey_Tab, look.in_ui(draw));
  look.backend.press(ImGuiKey_LeftArrow, look.in_ui(draw));
  CHECK(position == 11);
  look.backend.press(ImGuiKey_Home, look.in_ui(draw));
  CHECK(position == 0);
}

TEST_CASE("the playhead's label stays over the track", "[simulator][widgets]") {
  test::Look look;
  const std::vector<TrackSegment> segments = {{"forward", 10}};
  for (const int position : {0, 1, 10}) {
    look.frame([&](Ui& ui) {
      track(ui, "track", {100, 100}, 400, {segments, position, "a rather long operation"});
    });
    const TextEntry* label = look.record.find("a rather long operation");
    REQUIRE(label != nullptr);
    CHECK(label->rect.min.x >= 99.5F);
    CHECK(label->rect.max.x <= 500.5F);
  }
}

TEST_CASE("the term table shows its numbers in columns that end together", "[simulator][widgets]") {
  for (const float scale : {0.75F, 1.0F, 2.0F}) {
    test::Look look({3200, 1800}, {.text_scale = scale});
    TermTableSpec spec{.index_head = "c", .value_head = "q · k", .sum_word = "sum", .sum = "2.89"};
    spec.factor_heads = {{"on", Source::token, Concept::queries}, {"sat", Source::token, Concept::keys}};
    spec.rows = {{"0", Source::number, {{"1.87"}, {"0.28"}}, {"×"}, "0.53", 0.53},
                 {"1", Source::number, {{"−0.81"}, {"−1.64"}}, {"×"}, "1.33", 1.33},
                 {"2", Source::number, {{"0.24"}, {"−0.36"}}, {"×"}, "−0.09", -0.09}};
    look.frame([&](Ui& ui) { term_table(ui, "terms", {100, 100}, 312 * scale, spec); });
    const std::vector<const TextEntry*> values = look.record.with_role("term");
    REQUIRE(values.size() == 3);
    REQUIRE(look.record.with_role("sum").size() == 1);
    for (const TextEntry* value : values)
      CHECK(value->rect.max.x == Approx(look.record.with_role("sum")[0]->rect.max.x).margin(1));
    for (const TextEntry* sign : look.record.with_role("term_sign"))
      CHECK((sign->text == "×" || sign->text == "="));
    for (const TextEntry& entry : look.record.entries) {
      CHECK(entry.rect.min.x >= 99);
      CHECK(entry.rect.max.x <= 101 + 312 * scale);
    }
    const std::vector<const TextEntry*> factors = look.record.with_role("term_factor");
    for (std::size_t i = 0; i + 1 < factors.size(); i += 2)
      CHECK_FALSE(factors[i]->rect.overlaps(factors[i + 1]->rect));
  }
}

TEST_CASE("a row of the term table is hovered and clicked", "[simulator][widgets]") {
  test::Look look;
  TermTableSpec spec{.index_head = "c", .value_head = "q · k"};
  spec.rows = {{"0", Source::number, {{"1.87"}}, {}, "0.53", 0.53},
               {"1", Source::number, {{"2.00"}}, {}, "1.33", 1.33}};
  std::optional<std::size_t> clicked;
  const auto draw = [&](Ui& ui) {
    const TermTableResponse response = term_table(ui, "terms", {100, 100}, 312, spec);
    if (response.clicked) clicked = response.clicked;
  };
  look.frame(draw);
  look.backend.click(look.record.find("1.33")->rect.centre(), look.in_ui(draw));
  CHECK(clicked == 1);
}

TEST_CASE("a scroll area scrolls with the wheel and stops at its end", "[simulator][widgets]") {
  test::Look look;
  float top = 0;
  const auto draw = [&](Ui& ui) {
    ScrollArea area(ui, "prose", {{100, 100}, {400, 300}});
    top = area.origin().y;
    for (int i = 0; i < 20; ++i)
      area.painter().text({100, top + 25 * static_cast<float>(i)}, "line", {.role = "line"});
    area.set_content_height(500);
  };
  look.frame(draw);
  look.frame(draw);
  CHECK(top == 100);
  look.backend.move_mouse({200, 200});
  look.frame(draw);
  for (int i = 0; i < 3; ++i) look.backend.scroll(-1, look.in_ui(draw));
  look.frame(draw);
  CHECK(top < 100);
  for (int i = 0; i < 60; ++i) look.backend.scroll(-1, look.in_ui(draw));
  look.frame(draw);
  CHECK(top == Approx(100 - 300).margin(2));
  CHECK(look.record.with_role("line")[0]->clip.min.y == Approx(100).margin(1));
}

TEST_CASE("a control inside a scroll area is brought into view by Tab", "[simulator][widgets]") {
  test::Look look;
  float y = 0;
  const auto draw = [&](Ui& ui) {
    ScrollArea area(ui, "prose", {{100, 100}, {400, 300}});
    y = area.origin().y + 600;
    button(area.ui(), "far", {120, y}, "Check");
    area.set_content_height(700);
  };
  look.frame(draw);
  look.frame(draw);
  CHECK(y > 300);
  look.backend.press(ImGuiKey_Tab, look.in_ui(draw));
  look.frame(draw);
  CHECK(y > 100);
  CHECK(y < 280);
}

TEST_CASE("key caps and progress measure what they draw", "[simulator][widgets]") {
  test::Look look;
  look.frame([&](Ui& ui) {
    const Rect cap = key_cap(ui.painter, {100, 100}, "Enter", "follow");
    CHECK(cap.width() == Approx(key_cap_width(ui.painter, "Enter", "follow")).margin(1));
    progress_dashes(ui.painter, {100, 200}, "Step 3 of 9", 3, 9);
  });
  CHECK(look.record.find("Step 3 of 9") != nullptr);
  CHECK(look.record.find("Enter") != nullptr);
}

TEST_CASE("a tooltip stays on the screen", "[simulator][widgets]") {
  test::Look look({800, 600});
  for (const ImVec2 pointer : {ImVec2{5, 5}, ImVec2{790, 590}, ImVec2{400, 595}}) {
    look.frame([&](Ui& ui) {
      tooltip(ui.painter, pointer, "not computed yet: step 9, a sentence that is long enough to wrap");
    });
    const std::vector<const TextEntry*> lines = look.record.with_role("tooltip");
    REQUIRE_FALSE(lines.empty());
    for (const TextEntry* line : lines) {
      CHECK(line->rect.min.x >= 0);
      CHECK(line->rect.max.x <= 800);
      CHECK(line->rect.max.y <= 600);
    }
  }
}
