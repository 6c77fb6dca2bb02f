// Eight views of bundled models, held against pictures that are kept: what is drawn, and where they lie.
#pragma once

#include "simulator/app.h"
#include "simulator/platform/headless.h"
#include "tests/simulator/bundled_state.h"

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace headscope::simulator::test {

struct ReferenceView {
  std::string name;  // of its file, without .png
  std::string model, text;
  std::string target;  // a translator's
  /// Brings the window there.
  std::function<void(App&)> go;
};

inline core::TensorId tensor_of(const App& app, const std::string& name) {
  const std::optional<core::TensorId> tensor = app.state().session.graph().find(name);
  if (!tensor) throw std::runtime_error("no tensor " + name);
  return *tensor;
}

/// Behind the step that computes it.
inline void go_forward_to(App& app, const std::string& tensor) {
  app.apply(MoveCursor{app.state().session.graph().producer(tensor_of(app, tensor)).value_or(0) + 1});
}

/// Behind the step that completes its gradient.
inline void go_back_to(App& app, const std::string& tensor) {
  const core::GradientPlan gradients(app.state().session.graph());
  app.apply(MoveCursor{app.state().session.steps().backward_begin() +
                       gradients.writers(tensor_of(app, tensor)).back() + 1});
}

/// Behind the forward or backward step of a tensor, at a level.
using Way = void (*)(App&, const std::string&);
inline std::function<void(App&)> seen(Way way, std::string tensor, StageLevel level) {
  return [=](App& app) {
    way(app, tensor);
    app.apply(OpenPlace{.level = level});
  };
}

inline const std::vector<ReferenceView>& reference_views() {
  static const std::string kGerman = "the old man must help the children .",
                           kAnswer = "der alte Mann muss den Kindern helfen .";
  static const std::vector<ReferenceView> kViews = {
      {"model_gradients", "translation", kGerman, kAnswer,
       seen(go_back_to, "decoder.block0.cross_attention.weights", StageLevel::model)},
      {"block", "look-ups", "", "",
       seen(go_forward_to, "decoder.block0.self_attention.weights", StageLevel::block)},
      {"attention", "sentiment", "", "",
       seen(go_forward_to, "encoder.block0.self_attention.weights", StageLevel::part)},
      {"heads", "copying", "", "",
       seen(go_forward_to, "decoder.block1.self_attention.weights", StageLevel::heads)},
      {"matrix_held_cell", "copying", "", "",
       [](App& app) {
         go_forward_to(app, "decoder.block0.self_attention.scores");
         app.apply(LockCell{{tensor_of(app, "decoder.block0.self_attention.scores"), {0, 0, 3, 1}}});
       }},
      {"softmax_backward", "sentiment", "", "",
       [](App& app) {
         go_back_to(app, "encoder.block1.self_attention.masked_scores");
         app.apply(LockCell{{tensor_of(app, "encoder.block1.self_attention.masked_scores"),
                             {0, 1, 0, 10},
                             core::Quantity::gradient}});
       }},
      {"update", "look-ups", "", "",
       [](App& app) {
         std::size_t position = app.state().session.steps().backward_begin();
         const core::TensorId parameter = tensor_of(app, "decoder.block0.self_attention.w_query");
         while (position < app.state().session.n_steps() &&
                (app.state().session.steps()[position].phase != core::Phase::update ||
                 app.state().session.steps()[position].parameter != parameter))
           ++position;
         app.apply(MoveCursor{position + 1});
         app.apply(OpenPlace{.level = StageLevel::matrix});
       }},
      {"what_if_difference_dark", "sentiment", "", "", [](App& app) {
         app.apply(SetAppearance{Appearance::dark});
         go_forward_to(app, "encoder.block0.self_attention.weights");
         app.apply(SetCell{{tensor_of(app, "encoder.block0.self_attention.queries"), {0, 0, 1, 2}}, 1.5});
         app.apply(SetHead{{tensor_of(app, "encoder.block0.self_attention.head_output"), 1},
                           core::HeadMode::uniform});
         app.apply(SetDifference{Shows::yes});
         app.apply(OpenPlace{.level = StageLevel::matrix});
       }}};
  return kViews;
}

/// Throws with the error's key; platform.no_egl where nothing can be drawn.
inline platform::Image draw_reference(const ReferenceView& view) {
  const auto given = [](const std::string& text) {
    return text.empty() ? std::optional<std::string>() : std::optional<std::string>(text);
  };
  core::Result<App> app = App::make(open_bundled(view.model, given(view.text), given(view.target)));
  if (!app) throw std::runtime_error(app.error().key);
  view.go(*app);
  if (app->state().message) throw std::runtime_error(view.name + ": " + app->state().message->key);
  platform::Application calls;
  calls.prepare = [&](const platform::Frame& frame) { return app->prepare(frame); };
  calls.draw = [&](const platform::Frame& frame) { return app->draw(frame); };
  core::Result<platform::Image> image = platform::draw_headless({.width = 1280, .height = 720}, calls);
  if (!image) throw std::runtime_error(image.error().key);
  return *std::move(image);
}

inline std::filesystem::path reference_folder() {
  return headscope::tests::source_folder() / "tests/simulator/reference";
}

}  // namespace headscope::simulator::test
