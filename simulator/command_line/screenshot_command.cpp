// headscope screenshot: the window's picture, drawn with no display.
#include "core/printable.h"
#include "core/steps.h"
#include "simulator/actions.h"
#include "simulator/app.h"
#include "simulator/command_line/cell_argument.h"
#include "simulator/command_line/commands.h"
#include "simulator/command_line/open_app.h"
#include "simulator/platform/headless.h"
#include "simulator/platform/png.h"

#include <cmath>
#include <ostream>
#include <string>
#include <utility>

namespace headscope::simulator {
namespace {

std::string percent(float scale) {
  return std::to_string(std::lround(scale * 100));
}

/// The first position of the cursor at which the tensor, or its gradient, is complete.
core::Result<std::size_t> position_of(const std::string& name, bool is_gradient,
                                      const core::Session& session) {
  const core::Result<core::TensorId> tensor = tensor_argument(session.graph(), name, "--at");
  if (!tensor) return tensor.error();
  if (!is_gradient) {
    const std::optional<std::size_t> producer = session.graph().producer(*tensor);
    return producer ? *producer + 1 : 0;
  }
  const core::GradientPlan gradients(session.graph());
  if (!gradients.has_gradient(*tensor))
    return core::Error{.key = "explain.no_gradient", .where = "--at", .values = {{"tensor", name}}};
  if (!session.has_gold()) return core::Error{.key = "open.no_gold", .where = "--gradient"};
  return session.steps().backward_begin() + gradients.writers(*tensor).back() + 1;
}

core::Result<void> go_to(const PicturePlace& place, App& app) {
  std::optional<std::size_t> position = place.position;
  if (place.at) {
    const core::Result<std::size_t> found = position_of(*place.at, place.is_gradient, app.state().session);
    if (!found) return found.error();
    position = *found;
  }
  if (position) {
    if (const std::size_t last = app.state().session.n_steps(); *position > last)
      return core::Error{.key = "explain.no_such_step",
                         .where = "--position",
                         .values = {{"step", std::to_string(*position)}, {"last", std::to_string(last)}}};
    app.apply(MoveCursor{*position});
  }
  if (place.level) app.apply(OpenPlace{.level = *place.level});
  return {};
}

}  // namespace

core::Result<void> run(const ScreenshotCommand& command, const CommandContext& context) {
  core::Result<AppState> state =
      command.open ? open_what(*command.open, context)
                   : open_lesson(context.data.assets, lesson_folder(context), command.lesson);
  if (!state) return state.error();
  core::Result<App> app = App::make(*std::move(state), context.language);
  if (!app) return app.error();
  const std::size_t n_steps = app->state().has_lesson() ? app->state().lesson().steps.size() : 0;
  if (!command.open && command.step > n_steps)
    return core::Error{
        .key = "lesson.no_such_step",
        .where = command.lesson,
        .values = {{"step", std::to_string(command.step)}, {"count", std::to_string(n_steps)}}};
  if (command.dark) app->apply(SetAppearance{Appearance::dark});
  if (command.presentation) app->apply(SetLayout{Layout::presentation});
  const double text_scale = command.text_percent / 100.0;
  if (const Scale& limits = app->theme().scale; text_scale < limits.minimum || text_scale > limits.maximum)
    return core::Error{.key = "arguments.value",
                       .where = "",
                       .values = {{"option", "--text-scale"},
                                  {"given", std::to_string(command.text_percent)},
                                  {"allowed", percent(limits.minimum) + " … " + percent(limits.maximum)}}};
  app->apply(SetTextScale{text_scale});
  if (!command.open) app->apply(GoToStep{command.step - 1});
  if (core::Result<void> gone = go_to(command.place, *app); !gone) return gone;
  const core::Result<platform::Image> image =
      platform::draw_headless({.width = command.width, .height = command.height}, calls_of(*app));
  if (!image) return image.error();
  if (core::Result<void> written = platform::write_png(command.out, *image); !written) return written;
  context.out << context.text.text("command.screenshot.done",
                                   {{"path", core::printable(command.out.string())}})
              << "\n";
  return {};
}

}  // namespace headscope::simulator
