// What the stage makes of the room that it has: upright words, the whole pattern or pages of numbers, and the
// held cell within them.
#include "simulator/panels/stage_matrix.h"
#include "tests/simulator/app_fixture.h"
#include "tests/simulator/bundled_state.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

using test::AppOnNull;

/// A model that the program brings along, with an answer, at its matrices.
App matrices_of(const std::string& name, const std::string& text) {
  App app = test::app_of(test::open_bundled(name, text));
  app.apply(OpenPlace{StageLevel::matrix, ""});
  if (!app.state().session.has_gold()) app.apply(AssumeGold{});
  return app;
}

/// Behind the step that computes the tensor.
void move_behind(AppOnNull& app, const std::string& tensor) {
  const core::Session& session = app.state().session;
  const std::optional<core::TensorId> id = session.graph().find(tensor);
  REQUIRE(id);
  for (std::size_t place = 0; place < session.steps().backward_begin(); ++place)
    if (core::result(session.graph().operations()[session.steps()[place].operation]) == *id) {
      app.app.apply(MoveCursor{place + 1});
      return app.settle();
    }
  FAIL("no step computes " << tensor);
}

TEST_CASE("words over narrow columns stand upright, whole, each over its column", "[simulator][stage][app]") {
  for (const ImVec2 size : {ImVec2{1280, 720}, ImVec2{1600, 900}}) {
    AppOnNull app(matrices_of("translation", "the teachers must read the old letter ."), size);
    for (const char* tensor : {"scaled_scores", "weights"}) {
      move_behind(app, std::string("decoder.block0.cross_attention.") + tensor);
      INFO(size.x << "×" << size.y << ", " << tensor);
      std::size_t n_upright = 0;
      float last_foot = 0;
      for (const TextEntry* label : app.record.with_role("column_label")) {
        INFO("\"" << label->full << "\"");
        CHECK(label->text == label->full);
        if (!label->is_upright) continue;
        if (label->text.size() >= 4) CHECK(label->rect.height() > label->rect.width());
        if (n_upright > 0) CHECK(label->rect.max.y == last_foot);
        last_foot = label->rect.max.y;
        ++n_upright;
      }
      CHECK(n_upright == 16);  // eight words over each of two matrices
    }
  }
  // letters have room as they are
  AppOnNull letters(matrices_of("copying", "a b c d a b c d"), {1280, 720});
  move_behind(letters, "decoder.block0.self_attention.weights");
  REQUIRE_FALSE(letters.record.with_role("column_label").empty());
  for (const TextEntry* label : letters.record.with_role("column_label")) CHECK_FALSE(label->is_upright);
}

TEST_CASE("a stage too small for numbers shows the whole pattern, until numbers are asked for",
          "[simulator][stage][app]") {
  const std::string weights = "encoder.block0.self_attention.weights";
  const std::string sentence = "the plot , not the opening , seemed very good , but the acting was average .";
  const auto shown_columns = [](const AppOnNull& app) {
    const StageItem& result = app.view().stage.items.back();
    return window_of(app.view().stage, result.slice.columns, detail_of(app.app.window(), app.view().stage));
  };
  AppOnNull small(matrices_of("sentiment", sentence), {1280, 720});
  move_behind(small, weights);
  CHECK(shown_columns(small) == 18);
  small.click(small.text_with("numbers", "chip").rect.centre());
  CHECK(shown_columns(small) == 12);
  AppOnNull large(matrices_of("sentiment", sentence), {2560, 1440});
  move_behind(large, weights);
  CHECK(shown_columns(large) == 12);
  CHECK_FALSE(large.record.with_role("cell").empty());
  // what was found for one step does not hold for the next
  move_behind(large, "loss");
  move_behind(large, weights);
  CHECK(shown_columns(large) == 12);
}

TEST_CASE("a held cell stays on the stage where fewer rows have room", "[simulator][stage][app]") {
  const std::string sentence = "the plot , not the opening , seemed very good , but the acting was average .";
  for (const ImVec2 size : {ImVec2{1280, 720}, ImVec2{1600, 900}, ImVec2{2560, 1440}})
    for (const bool asks_for_numbers : {false, true}) {
      AppOnNull app(matrices_of("sentiment", sentence), size);
      for (const char* tensor : {"norm2.centred", "self_attention.scores", "self_attention.weights"}) {
        move_behind(app, std::string("encoder.block0.") + tensor);
        if (asks_for_numbers) app.click(app.text_with("numbers", "chip").rect.centre());
        for (const std::int64_t row : {0, 11, 16, 17}) {
          const StageItem& result = app.view().stage.items.back();
          app.app.apply(LockCell{{result.slice.tensor, result.slice.cell_at(row, 3)}});
          app.settle();
          INFO(size.x << "×" << size.y << ", " << tensor << ", row " << row << ", numbers "
                      << asks_for_numbers);
          app.type("e");
          app.settle();
          REQUIRE(app.app.window().edit);
          const std::string number = app.app.window().edit->text;
          const std::vector<const TextEntry*> fields = app.record.with_role("field");
          CHECK(std::ranges::any_of(fields, [&](const TextEntry* field) { return field->text == number; }));
          app.press(ImGuiKey_Escape);
        }
      }
    }
}

TEST_CASE("in presentation everything grows with the window, up to the largest text",
          "[simulator][stage][app]") {
  const auto height_of_title = [](ImVec2 size, Layout layout, double text_scale) {
    AppOnNull app("1", size);
    app.app.apply(SetLayout{layout});
    app.app.apply(SetTextScale{text_scale});
    app.settle();
    const std::vector<const TextEntry*> titles = app.record.with_role("stage_title");
    REQUIRE_FALSE(titles.empty());
    return titles.front()->rect.height();
  };
  const ImVec2 class_room{1600, 900}, small{800, 600}, large{3200, 1800};
  const float usual = height_of_title(class_room, Layout::presentation, 1);
  CHECK(height_of_title(small, Layout::presentation, 1) == usual);
  CHECK(height_of_title(large, Layout::presentation, 1) == Approx(2 * usual).epsilon(0.02));
  // a chosen size is not carried beyond 300 %
  const float largest = height_of_title(class_room, Layout::presentation, 3);
  CHECK(height_of_title(large, Layout::presentation, 2) == Approx(largest).epsilon(0.02));
  CHECK(height_of_title(large, Layout::presentation, 3) == largest);
  // alone in front of a screen one has more room instead
  CHECK(height_of_title(large, Layout::study, 1) == height_of_title(class_room, Layout::study, 1));
}

TEST_CASE("a diagram takes the room of a large window", "[simulator][stage][app]") {
  const auto share_of_height = [](const std::string& name, ImVec2 size) {
    AppOnNull app(test::app_of(test::open_bundled(name)), size);
    app.app.apply(OpenPlace{StageLevel::model, ""});
    app.settle();
    const TextEntry& last = app.text_with("loss", "diagram");
    return last.rect.max.y / size.y;
  };
  for (const char* name : {"copying", "translation", "sentiment"})
    for (const ImVec2 size : {ImVec2{1280, 720}, ImVec2{2560, 1440}, ImVec2{3840, 2160}}) {
      INFO(name << ", " << size.x << "×" << size.y);
      CHECK(share_of_height(name, size) > 0.6);
    }
}

TEST_CASE("no frame has more vertices than 16 bits count, whatever tensor is shown before it is computed",
          "[simulator][stage][app]") {
  constexpr int kMost = 60'000;  // of 65,536: a renderer without offsets draws no more
  for (const char* name : {"copying", "sentiment", "translation"})
    for (const Layout layout : {Layout::presentation, Layout::study}) {
      AppOnNull app(test::app_of(test::open_bundled(name)), {1600, 900});
      app.app.apply(SetTextScale{0.75});
      app.app.apply(SetLayout{layout});
      app.app.apply(SetDifference{Shows::yes});
      for (std::uint32_t tensor = 0; tensor < app.state().session.graph().n_tensors(); ++tensor) {
        app.app.apply(ShowTensor{{tensor}});
        app.settle();
        INFO(name << ", " << app.state().session.graph().spec({tensor}).name);
        const ImDrawData& drawn = *ImGui::GetDrawData();
        for (int list = 0; list < drawn.CmdListsCount; ++list)
          CHECK(drawn.CmdLists[list]->VtxBuffer.Size < kMost);
      }
    }
}

}  // namespace
}  // namespace headscope::simulator
