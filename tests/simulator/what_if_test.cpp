// The "What if?" panel, cells set by hand and differences, all through pointer and keys: each control does
// what it says, and undo gives the same bits back.
#include "simulator/changes.h"
#include "tests/simulator/any_state.h"
#include "tests/simulator/app_fixture.h"
#include "tests/simulator/frame_check.h"
#include "tests/simulator/state_numbers.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

using test::app_of;
using test::AppOnNull;

using test::all_numbers;
using test::same_bits;

/// So tall that the whole panel is seen.
const ImVec2 kTall = {1600, 3200};

AppState any_model(const std::string& name) {
  for (const core::test::NamedConfig& named : core::test::every_objective())
    if (named.name == name) return test::open_any(named);
  throw std::runtime_error(name);
}

/// Where a button or chip with this text is drawn, in the panel at the left.
ImVec2 place_of(const AppOnNull& app, const std::string& text) {
  for (const TextEntry& entry : app.record.entries)
    if (entry.full == text && entry.rect.max.x < 420 && entry.rect.min.y > 52) return entry.rect.centre();
  INFO("nothing in the panel says \"" << text << "\"");
  REQUIRE(false);
  return {};
}

bool says(const AppOnNull& app, const std::string& part) {
  return std::ranges::any_of(
      app.record.entries, [&](const TextEntry& entry) { return entry.text.find(part) != std::string::npos; });
}

TEST_CASE("each switch of the panel changes the setup, and undo gives the same bits back",
          "[simulator][what_if]") {
  for (const std::string model :
       {"decoder, language_model", "encoder, classification", "encoder-decoder, language_model"}) {
    AppOnNull app(app_of(any_model(model)), kTall);
    app.settle();
    const std::vector<float> before = all_numbers(app.state());
    std::vector<std::string> controls = {"off", "uniform", "Scale the scores: divide them by √d", "SGD"};
    if (model.starts_with("decoder")) controls.emplace_back("Leak the mask: each word may look at");
    for (const std::string& control : controls) {
      INFO(model << ": " << control);
      const core::Setup setup = app.state().session.setup();
      const std::size_t n_undo = app.state().undo.size();
      ImVec2 at = {0, 0};
      for (const TextEntry& entry : app.record.entries)
        if (entry.rect.max.x < 420 && entry.text.starts_with(control.substr(0, 4)) &&
            control.find(entry.text) != std::string::npos)
          at = entry.rect.centre();
      REQUIRE(at.y > 0);
      app.click(at);
      CHECK_FALSE(app.state().session.setup() == setup);
      CHECK(app.state().undo.size() > n_undo);
      app.click(place_of(app, "Undo"));
      CHECK(app.state().session.setup() == setup);
      CHECK(same_bits(all_numbers(app.state()), before));
    }
  }
}

TEST_CASE("training goes on by a button, and undo gives the same bits back", "[simulator][what_if]") {
  AppOnNull app(app_of(any_model("encoder, classification")), kTall);
  app.settle();
  const std::vector<float> before = all_numbers(app.state());
  app.click(place_of(app, "Next training step"));
  app.click(place_of(app, "Next training step"));
  CHECK(app.state().session.training_step() == 3);
  CHECK(says(app, "Training step 3"));
  CHECK(says(app, "2 training steps"));
  CHECK_FALSE(same_bits(all_numbers(app.state()), before));
  CHECK(app.app.window().what_if.losses.size() == 3);
  app.click(place_of(app, "Undo"));
  app.click(place_of(app, "Undo"));
  CHECK(app.state().session.training_step() == 1);
  CHECK(same_bits(all_numbers(app.state()), before));
  CHECK(app.app.window().what_if.losses.size() == 1);
}

TEST_CASE("a slider's drag is one change, and a typed rate another", "[simulator][what_if]") {
  AppOnNull app(app_of(any_model("encoder, classification")), kTall);
  app.settle();
  const double rate = app.state().session.setup().optimiser.rate;
  const ImVec2 title = place_of(app, "Learning rate");
  const float y = title.y + 28;  // the slider stands under its name
  app.backend.move_mouse({120, y});
  app.frame(), app.frame();
  app.backend.mouse_button(test::NullBackend::Button::down);
  for (const float x : {120.0F, 150.0F, 180.0F, 240.0F}) {
    app.backend.move_mouse({x, y});
    app.frame();
  }
  app.backend.mouse_button(test::NullBackend::Button::up);
  app.settle();
  CHECK(app.state().session.setup().optimiser.rate != rate);
  CHECK(app.state().undo.size() == 1);
  app.press(ImGuiKey_Z, test::NullBackend::Modifier::control);
  CHECK(app.state().session.setup().optimiser.rate == rate);
}

TEST_CASE("the right answer is said in the way of the objective", "[simulator][what_if]") {
  SECTION("a class") {
    AppOnNull app(app_of(any_model("encoder, classification")), kTall);
    app.settle();
    app.click(place_of(app, "2"));
    CHECK(app.state().session.setup().gold.labels == std::vector<std::int32_t>{2});
    CHECK(app.state().session.setup().gold.origin == core::Gold::Origin::given);
    app.click(place_of(app, "Take the answer away"));
    CHECK_FALSE(app.state().session.has_gold());
    CHECK(says(app, "No right answer yet"));
    app.click(place_of(app, "Take the model's own answer"));
    CHECK(app.state().session.setup().gold.origin == core::Gold::Origin::assumed);
    CHECK(says(app, "Assumed"));
  }
  SECTION("a class of very many, by its number") {
    core::test::NamedConfig named;
    for (const core::test::NamedConfig& one : core::test::every_objective())
      if (one.name == "encoder, classification") named = one;
    named.config.n_classes = 100;
    AppOnNull app(app_of(test::open_any(named)), kTall);
    app.app.apply(SetGold{});
    app.settle();
    for (const std::int32_t label : {0, 99}) {  // the first is no class already chosen
      const ImVec2 question = place_of(app, "A class, from 0 to 99:");
      app.click({question.x, question.y + 26});
      app.press(ImGuiKey_A, test::NullBackend::Modifier::control);
      app.type(std::to_string(label));
      app.press(ImGuiKey_Enter);
      CHECK(app.state().session.setup().gold.labels == std::vector<std::int32_t>{label});
    }
  }
  SECTION("a span, by its first and its last word") {
    AppOnNull app(app_of(any_model("encoder, span")), kTall);
    app.settle();
    app.click(place_of(app, "sat"));
    app.click(place_of(app, "cat"));
    CHECK(app.state().session.setup().gold.labels == std::vector<std::int32_t>{1, 2});
  }
  SECTION("which word asks") {
    AppOnNull app(app_of(any_model("encoder, pointer")), kTall);
    app.settle();
    app.click(place_of(app, "cat"));
    CHECK(app.state().session.setup().read == 1);
  }
  SECTION("a class for each word") {
    AppOnNull app(app_of(any_model("encoder, token_classification")), kTall);
    app.app.apply(SetGold{});
    app.settle();
    app.click(place_of(app, "cat: –"));
    app.click(place_of(app, "cat: 0"));
    CHECK(app.state().session.setup().gold.labels == std::vector<std::int32_t>{-1, 1, -1, -1});
    app.click(place_of(app, "cat: 1"));
    app.click(place_of(app, "cat: 2"));  // past the last class: not scored, so that none is
    CHECK(app.state().session.setup().gold.origin == core::Gold::Origin::none);
  }
  SECTION("several for each word") {
    AppOnNull app(app_of(any_model("decoder, token_classification")), kTall);
    app.app.apply(SetGold{});
    app.settle();
    app.click(place_of(app, "–"));
    CHECK(app.state().session.setup().gold.labels.front() == 0);
    CHECK(app.state().session.has_gold());
  }
  SECTION("a translation, typed") {
    AppOnNull app(app_of(any_model("encoder-decoder, language_model")), kTall);
    app.app.apply(SetGold{});
    app.settle();
    app.click(place_of(app, "the right translation, then Enter"));
    app.type("cat sat");
    app.press(ImGuiKey_Enter);
    CHECK(app.state().session.setup().gold.target == "cat sat");
    CHECK(app.state().session.has_gold());
  }
  SECTION("nothing is asked of a language model, nor of one that predicts nothing") {
    AppOnNull decoder(app_of(any_model("decoder, language_model")), kTall);
    decoder.settle();
    CHECK(says(decoder, "A language model's sentence is its own"));
    AppOnNull none(app_of(any_model("encoder, none")), kTall);
    none.settle();
    CHECK(says(none, "This model predicts nothing"));
  }
}

core::TensorId w_query(const AppState& state) {
  return *state.session.graph().find("decoder.block0.self_attention.w_query");
}

/// The only learned matrix of the lesson's step, with one of its cells held.
struct HeldCell {
  AppOnNull app{"1"};
  CellAddress cell;
  ImVec2 at = {0, 0};

  HeldCell() {
    app.settle();
    cell = {w_query(app.state()), app.state().trace().shape(w_query(app.state())).cell(1)};
    app.app.apply(LockCell{cell});
    app.settle();
    for (const TextEntry* entry : app.record.with_role("cell"))
      if (entry->style.weight == Weight::bold) at = entry->rect.centre();
    REQUIRE(at.x > 0);
  }
  double value() const { return app.state().trace().value(cell.tensor, cell.cell); }
};

TEST_CASE("a held cell is dragged up and down; one undo gives the same bits back", "[simulator][what_if]") {
  HeldCell held;
  const std::vector<float> before = all_numbers(held.app.state());
  const double value = held.value();
  held.app.backend.move_mouse(held.at);
  held.app.frame(), held.app.frame();
  held.app.backend.mouse_button(test::NullBackend::Button::down);
  held.app.frame();
  for (int step = 1; step <= 4; ++step) {
    held.app.backend.move_mouse({held.at.x, held.at.y - 20 * static_cast<float>(step)});
    held.app.frame();
  }
  held.app.backend.mouse_button(test::NullBackend::Button::up);
  held.app.settle();
  CHECK(held.value() > value);
  CHECK(held.app.state().undo.size() == 1);
  CHECK(held.app.state().trail == std::vector<CellAddress>{held.cell});
  held.app.press(ImGuiKey_Z, test::NullBackend::Modifier::control);
  CHECK(same_bits(all_numbers(held.app.state()), before));
}

TEST_CASE("parts of a turn of the wheel add up, and one undo takes them back", "[simulator][what_if]") {
  SECTION("a number") {
    HeldCell held;
    const double value = held.value();
    held.app.backend.move_mouse(held.at);
    held.app.frame(), held.app.frame();
    held.app.turn_wheel(0.04F);  // less than a unit
    CHECK(held.value() == value);
    for (int n = 0; n < 24; ++n) held.app.turn_wheel(0.04F);
    const double turned = held.value();
    CHECK(turned > value);
    CHECK(held.app.state().undo.size() == 1);
    held.app.press(ImGuiKey_Z, test::NullBackend::Modifier::control);
    held.app.turn_wheel(1);
    CHECK(held.value() == Approx(turned).margin(0.011));  // as a whole turn, but for a unit of rounding
  }
  SECTION("a word's number") {
    AppOnNull app(app_of(any_model("decoder, language_model")), {1600, 900});
    app.app.apply(MoveCursor{1});
    const core::TensorId ids = *app.state().session.graph().find("source.ids");
    app.app.apply(LockCell{{ids, {0, 1}}});
    app.settle();
    ImVec2 at = {0, 0};
    for (const TextEntry* entry : app.record.with_role("cell"))
      if (entry->style.weight == Weight::bold) at = entry->rect.centre();
    REQUIRE(at.x > 0);
    app.backend.move_mouse(at);
    app.frame(), app.frame();
    const double id = app.state().trace().value(ids, {0, 1});
    for (int n = 0; n < 7; ++n) app.turn_wheel(0.25F);
    CHECK(app.state().trace().value(ids, {0, 1}) == id + 1);
    app.turn_wheel(0.25F);
    CHECK(app.state().trace().value(ids, {0, 1}) == id + 2);
    CHECK(app.state().undo.size() == 1);
  }
}

TEST_CASE("a click on a held cell sets nothing, and a cell that is not held cannot be dragged",
          "[simulator][what_if]") {
  HeldCell held;
  held.app.click(held.at);
  CHECK(held.app.state().session.edits().empty());
  held.app.press(ImGuiKey_Escape);
  held.app.backend.move_mouse(held.at);
  held.app.frame(), held.app.frame();
  held.app.backend.mouse_button(test::NullBackend::Button::down);
  held.app.frame();
  held.app.backend.move_mouse({held.at.x, held.at.y - 40});
  held.app.frame();
  held.app.backend.mouse_button(test::NullBackend::Button::up);
  held.app.settle();
  CHECK(held.app.state().session.edits().empty());
}

TEST_CASE("differences are the numbers now minus those before, each to its digits", "[simulator][what_if]") {
  HeldCell held;
  const double before = held.value();
  held.app.app.apply(SetCell{held.cell, before + 1.25});
  held.app.type("d");
  held.app.settle();
  REQUIRE(held.app.state().comparison.before);
  const double now = held.value();
  bool is_shown = false;
  for (const TextEntry* entry : held.app.record.with_role("cell"))
    if (entry->style.weight == Weight::bold) {
      CHECK(entry->text == lessons::format_number(now - before, lessons::NumberKind::value));
      is_shown = true;
    }
  CHECK(is_shown);
  CHECK(says(held.app, "Δ "));
  CHECK(says(held.app, "scale ±"));
  held.app.type("d");
  held.app.settle();
  CHECK_FALSE(held.app.state().comparison.before);
}

TEST_CASE("an activation can be set by hand, and says so", "[simulator][what_if]") {
  AppOnNull app("2");
  app.settle();
  const core::TensorId scores = *app.state().session.graph().find("decoder.block0.self_attention.scores");
  const CellAddress cell{scores, app.state().trace().shape(scores).cell(0)};
  app.app.apply(SetCell{cell, 3.5});
  app.app.apply(LockCell{cell});
  app.settle();
  CHECK_FALSE(app.state().message);
  CHECK(app.state().trace().value(cell.tensor, cell.cell) == 3.5);
  app.app.apply(SetLeftPanel{LeftPanel::what_if});
  app.settle();
  const Words words = *Words::load(test::source_folder() / "assets", "en");
  const std::vector<Change> changes =
      changes_between(app.state(), app.state().initial, app.state().session.setup(), words, {});
  REQUIRE(changes.size() == 1);
  CHECK(changes.front().words.find("set by hand to 3.50") != std::string::npos);
  app.app.apply(*changes.front().take_back);
  CHECK(app.state().session.setup() == app.state().initial);
}

TEST_CASE("each change that is listed can be taken back alone", "[simulator][what_if]") {
  AppOnNull app("1");
  const core::TensorId query = w_query(app.state());
  const core::Graph& graph = app.state().session.graph();
  const std::vector<Action> actions = {
      SetCell{{query, app.state().trace().shape(query).cell(0)}, 2},
      SetHead{{*graph.find("decoder.block0.self_attention.head_output"), 1}, core::HeadMode::off},
      SetAttention{*graph.find("decoder.block0.self_attention.scores"),
                   {.temperature = 2, .leaves_scale = false, .leaks_future = true}},
      SetOptimiser{{.kind = core::OptimiserKind::sgd, .rate = 0.5}}};
  for (const Action& action : actions) app.app.apply(action);
  const Words words = *Words::load(test::source_folder() / "assets", "en");
  const auto changes = [&] {
    return changes_between(app.state(), app.state().initial, app.state().session.setup(), words, {});
  };
  REQUIRE(changes().size() == 7);
  while (!changes().empty()) {
    const std::size_t n = changes().size();
    REQUIRE(changes().back().take_back);
    app.app.apply(*changes().back().take_back);
    REQUIRE(changes().size() == n - 1);
  }
  CHECK(app.state().session.setup() == app.state().initial);
}

/// No string of the panel, the tabs or the top bar is cut off at a side or lies over another.
void check_texts(const AppOnNull& app, ImVec2 size) {
  TextRecord ours;
  for (const TextEntry& entry : app.record.entries)
    if (entry.role.starts_with("what_if") || entry.role == "button" || entry.role == "chip" ||
        entry.role == "choice" || entry.role == "change" || entry.role == "tab" || entry.role == "field" ||
        entry.role == "model_facts" || entry.role == "lesson_title")
      ours.entries.push_back(entry);
  for (const std::string& fault : test::faults_of(ours, size)) FAIL_CHECK(fault);
}

TEST_CASE("no string of the panel or the top bar is cut off or lies over another", "[simulator][what_if]") {
  for (const ImVec2 size : {ImVec2{800, 600}, ImVec2{1280, 720}, ImVec2{2560, 1440}})
    for (const double scale : {0.75, 1.0, 3.0})
      for (const std::string model : {"lesson", "encoder, pointer", "encoder-decoder, language_model"}) {
        INFO(size.x << "×" << size.y << ", text " << scale << ", " << model);
        AppOnNull app(app_of(model == "lesson" ? test::open_shipped("1") : any_model(model)), size);
        app.app.apply(SetTextScale{scale});
        app.app.apply(SetLeftPanel{LeftPanel::what_if});
        app.app.apply(SetHead{
            {*app.state().session.graph().find(model == "lesson" ? "decoder.block0.self_attention.head_output"
                                               : model.starts_with("encoder,")
                                                   ? "encoder.block0.self_attention.head_output"
                                                   : "decoder.block1.cross_attention.head_output"),
             1},
            core::HeadMode::uniform});
        app.settle();
        check_texts(app, size);
        app.backend.move_mouse({size.x / 20, size.y / 2});
        for (int page = 0; page < 12; ++page) {
          app.turn_wheel(-8);
          check_texts(app, size);
        }
      }
}

TEST_CASE("a narrow window shows lesson, What if?, stage and explanation in turn", "[simulator][what_if]") {
  AppOnNull app("1", {800, 600});
  app.app.apply(SetTextScale{2});
  app.settle();
  app.click(app.text_with("What if?", "tab").rect.centre());
  CHECK(app.state().left_panel == LeftPanel::what_if);
  CHECK(says(app, "Right answer"));
  app.click(app.text_with("Stage", "tab").rect.centre());
  CHECK_FALSE(says(app, "Right answer"));
  CHECK(says(app, "Stage"));
  app.click(app.text_with("Why?", "tab").rect.centre());
  CHECK(says(app, "Why this"));
}

TEST_CASE("lessons are opened from the bar", "[simulator][what_if]") {
  AppOnNull app(app_of(any_model("encoder, classification")), {1280, 720});
  app.settle();
  app.click(app.text_with("Open…", "button").rect.centre());
  REQUIRE(app.app.window().opening == Shown::yes);
  const lessons::LessonEntry& entry = app.state().library.front();
  app.click(app.text_with(std::to_string(entry.number) + "   " + entry.title, "button").rect.centre());
  CHECK(app.state().has_lesson());
  CHECK(app.app.window().opening == Shown::no);
}

TEST_CASE("a trained model is opened from the bar, and draws its examples", "[simulator][what_if]") {
  AppOnNull app("1", kTall);
  app.settle();
  app.click(app.text_with("Open…", "button").rect.centre());
  app.click(app.text_with("sentiment", "button").rect.centre());
  REQUIRE_FALSE(app.state().has_lesson());
  CHECK(app.state().name == "sentiment");
  const std::string sentence = app.state().session.text();
  app.click(place_of(app, "Another example"));
  CHECK(app.state().session.text() != sentence);
  CHECK(app.state().session.has_gold());
  app.click(place_of(app, "mean"));
  CHECK(app.state().session.setup().heads.size() == 1);
}

}  // namespace
}  // namespace headscope::simulator
