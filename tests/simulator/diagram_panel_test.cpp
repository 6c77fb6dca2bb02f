// The drawn block diagram on the null back end: every string in its place, every click an action.
#include "simulator/panels/diagram.h"
#include "tests/core/stepped_model.h"
#include "tests/simulator/null_backend.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headscope::simulator {
namespace {

using Model = core::test::SteppedModel<float>;
using test::Look;
using test::NullBackend;

Words shipped_words() {
  core::Result<Words> words = Words::load(headscope::tests::source_folder() / "assets", "en");
  REQUIRE(words);
  return *std::move(words);
}

/// A model's diagram in a window of its own.
class Drawn {
 public:
  explicit Drawn(const core::ModelConfig& config, ImVec2 size = {816, 700}, float text_scale = 1)
      : look_(size, {.text_scale = text_scale}), model_(config), words_(shipped_words()) {
    model_.stepper.restart();
    diagram_ = make_diagram(model_.graph);
    box_ = {{8, 8}, {size.x - 8, size.y - 8}};
  }

  void run_to(const std::string& tensor) {
    model_.stepper.move_to(*model_.graph.producer(model_.id(tensor)) + 1);
  }
  void run_to(std::size_t position) { model_.stepper.move_to(position); }
  const core::StepList& steps() const { return model_.stepper.steps(); }
  void open(StageLevel level, const std::string& path = {}, std::int64_t head = 0) {
    level_ = level, path_ = path, head_ = head;
  }

  /// Characters that the fonts lacked are there in the second frame; scrolling settles, too.
  void draw() {
    for (int n = 0; n < 3; ++n) frame();
  }
  Actions click(ImVec2 at) {
    Actions asked;
    const auto run = [&] { asked = frame(); };
    look_.backend.move_mouse(at);
    run(), run();
    look_.backend.mouse_button(NullBackend::Button::down);
    run();
    look_.backend.mouse_button(NullBackend::Button::up);
    run();
    return asked;
  }
  Actions press(ImGuiKey key) {
    look_.backend.hold(key);
    Actions asked = frame();
    look_.backend.release(key);
    frame();
    return asked;
  }
  Actions frame() {
    Actions actions;
    const auto draw = [&](Ui& ui) {
      const core::Trace<float> trace = model_.stepper.trace();
      const std::size_t position = trace.cursor().position();
      draw_diagram(ui, words_,
                   {.trace = trace,
                    .diagram = diagram_,
                    .level = level_,
                    .opened = path_,
                    .head = head_,
                    .step = position > 0 ? std::optional(steps()[position - 1]) : std::nullopt},
                   memory_, box_, actions);
    };
    look_.frame(draw);
    if (look_.fonts.needs_rebuild())
      REQUIRE(look_.fonts.rebuild(*ImGui::GetIO().Fonts, look_.theme, look_.fonts.request()));
    return actions;
  }

  const TextRecord& record() const { return look_.record; }
  /// The middle of the first string with this text; fails the test where there is none.
  ImVec2 place_of(const std::string& text, std::size_t which = 0) const {
    for (const TextEntry& entry : record().entries)
      if (entry.full == text && which-- == 0) return entry.rect.centre();
    INFO("no \"" << text << "\" is drawn");
    REQUIRE(false);
    return {};
  }
  bool shows(const std::string& text) const { return record().find(text) != nullptr; }
  /// Where the picture of a box stands, as the panel lays it out below its head line.
  const Model& model() const { return model_; }
  const Diagram& diagram() const { return diagram_; }
  Rect box() const { return box_; }

 private:
  Look look_;
  Model model_;
  Words words_;
  Diagram diagram_;
  DiagramMemory memory_;
  Rect box_;
  StageLevel level_ = StageLevel::model;
  std::string path_;
  std::int64_t head_ = 0;
};

core::ModelConfig decoder() {
  return core::test::base_config(core::Architecture::decoder, core::Objective::language_model);
}
core::ModelConfig translator() {
  return core::test::base_config(core::Architecture::encoder_decoder, core::Objective::language_model);
}

template <class Wanted>
const Wanted* asked_for(const Actions& actions) {
  for (const Action& action : actions)
    if (const auto* found = std::get_if<Wanted>(&action)) return found;
  return nullptr;
}

/// No string overlaps another or is cut off at a side, and none leaves the box downwards or upwards but where
/// it scrolls.
void check_strings(const Drawn& drawn) {
  const std::vector<TextEntry>& entries = drawn.record().entries;
  for (std::size_t at = 0; at < entries.size(); ++at) {
    const TextEntry& entry = entries[at];
    INFO("\"" << entry.text << "\" of \"" << entry.full << "\" at " << entry.rect.min.x << ", "
              << entry.rect.min.y);
    CHECK(entry.rect.min.x >= entry.clip.min.x - 1);
    CHECK(entry.rect.max.x <= entry.clip.max.x + 1);
    CHECK(entry.rect.min.x >= drawn.box().min.x - 1);
    CHECK(entry.rect.max.x <= drawn.box().max.x + 1);
    for (std::size_t other = at + 1; other < entries.size(); ++other) {
      // what a scrolled area hides overlaps nothing
      const auto seen = [](const TextEntry& one) {
        return Rect{{std::max(one.rect.min.x, one.clip.min.x), std::max(one.rect.min.y, one.clip.min.y)},
                    {std::min(one.rect.max.x, one.clip.max.x), std::min(one.rect.max.y, one.clip.max.y)}}
            .grown(-1);
      };
      const Rect left = seen(entry), right = seen(entries[other]);
      if (left.width() <= 0 || left.height() <= 0 || right.width() <= 0 || right.height() <= 0) continue;
      INFO("and \"" << entries[other].text << "\"");
      CHECK_FALSE(left.overlaps(right));
    }
  }
}

TEST_CASE("no string of the diagram overlaps another or is cut off, at any level and size",
          "[simulator][diagram]") {
  struct Window {
    ImVec2 size;
    float scale;
  };
  for (const Window& window :
       {Window{{816, 700}, 1}, {{490, 440}, 1}, {{1600, 1100}, 0.75F}, {{520, 390}, 3}})
    for (const core::ModelConfig& config : {decoder(), translator()}) {
      Drawn drawn(config, window.size, window.scale);
      for (const double share : {0.0, 0.3, 0.7, 0.95}) {
        drawn.run_to(static_cast<std::size_t>(share * static_cast<double>(drawn.steps().size())));
        for (const char* path : {"decoder.block0.self_attention", "decoder.block1.feed_forward", "loss"})
          for (const StageLevel level : {StageLevel::model, StageLevel::block, StageLevel::part,
                                         StageLevel::heads, StageLevel::head}) {
            INFO(window.size.x << " × " << window.size.y << ", text × " << window.scale << ", " << share
                               << " of " << path << " at level " << static_cast<int>(level));
            drawn.open(level, path);
            drawn.draw();
            CHECK_FALSE(drawn.record().entries.empty());
            check_strings(drawn);
          }
      }
    }
}

TEST_CASE("every model can be drawn at every level", "[simulator][diagram]") {
  for (const auto& [name, config] : core::test::every_config()) {
    Drawn drawn(config);
    drawn.run_to(drawn.steps().size() / 2);
    for (std::size_t node = 1; node < drawn.diagram().nodes.size(); ++node) {
      const DiagramNode& box = drawn.diagram().nodes[node];
      if (box.place == DiagramPlace::operation || box.place == DiagramPlace::stack) continue;
      INFO(name << ", " << box.path);
      drawn.open(box.place == DiagramPlace::block ? StageLevel::block : StageLevel::part, box.path);
      drawn.frame();
      for (const TextEntry& entry : drawn.record().entries) CHECK_FALSE(entry.full.empty());
    }
  }
}

TEST_CASE("boxes open level by level", "[simulator][diagram]") {
  Drawn drawn(translator());
  drawn.run_to(drawn.steps().n_forward());
  drawn.draw();
  CHECK(drawn.shows("encoder"));
  CHECK(drawn.shows("decoder"));
  CHECK_FALSE(drawn.shows("self-attention"));
  // the second "block 1" is the decoder's
  const Actions block = drawn.click(drawn.place_of("block 1", 1));
  REQUIRE(asked_for<OpenPlace>(block));
  CHECK(asked_for<OpenPlace>(block)->level == StageLevel::block);
  CHECK(asked_for<OpenPlace>(block)->path == "decoder.block1");

  drawn.open(StageLevel::block, "decoder.block1");
  drawn.draw();
  CHECK(drawn.shows("cross-attention"));
  CHECK(drawn.shows("block 0"));  // the rest stays
  const Actions part = drawn.click(drawn.place_of("cross-attention"));
  REQUIRE(asked_for<OpenPlace>(part));
  CHECK(asked_for<OpenPlace>(part)->level == StageLevel::part);
  CHECK(asked_for<OpenPlace>(part)->path == "decoder.block1.cross_attention");

  drawn.open(StageLevel::part, "decoder.block1.cross_attention");
  drawn.draw();
  for (const char* word : {"Q", "K", "V", "Q · K", "÷ √d", "mask", "A · V", "· W_O", "feed-forward"}) {
    INFO(word);
    CHECK(drawn.shows(word));
  }
  const Actions heads = drawn.click(drawn.place_of("all heads"));
  REQUIRE(asked_for<OpenPlace>(heads));
  CHECK(asked_for<OpenPlace>(heads)->level == StageLevel::heads);

  drawn.open(StageLevel::heads, "decoder.block1.cross_attention");
  drawn.draw();
  const Actions head = drawn.click(drawn.place_of("1"));  // the disc
  REQUIRE(asked_for<OpenPlace>(head));
  CHECK(asked_for<OpenPlace>(head)->level == StageLevel::head);
  REQUIRE(asked_for<ChooseHead>(head));
  CHECK(asked_for<ChooseHead>(head)->head == 1);
  // the way back
  const Actions back = drawn.click(drawn.place_of("model"));
  REQUIRE(asked_for<OpenPlace>(back));
  CHECK(asked_for<OpenPlace>(back)->level == StageLevel::model);
}

TEST_CASE("a click on a picture shows its tensor, one on an operation's name runs to it",
          "[simulator][diagram]") {
  Drawn drawn(decoder());
  drawn.run_to("decoder.block0.self_attention.weights");
  drawn.open(StageLevel::part, "decoder.block0.self_attention");
  drawn.draw();
  // pictures stand over their names
  const ImVec2 name = drawn.place_of("Q · K");
  const Actions shown = drawn.click({name.x, name.y - 30});
  REQUIRE(asked_for<ShowTensor>(shown));
  CHECK(asked_for<ShowTensor>(shown)->tensor == drawn.model().id("decoder.block0.self_attention.scores"));
  const Actions run = drawn.click(drawn.place_of("A · V"));
  REQUIRE(asked_for<MoveCursor>(run));
  CHECK(asked_for<MoveCursor>(run)->position ==
        *drawn.model().graph.producer(drawn.model().id("decoder.block0.self_attention.head_output")) + 1);
}

TEST_CASE("a closed box names the step that runs in it, and shows what has been computed so far",
          "[simulator][diagram]") {
  Drawn drawn(decoder());
  const Words words = shipped_words();
  for (std::size_t position = 1; position <= drawn.steps().size(); ++position) {
    drawn.run_to(position);
    drawn.draw();
    const std::string name = step_name(drawn.model().graph, drawn.steps()[position - 1], words.text);
    INFO("step " << position << ", " << name);
    CHECK(drawn.shows(name));
  }
  drawn.run_to("decoder.block0.self_attention.scores");
  drawn.draw();
  const ImVec2 name = drawn.place_of("block 0");
  const Actions shown = drawn.click({drawn.box().centre().x + 90, name.y});
  REQUIRE(asked_for<ShowTensor>(shown));
  CHECK(asked_for<ShowTensor>(shown)->tensor == drawn.model().id("decoder.block0.self_attention.scores"));
}

TEST_CASE("without a path the diagram opens what the cursor is in", "[simulator][diagram]") {
  Drawn drawn(decoder());
  drawn.open(StageLevel::part);
  for (const auto& [tensor, word] : {std::pair{"decoder.block1.feed_forward.hidden", "· W_in"},
                                     {"decoder.block0.self_attention.keys", "Q · K"},
                                     {"decoder.block0.norm1.mean", "1 ÷ σ"},
                                     {"losses", "losses"}}) {
    INFO(tensor);
    drawn.run_to(tensor);
    drawn.draw();
    CHECK(drawn.shows(word));
  }
}

TEST_CASE("a gradient's sign appears once it has flowed, from the loss backwards", "[simulator][diagram]") {
  Drawn drawn(decoder());
  const auto n_signs = [&] {
    drawn.draw();
    return drawn.record().with_role("diagram_gradient").size();
  };
  drawn.run_to(drawn.steps().backward_begin());
  CHECK(n_signs() == 0);
  std::size_t before = 0;
  for (std::size_t position = drawn.steps().backward_begin(); position <= drawn.steps().update_begin();
       ++position) {
    drawn.run_to(position);
    const std::size_t now = n_signs();
    CHECK(now >= before);
    before = now;
  }
  // embedding, two blocks, final norm, unembedding; the loss itself has no gradient
  CHECK(before == 5);
}

TEST_CASE("gradients flow over exactly the edges whose readers sent them", "[simulator][diagram]") {
  Drawn drawn(decoder());
  const core::Graph& graph = drawn.model().graph;
  const Diagram& diagram = drawn.diagram();
  const std::size_t attention = *diagram.find("decoder.block0.self_attention");
  std::vector<bool> has_run(graph.operations().size());
  const auto carried = [&] {
    std::size_t n = 0;
    for (const DiagramEdge& edge : diagram.nodes[attention].edges)
      if (carries_gradient(graph, diagram, attention, edge, has_run)) ++n;
    return n;
  };
  CHECK(carried() == 0);
  // the softmax sends to the masked scores alone
  has_run[*graph.producer(drawn.model().id("decoder.block0.self_attention.weights"))] = true;
  CHECK(carried() == 1);
  // mixing sends to weights and values
  has_run[*graph.producer(drawn.model().id("decoder.block0.self_attention.head_output"))] = true;
  CHECK(carried() == 3);
  has_run.assign(has_run.size(), true);
  CHECK(carried() == diagram.nodes[attention].edges.size());
}

TEST_CASE("Tab and Enter open boxes without a pointer", "[simulator][diagram]") {
  Drawn drawn(decoder());
  drawn.run_to(drawn.steps().n_forward());
  drawn.draw();
  std::vector<std::string> reached;
  for (std::size_t n = 0; n < 12; ++n) {
    drawn.press(ImGuiKey_Tab);
    const Actions asked = drawn.press(ImGuiKey_Enter);
    if (const OpenPlace* place = asked_for<OpenPlace>(asked)) reached.push_back(place->path);
  }
  for (const char* path : {"decoder.embedded", "decoder.block0", "decoder.block1", "decoder.final_norm",
                           "unembedding", "loss"}) {
    INFO(path);
    CHECK(std::find(reached.begin(), reached.end(), path) != reached.end());
  }
}

TEST_CASE("64 heads are all there, each a disc and its pictures", "[simulator][diagram]") {
  core::ModelConfig config = decoder();
  config.n_heads = 64, config.d_head = 2, config.n_layers = 1;
  Drawn drawn(config, {1600, 1300});
  drawn.run_to(drawn.steps().n_forward());
  drawn.open(StageLevel::heads, "decoder.block0.self_attention");
  drawn.draw();
  for (const int head : {0, 31, 63}) CHECK(drawn.shows(std::to_string(head)));
  const Actions asked = drawn.click(drawn.place_of("63"));
  REQUIRE(asked_for<ChooseHead>(asked));
  CHECK(asked_for<ChooseHead>(asked)->head == 63);
  // 16-bit indices reach so many corners in one list
  const ImDrawData& drawn_data = *ImGui::GetDrawData();
  for (int list = 0; list < drawn_data.CmdListsCount; ++list)
    CHECK(drawn_data.CmdLists[list]->VtxBuffer.Size < 65536);
}

}  // namespace
}  // namespace headscope::simulator
