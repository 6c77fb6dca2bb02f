// A picture drawn with no display: its heat-map cells have the colours that the model's numbers demand.
#include "simulator/platform/headless.h"
#include "simulator/tensor_facts.h"
#include "simulator/widgets/scale_bar.h"
#include "tests/simulator/app_fixture.h"

#include <cstdlib>
#include <map>
#include <set>

namespace headscope::simulator {
namespace {

struct Picture {
  platform::Image image;
  TextRecord record;

  ImU32 pixel(ImVec2 at) const {
    const auto place = (static_cast<std::size_t>(at.y) * static_cast<std::size_t>(image.width) +
                        static_cast<std::size_t>(at.x)) *
                       4;
    return IM_COL32(image.rgba[place], image.rgba[place + 1], image.rgba[place + 2], image.rgba[place + 3]);
  }
};

Picture draw_picture(App& app) {
  Picture picture;
  platform::Application calls;
  calls.prepare = [&](const platform::Frame& frame) { return app.prepare(frame); };
  calls.draw = [&](const platform::Frame& frame) { return app.draw(frame, &picture.record); };
  core::Result<platform::Image> image = platform::draw_headless({.width = 1600, .height = 900}, calls);
  if (!image) throw std::runtime_error(image.error().key);
  picture.image = *std::move(image);
  return picture;
}

int largest_difference(ImU32 a, ImU32 b) {
  int largest = 0;
  for (int shift = 0; shift < 24; shift += 8)
    largest = std::max(largest,
                       std::abs(static_cast<int>((a >> shift) & 255) - static_cast<int>((b >> shift) & 255)));
  return largest;
}

TEST_CASE("a screenshot's cells have the colours of their numbers, in both themes",
          "[simulator][screenshot][opengl]") {
  for (const Appearance appearance : {Appearance::light, Appearance::dark}) {
    core::Result<App> app = App::make(test::open_shipped("2"));
    REQUIRE(app);
    app->apply(SetAppearance{appearance});
    app->apply(GoToStep{1});  // the scores alone
    const Picture picture = draw_picture(*app);

    std::set<ImU32> colours;
    for (int x = 0; x < picture.image.width; x += 7)
      for (int y = 0; y < picture.image.height; y += 7)
        colours.insert(picture.pixel({static_cast<float>(x), static_cast<float>(y)}));
    CHECK(colours.size() > 20);

    const StageItem& item = app->view().stage.items.front();
    std::map<std::string, double> by_number;
    double largest = 0;
    for (std::int64_t row = 0; row < item.slice.rows.size; ++row)
      for (std::int64_t column = 0; column < item.slice.columns.size; ++column) {
        const double value = app->state().trace().value(item.slice.tensor, item.slice.cell_at(row, column));
        by_number[lessons::format_number(value, lessons::NumberKind::value)] = value;
        largest = std::max(largest, std::abs(value));
      }
    int n_checked = 0;
    for (const TextEntry* cell : picture.record.with_role("cell")) {
      if (cell->style.weight == Weight::bold) continue;  // the lit cell has a frame
      INFO("cell " << cell->text);
      REQUIRE(by_number.contains(cell->text));
      const ImU32 demanded = app->theme().signed_colour(by_number.at(cell->text), round_scale(largest));
      const ImU32 drawn = picture.pixel({cell->rect.min.x - 3, cell->rect.centre().y});
      // equal displayed numbers may differ by half a unit of the last digit: a step or two of a channel
      CHECK(largest_difference(drawn, demanded) <= 3);
      ++n_checked;
    }
    CHECK(n_checked >= 30);
  }
}

}  // namespace
}  // namespace headscope::simulator
