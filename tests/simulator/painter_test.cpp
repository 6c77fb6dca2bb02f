// Fonts and the pencil: tabular digits, signs, shortening, the record.
#include "simulator/painter.h"

#include "simulator/null_backend.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace headscope;
using namespace headscope::simulator;

}  // namespace

TEST_CASE("digits, plus and minus are equally wide in every weight", "[simulator][fonts]") {
  test::Look look;
  look.frame([&](Ui& ui) {
    for (const Weight weight : {Weight::regular, Weight::semibold, Weight::bold}) {
      const TextStyle style{.type = TypeStyle::number, .weight = weight};
      const float zero = ui.painter.width_of("0", style);
      CHECK(zero > 5);
      for (const char* sign : {"1", "4", "7", "9", "+", "−"}) {
        CAPTURE(sign);
        CHECK(ui.painter.width_of(sign, style) == Approx(zero));
      }
    }
  });
}

TEST_CASE("every sign that the look uses is baked", "[simulator][fonts]") {
  test::Look look;
  const std::string signs = "ΣαΩ√∂∞−×·÷≤≥≈≠←→↑↓²³ᵀ₀₉▲✓✕…±äßé";
  look.fonts.want(signs);
  CHECK_FALSE(look.fonts.needs_rebuild());
  for (const TypeStyle type : {TypeStyle::formula, TypeStyle::body, TypeStyle::label, TypeStyle::small}) {
    const ImFont& font = *look.fonts.face(type, Weight::of_style).font;
    for (const ImWchar sign :
         std::initializer_list<ImWchar>{0x03A3, 0x221A, 0x2202, 0x221E, 0x2212, 0x2190, 0x2713, 0x1D40}) {
      CAPTURE(static_cast<int>(sign));
      CHECK(font.FindGlyphNoFallback(sign) != nullptr);
    }
  }
}

TEST_CASE("other characters are baked when they are wanted", "[simulator][fonts]") {
  test::Look look;
  const auto has = [&] {
    return look.fonts.face(TypeStyle::body, Weight::regular).font->FindGlyphNoFallback(0x0436) != nullptr;
  };
  CHECK_FALSE(has());
  look.frame([&](Ui& ui) { ui.painter.text({10, 10}, "уже 漢", {.source = Source::token}); });
  REQUIRE(look.fonts.needs_rebuild());
  REQUIRE(look.fonts.rebuild(*ImGui::GetIO().Fonts, look.theme, look.fonts.request()));
  CHECK(has());
  // no font here has Chinese: asked for once, then left alone
  look.frame([&](Ui& ui) { ui.painter.text({10, 10}, "уже 漢", {.source = Source::token}); });
  CHECK_FALSE(look.fonts.needs_rebuild());
}

TEST_CASE("an em of the theme is an em on the screen, at every scale", "[simulator][fonts]") {
  for (const float scale : {0.75F, 1.0F, 2.0F}) {
    test::Look look({1600, 900}, {.text_scale = scale});
    const Face& face = look.fonts.face(TypeStyle::body, Weight::regular);
    CHECK(face.em == Approx(15 * scale));
    // Inter's line is 1.21 em
    CHECK(face.size == Approx(face.em * 1.21).epsilon(0.01));
  }
}

TEST_CASE("a font folder without fonts is an error that names the file", "[simulator][fonts]") {
  test::NullBackend backend;
  const Theme theme = test::shipped_theme();
  const core::Result<Fonts> fonts = Fonts::build(*ImGui::GetIO().Fonts, theme, {}, {{"/no/such/folder"}, {}});
  REQUIRE_FALSE(fonts);
  CHECK(fonts.error().key == "fonts.missing");
  CHECK(fonts.error().where == "/no/such/folder");
}

TEST_CASE("the record tells text, place, clip, source and role", "[simulator][painter]") {
  test::Look look;
  look.frame([&](Ui& ui) {
    ui.painter.text({100, 50}, "2.89", {.type = TypeStyle::number, .source = Source::number, .role = "sum"});
    ui.painter.push_clip({{0, 0}, {120, 100}});
    ui.painter.text({100, 80}, "the cat", {.source = Source::token});
    ui.painter.pop_clip();
  });
  REQUIRE(look.record.entries.size() == 2);
  const TextEntry& sum = look.record.entries[0];
  CHECK(sum.text == "2.89");
  CHECK(sum.role == "sum");
  CHECK(sum.style.source == Source::number);
  CHECK(sum.rect.min.x == 100);
  CHECK(sum.rect.height() == 20);
  CHECK(sum.style.colour == look.theme.colour.primary);
  CHECK(look.record.entries[1].clip.max.x == 120);
  CHECK(look.record.entries[1].rect.max.x > 120);  // so a test can see that it is cut off
}

TEST_CASE("text that is too long ends in … and the record keeps all of it", "[simulator][painter]") {
  test::Look look;
  const std::string path = "decoder.block0.self_attention.keys";
  look.frame([&](Ui& ui) {
    for (const float width : {40.0F, 90.0F, 150.0F}) ui.painter.fit_text({10, 10}, path, width, {});
    ui.painter.fit_text({10, 10}, path, 1000, {});
    ui.painter.fit_text({10, 10}, "äöüäöü", 30, {});
  });
  for (std::size_t i = 0; i < 3; ++i) {
    const TextEntry& entry = look.record.entries[i];
    CHECK(entry.text.ends_with("…"));
    CHECK(entry.full == path);
    CHECK(entry.rect.width() <= std::vector<float>{40, 90, 150}[i]);
  }
  CHECK(look.record.entries[3].text == path);
  const std::string& cut = look.record.entries[4].text;
  CHECK(cut.size() % 2 == 1);  // whole two-byte letters and the three bytes of …
  CHECK(cut.ends_with("…"));
}

TEST_CASE("alignment puts text where it says", "[simulator][painter]") {
  test::Look look;
  const Rect box = {{100, 100}, {300, 140}};
  look.frame([&](Ui& ui) {
    ui.painter.text_in(box, "mat", {}, Align::left);
    ui.painter.text_in(box, "mat", {}, Align::centre);
    ui.painter.text_in(box, "mat", {}, Align::right);
    ui.painter.text_to({300, 100}, "mat", {});
  });
  const auto rect = [&](std::size_t i) { return look.record.entries[i].rect; };
  CHECK(rect(0).min.x == 100);
  CHECK(rect(1).centre().x == Approx(200).margin(0.6));  // whole pixels
  CHECK(rect(1).centre().y == Approx(120).margin(0.6));
  CHECK(rect(2).max.x == Approx(300).margin(0.6));
  CHECK(rect(3).max.x == Approx(300).margin(0.6));
}

TEST_CASE("a text is shortened to the most characters that have room", "[simulator][fonts]") {
  test::Look look;
  look.frame([&](Ui& ui) {
    const TextStyle style{.type = TypeStyle::body};
    // of one, two and three bytes
    const std::vector<std::string> characters = {"d", "i", "e", " ", "Ü", "ß", "ä", "→", "w", "√"};
    std::string text;
    for (int n = 0; n < 40; ++n) text += characters[static_cast<std::size_t>(n * 7 % 10)];
    const float whole = ui.painter.width_of(text, style);
    CHECK(ui.painter.fitted(text, whole, style) == text);
    for (float width = 0; width < whole - 1; width += 2.5F) {
      CAPTURE(width);
      std::string longest = "…", begin;
      for (int n = 0; n < 40; ++n) {
        begin += characters[static_cast<std::size_t>(n * 7 % 10)];
        if (begin != text && ui.painter.width_of(begin + "…", style) <= width) longest = begin + "…";
      }
      CHECK(ui.painter.fitted(text, width, style) == longest);
    }
  });
}
