// Words: every tensor has its sentences, and no sentence for a learner stands in C++ (the pseudo language).
#include "simulator/rich_text.h"
#include "tests/simulator/app_fixture.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string>

namespace headscope::simulator {
namespace {

using test::AppOnNull;

Words shipped_words() {
  core::Result<Words> words = Words::load(test::source_folder() / "assets", "en");
  REQUIRE(words);
  return *std::move(words);
}

core::Graph graph_with_everything() {
  core::ModelConfig config;
  config.vocab_size = 9;
  config.d_model = 4;
  config.n_heads = 2;
  config.d_head = 2;
  config.n_layers = 2;
  config.max_tokens = 4;
  config.bias = true;
  core::Result<core::Graph> graph = core::build_graph(config, "test");
  REQUIRE(graph);
  return *std::move(graph);
}

TEST_CASE("every tensor has a title, a name, a saying and an explanation; every operation a formula",
          "[simulator][words]") {
  const Words words = shipped_words();
  const core::Graph graph = graph_with_everything();
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
    const std::string key = text_key(graph.spec({index}));
    INFO(graph.spec({index}).name);
    CHECK(words.text.has("tensor." + key + ".title"));
    CHECK(words.text.has("tensor." + key + ".name"));
    CHECK(words.text.has("tensor." + key + ".said"));
    CHECK(words.text.has("explain." + key));
    if (!graph.producer({index})) continue;
    CHECK(words.formulas.has(key + ".short"));
    CHECK(words.formulas.has(key + ".term"));
    if (graph.spec({index}).name != "decoder.token_vectors") CHECK(words.formulas.has(key + ".formula"));
    if (words.formulas.has(key + ".formula")) CHECK(parse_formula(words.formulas.text(key + ".formula")));
  }
}

bool has_letter(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
}

/// What the catalogue gave in the pseudo language bears its brackets, or is a part of such a string that was
/// wrapped or styled: then its plain letters are accented away, and only those without an accent (j, q, v, x
/// …) remain.
bool is_pseudo(std::string_view text) {
  static const std::set<char> kUnaccented = {'j', 'q', 'v', 'x', 'B', 'D', 'F', 'H', 'J',
                                             'K', 'L', 'M', 'P', 'Q', 'V', 'X', 'Y', 'Z'};
  return std::ranges::all_of(text, [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) == 0 || kUnaccented.contains(c);
  });
}

TEST_CASE("in the pseudo language every drawn sentence comes from the text file", "[simulator][words]") {
  for (const char* lesson : {"1", "2"}) {
    Words words = shipped_words();
    words.text = words.text.pseudo();
    core::Result<App> made = App::make(test::open_shipped(lesson), std::move(words));
    REQUIRE(made);
    AppOnNull app(*std::move(made), {1600, 900});
    app.settle();
    app.type("?");
    for (std::size_t step = 0; step < app.view().step.n_steps; ++step) {
      if (step == 1) app.type("?");
      std::size_t n_catalog = 0;
      for (const TextEntry& entry : app.record.entries) {
        if (entry.style.source != Source::catalog || !has_letter(entry.full)) continue;
        INFO("lesson " << lesson << " step " << step + 1 << ": \"" << entry.full << "\" role " << entry.role);
        CHECK(is_pseudo(entry.full));
        ++n_catalog;
      }
      CHECK(n_catalog > 5);
      app.press(ImGuiKey_Space);
    }
  }
}

}  // namespace
}  // namespace headscope::simulator
