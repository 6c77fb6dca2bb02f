// Draws every cell state and control in both themes to PNG files, to be looked at beside the mock-ups. Not a
// test.
#include "simulator/rich_text.h"
#include "simulator/widgets/fields.h"
#include "simulator/widgets/matrix.h"
#include "simulator/widgets/scale_bar.h"
#include "simulator/widgets/scroll_area.h"
#include "simulator/widgets/term_table.h"
#include "simulator/widgets/track.h"
#include "tests/simulator/gallery_page.h"

#include <imgui.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace headscope;
using namespace headscope::simulator;

/// One cell with its state, as in states-and-colours.
struct Sample {
  const char* name;
  float value;
  lessons::NumberKind kind = lessons::NumberKind::value;
  double scale = 3;
  CellFlags flags = 0;
  std::vector<MatrixFrame> frames = {};
  enum class Mark { none, hovered, locked, focus } mark = Mark::none;
};

void draw_sample(Painter& painter, ImVec2 at, const Sample& sample) {
  MatrixSpec spec;
  spec.values = {&sample.value, 1, 1, 1, 1};
  spec.scale = sample.scale;
  spec.kind = sample.kind;
  spec.flags = {&sample.flags, 1};
  spec.frames = sample.frames;
  const CellIndex only = {0, 0};
  if (sample.mark == Sample::Mark::hovered) spec.hovered = only;
  if (sample.mark == Sample::Mark::locked) spec.locked = only;
  if (sample.mark == Sample::Mark::focus) spec.focus = only;
  const MatrixLayout layout = place_matrix(painter, spec, at, {88, 52});
  draw_matrix(painter, spec, layout);
  painter.text({at.x, at.y + 60}, sample.name,
               {.type = TypeStyle::label, .colour = painter.colour().secondary});
}

void draw_states(Painter& painter, float x) {
  painter.text({x, 40}, "Cell states", {.type = TypeStyle::heading});
  const MatrixFrame operand = {FrameKind::operand, Concept::queries},
                    result = {FrameKind::result, Concept::scores};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  using Mark = Sample::Mark;
  const std::vector<Sample> samples = {
      {"idle", 0.46F},
      {"operand", 1.99F, lessons::NumberKind::value, 3, 0, {operand}},
      {"result", 2.89F, lessons::NumberKind::value, 3, 0, {result}},
      {"hovered", -1.17F, lessons::NumberKind::value, 3, 0, {}, Mark::hovered},
      {"locked", 2.89F, lessons::NumberKind::value, 3, 0, {result}, Mark::locked},
      {"edited", 1.5F, lessons::NumberKind::value, 3, kEdited},
      {"masked", 0, lessons::NumberKind::value, 3, kMasked},
      {"not computed", 0, lessons::NumberKind::value, 3, kNotComputed},
      {"gradient", -0.25F, lessons::NumberKind::gradient, 0.5, 0, {{FrameKind::gradient}}},
      {"clipped", -4.2F},
      {"not finite", nan},
      {"focus", 1.24F, lessons::NumberKind::value, 3, 0, {}, Mark::focus}};
  for (std::size_t i = 0; i < samples.size(); ++i)
    draw_sample(painter, {x + 120 * static_cast<float>(i % 6), 96 + 108 * static_cast<float>(i / 6)},
                samples[i]);
}

void draw_meaning(Painter& painter, float x) {
  const Concept all[] = {Concept::queries, Concept::keys,   Concept::values,  Concept::scores,
                         Concept::weights, Concept::output, Concept::gradient};
  for (std::size_t i = 0; i < std::size(all); ++i) {
    const ImVec2 at = {x + 110 * static_cast<float>(i), 320};
    const Rect tag = painter.tag_in_line(at, all[i], TypeStyle::body);
    painter.text(
        {tag.max.x + 6, at.y}, name_of(all[i]),
        {.type = TypeStyle::body, .weight = Weight::semibold, .colour = painter.theme().hue(all[i])});
  }
  for (std::size_t head = 0; head < 10; ++head)
    painter.head_disc({x + 11 + 44 * static_cast<float>(head), 368}, head);
  draw_scale_bar(painter, {x, 400}, 200, ColourMap::signed_values, 3, "one scale for all three");
  draw_scale_bar(painter, {x + 450, 400}, 150, ColourMap::probability, 1);
  float y = 440;
  y += note_line(painter, {x, y}, 300, Note::success, "Itself: 2.78.");
  y += note_line(painter, {x, y}, 300, Note::success, "equals the stored value, 2.8940", Source::catalog,
                 Tone::quiet);
  y += note_line(painter, {x, y}, 300, Note::warning, "The sentence was cut after 64 words.");
  note_line(painter, {x, y}, 300, Note::error, "No such file.");
  const auto formula =
      parse_formula("{scores:s}_{ij} = Σ_{c} {queries:q}_{ic} · {keys:k}_{jc}   {values:V}^{T} √ ∂ ∞ ÷");
  if (formula) draw(painter, {x + 320, 440}, lay_out(painter, *formula, {.type = TypeStyle::formula}));
  std::vector<Run> prose = {
      {.text = "Every word has written a "},
      {.text = "query",
       .weight = Weight::semibold,
       .hue = Concept::queries,
       .tag = true,
       .underline = true,
       .link = "q"},
      {.text = " and a "},
      {.text = "key",
       .weight = Weight::semibold,
       .hue = Concept::keys,
       .tag = true,
       .underline = true,
       .link = "k"},
      {.text = ", four numbers each. Lay one on the other, multiply channel by channel, add up. "},
      {.text = "mat", .weight = Weight::semibold},
      {.text = " is "},
      {.text = "italic", .weight = Weight::italic},
      {.text = " and "},
      {.text = "w_query", .code = true},
      {.text = " is code."}};
  draw(
      painter, {x + 320, 480},
      lay_out(painter, prose, {.type = TypeStyle::body, .width = 340, .colour = painter.colour().secondary}));
}

void draw_controls(Ui& ui, float x, std::string& text) {
  Painter& painter = ui.painter;
  const std::vector<std::string> words = {"the", "cat", "sat", "on", "the", "mat"};
  chip_choice(ui, "chips" + std::to_string(x), {x, 600}, 360, words, 5);
  const std::string id = std::to_string(x);
  button(ui, "b1" + id, {x + 400, 600}, "Check");
  button(ui, "b2" + id, {x + 480, 600}, "Reveal", Emphasis::dark);
  button(ui, "b3" + id, {x + 570, 600}, "Later", Emphasis::quiet);
  text_field(ui, "field" + id, {x, 644}, text, {.width = 200, .hint = "a sentence"});
  std::string empty;
  text_field(ui, "empty" + id, {x + 220, 644}, empty,
             {.width = 200, .hint = "a sentence", .error = "That is no number."});
  choice_line(ui, "c1" + id, {x + 450, 644}, 220, "matched roles", MarkShape::radio, Chosen::yes);
  choice_line(ui, "c2" + id, {x + 450, 670}, 220, "heads in order", MarkShape::radio, Chosen::no);
  choice_line(ui, "c3" + id, {x + 600, 644}, 100, "steps", MarkShape::check, Chosen::yes);
  const Icon icons[] = {Icon::first, Icon::previous, Icon::play, Icon::next,
                        Icon::last,  Icon::help,     Icon::pause};
  for (std::size_t i = 0; i < std::size(icons); ++i)
    icon_button(ui, "i" + std::to_string(i) + id, {x + 16 + 46 * static_cast<float>(i), 720},
                icons[i] == Icon::play || icons[i] == Icon::pause ? 40 : 28, icons[i]);
  progress_dashes(painter, {x + 360, 700}, "Step 3 of 9", 3, 9);
  float right = x + 360;
  for (const auto& [key, word] :
       {std::pair("Enter", "follow"), std::pair("E", "edit"), std::pair("← →", "operations")})
    right = key_cap(painter, {right, 728}, key, word).max.x + 16;
  const std::vector<TrackSegment> segments = {
      {"forward", 13}, {"loss", 2}, {"∂ backward", 14, Stroke::dashed, Concept::gradient}};
  track(ui, "t1" + id, {x, 760}, 660, {segments, 6, "scores"});
  track(ui, "t2" + id, {x, 820}, 660, {segments, 20, "∂ softmax"});
}

void draw_page(Ui& ui, float x, std::string& text) {
  ui.painter.fill({{x, 0}, {x + 800, 900}}, ui.painter.colour().stage);
  draw_states(ui.painter, x + 40);
  draw_meaning(ui.painter, x + 40);
  draw_controls(ui, x + 40, text);
}

constexpr float kQueries[6][4] = {{1.01F, -0.73F, 1.15F, -1.77F},  {0.97F, -1.19F, 0.04F, -1.20F},
                                  {0.01F, 0.001F, -1.01F, 0.84F},  {1.87F, -0.81F, -0.43F, 0.24F},
                                  {0.94F, -1.41F, -0.08F, -0.55F}, {-0.48F, 0.15F, -1.03F, 2.18F}};
constexpr float kKeys[6][4] = {{-0.39F, -0.58F, -0.27F, -1.04F}, {0.07F, -1.49F, -2.06F, -1.00F},
                               {0.28F, -1.64F, -2.59F, -0.36F},  {0.31F, 0.65F, -0.37F, -0.51F},
                               {-0.49F, 0.28F, -0.57F, -1.19F},  {-0.45F, -0.95F, -0.71F, 0.91F}};

/// queries · keysᵀ of the mock-up.
std::vector<float> scores() {
  std::vector<float> result;
  for (const auto& q : kQueries)
    for (const auto& k : kKeys) result.push_back(q[0] * k[0] + q[1] * k[1] + q[2] * k[2] + q[3] * k[3]);
  return result;
}

std::vector<AxisLabel> words(Concept lit, std::size_t which) {
  std::vector<AxisLabel> labels;
  for (const char* word : {"the", "cat", "sat", "on", "the", "mat"}) labels.push_back({word});
  labels[which].lit = lit;
  return labels;
}

std::vector<AxisLabel> channels() {
  std::vector<AxisLabel> labels;
  for (int c = 0; c < 4; ++c) labels.push_back({"c " + std::to_string(c), Source::catalog});
  return labels;
}

/// The three matrices of lesson-forward: queries, keys over the result, scores.
void draw_product(Painter& painter, ImVec2 corner, ImVec2 query_cell, ImVec2 cell,
                  const std::vector<float>& result) {
  MatrixSpec queries{.values = {&kQueries[0][0], 6, 4, 4, 1}, .scale = 3};
  queries.title = {Concept::queries, "queries"};
  queries.row_labels = words(Concept::queries, 3);
  queries.column_labels = channels();
  queries.row_caption = "query i ↓";
  queries.frames = {{FrameKind::operand, Concept::queries, 3, 0, 1, 4}};
  queries.hovered = CellIndex{3, 1};
  MatrixSpec keys{.values = {&kKeys[0][0], 4, 6, 1, 4}, .scale = 3};
  keys.title = {Concept::keys, "keys, transposed", Source::catalog, "decoder.block0.self_attention.keys", ""};
  keys.row_labels = channels();
  keys.frames = {{FrameKind::operand, Concept::keys, 0, 2, 4, 1}};
  keys.twin = CellIndex{1, 2};
  MatrixSpec product{.values = {result.data(), 6, 6, 6, 1}, .scale = 3};
  product.title = {Concept::scores, "scores before ÷ √4"};
  product.title_place = TitlePlace::below;
  product.row_labels = words(Concept::queries, 3);
  product.row_label_type = TypeStyle::small;
  product.column_labels = words(Concept::keys, 2);
  product.column_caption = "key j →";
  product.frames = {{FrameKind::result, Concept::scores, 3, 2}};
  const MatrixLayout left = place_matrix(painter, queries, corner, query_cell);
  const ImVec2 crossing = {left.cells.max.x + 60 * painter.px(1), corner.y};
  const MatrixLayout middle = place_matrix(painter, product, crossing, cell);
  const MatrixLayout above =
      place_matrix(painter, keys, {crossing.x, corner.y - cell.y * 4 - 44 * painter.px(1)}, cell);
  draw_row_band(painter, left, middle, 3);
  draw_column_band(painter, above, middle, 2);
  draw_matrix(painter, queries, left);
  draw_matrix(painter, keys, above);
  draw_matrix(painter, product, middle);
}

void draw_terms(Ui& ui, ImVec2 at) {
  TermTableSpec spec{.index_head = "c", .value_head = "q · k", .sum_word = "sum", .sum = "2.89", .lit = 1};
  spec.factor_heads = {{"on", Source::token, Concept::queries}, {"sat", Source::token, Concept::keys}};
  for (std::size_t c = 0; c < 4; ++c) {
    const double q = static_cast<double>(kQueries[3][c]), k = static_cast<double>(kKeys[2][c]);
    spec.rows.push_back(
        {.index = std::to_string(c),
         .factors = {{lessons::format_number(q, lessons::NumberKind::value), Concept::queries},
                     {lessons::format_number(k, lessons::NumberKind::value), Concept::keys}},
         .signs = {"×"},
         .value = lessons::format_number(q * k, lessons::NumberKind::value),
         .amount = q * k});
  }
  const TermTableResponse done = term_table(ui, "terms", at, 312, spec);
  note_line(ui.painter, {at.x, at.y + done.height}, 312, Note::success, "equals the stored value, 2.8940",
            Source::catalog, Tone::quiet);
}

/// A triangle of weights in small cells, as in heads, with the smallest of sizes beside it.
void draw_weights(Painter& painter, ImVec2 at) {
  std::vector<float> weights(14 * 14, 0);
  std::vector<CellFlags> flags(14 * 14, 0);
  std::vector<AxisLabel> labels;
  for (std::size_t i = 0; i < 14; ++i) {
    labels.push_back({std::string(i % 2 == 0 ? "elk" : "jay")});
    for (std::size_t j = 0; j < 14; ++j) {
      if (j > i)
        flags[i * 14 + j] = kMasked;
      else
        weights[i * 14 + j] = j + 1 == i ? 0.74F : 0.26F / static_cast<float>(i + 1);
    }
  }
  weights[0] = 1;
  MatrixSpec spec{.values = {weights.data(), 14, 14, 14, 1}, .map = ColourMap::probability};
  spec.kind = lessons::NumberKind::probability;
  spec.title = {Concept::weights, "weights"};
  spec.row_labels = labels;
  spec.column_labels = labels;
  spec.row_label_type = TypeStyle::small;
  spec.row_caption = "query i ↓";
  spec.column_caption = "key j →";
  spec.flags = flags;
  draw_matrix(painter, spec, place_matrix(painter, spec, at, {22, 22}));
  spec.numbers = Numbers::hidden;
  spec.row_labels.clear();
  spec.column_labels.clear();
  draw_matrix(painter, spec, place_matrix(painter, spec, {at.x + 100, at.y + 370}, {9, 9}));
  draw_thumbnail(painter, rect_at({at.x, at.y + 560}, {38, 38}), spec.values, spec.map, 1, flags);
  draw_empty_thumbnail(painter, rect_at({at.x + 60, at.y + 560}, {38, 38}));
}

void draw_lesson(Ui& ui) {
  ui.painter.fill({{0, 0}, {1600, 900}}, ui.painter.colour().chrome);
  ui.painter.fill({{392, 52}, {1208, 812}}, ui.painter.colour().stage);
  draw_product(ui.painter, {491, 492}, {56, 44}, {62, 44}, scores());
  draw_terms(ui, {1248, 262});
  draw_scale_bar(ui.painter, {491, 774}, 180, ColourMap::signed_values, 3, "one scale for all three");
  draw_weights(ui.painter, {80, 110});
}

void draw_presentation(Ui& ui) {
  ui.painter.fill({{0, 0}, {1600, 900}}, ui.painter.colour().stage);
  ui.painter.text({80, 60}, "Every query meets every key", {.type = TypeStyle::title});
  draw_scale_line(ui.painter, {1210, 106}, 200, ColourMap::signed_values, 3);
  draw_product(ui.painter, {196, 464}, {92, 62}, {104, 62}, scores());
  progress_line(ui.painter, {80, 888}, 1440, 6, 36);
}

/// Draws `page` with both themes' painters given the fonts of one.
core::Result<void> picture(const std::string& file, FontRequest request, ImVec2 size,
                           const std::function<void(Ui& light, Ui& dark)>& page) {
  core::Result<Theme> light =
      load_theme(std::string(HEADSCOPE_SOURCE_DIR) + "/assets/theme.toml", Variant::light);
  core::Result<Theme> dark =
      load_theme(std::string(HEADSCOPE_SOURCE_DIR) + "/assets/theme.toml", Variant::dark);
  if (!light) return light.error();
  if (!dark) return dark.error();
  std::optional<Fonts> fonts;
  Focus focus;
  platform::Application application;
  application.prepare = [&](const platform::Frame&) {
    if (fonts) return platform::FontAtlas::unchanged;
    const std::clock_t begin = std::clock();
    core::Result<Fonts> built = Fonts::build(*ImGui::GetIO().Fonts, *light, request);
    if (!built) std::fprintf(stderr, "%s %s\n", built.error().key.c_str(), built.error().where.c_str());
    const double took = 1000.0 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    std::printf("%s: fonts in %.0f ms\n", file.c_str(), took);
    if (built) fonts = std::move(*built);
    return platform::FontAtlas::rebuilt;
  };
  application.draw = [&](const platform::Frame& frame) {
    focus.begin_frame();
    test::begin_page(frame);
    Painter in_light(*ImGui::GetWindowDrawList(), *light, *fonts),
        in_dark(*ImGui::GetWindowDrawList(), *dark, *fonts);
    Ui light_ui{in_light, focus}, dark_ui{in_dark, focus};
    page(light_ui, dark_ui);
    ImGui::End();
    return platform::NextFrame{};
  };
  return test::write_page(file, size, application);
}

}  // namespace

int main(int n_arguments, char** arguments) {
  const std::string folder = n_arguments > 1 ? arguments[1] : ".";
  std::string text = "the cat sat on the mat";
  const auto report = [](const core::Result<void>& done) {
    if (!done) std::fprintf(stderr, "%s %s\n", done.error().key.c_str(), done.error().where.c_str());
    return done.has_value();
  };
  const bool done =
      report(picture(folder + "/states.png", {}, {1600, 900},
                     [&](Ui& light, Ui& dark) {
                       draw_page(light, 0, text);
                       draw_page(dark, 800, text);
                     })) &&
      report(picture(folder + "/lesson.png", {}, {1600, 900}, [&](Ui& light, Ui&) { draw_lesson(light); })) &&
      report(picture(folder + "/presentation.png", {.sizing = Sizing::presentation}, {1600, 900},
                     [&](Ui&, Ui& dark) { draw_presentation(dark); }));
  return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
