// Expressions of lessons: any text in a session of its own, with an answer given, as the checker evaluates
// them.
#include "lessons/expression.h"
#include "lessons/lesson.h"
#include "tests/fuzz/targets.h"
#include "tests/source_folder.h"

#include <optional>
#include <utility>

namespace headscope::fuzz {
namespace {

constexpr std::string_view kLesson = R"(# A small model

```toml lesson
sentence = "the cat sat on the mat"
inside = "decoder.block0.self_attention"

[model]
seed = 1
vocabulary = "first.json"
d_model = 4
n_heads = 2
max_tokens = 8
```

## One step

```toml step
stop = "scores"
```

A sentence.
)";

core::Session make_session() {
  const lessons::ParsedLesson parsed =
      lessons::parse_lesson(kLesson, "01_small.md", tests::source_folder() / "assets");
  promise(parsed.lesson.has_value(), "the fuzzer's own lesson is right");
  core::Result<core::Session> session = lessons::make_session(*parsed.lesson);
  promise(session.has_value(), "the fuzzer's own model is right");
  return *std::move(session);
}

}  // namespace

void try_expression(std::string_view bytes) {
  const auto parsed = lessons::parse_expression(bytes);
  const auto* expression = std::get_if<lessons::Expression>(&parsed);
  if (!expression) return;
  promise(!expression->nodes.empty(), "an expression has a root");
  lessons::is_literal(*expression);
  static_cast<void>(lessons::mentioned_words(*expression));

  static const core::Session session = make_session();  // never changed: made once, for the fuzzer's pace
  const std::vector<std::string> words = lessons::session_words(session);
  const lessons::Scope scope{.session = session,
                             .inside = "decoder.block0.self_attention",
                             .lesson_words = words,
                             .given = lessons::Value(0.5),
                             .tolerance = 0.1};
  static_cast<void>(lessons::referenced_cell(*expression, scope));
  const auto result = lessons::evaluate(*expression, scope);
  if (const auto* value = std::get_if<lessons::Value>(&result)) {
    promise(!lessons::value_text(*value, session).empty(), "a value is shown as something");
  } else {
    const int column = std::get<lessons::ExpressionError>(result).column;
    promise(column >= 1 && column <= static_cast<int>(bytes.size()) + 1,
            "an error is at a place of the text");
  }
}

}  // namespace headscope::fuzz
