// The shipped tokens load in both variants; a token that is missing or malformed is named.
#include "simulator/theme.h"

#include "simulator/null_backend.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>
#include <string>

namespace {

using namespace headscope;
using namespace headscope::simulator;

std::string shipped_text() {
  std::ifstream stream(headscope::tests::source_folder() / "assets/theme.toml");
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// The shipped theme with one piece of its text replaced.
core::Result<Theme> changed(const std::string& from, const std::string& to,
                            Variant variant = Variant::light) {
  std::string text = shipped_text();
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  return parse_theme(text, "theme.toml", variant);
}

void check_error(const core::Result<Theme>& theme, const std::string& kind, const std::string& name) {
  REQUIRE_FALSE(theme);
  CHECK(theme.error().key == kind);
  CHECK(theme.error().values == std::vector<std::pair<std::string, std::string>>{{"name", name}});
}

}  // namespace

TEST_CASE("the shipped theme loads in both variants", "[simulator][theme]") {
  const Theme light = test::shipped_theme(Variant::light), dark = test::shipped_theme(Variant::dark);
  CHECK(light.colour.stage == IM_COL32(0xff, 0xff, 0xff, 0xff));
  CHECK(dark.colour.stage == IM_COL32(0x1b, 0x1e, 0x23, 0xff));
  CHECK(light.hue(Concept::queries) == IM_COL32(0x2d, 0x51, 0xe1, 0xff));
  CHECK(light.hue(Concept::gradient) == IM_COL32(0xb5, 0x3c, 0x7f, 0xff));
  CHECK(light.mark(Concept::weights) == "A");
  CHECK(light.size_of(TypeStyle::formula).size == 24);
  CHECK(light.size_of(TypeStyle::number, Sizing::presentation).size == 22);
  CHECK(light.line.gradient_dash.on == 5);
  CHECK(light.line.gradient_dash.off == 4);
  CHECK(light.numbers == lessons::NumberRules{});  // the defaults are the shipped theme's
}

TEST_CASE("an absent or malformed token is named", "[simulator][theme]") {
  check_error(changed("minus = \"−\"", ""), "theme.missing", "number_format.minus");
  check_error(changed("chrome = \"#f7f6f3\"", "chrome = \"#f7f6f\""), "theme.malformed",
              "light.background.chrome");
  check_error(changed("chrome = \"#f7f6f3\"", "chrome = 3"), "theme.malformed", "light.background.chrome");
  check_error(changed("gutter = 40", "gutter = \"wide\""), "theme.malformed", "space.gutter");
  check_error(changed("gutter = 40", "gutter = -1"), "theme.malformed", "space.gutter");
  check_error(changed("\"#448bd6\"", "\"blue\""), "theme.malformed", "light.map.signed");
  check_error(changed("gradient_dash = [5, 4]", "gradient_dash = [5]"), "theme.missing",
              "line.gradient_dash[1]");
  check_error(changed("version = 1", "version = 2"), "theme.malformed", "version");
  check_error(changed("minimum = 0.75", "minimum = 4.0"), "theme.malformed", "type.scale");
  check_error(changed("value_digits = 2", "value_digits = 2.5"), "theme.malformed",
              "number_format.value_digits");
}

TEST_CASE("a broken line is told with its number", "[simulator][theme]") {
  const core::Result<Theme> theme = parse_theme("version = 1\nspace = = 3\n", "theme.toml", Variant::light);
  REQUIRE_FALSE(theme);
  CHECK(theme.error().key == "theme.syntax");
  CHECK(theme.error().where == "theme.toml:2");
  const core::Result<Theme> none = load_theme("/no/such/theme.toml", Variant::dark);
  REQUIRE_FALSE(none);
  CHECK(none.error().key == "theme.unreadable");
}

TEST_CASE("maps pass through their stops and are linear in sRGB between them", "[simulator][theme]") {
  const Theme theme = test::shipped_theme();
  const std::vector<ImU32>& stops = theme.colour.signed_map;
  REQUIRE(stops.size() == 13);
  for (std::size_t i = 0; i < stops.size(); ++i) {
    const double value = -3 + 6 * static_cast<double>(i) / 12;
    CHECK(theme.signed_colour(value, 3) == stops[i]);
  }
  CHECK(theme.signed_colour(-100, 3) == stops.front());
  CHECK(theme.signed_colour(100, 3) == stops.back());
  // half-way between #448bd6 and #639ddc: 0x53.8, 0x94, 0xd9
  CHECK(theme.signed_colour(-2.75, 3) == IM_COL32(0x54, 0x94, 0xd9, 0xff));
  CHECK(theme.probability_colour(0) == theme.colour.probability_map.front());
  CHECK(theme.probability_colour(1) == theme.colour.probability_map.back());
}

TEST_CASE("head hues repeat past the last one", "[simulator][theme]") {
  const Theme theme = test::shipped_theme();
  CHECK(theme.head_hue(0) == theme.head_hue(8));
  CHECK(theme.head_hue(0) != theme.head_hue(7));
}

TEST_CASE("text contrast in the shipped theme is what its comments promise", "[simulator][theme]") {
  for (const Variant variant : {Variant::light, Variant::dark}) {
    const Theme theme = test::shipped_theme(variant);
    for (const ImU32 surface :
         {theme.colour.chrome, theme.colour.stage, theme.colour.inset, theme.colour.popup}) {
      CHECK(contrast(theme.colour.primary, surface) >= 7);
      CHECK(contrast(theme.colour.tertiary, surface) >= 4.5);
    }
    for (const ImU32 stop : theme.colour.signed_map) CHECK(contrast(theme.colour.cell, stop) >= 4.5);
    for (const ImU32 stop : theme.colour.probability_map) CHECK(contrast(theme.colour.cell, stop) >= 4.5);
  }
}

TEST_CASE("concept names go there and back", "[simulator][theme]") {
  for (std::size_t i = 0; i < kConcepts; ++i) {
    const auto hue = static_cast<Concept>(i);
    CHECK(concept_of_name(name_of(hue)) == hue);
  }
  CHECK_FALSE(concept_of_name("att"));
}
