// Matrices: sizes, the cell under the pointer, the numbers and colours that the values demand, input.
#include "simulator/widgets/matrix.h"

#include "simulator/null_backend.h"
#include "simulator/widgets/scale_bar.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace {

using namespace headscope;
using namespace headscope::simulator;

/// A matrix that owns its numbers.
struct Sample {
  std::vector<float> numbers;
  std::vector<CellFlags> flags;
  MatrixSpec spec;

  Sample(int rows, int columns) {
    for (int i = 0; i < rows * columns; ++i) numbers.push_back(3 * std::sin(static_cast<float>(i) * 1.7F));
    spec.values = {numbers.data(), rows, columns, columns, 1};
    spec.scale = 3;
    spec.title = {Concept::scores, "scores", Source::catalog, "decoder.block0.self_attention.scores", ""};
    spec.row_caption = "query i ↓";
    for (int i = 0; i < rows; ++i) spec.row_labels.push_back({i % 2 == 0 ? "cat" : "incomprehensibilities"});
    for (int j = 0; j < columns; ++j)
      spec.column_labels.push_back({j % 2 == 0 ? "sat" : "antidisestablishment"});
  }
  void flag(int row, int column, CellFlags flag) {
    if (flags.empty()) flags.assign(numbers.size(), 0);
    flags[static_cast<std::size_t>(row * spec.values.columns + column)] |= flag;
    spec.flags = flags;
  }
};

std::vector<std::string> texts_of(const std::vector<const TextEntry*>& entries) {
  std::vector<std::string> texts;
  for (const TextEntry* entry : entries) texts.push_back(entry->text);
  return texts;
}

/// Colours of vertices that lie at the place, in the order of drawing.
std::vector<ImU32> colours_at(const ImDrawList& list, ImVec2 corner) {
  std::vector<ImU32> colours;
  for (const ImDrawVert& vertex : list.VtxBuffer)
    if (std::fabs(vertex.pos.x - corner.x) < 0.01F && std::fabs(vertex.pos.y - corner.y) < 0.01F)
      colours.push_back(vertex.col);
  return colours;
}

/// Whether the box is inside from left to right, and its middle from top to bottom (a line is higher than its
/// letters).
bool holds(const Rect& outer, const Rect& inner) {
  // text begins on whole pixels
  return inner.min.x >= outer.min.x - 1 && inner.max.x <= outer.max.x + 1 &&
         inner.centre().y >= outer.min.y && inner.centre().y <= outer.max.y;
}

}  // namespace

TEST_CASE("every cell is found under its own rectangle, and nothing outside", "[simulator][matrix]") {
  test::Look look;
  look.frame([&](Ui& ui) {
    Sample sample(5, 7);
    const MatrixLayout layout = place_matrix(ui.painter, sample.spec, {200, 150}, {62, 44});
    for (int row = 0; row < 5; ++row)
      for (int column = 0; column < 7; ++column) {
        const Rect box = layout.rect_of({row, column});
        CHECK(layout.cell_at(box.centre()) == CellIndex{row, column});
        CHECK(layout.cell_at(box.min) == CellIndex{row, column});
      }
    CHECK_FALSE(layout.cell_at({199, 160}));
    CHECK_FALSE(layout.cell_at({210, 149}));
    CHECK_FALSE(layout.cell_at(layout.cells.max));
  });
}

TEST_CASE("a paged matrix finds the cells of its page", "[simulator][matrix]") {
  test::Look look;
  look.frame([&](Ui& ui) {
    Sample sample(64, 64);
    const MatrixLayout layout =
        place_matrix(ui.painter, sample.spec, {100, 100}, {20, 20}, {200, 240}, {10, 60});
    CHECK(layout.is_paged());
    CHECK(layout.rows == 12);
    CHECK(layout.columns == 10);
    CHECK(layout.first_row == 10);
    CHECK(layout.first_column == 54);  // the last page is full
    CHECK(layout.cell_at({101, 101}) == CellIndex{10, 54});
    CHECK_FALSE(layout.shows({9, 54}));
    CHECK(layout.shows({21, 63}));
    CHECK(layout.bounds.max.y >= layout.pager.max.y);
  });
}

TEST_CASE("the chosen cell size fits the room, or is the smallest", "[simulator][matrix]") {
  test::Look look;
  look.frame([&](Ui& ui) {
    for (const int n : {1, 4, 12, 40, 64, 200})
      for (const ImVec2 room : {ImVec2{720, 600}, ImVec2{400, 300}, ImVec2{1500, 900}}) {
        Sample sample(n, n);
        const ImVec2 cell = choose_cell(ui.painter, sample.spec, room);
        const MatrixMargins margins = margins_of(ui.painter, sample.spec);
        CAPTURE(n, room.x, cell.x, cell.y);
        CHECK(cell.x >= 4);
        CHECK(cell.y <= 44);
        CHECK(cell.x >= cell.y);
        if (cell.x > 4) CHECK(cell.x * static_cast<float>(n) + margins.left <= room.x);
        if (cell.y > 4) CHECK(cell.y * static_cast<float>(n) + margins.top + margins.bottom <= room.y);
      }
  });
}

TEST_CASE("the numbers drawn are the values, formatted", "[simulator][matrix]") {
  test::Look look;
  Sample sample(6, 5);
  look.frame([&](Ui& ui) {
    draw_matrix(ui.painter, sample.spec, place_matrix(ui.painter, sample.spec, {300, 200}, {62, 44}));
  });
  std::vector<std::string> expected;
  for (int column = 0; column < 5; ++column)
    for (int row = 0; row < 6; ++row)
      expected.push_back(
          lessons::format_number(sample.spec.values.at(row, column), lessons::NumberKind::value));
  CHECK(texts_of(look.record.with_role("cell")) == expected);
}

TEST_CASE("a transposed view draws the transpose without a copy", "[simulator][matrix]") {
  test::Look look;
  const std::vector<float> numbers = {1, 2, 3, 4, 5, 6};  // [2, 3]
  MatrixSpec spec{.values = {numbers.data(), 3, 2, 1, 3}, .kind = lessons::NumberKind::integer};
  look.frame([&](Ui& ui) {
    draw_matrix(ui.painter, spec, place_matrix(ui.painter, spec, {50, 50}, {40, 40}));
  });
  CHECK(texts_of(look.record.with_role("cell")) == std::vector<std::string>{"1", "2", "3", "4", "5", "6"});
}

TEST_CASE("cells have the colours that their values demand", "[simulator][matrix]") {
  for (const Variant variant : {Variant::light, Variant::dark})
    for (const ColourMap map : {ColourMap::signed_values, ColourMap::probability}) {
      test::Look look({1600, 900}, {}, variant);
      Sample sample(4, 4);
      sample.spec.map = map;
      if (map == ColourMap::probability)
        for (float& number : sample.numbers) number = std::fabs(number) / 3;
      sample.spec.numbers = Numbers::hidden;
      look.frame([&](Ui& ui) {
        const MatrixLayout layout = place_matrix(ui.painter, sample.spec, {300, 200}, {40, 40});
        draw_matrix(ui.painter, sample.spec, layout);
        for (int row = 0; row < 4; ++row)
          for (int column = 0; column < 4; ++column) {
            const double value = sample.spec.values.at(row, column);
            const ImU32 expected = map == ColourMap::probability ? look.theme.probability_colour(value)
                                                                 : look.theme.signed_colour(value, 3);
            const std::vector<ImU32> found = colours_at(ui.painter.list(), layout.rect_of({row, column}).min);
            CAPTURE(row, column, value);
            REQUIRE_FALSE(found.empty());
            CHECK(found.front() == expected);
          }
      });
    }
}

TEST_CASE("operands are semibold and results bold, in one frame", "[simulator][matrix]") {
  test::Look look;
  Sample sample(3, 3);
  sample.spec.frames = {{FrameKind::operand, Concept::queries, 1, 0, 1, 3},
                        {FrameKind::result, Concept::scores, 2, 2}};
  look.frame([&](Ui& ui) {
    draw_matrix(ui.painter, sample.spec, place_matrix(ui.painter, sample.spec, {300, 200}, {62, 44}));
  });
  const std::vector<const TextEntry*> cells = look.record.with_role("cell");  // column by column
  REQUIRE(cells.size() == 9);
  const auto weight = [&](int row, int column) {
    return cells[static_cast<std::size_t>(column * 3 + row)]->style.weight;
  };
  for (int column = 0; column < 3; ++column) CHECK(weight(1, column) == Weight::semibold);
  CHECK(weight(2, 2) == Weight::bold);
  CHECK(weight(0, 0) == Weight::regular);
}

TEST_CASE("masked and not computed cells show no number, not finite ones say so", "[simulator][matrix]") {
  test::Look look;
  Sample sample(2, 2);
  sample.numbers = {std::numeric_limits<float>::quiet_NaN(), 1, -std::numeric_limits<float>::infinity(), 2};
  sample.spec.values.data = sample.numbers.data();
  sample.flag(0, 1, kMasked);
  sample.flag(1, 1, kNotComputed);
  look.frame([&](Ui& ui) {
    draw_matrix(ui.painter, sample.spec, place_matrix(ui.painter, sample.spec, {300, 200}, {62, 44}));
  });
  CHECK(texts_of(look.record.with_role("cell")) == std::vector<std::string>{"NaN", "−∞"});
  CHECK(look.record.with_role("cell")[0]->style.colour == look.theme.colour.error);
}

TEST_CASE("numbers stay inside their cells at every size and text scale", "[simulator][matrix]") {
  for (const float scale : {0.75F, 1.0F, 1.5F, 3.0F}) {
    test::Look look({3200, 2400}, {.text_scale = scale});
    for (const float side : {4.0F, 9.0F, 16.0F, 22.0F, 28.0F, 36.0F, 48.0F, 62.0F, 96.0F})
      for (const lessons::NumberKind kind :
           {lessons::NumberKind::value, lessons::NumberKind::probability, lessons::NumberKind::gradient}) {
        Sample sample(6, 6);
        for (float& number : sample.numbers) number *= kind == lessons::NumberKind::value ? 700 : 0.3F;
        sample.spec.kind = kind;
        look.frame([&](Ui& ui) {
          const MatrixLayout layout = place_matrix(ui.painter, sample.spec, {600, 400}, {side, side});
          draw_matrix(ui.painter, sample.spec, layout);
          for (const TextEntry* entry : look.record.with_role("cell")) {
            const auto cell = layout.cell_at(entry->rect.centre());
            CAPTURE(scale, side, entry->text);
            REQUIRE(cell);
            const Rect box = layout.rect_of(*cell);
            CHECK(entry->rect.min.x >= box.min.x);
            CHECK(entry->rect.max.x <= box.max.x);
          }
        });
        if (side <= 9) CHECK(look.record.with_role("cell").empty());
        if (scale == 1 && side == 96) CHECK(look.record.with_role("cell").size() == 36);
      }
  }
}

TEST_CASE("labels, captions and titles stay within the bounds and do not overlap", "[simulator][matrix]") {
  for (const float scale : {0.75F, 1.0F, 2.0F}) {
    test::Look look({3200, 2400}, {.text_scale = scale});
    for (const float side : {9.0F, 22.0F, 36.0F, 62.0F}) {
      Sample sample(8, 8);
      sample.spec.column_caption = "key j →";
      look.frame([&](Ui& ui) {
        const MatrixLayout layout = place_matrix(ui.painter, sample.spec, {700, 500}, {side, side});
        draw_matrix(ui.painter, sample.spec, layout);
        CAPTURE(scale, side);
        for (const TextEntry& entry : look.record.entries) {
          CAPTURE(entry.text, entry.role, entry.rect.min.x, entry.rect.max.x, layout.bounds.max.x);
          if (entry.role != "title" && entry.role != "caption") CHECK(holds(layout.bounds, entry.rect));
        }
        const std::vector<const TextEntry*> labels = look.record.with_role("column_label");
        for (std::size_t i = 1; i < labels.size(); ++i)
          CHECK(labels[i - 1]->rect.max.x <= labels[i]->rect.min.x + 0.5F);
      });
    }
  }
}

TEST_CASE("a matrix tells the hovered and the clicked cell", "[simulator][matrix]") {
  test::Look look;
  Sample sample(4, 4);
  MatrixResponse response;
  std::vector<CellIndex> clicked;
  MatrixLayout layout;
  const auto draw = [&](Ui& ui) {
    layout = place_matrix(ui.painter, sample.spec, {300, 200}, {62, 44});
    draw_matrix(ui.painter, sample.spec, layout);
    response = matrix_input(ui, "scores", sample.spec, layout);
    if (response.clicked) clicked.push_back(*response.clicked);
  };
  look.frame(draw);
  CHECK_FALSE(response.hovered);
  look.backend.click(layout.rect_of({2, 3}).centre(), look.in_ui(draw));
  CHECK(response.hovered == CellIndex{2, 3});
  CHECK(clicked == std::vector<CellIndex>{{2, 3}});
}

TEST_CASE("after Tab the arrows move the focus cell and turn pages", "[simulator][matrix]") {
  test::Look look;
  Sample sample(20, 4);
  CellIndex focus = {0, 0};
  MatrixPage page;
  bool entered = false;
  const auto draw = [&](Ui& ui) {
    sample.spec.focus = focus;
    const MatrixLayout layout = place_matrix(ui.painter, sample.spec, {300, 200}, {62, 44}, {400, 220}, page);
    draw_matrix(ui.painter, sample.spec, layout);
    const MatrixResponse response = matrix_input(ui, "scores", sample.spec, layout, {"rows", "columns"});
    if (response.moved) focus = *response.moved;
    if (response.turned) page = *response.turned;
    entered = entered || response.entered;
  };
  look.frame(draw);
  look.backend.press(ImGuiKey_DownArrow, look.in_ui(draw));
  CHECK(focus == CellIndex{0, 0});  // nothing has the keyboard yet
  look.backend.press(ImGuiKey_Tab, look.in_ui(draw));
  for (int i = 0; i < 6; ++i) look.backend.press(ImGuiKey_DownArrow, look.in_ui(draw));
  look.backend.press(ImGuiKey_RightArrow, look.in_ui(draw));
  CHECK(focus == CellIndex{6, 1});
  CHECK(page.first_row == 2);  // five rows are shown
  look.backend.press(ImGuiKey_Enter, look.in_ui(draw));
  CHECK(entered);
}

TEST_CASE("the pager turns pages by pointer", "[simulator][matrix]") {
  test::Look look;
  Sample sample(20, 4);
  MatrixPage page;
  MatrixLayout layout;
  const auto draw = [&](Ui& ui) {
    layout = place_matrix(ui.painter, sample.spec, {300, 200}, {62, 44}, {400, 220}, page);
    draw_matrix(ui.painter, sample.spec, layout);
    const MatrixResponse response =
        matrix_input(ui, "scores", sample.spec, layout, {"rows 1 to 5 of 20", ""});
    if (response.turned) page = *response.turned;
  };
  look.frame(draw);
  const TextEntry* words = look.record.find("rows 1 to 5 of 20");
  REQUIRE(words != nullptr);
  const float y = words->rect.centre().y;
  const ImVec2 on = {words->rect.max.x + 16, y}, back = {layout.pager.min.x + 12, y};
  look.backend.click(on, look.in_ui(draw));
  CHECK(page.first_row == 5);
  look.backend.click(on, look.in_ui(draw));
  look.backend.click(on, look.in_ui(draw));
  look.backend.click(on, look.in_ui(draw));
  CHECK(page.first_row == 15);
  look.backend.click(back, look.in_ui(draw));
  CHECK(page.first_row == 10);
}

TEST_CASE("shared scales are round and never too small", "[simulator][matrix]") {
  CHECK(round_scale(2.98) == Approx(3));
  CHECK(round_scale(3) == Approx(3));
  CHECK(round_scale(0.32) == Approx(0.4));
  CHECK(round_scale(95) == Approx(100));
  CHECK(round_scale(0) == 1);
  CHECK(round_scale(std::numeric_limits<double>::infinity()) == 1);
  for (double x = 1e-6; x < 1e6; x *= 1.37) {
    CHECK(round_scale(x) >= x * (1 - 1e-6));
    CHECK(round_scale(x) <= x * 1.6);
  }
}

TEST_CASE("the printed scale has its ends and its middle", "[simulator][matrix]") {
  test::Look look;
  look.frame([&](Ui& ui) {
    draw_scale_bar(ui.painter, {100, 100}, 180, ColourMap::signed_values, 3);
    draw_scale_bar(ui.painter, {100, 200}, 180, ColourMap::probability, 1);
    draw_scale_bar(ui.painter, {100, 300}, 180, ColourMap::signed_values, 0.25);
  });
  CHECK(texts_of(look.record.with_role("scale")) ==
        std::vector<std::string>{"−3", "0", "3", "0", "0.5", "1", "−0.25", "0", "0.25"});
}
