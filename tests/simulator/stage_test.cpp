// The whole training step in the window: every string of every step drawn whole, and not over another; every
// number the model's.
#include "tests/simulator/app_fixture.h"
#include "tests/simulator/frame_check.h"

#include "simulator/sent_back.h"
#include "simulator/tensor_facts.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace headscope::simulator {
namespace {

using test::AppOnNull;

/// A model that the program brings along, at its matrices, its own answer taken for right.
App open_model(const std::string& name, const std::string& text, double scale = 1) {
  const std::filesystem::path assets = tests::source_folder() / "assets";
  core::Result<core::Session> session = core::Session::open(assets / "models" / name, text);
  REQUIRE(session);
  core::Result<AppState> state =
      open_session(assets, tests::source_folder() / "lessons/content/en", *std::move(session), name, nullptr);
  REQUIRE(state);
  core::Result<App> app = App::make(*std::move(state));
  REQUIRE(app);
  app->apply(OpenPlace{StageLevel::matrix, ""});
  if (!app->state().session.has_gold()) app->apply(AssumeGold{});
  app->apply(SetTextScale{scale});
  return *std::move(app);
}

struct ModelAndText {
  std::string name, text;
};
const std::vector<ModelAndText> kModels = {
    {"copying", "a b c d a b c d"},
    {"sentiment", "the film was not good , but the ending was brilliant ."},
    {"translation", "the old man saw the dog ."}};

/// One step of each kind, and one of each of a backward pass's results.
std::vector<std::size_t> telling_positions(const AppOnNull& app) {
  std::set<std::string> seen;
  std::vector<std::size_t> positions;
  const core::StepList& steps = app.state().session.steps();
  for (std::size_t place = 0; place < app.state().session.n_steps(); ++place) {
    const core::Step step = steps[place];
    std::string kind =
        step.phase == core::Phase::update
            ? std::string(core::leaf(app.state().session.graph().spec(step.parameter).name))
            : std::string(core::kind_of(app.state().session.graph().operations()[step.operation]));
    kind += step.phase == core::Phase::forward    ? ""
            : step.phase == core::Phase::backward ? " back"
                                                  : " update";
    if (seen.insert(kind).second) positions.push_back(place + 1);
  }
  return positions;
}

TEST_CASE("no string of a training step is cut off or lies over another", "[simulator][stage][app]") {
  for (const ModelAndText& model : kModels)
    for (const ImVec2 size : {ImVec2{800, 600}, ImVec2{1280, 720}, ImVec2{2560, 1440}})
      for (const double scale : {0.75, 1.0, 3.0}) {
        AppOnNull app(open_model(model.name, model.text, scale), size);
        app.settle();
        REQUIRE(app.state().session.has_gold());
        for (const std::size_t position : telling_positions(app)) {
          app.app.apply(MoveCursor{position});
          app.settle();
          INFO(model.name << " at " << size.x << "×" << size.y << ", text " << scale << ", step "
                          << position);
          CHECK(test::faults_of(app.record, size) == std::vector<std::string>());
        }
      }
}

/// Every form in which a number of the stage may be displayed.
std::set<std::string> forms_of(const AppOnNull& app) {
  std::set<std::string> forms;
  const core::Trace<float> trace = app.state().trace();
  for (const StageItem& item : app.view().stage.items) {
    if (!is_there(trace, app.view().stage, item)) continue;
    const ItemNumbers numbers(trace, item);
    for (std::int64_t row = 0; row < item.slice.rows.size; ++row)
      for (std::int64_t column = 0; column < item.slice.columns.size; ++column)
        for (const lessons::NumberKind kind :
             {lessons::NumberKind::gradient, lessons::NumberKind::probability,
              number_kind_of(app.state().session.graph().spec(item.slice.tensor))})
          // drawn in single precision
          for (std::string& form :
               lessons::number_ladder(static_cast<double>(static_cast<float>(numbers.at(row, column))), kind))
            forms.insert(std::move(form));
  }
  return forms;
}

TEST_CASE("every number on the stage of a training step is the core's", "[simulator][stage][app]") {
  std::size_t n_numbers = 0;
  for (const ModelAndText& model : kModels) {
    AppOnNull app(open_model(model.name, model.text), {2560, 1440});
    app.settle();
    for (const std::size_t position : telling_positions(app)) {
      app.app.apply(MoveCursor{position});
      app.settle();
      INFO(model.name << ", step " << position);
      const std::set<std::string> forms = forms_of(app);
      for (const TextEntry* cell : app.record.with_role("cell")) {
        INFO(cell->text);
        CHECK(forms.contains(cell->text));
        ++n_numbers;
      }
    }
  }
  CHECK(n_numbers > 5000);
}

TEST_CASE("a gradient bears its sign, and its operands light where they stand", "[simulator][stage][app]") {
  AppOnNull app(open_model("copying", "a b c d a b c d"), {1600, 900});
  app.settle();
  const core::StepList& steps = app.state().session.steps();
  std::size_t position = 0;
  for (std::size_t place = steps.backward_begin(); place < steps.update_begin(); ++place)
    if (std::holds_alternative<core::Scores>(
            app.state().session.graph().operations()[steps[place].operation]))
      position = place + 1;
  app.app.apply(MoveCursor{position});
  app.settle();
  const StagePlan& plan = app.view().stage;
  REQUIRE(plan.results.size() == 2);
  const std::vector<const TextEntry*> titles = app.record.with_role("title");
  CHECK(std::ranges::count_if(titles,
                              [](const TextEntry* title) { return title->text.starts_with("∂L/∂"); }) >= 2);
  // the other operand's gradient, by its chip
  app.click(app.text_with("∂K").rect.centre());
  CHECK(app.view().stage.chosen == 1);
  const Slice& keys = app.view().stage.items.back().slice;
  CHECK(keys.tensor == app.view().stage.results[1].tensor);
  app.app.apply(LockCell{{keys.tensor, keys.cell_at(1, 2), core::Quantity::gradient}});
  app.settle();
  CHECK(app.view().stage.chosen == 1);
  REQUIRE(app.view().narration);
  // its terms name a row of the left operand and a column of the upper one, both on the stage
  std::size_t n_left = 0, n_upper = 0;
  for (const NarratedTerm& term : app.view().narration->terms)
    for (const NarratedFactor& factor : term.factors) {
      if (!factor.target) continue;
      for (const StageItem& item : app.view().stage.items) {
        if (item.slice.tensor != factor.target->tensor || item.slice.quantity != factor.target->quantity)
          continue;
        const std::optional<Slice::Place> place = item.slice.find(factor.target->cell);
        if (!place) continue;
        if (item.role == StageRole::left && place->row == 1) ++n_left;
        if (item.role == StageRole::upper && place->column == 2) ++n_upper;
      }
    }
  CHECK(n_left == static_cast<std::size_t>(app.view().stage.items.front().slice.columns.size));
  CHECK(n_upper == n_left);
}

/// Where the first softmax over keys has sent its gradient back.
std::size_t behind_softmax_backward(const AppOnNull& app) {
  const core::StepList& steps = app.state().session.steps();
  for (std::size_t place = steps.backward_begin(); place < steps.update_begin(); ++place) {
    const core::Operation& operation = app.state().session.graph().operations()[steps[place].operation];
    const auto* softmax = std::get_if<core::Softmax>(&operation);
    if (softmax && app.state().session.graph().spec(softmax->output).shape.find(core::Axis::head) >= 0)
      return place + 1;
  }
  REQUIRE(false);
  return 0;
}

const StageItem& first_with(const AppOnNull& app, NumberSource source) {
  const std::vector<StageItem>& items = app.view().stage.items;
  const auto found = std::ranges::find(items, source, &StageItem::source);
  REQUIRE(found != items.end());
  return *found;
}

TEST_CASE("a softmax's backward pass shows the head of the held cell in every matrix",
          "[simulator][stage][app]") {
  AppOnNull app(open_model("copying", "a b c d a b c d"), {1600, 900});
  app.app.apply(MoveCursor{behind_softmax_backward(app)});
  app.settle();
  const core::Operation& operation =
      app.state().session.graph().operations()[first_with(app, NumberSource::local).operation];
  const auto& softmax = std::get<core::Softmax>(operation);
  const int head = app.state().session.graph().spec(softmax.output).shape.find(core::Axis::head);
  core::Cell cell = app.state().trace().shape(softmax.output).cell(0);
  cell[head] = 1;
  REQUIRE(app.view().stage.head == 0);
  app.app.apply(LockCell{{softmax.output, cell, core::Quantity::gradient}});
  app.settle();
  CHECK(app.view().stage.head == 1);
  std::size_t n_small = 0;
  for (const StageItem& item : app.view().stage.items) {
    CHECK(item.slice.base[head] == 1);
    n_small += item.role == StageRole::small ? 1 : 0;
  }
  CHECK(n_small == 3);
}

TEST_CASE(
    "the row of a softmax's backward pass is chosen by buttons, and its local derivatives explain "
    "themselves",
    "[simulator][stage][app]") {
  AppOnNull app(open_model("copying", "a b c d a b c d"), {1600, 900});
  app.app.apply(MoveCursor{behind_softmax_backward(app)});
  app.settle();
  const auto row = [&] {
    const std::vector<StageItem>& items = app.view().stage.items;
    const int place = std::ranges::find(items, StageRole::small, &StageItem::role)->slice.rows.place;
    return first_with(app, NumberSource::local).slice.base[place];
  };
  const std::int64_t last = row();
  REQUIRE(last > 1);
  const auto press = [&](float before, float behind) {
    const Rect words = app.record.with_role("row_choice").at(0)->rect;
    app.click({before > 0 ? words.min.x - before : words.max.x + behind, words.centre().y});
  };
  press(20, 0);
  CHECK(row() == last - 1);
  press(20, 0);
  CHECK(row() == last - 2);
  press(0, 20);
  CHECK(row() == last - 1);
  REQUIRE(app.view().lit);
  CHECK(app.view().lit->quantity == core::Quantity::gradient);

  // its local matrix belongs to no tensor: the pointer finds a sentence with its numbers
  const core::Operation& operation =
      app.state().session.graph().operations()[first_with(app, NumberSource::local).operation];
  const auto& softmax = std::get<core::Softmax>(operation);
  const core::Cell cell = first_with(app, NumberSource::local).slice.base;
  std::set<std::string> tips;
  Rect local;
  for (const TextEntry* title : app.record.with_role("title"))
    if (title->text.starts_with("local")) local = title->rect;
  REQUIRE(local.width() > 0);
  for (float x = 10; x < 400; x += 12)
    for (float y = 40; y < 300; y += 12) {
      app.backend.move_mouse({local.min.x + x, local.max.y + y});
      app.frame(), app.frame();
      for (const TextEntry* tip : app.record.with_role("tooltip")) tips.insert(tip->text);
    }
  std::string all;
  for (const std::string& tip : tips) all += tip + "\n";
  INFO(all);
  const double derivative = local_derivative(app.state().trace(), softmax, cell, 0, 0);
  CHECK(all.find(lessons::format_number(derivative, lessons::NumberKind::gradient, {})) != std::string::npos);
  CHECK(all.find("a (1 − a)") != std::string::npos);
  CHECK(all.find("−a · b") != std::string::npos);
}

TEST_CASE("a matrix too large for its numbers shows numbers or its pattern, as is chosen",
          "[simulator][stage][app]") {
  AppOnNull app(open_model("copying", "a b c d e f g h a b c d e f g h"), {1600, 900});
  const core::Graph& graph = app.state().session.graph();
  for (std::size_t place = 0; place < app.state().session.steps().backward_begin(); ++place)
    if (std::holds_alternative<core::Scores>(
            graph.operations()[app.state().session.steps()[place].operation]))
      app.app.apply(MoveCursor{place + 1});
  app.settle();
  REQUIRE(app.view().stage.items.back().slice.rows.size > 12);
  const auto is_paged = [&] {
    return std::ranges::any_of(app.record.entries,
                               [](const TextEntry& entry) { return entry.text.starts_with("rows 1 to"); });
  };
  CHECK(is_paged());
  app.click(app.text_with("pattern", "chip").rect.centre());
  CHECK_FALSE(is_paged());
  app.click(app.text_with("numbers", "chip").rect.centre());
  CHECK(is_paged());
}

TEST_CASE("where nothing is pointed at, the explanation is that of the number that the step's sentence names",
          "[simulator][stage][app]") {
  for (const ModelAndText& model : kModels) {
    AppOnNull app(open_model(model.name, model.text), {1280, 720});
    app.settle();
    for (const std::size_t position : telling_positions(app)) {
      app.app.apply(MoveCursor{position});
      app.settle();
      INFO(model.name << ", step " << position);
      REQUIRE(app.view().lit);
      REQUIRE(app.view().narration);
      CHECK_FALSE(app.view().is_locked);
      const std::vector<const TextEntry*> values = app.record.with_role("value");
      REQUIRE_FALSE(values.empty());
      CHECK(values.front()->full == app.view().narration->value);
    }
  }
}

TEST_CASE("the transport walks by step, layer and training step, and says why it cannot go on",
          "[simulator][stage][app]") {
  AppOnNull app(open_model("copying", "a b c d a b c d"), {1600, 900});
  app.settle();
  app.click(app.text_with("layer ›", "transport_link").rect.centre());
  const std::size_t layer = app.state().cursor().position();
  CHECK(layer > 1);
  app.click(app.text_with("‹ layer", "transport_link").rect.centre());
  CHECK(app.state().cursor().position() < layer);
  app.click(app.text_with("by operation", "transport_link").rect.centre());
  CHECK(app.state().play_by == PlayBy::layer);
  app.click(app.text_with("train", "transport_link").rect.centre());
  CHECK(app.state().session.training_step() == 2);
  // an encoder's answer must be said first
  AppOnNull open(open_model("sentiment", "the film was good ."), {1600, 900});
  open.app.apply(SetGold{});
  open.settle();
  REQUIRE_FALSE(open.state().session.has_gold());
  CHECK(open.record.with_role("track_note").size() == 1);
}

}  // namespace
}  // namespace headscope::simulator
