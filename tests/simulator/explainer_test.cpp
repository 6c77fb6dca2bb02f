// The explainer alone, in any width and size of text, with the numbers of a whole training step.
#include "simulator/panels/panel.h"
#include "tests/simulator/app_fixture.h"
#include "tests/simulator/null_backend.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

using core::Quantity;

/// A lesson's session behind its update, and the explainer of one of its cells in a box.
class ExplainerOnNull {
 public:
  ExplainerOnNull(float width, float text_scale, float height = 4000)
      : look({width + 40, height + 40}, FontRequest{.text_scale = text_scale}), size{width, height} {
    state.session.move_to(state.session.n_steps());
    state.trail.clear();
  }

  core::TensorId id(const std::string& leaf) const {
    return *state.session.graph().find("decoder.block0.self_attention." + leaf);
  }
  void explain(const CellAddress& cell) {
    view.lit = cell;
    view.narration = narrate(state.session, state.trace(), cell, words, look.theme.numbers);
    draw();
    draw();  // the second frame knows how high the first one's content was
  }
  void draw() { look.frame(drawing()); }
  void click(ImVec2 at) {
    const auto frame = drawing();
    look.backend.click(at, look.in_ui(frame));
  }
  /// The large number, which wraps where no line can hold it.
  std::string value() const {
    std::string text;
    for (const TextEntry* entry : look.record.with_role("value")) text += entry->text;
    return text;
  }

  AppState state = test::open_shipped("2");
  Words words = *Words::load(test::source_folder() / "assets", "en");
  test::Look look;
  ImVec2 size;
  View view;
  WindowState window;
  Actions actions;

 private:
  std::function<void(Ui&)> drawing() {
    return [this](Ui& ui) {
      Panel panel{ui, state, view, words, window, actions, 0};
      draw_explainer(panel, {{20, 20}, {20 + size.x, 20 + size.y}});
    };
  }
};

/// What a learner can look at: each number of a parameter, gradients of every form, values.
std::vector<CellAddress> cells_of(const ExplainerOnNull& explainer) {
  std::vector<CellAddress> cells;
  const core::Graph& graph = explainer.state.session.graph();
  const core::Trace<float> trace = explainer.state.trace();
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
    const core::Cell cell = trace.shape({index}).cell(trace.shape({index}).count() / 2);
    for (const Quantity quantity :
         {Quantity::value, Quantity::gradient, Quantity::first_moment, Quantity::previous_value})
      if (explainer.state.has_cell({{index}, cell, quantity})) cells.push_back({{index}, cell, quantity});
  }
  return cells;
}

/// What the clip rectangle leaves of a text.
Rect seen(const TextEntry& entry) {
  return {{std::max(entry.rect.min.x, entry.clip.min.x), std::max(entry.rect.min.y, entry.clip.min.y)},
          {std::min(entry.rect.max.x, entry.clip.max.x), std::min(entry.rect.max.y, entry.clip.max.y)}};
}

void check_drawn(const ExplainerOnNull& explainer, const std::string& what) {
  const std::vector<TextEntry>& entries = explainer.look.record.entries;
  for (const TextEntry& entry : entries) {
    INFO(what << ": \"" << entry.text << "\" role " << entry.role << " x " << entry.rect.min.x << " to "
              << entry.rect.max.x << " within " << entry.clip.min.x << " to " << entry.clip.max.x);
    // a pixel of overhang is a glyph's side bearing
    CHECK(entry.rect.min.x >= 19);
    CHECK(entry.rect.max.x <= 21 + explainer.size.x);
    CHECK(entry.rect.max.x <= entry.clip.max.x + 1);
    // numbers are whole
    if (entry.style.source == Source::number && entry.role != "rich") CHECK(entry.text == entry.full);
  }
  for (std::size_t left = 0; left < entries.size(); ++left)
    for (std::size_t right = left + 1; right < entries.size(); ++right) {
      const Rect a = seen(entries[left]), b = seen(entries[right]);
      // lines are higher than their letters: what stands in one line may touch, not overlap
      const float x = std::min(a.max.x, b.max.x) - std::max(a.min.x, b.min.x);
      const float y = std::min(a.max.y, b.max.y) - std::max(a.min.y, b.min.y);
      if (x > 2 && y > 0.3F * std::min(a.height(), b.height()) && a.height() > 0 && b.height() > 0)
        FAIL_CHECK(what << ": \"" << entries[left].text << "\" lies over \"" << entries[right].text << "\"");
    }
}

TEST_CASE("the explainer holds every number at every width and size of text", "[simulator][explainer]") {
  for (const auto& [width, scale] :
       {std::pair{392.0F, 1.0F}, {320.0F, 1.0F}, {320.0F, 0.75F}, {960.0F, 3.0F}, {320.0F, 3.0F}}) {
    ExplainerOnNull explainer(width, scale, 12000);
    for (const CellAddress& cell : cells_of(explainer)) {
      explainer.explain(cell);
      const std::string what = explainer.view.narration->name.text() + " at " + std::to_string(width) +
                               " × " + std::to_string(scale);
      check_drawn(explainer, what);
      CHECK(explainer.value() == explainer.view.narration->value);
    }
  }
}

TEST_CASE("the chips lead to a parameter's gradient and moments", "[simulator][explainer]") {
  ExplainerOnNull explainer(392, 1);
  const CellAddress cell{explainer.id("w_query"), {0, 1, 1}};
  explainer.explain(cell);
  const std::vector<const TextEntry*> chips = explainer.look.record.with_role("chip");
  REQUIRE(chips.size() == 4);
  CHECK(chips[1]->text == "∂");
  explainer.click(chips[1]->rect.centre());
  REQUIRE(explainer.actions.size() == 1);
  const auto* lock = std::get_if<LockCell>(explainer.actions.data());
  REQUIRE(lock);
  CHECK(lock->address == CellAddress{cell.tensor, cell.cell, Quantity::gradient});
}

TEST_CASE("a gradient is checked by its button, and the result stands in its place",
          "[simulator][explainer]") {
  ExplainerOnNull explainer(392, 1);
  const CellAddress cell{explainer.id("masked_scores"), {0, 0, 3, 2}, Quantity::gradient};
  explainer.explain(cell);
  const TextEntry* const button = explainer.look.record.find("Check");
  REQUIRE(button);
  explainer.click(button->rect.centre());
  REQUIRE(explainer.actions.size() == 1);
  apply_action(explainer.state, explainer.actions.front());
  explainer.draw();
  const std::vector<const TextEntry*> numbers = explainer.look.record.with_role("check_number");
  REQUIRE(numbers.size() == 2);
  const core::GradientCheck check = explainer.state.session.check_gradient(cell.tensor, cell.cell);
  CHECK(numbers[0]->text == lessons::format_number(check.numeric, lessons::NumberKind::check));
  CHECK(numbers[1]->text == lessons::format_number(check.analytic, lessons::NumberKind::check));
  CHECK_FALSE(explainer.look.record.find("Check"));
}

TEST_CASE("a gradient's name has its sign and hue, its columns say what they are", "[simulator][explainer]") {
  ExplainerOnNull explainer(392, 1);
  explainer.explain({explainer.id("masked_scores"), {0, 0, 3, 2}, Quantity::gradient});
  const TextEntry* const sign = explainer.look.record.find("∂L/∂");
  REQUIRE(sign);
  CHECK(sign->style.colour == explainer.look.theme.hue(Concept::gradient));
  for (const char* head : {"upstream", "local", "term"}) {
    INFO(head);
    CHECK(explainer.look.record.find(head));
  }
}

}  // namespace
}  // namespace headscope::simulator
