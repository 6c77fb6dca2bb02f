// Draws the block diagram of several models at every level to PNG files, to be looked at. Not a test.
#include "core/execute.h"
#include "core/formats/token_batch.h"
#include "core/stepper.h"
#include "simulator/panels/diagram.h"
#include "tests/simulator/gallery_page.h"

#include <imgui.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace headscope;
using namespace headscope::simulator;

core::ModelConfig translator() {
  core::ModelConfig config;
  config.architecture = core::Architecture::encoder_decoder;
  config.objective = core::Objective::language_model;
  config.vocab_size = 30, config.target_vocab_size = 30;
  config.d_model = 16, config.n_heads = 4, config.d_head = 4, config.n_layers = 2, config.d_ff = 32;
  config.max_tokens = 16;
  config.norm = core::Norm::pre;
  config.bias = true;
  return config;
}

core::ModelConfig decoder(std::int64_t n_heads, std::int64_t n_layers) {
  core::ModelConfig config = translator();
  config.architecture = core::Architecture::decoder;
  config.target_vocab_size = 0;
  config.n_heads = n_heads, config.n_layers = n_layers;
  return config;
}

struct Scene {
  std::string name;
  core::ModelConfig config;
  StageLevel level = StageLevel::model;
  std::string opened;
  double share = 0.3;  // of the training step's steps that have run
  Variant variant = Variant::light;
  ImVec2 size{816, 640};
  float text_scale = 1;
};

std::vector<Scene> scenes() {
  using enum StageLevel;
  const core::ModelConfig two = translator(), one = decoder(4, 2), small = decoder(2, 1);
  core::ModelConfig post = decoder(8, 3);
  post.norm = core::Norm::post;
  post.positions = core::Positions::relative;
  const core::ModelConfig many = decoder(64, 2), deep = decoder(4, 12);
  const ImVec2 narrow{490, 440}, tiny{520, 390};
  return {{"model", one, model, "", 0.2},
          {"model-translator", two, model, "", 0.3, Variant::dark},
          {"model-deep", deep, model, "", 0.3},
          {"block", one, block, "decoder.block0", 0.15},
          {"block-back", post, block, "decoder.block1", 0.7, Variant::dark},
          {"block-cross", two, block, "decoder.block1", 0.35},
          {"attention", one, part, "decoder.block0.self_attention", 0.12},
          {"attention-dark", post, part, "decoder.block0.self_attention", 0.12, Variant::dark},
          {"attention-back", small, part, "decoder.block0.self_attention", 0.75},
          {"attention-update", small, part, "decoder.block0.self_attention", 0.92},
          {"cross-attention", two, part, "decoder.block0.cross_attention", 0.32},
          {"norm", one, part, "decoder.block0.norm1", 0.3},
          {"loss", one, part, "loss", 0.6},
          {"heads", post, heads, "decoder.block1.self_attention", 0.3},
          {"heads-dark", two, heads, "decoder.block0.cross_attention", 0.6, Variant::dark},
          {"heads-64", many, heads, "decoder.block0.self_attention", 0.5},
          {"head", one, head, "decoder.block0.self_attention", 0.5},
          {"head-dark", two, head, "encoder.block0.self_attention", 0.8, Variant::dark},
          {"narrow-model", two, model, "", 0.3, Variant::light, narrow},
          {"narrow-attention", two, part, "decoder.block0.cross_attention", 0.3, Variant::light, narrow},
          {"narrow-heads", one, heads, "decoder.block0.self_attention", 0.5, Variant::dark, narrow},
          {"tiny-model", two, model, "", 0.3, Variant::light, tiny, 3},
          {"tiny-attention", two, part, "decoder.block0.cross_attention", 0.5, Variant::light, tiny, 3},
          {"tiny-heads", one, heads, "decoder.block0.self_attention", 0.5, Variant::light, tiny, 3}};
}

core::Result<void> draw_scene(const Scene& scene, const std::string& file) {
  const std::string source = HEADSCOPE_SOURCE_DIR;
  core::Result<Theme> theme = load_theme(source + "/assets/theme.toml", scene.variant);
  if (!theme) return theme.error();
  core::Result<Words> words = Words::load(source + "/assets", "en");
  if (!words) return words.error();
  core::Result<core::Graph> graph = core::build_graph(scene.config, "gallery");
  if (!graph) return graph.error();
  core::TokenBatch batch;
  batch.source = {{2, 5, 9, 4, 7, 11, 3, 8}};
  if (scene.config.architecture == core::Architecture::encoder_decoder)
    batch.target = {{1, 6, 12, 4, 9, 3, 2}};
  const core::Result<core::FedBatch> fed = core::feed(batch, scene.config, "gallery");
  if (!fed) return fed.error();
  core::Stepper<float> stepper(*graph, fed->sizes);
  core::initialise_parameters(*graph, stepper.workspace(), 7, 1.0);
  core::set_inputs(*graph, stepper.workspace(), *fed);
  stepper.restart();
  const auto position = static_cast<std::size_t>(static_cast<double>(stepper.steps().size()) * scene.share);
  stepper.move_to(position);
  const Diagram diagram = make_diagram(*graph);

  std::optional<Fonts> fonts;
  Focus focus;
  DiagramMemory memory;
  platform::Application application;
  application.prepare = [&](const platform::Frame&) -> core::Result<platform::FontAtlas> {
    const FontRequest request{.text_scale = scene.text_scale};
    if (fonts && !fonts->needs_rebuild()) return platform::FontAtlas::unchanged;
    if (fonts) {
      if (core::Result<void> built = fonts->rebuild(*ImGui::GetIO().Fonts, *theme, request); !built)
        return built.error();
      return platform::FontAtlas::rebuilt;
    }
    core::Result<Fonts> built = Fonts::build(*ImGui::GetIO().Fonts, *theme, request);
    if (!built) return built.error();
    fonts = *std::move(built);
    return platform::FontAtlas::rebuilt;
  };
  application.draw = [&](const platform::Frame& frame) {
    focus.begin_frame();
    test::begin_page(frame);
    Painter painter(*ImGui::GetWindowDrawList(), *theme, *fonts);
    painter.fill({{0, 0}, {frame.width, frame.height}}, painter.colour().stage);
    Ui ui{painter, focus};
    Actions actions;

    const core::Trace<float> trace = stepper.trace();
    draw_diagram(ui, *words, {trace, diagram, scene.level, scene.opened, 1, stepper.steps()[position - 1]},
                 memory, {{16, 12}, {frame.width - 16, frame.height - 8}}, actions);
    ImGui::End();
    return platform::NextFrame{};
  };
  return test::write_page(file, scene.size, application);
}

}  // namespace

int main(int n_arguments, char** arguments) {
  const std::string folder = n_arguments > 1 ? arguments[1] : ".";
  for (const Scene& scene : scenes())
    if (const core::Result<void> drawn = draw_scene(scene, folder + "/diagram-" + scene.name + ".png");
        !drawn) {
      std::fprintf(stderr, "%s %s\n", drawn.error().key.c_str(), drawn.error().where.c_str());
      return EXIT_FAILURE;
    }
  return EXIT_SUCCESS;
}
