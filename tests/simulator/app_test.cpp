// The window as a learner uses it: every step drawn, numbers read back, clicks, typing, editing, undo.
#include "tests/simulator/app_fixture.h"
#include "tests/simulator/bundled_state.h"

#include "simulator/slice.h"
#include "simulator/tensor_facts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace headscope::simulator {
namespace {

using test::AppOnNull;
using Modifier = test::NullBackend::Modifier;

const std::vector<std::string> kLessons = {"1", "2"};

core::TensorId tensor(const AppOnNull& app, std::string_view name) {
  const std::optional<core::TensorId> found = app.state().session.graph().find(name);
  INFO(name);
  REQUIRE(found);
  return *found;
}

constexpr std::string_view kAttention = "decoder.block0.self_attention.";

core::TensorId attention(const AppOnNull& app, std::string_view leaf) {
  return tensor(app, std::string(kAttention) + std::string(leaf));
}

/// Every form in which a number of this tensor may be displayed.
std::set<std::string> forms_of(const AppOnNull& app, const StagePlan& plan) {
  std::set<std::string> forms;
  const core::Trace<float> trace = app.state().trace();
  for (const StageItem& item : plan.items)
    for (std::int64_t row = 0; row < item.slice.rows.size; ++row)
      for (std::int64_t column = 0; column < item.slice.columns.size; ++column) {
        const double value = trace.value(item.slice.tensor, item.slice.cell_at(row, column));
        for (std::string& form : lessons::number_ladder(
                 value, number_kind_of(app.state().session.graph().spec(item.slice.tensor))))
          forms.insert(std::move(form));
      }
  return forms;
}

TEST_CASE("every step of every lesson is drawn, and each displayed number is the model's",
          "[simulator][app]") {
  for (const std::string& lesson : kLessons)
    for (const ImVec2 size : {ImVec2{1280, 720}, ImVec2{1600, 900}, ImVec2{1920, 1080}}) {
      AppOnNull app(lesson, size);
      app.settle();
      const std::size_t n_steps = app.view().step.n_steps;
      REQUIRE(n_steps >= 6);
      for (std::size_t step = 0; step < n_steps; ++step) {
        INFO("lesson " << lesson << " step " << step + 1 << " at " << size.x << "×" << size.y);
        REQUIRE(app.view().step.step == step);
        const std::vector<const TextEntry*> cells = app.record.with_role("cell");
        // the look allows a map without numbers where they have no room, which an 8 × 8 product has not at
        // 1280
        if (size.x >= 1600) CHECK_FALSE(cells.empty());
        const std::set<std::string> forms = forms_of(app, app.view().stage);
        for (const TextEntry* cell : cells) {
          INFO("displayed " << cell->text);
          CHECK(forms.contains(cell->text));
        }
        if (app.view().narration) {
          const core::TensorSpec& spec = app.state().session.graph().spec(app.view().lit->tensor);
          const double stored = app.state().trace().value(app.view().lit->tensor, app.view().lit->cell);
          CHECK(app.text_with(lessons::format_number(stored, number_kind_of(spec)), "value").rect.width() >
                0);
        }
        app.press(ImGuiKey_Space);
      }
    }
}

TEST_CASE("every operation is drawn with the numbers of its operands and its result", "[simulator][app]") {
  AppOnNull app("2");
  app.settle();
  app.app.apply(MoveCursor{0});
  app.settle();
  const std::size_t n_operations = app.state().session.steps().n_forward();
  for (std::size_t operation = 1; operation <= n_operations; ++operation) {
    app.press(ImGuiKey_RightArrow);
    INFO("operation " << operation);
    REQUIRE(app.state().cursor().position() == operation);
    REQUIRE(app.view().stage.operation == operation - 1);
    const std::set<std::string> forms = forms_of(app, app.view().stage);
    for (const TextEntry* cell : app.record.with_role("cell")) CHECK(forms.contains(cell->text));
    CHECK_FALSE(app.record.with_role("cell").empty());
  }
  app.press(ImGuiKey_LeftArrow);
  CHECK(app.state().cursor().position() == n_operations - 1);
}

TEST_CASE("no text is drawn outside its clip rectangle or the window", "[simulator][app]") {
  for (const std::string& lesson : kLessons)
    for (const ImVec2 size :
         {ImVec2{800, 600}, ImVec2{1024, 768}, ImVec2{1280, 720}, ImVec2{1600, 900}, ImVec2{1920, 1080}}) {
      AppOnNull app(lesson, size);
      app.settle();
      for (std::size_t step = 0; step < app.view().step.n_steps; ++step) {
        for (const TextEntry& entry : app.record.entries) {
          INFO("lesson " << lesson << " step " << step + 1 << " at " << size.x << "×" << size.y << ": \""
                         << entry.text << "\" x " << entry.rect.min.x << " to " << entry.rect.max.x
                         << " within " << entry.clip.min.x << " to " << entry.clip.max.x);
          // a pixel of overhang is a glyph's side bearing
          CHECK(entry.rect.min.x >= entry.clip.min.x - 1);
          CHECK(entry.rect.max.x <= entry.clip.max.x + 1);
          CHECK(entry.rect.max.x <= size.x + 1);
        }
        app.app.apply(NextStep{});
        app.settle();
      }
    }
}

/// The centre of a cell on the stage, found by its number (which must stand there once).
ImVec2 centre_of(const AppOnNull& app, core::TensorId id, const core::Cell& cell) {
  const double value = app.state().trace().value(id, cell);
  const std::string number =
      lessons::format_number(value, number_kind_of(app.state().session.graph().spec(id)));
  const TextEntry* found = nullptr;
  for (const TextEntry* entry : app.record.with_role("cell"))
    if (entry->text == number) {
      INFO("the number " << number << " stands twice on the stage: choose another cell");
      REQUIRE(found == nullptr);
      found = entry;
    }
  INFO("the number " << number << " is not on the stage");
  REQUIRE(found != nullptr);
  return found->rect.centre();
}

TEST_CASE("hovering a cell explains it, clicking holds it, Escape lets go", "[simulator][app]") {
  AppOnNull app("2");
  app.settle();
  const CellAddress target{attention(app, "scores"), {0, 0, 2, 1}};
  app.backend.move_mouse(centre_of(app, target.tensor, target.cell));
  app.settle();
  REQUIRE(app.view().lit == target);
  CHECK_FALSE(app.view().is_locked);
  app.click(centre_of(app, target.tensor, target.cell));
  REQUIRE(app.view().lit == target);
  CHECK(app.view().is_locked);
  app.backend.move_mouse({5, 5});
  app.settle();
  CHECK(app.view().lit == target);
  app.press(ImGuiKey_Escape);
  CHECK_FALSE(app.view().is_locked);
}

TEST_CASE("Enter follows the largest term back to the embedding table, Escape returns", "[simulator][app]") {
  AppOnNull app("2");
  app.settle();
  app.app.apply(LockCell{{attention(app, "scores"), {0, 0, 3, 2}}});
  app.settle();
  std::size_t n_followed = 0;
  while (!app.view().narration->terms.empty() && n_followed < 10) {
    app.press(ImGuiKey_Enter);
    ++n_followed;
  }
  CHECK(n_followed >= 3);
  CHECK(app.state().session.graph().spec(app.view().lit->tensor).role == core::Role::parameter);
  for (std::size_t n = 0; n < n_followed; ++n) app.press(ImGuiKey_Escape);
  CHECK(app.view().lit == CellAddress{attention(app, "scores"), {0, 0, 3, 2}});
}

TEST_CASE("a typed sentence is fed at once, and undo brings the old numbers back to the bit",
          "[simulator][app]") {
  AppOnNull app("2");
  app.settle();
  const core::TensorId scores = attention(app, "scores");
  const auto numbers = [&] {
    const auto values = app.state().session.trace().workspace().values(scores);
    return std::vector<float>(values.begin(), values.end());
  };
  const std::vector<float> before = numbers();
  const TextEntry& field = app.text_with("the cat sat on the mat");
  app.click(field.rect.centre());
  app.press(ImGuiKey_A, Modifier::control);
  app.type("a Zebra ran");
  app.press(ImGuiKey_Enter);
  REQUIRE(app.state().session.text() == "a Zebra ran");
  CHECK(app.state().session.n_positions() == 3);
  CHECK(numbers().size() == 2 * 3 * 3);
  // the unknown word is said to be one
  const bool says_unknown = std::ranges::any_of(app.record.entries, [](const TextEntry& entry) {
    return entry.text.find("vocabulary") != std::string::npos;
  });
  CHECK(says_unknown);
  app.click({800, 860});
  app.press(ImGuiKey_Z, Modifier::control);
  CHECK(app.state().session.text() == "the cat sat on the mat");
  CHECK(numbers() == before);
}

TEST_CASE("a learned number is edited by double click and typing; what follows changes; undo and redo",
          "[simulator][app]") {
  AppOnNull app("1");
  app.settle();
  while (app.view().step.stop != attention(app, "queries")) app.press(ImGuiKey_Space);
  const CellAddress target{attention(app, "w_query"), {0, 1, 1}};
  const auto query = [&] {
    return app.state().session.trace().value(attention(app, "queries"), {0, 0, 2, 1});
  };
  const double before = query();
  app.double_click(centre_of(app, target.tensor, target.cell));
  app.press(ImGuiKey_A, Modifier::control);
  app.type("-1,5");
  app.press(ImGuiKey_Enter);
  CHECK(app.state().session.trace().value(target.tensor, target.cell) == -1.5);
  const double after = query();
  CHECK(after != before);
  app.press(ImGuiKey_Z, Modifier::control);
  CHECK(query() == before);
  app.press(ImGuiKey_Y, Modifier::control);
  CHECK(query() == after);
  app.type("r");
  CHECK(app.state().session.edits().empty());
  CHECK(query() == before);
}

TEST_CASE("a number that only its logits can change is not set, and the explainer says so",
          "[simulator][app]") {
  AppOnNull app("2");
  app.settle();
  app.app.apply(LockCell{{*app.state().session.graph().find("probabilities"), {0, 3, 2}}});
  app.settle();
  app.type("e");
  REQUIRE(app.state().message);
  CHECK(app.state().message->key == "edit.computed");
  CHECK(app.state().session.edits().empty());
  const bool is_said = std::ranges::any_of(app.record.entries, [](const TextEntry& entry) {
    return entry.text.find("logits") != std::string::npos;
  });
  CHECK(is_said);
}

TEST_CASE("a wrong entry changes nothing: an empty sentence, a word as a number", "[simulator][app]") {
  AppOnNull app("2");
  app.settle();
  app.app.apply(SetSentence{"   "});
  CHECK(app.state().session.text() == "the cat sat on the mat");
  REQUIRE(app.state().message);
  CHECK(app.state().message->key == "text.empty");
  CHECK(app.state().undo.empty());
}

TEST_CASE("the mouse alone takes a lesson to its end, and on to the next", "[simulator][app]") {
  AppOnNull app("1", {1600, 1400});
  app.settle();
  for (std::size_t step = 1; step < app.view().step.n_steps; ++step) {
    app.click(app.text_with("Next step").rect.centre());
    REQUIRE(app.view().step.step == step);
  }
  app.click(app.text_with("Back").rect.centre());
  CHECK(app.view().step.step == app.view().step.n_steps - 2);
  app.click(app.text_with("Next step").rect.centre());
  app.click(app.text_with("Next lesson").rect.centre());
  CHECK(app.state().lesson().number == 2);
  CHECK(app.view().step.step == 0);
}

TEST_CASE("the strip and the track move the cursor", "[simulator][app]") {
  AppOnNull app("2");
  app.settle();
  const TextEntry& strip = app.text_with("÷ √d", "strip");
  app.click(strip.rect.centre());
  const std::size_t producer = *app.state().session.graph().producer(attention(app, "scaled_scores"));
  CHECK(app.state().cursor().position() == producer + 1);
}

TEST_CASE("an idle window asks for no frame", "[simulator][app]") {
  AppOnNull app("1");
  app.settle();
  CHECK(app.next.within == platform::kOnInput);
  app.type("p");
  CHECK(app.next.within < 10);
}

TEST_CASE("playing runs to the end and rests", "[simulator][app]") {
  AppOnNull app("1");
  app.settle();
  app.type("p");
  for (int n = 0; n < 60 * 400 && app.state().playing == Playing::yes; ++n) app.frame();
  CHECK(app.state().cursor().at_end());
  app.settle();
  CHECK(app.next.within == platform::kOnInput);
}

TEST_CASE("choosing another head shows that head's numbers", "[simulator][app]") {
  AppOnNull app("2");
  app.settle();
  app.type("h");
  CHECK(app.view().step.head == 1);
  const std::set<std::string> forms = forms_of(app, app.view().stage);
  for (const TextEntry* cell : app.record.with_role("cell")) CHECK(forms.contains(cell->text));
}

TEST_CASE("presentation and appearance are a key each", "[simulator][app]") {
  AppOnNull app("2");
  app.settle();
  app.type("t");
  CHECK(app.state().appearance == Appearance::dark);
  app.type("f");
  CHECK(app.state().layout == Layout::presentation);
  CHECK_FALSE(app.record.with_role("cell").empty());
  app.type("f");
  CHECK(app.state().layout == Layout::study);
}

TEST_CASE("a cell that a shorter sentence took away is no longer asked about", "[simulator][app]") {
  AppOnNull app("2");
  app.settle();
  const CellAddress target{attention(app, "scores"), {0, 0, 2, 1}};
  app.backend.move_mouse(centre_of(app, target.tensor, target.cell));
  app.settle();
  REQUIRE(app.view().lit == target);
  app.app.apply(SetSentence{"a dog"});
  REQUIRE_FALSE(app.state().has_cell(target));
  CHECK(app.view().lit != target);
}

TEST_CASE("what was begun in one lesson is forgotten in the next", "[simulator][app]") {
  AppOnNull app("1");
  app.settle();
  app.app.apply(GoToStep{1});
  app.settle();
  REQUIRE_FALSE(app.app.window().drafts.empty());
  app.app.apply(OpenLesson{"2"});
  CHECK(app.app.window().drafts.empty());
}

TEST_CASE("a followed cell beyond the page turns the page to it", "[simulator][app]") {
  AppOnNull app("2");
  app.settle();
  app.app.apply(FollowCell{{tensor(app, "decoder.token_embedding"), {30, 0}}});
  app.settle();
  const std::map<core::Axis, int>& first_shown = app.app.window().first_shown;
  REQUIRE(first_shown.contains(core::Axis::vocabulary));
  CHECK(first_shown.at(core::Axis::vocabulary) <= 30);
  CHECK(first_shown.at(core::Axis::vocabulary) > 0);
  const double value = app.state().trace().value(app.view().lit->tensor, app.view().lit->cell);
  CHECK(app.text_with(lessons::format_number(value, lessons::NumberKind::value), "cell").rect.width() > 0);
}

TEST_CASE("a field over a cell that leaves the stage gives the keyboard back", "[simulator][app]") {
  AppOnNull app("1");
  app.settle();
  app.app.apply(LockCell{{attention(app, "w_query"), {0, 1, 1}}});
  app.settle();
  app.type("e");
  REQUIRE(app.app.window().edit);
  app.app.apply(MoveCursor{1});
  CHECK_FALSE(app.app.window().edit);
}

TEST_CASE("sixty-four words are paged, not hidden", "[simulator][app]") {
  AppOnNull app("2");
  app.settle();
  std::string sentence;
  for (int n = 0; n < 70; ++n) sentence += n % 2 ? "cat " : "the ";
  app.app.apply(SetSentence{sentence});
  app.settle();
  CHECK(app.state().session.n_positions() == 64);
  CHECK(app.state().session.sentence().n_cut == 6);
  CHECK_FALSE(app.record.with_role("cell").empty());
  const bool says_rows = std::ranges::any_of(app.record.entries, [](const TextEntry& entry) {
    return entry.text.find("1 to 12 of 64") != std::string::npos;
  });
  CHECK(says_rows);
}

TEST_CASE("the keys beside the position are those that do something here", "[simulator][app][transport]") {
  const auto says = [](const AppOnNull& app, std::string_view text) {
    return std::ranges::any_of(app.record.entries, [&](const auto& entry) { return entry.text == text; });
  };
  AppOnNull lesson("2");
  lesson.settle();
  CHECK(says(lesson, "next step"));
  CHECK(!says(lesson, "training step"));

  // a model has no lesson's steps, but training steps
  core::Result<App> opened = App::make(test::open_bundled("look-ups"));
  REQUIRE(opened);
  AppOnNull model(*std::move(opened), {1600, 900});
  model.settle();
  CHECK(!says(model, "next step"));
  CHECK(says(model, "operations"));
  CHECK(says(model, "training step"));
}

}  // namespace
}  // namespace headscope::simulator
