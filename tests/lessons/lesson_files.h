// The shipped lessons, and a small valid lesson to spoil in one place at a time.
#pragma once

#include "lessons/check.h"
#include "lessons/lesson.h"
#include "lessons/library.h"
#include "tests/source_folder.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace headscope::test {

using headscope::tests::source_folder;
inline std::filesystem::path assets() {
  return source_folder() / "assets";
}
inline std::filesystem::path english_lessons() {
  return source_folder() / "lessons/content/en";
}

inline lessons::Lesson shipped(const std::string& name) {
  const auto path = lessons::find_lesson(english_lessons(), name);
  REQUIRE(path);
  auto lesson = lessons::load_lesson(*path, assets());
  REQUIRE(lesson);
  return *lesson;
}

inline core::Session session_of(const lessons::Lesson& lesson) {
  auto session = lessons::make_session(lesson);
  REQUIRE(session);
  return *std::move(session);
}

/// A valid lesson with one question of every kind but `head`, and an experiment. Line numbers below are its
/// own.
inline const std::string kSmallLesson = R"MD(# A small lesson

```toml lesson
sentence = "the cat sat on the mat"
inside = "decoder.block0.self_attention"

[model]
seed = 47130
vocabulary = "first.json"
d_model = 8
n_heads = 2
d_head = 4
embedding_deviation = 0.8
```

## Scores

```toml step
stop = "scores"
show = ["queries", "keys", "scores"]
light = "scores[on, sat]"
```

Look at the [[scores|score]] `= scores[on, sat]` of `= word(on)`.

```toml question
kind = "token"
ask = "Which?"
answer = "argmax(scores[mat, :])"
explain = "It is `= max(scores[mat, :])`."

[[mistake]]
when = "given == argmin(scores[mat, :])"
say = "The least."
```

```toml question
kind = "number"
ask = "How much?"
answer = "scaled_scores[on, sat]"
tolerance = 0.02
explain = "So."

[[mistake]]
when = "given == scores[on, sat] / d_head"
say = "The root."
```

## Weights

```toml step
stop = "weights"
```

The [[weights]].

```toml question
kind = "cell"
tensor = "scaled_scores"
ask = "Where?"
answer = "argmax(masked_scores)"
explain = "There."

[[mistake]]
when = "given == argmax(scaled_scores)"
say = "Hidden."
```

```toml question
kind = "statements"
ask = "Which hold?"
explain = "Rows."

[[statement]]
text = "Rows add up to 1."
when = "sum(weights[mat, :]) == 1"

[[statement]]
text = "Columns add up to 1."
when = "sum(weights[:, cat]) == 1"

[[mistake]]
when = "chosen(2)"
say = "The wrong axis."
```

```toml question
kind = "order"
ask = "In which order?"
items = ["scores", "masked_scores", "weights"]
explain = "Mask first."

[[mistake]]
when = "before(weights, masked_scores)"
say = "The mask after the softmax."
```

```toml experiment
task = "More."
goal = "weights[sat, cat] > 0.8"
hint = "Push."
```

```toml notes
text = "Slowly."
```
)MD";

/// The small lesson with the one place `old_text` replaced.
inline std::string spoiled(const std::string& old_text, const std::string& new_text) {
  std::string text = kSmallLesson;
  const std::size_t at = text.find(old_text);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old_text.size(), new_text);
}

inline lessons::Lesson small_lesson() {
  lessons::ParsedLesson parsed = lessons::parse_lesson(kSmallLesson, "01_small.md", assets());
  for (const auto& problem : parsed.problems) UNSCOPED_INFO(problem.error.where << " " << problem.error.key);
  REQUIRE(parsed.lesson);
  return *std::move(parsed.lesson);
}

}  // namespace headscope::test
