// Wrapping, links, and the formula markup.
#include "simulator/rich_text.h"

#include "simulator/null_backend.h"

#include <catch2/catch.hpp>

#include <string>

namespace {

using namespace headscope;
using namespace headscope::simulator;

/// All pieces of a block, a line in each element.
std::vector<std::string> lines_of(const RichBlock& block) {
  std::vector<std::string> lines(block.n_lines);
  const float height = block.height / static_cast<float>(block.n_lines);
  for (const RichPiece& piece : block.pieces)
    lines[static_cast<std::size_t>(piece.box.min.y / height + 0.5F)] += piece.text;
  return lines;
}

}  // namespace

TEST_CASE("formula markup gives hues, subscripts and superscripts", "[simulator][rich]") {
  const auto runs = parse_formula("{scores:s}_{ij} = Σ_{c} {keys:k}^{T} w_query \\{x\\}");
  REQUIRE(runs);
  REQUIRE(runs->size() == 8);
  CHECK((*runs)[0].text == "s");
  CHECK((*runs)[0].hue == Concept::scores);
  CHECK((*runs)[0].weight == Weight::semibold);
  CHECK((*runs)[1].text == "ij");
  CHECK((*runs)[1].hue == Concept::scores);
  CHECK((*runs)[1].script == Script::subscript);
  CHECK((*runs)[2].text == " = Σ");
  CHECK((*runs)[3].hue == Concept::none);  // of the plain Σ before it
  CHECK((*runs)[6].script == Script::superscript);
  CHECK((*runs)[7].text == " w_query {x}");
}

TEST_CASE("broken markup is an error, not a guess", "[simulator][rich]") {
  for (const char* markup : {"{scores:s", "x_{i", "a}", "{s}", "{scores:{s}}"}) {
    CAPTURE(markup);
    const auto runs = parse_formula(markup);
    REQUIRE_FALSE(runs);
    CHECK(runs.error().key == "markup.brace");
    CHECK(runs.error().where == markup);
  }
  const auto runs = parse_formula("{attention:a}");
  REQUIRE_FALSE(runs);
  CHECK(runs.error().key == "markup.concept");
  CHECK(runs.error().values[0].second == "attention");
}

TEST_CASE("words within a subscript keep their space", "[simulator][rich]") {
  test::Look look;
  look.frame([&](Ui& ui) {
    const auto runs = parse_formula("{weights:a}_{not yet} + 1");
    REQUIRE(runs);
    const RichBlock block = lay_out(ui.painter, *runs, {.type = TypeStyle::formula});
    draw(ui.painter, {0, 0}, block);
    CHECK(look.record.find("not yet") != nullptr);
  });
}

TEST_CASE("text wraps at spaces and loses none of its words", "[simulator][rich]") {
  test::Look look;
  look.frame([&](Ui& ui) {
    const std::string text = "Every word has written a query and a key, four numbers each.";
    for (float width = 90; width < 500; width += 37) {
      const RichBlock block = lay_out(ui.painter, {{.text = text}}, {.width = width});
      std::string joined;
      for (const std::string& line : lines_of(block)) joined += (joined.empty() ? "" : " ") + line;
      CHECK(joined == text);
      CHECK(block.width <= width + 0.5F);
      CHECK(block.height == Approx(static_cast<float>(block.n_lines) * 25));
    }
  });
}

TEST_CASE("punctuation after a styled word stays on its line", "[simulator][rich]") {
  test::Look look;
  look.frame([&](Ui& ui) {
    for (float width = 60; width < 260; width += 7) {
      const RichBlock block =
          lay_out(ui.painter,
                  {{.text = "Written a "},
                   {.text = "key", .weight = Weight::semibold, .hue = Concept::keys, .tag = true},
                   {.text = ", four numbers"}},
                  {.width = width});
      for (const std::string& line : lines_of(block)) CHECK_FALSE(line.starts_with(","));
    }
  });
}

TEST_CASE("a word wider than the line is cut between characters", "[simulator][rich]") {
  test::Look look;
  look.frame([&](Ui& ui) {
    const std::string word = "Donaudampfschifffahrtsgesellschaftskapitän";
    const RichBlock block = lay_out(ui.painter, {{.text = word}}, {.width = 80});
    std::string joined;
    for (const std::string& line : lines_of(block)) joined += line;
    CHECK(joined == word);
    CHECK(block.n_lines > 2);
    CHECK(block.width <= 80.5F);
  });
}

TEST_CASE("a newline begins a line, and text laid out in its own width does not wrap", "[simulator][rich]") {
  test::Look look;
  look.frame([&](Ui& ui) {
    CHECK(lines_of(lay_out(ui.painter, {{.text = "one\ntwo three"}}, {})) ==
          std::vector<std::string>{"one", "two three"});
    const RichBlock free = lay_out(ui.painter, {{.text = "two three four"}}, {});
    CHECK(lay_out(ui.painter, {{.text = "two three four"}}, {.width = free.width}).n_lines == 1);
  });
}

TEST_CASE("drawing tells where links are and uses the hue", "[simulator][rich]") {
  test::Look look;
  std::vector<LinkBox> links;
  look.frame([&](Ui& ui) {
    const RichBlock block = lay_out(
        ui.painter,
        {{.text = "of the "}, {.text = "score", .hue = Concept::scores, .link = "scores"}, {.text = "."}},
        {});
    links = draw(ui.painter, {100, 200}, block);
  });
  REQUIRE(links.size() == 1);
  CHECK(links[0].link == "scores");
  const TextEntry* word = look.record.find("score");
  REQUIRE(word != nullptr);
  CHECK(word->style.colour == look.theme.hue(Concept::scores));
  CHECK(links[0].box.contains(word->rect.centre()));
}
