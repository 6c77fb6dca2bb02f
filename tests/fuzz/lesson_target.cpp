// Lessons: the parser, then the checker, which holds every name and expression against the lesson's own
// model.
#include "lessons/check.h"
#include "lessons/lesson.h"
#include "tests/fuzz/targets.h"
#include "tests/source_folder.h"

#include <cstdint>

namespace headscope::fuzz {
namespace {

/// A lesson may ask for a model of up to 50 million numbers, which the checker makes and runs. The fuzzer
/// keeps to small ones: their bytes and time say something about the text.
bool has_small_model(const lessons::Lesson& lesson) {
  const core::ModelConfig& config = lesson.model.config;
  return config.n_layers <= 2 && config.max_tokens <= 64 && config.d_model <= 64 &&
         config.n_heads * config.d_head <= 64;
}

}  // namespace

void try_lesson(std::string_view bytes) {
  const std::filesystem::path path = "01_bytes.md";
  const std::filesystem::path assets = tests::source_folder() / "assets";
  const lessons::ParsedLesson parsed = lessons::parse_lesson(bytes, path, assets);
  promise(parsed.lesson.has_value() == parsed.problems.empty(), "there is a lesson or a problem");
  if (!parsed.lesson || !has_small_model(*parsed.lesson)) return;
  for (const lessons::Problem& problem : lessons::check_lesson_text(bytes, path, assets))
    promise(problem.line >= 1, "a problem has its line");
}

}  // namespace headscope::fuzz
