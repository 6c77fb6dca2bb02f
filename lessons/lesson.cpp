// Reads a lesson: front matter, then a step for every "## " heading.
#include "lessons/lesson.h"

#include "core/config_names.h"
#include "core/tokenizer.h"
#include "lessons/lesson_blocks.h"
#include "lessons/lesson_question.h"
#include "lessons/library.h"
#include "lessons/table_reader.h"
#include "lessons/text_file.h"

#include <algorithm>
#include <array>
#include <utility>

namespace headscope::lessons {
namespace {

/// Reads a block's TOML, or reports its syntax error.
std::optional<TomlNode> parse_block(const FencedBlock& block, const std::string& file, Problems& problems) {
  std::variant<TomlNode, TomlSyntaxError> parsed = parse_toml(block.text, block.line + 1);
  if (auto* node = std::get_if<TomlNode>(&parsed)) return std::move(*node);
  const auto& error = std::get<TomlSyntaxError>(parsed);
  add_problem(problems, file, error.line, error.column, "toml.syntax", {{"message", error.message}});
  return std::nullopt;
}

/// The value of a key, spelled as in config.json: one of `allowed`, whose first is the fallback.
template <class E, std::size_t n>
E read_name(TableReader& reader, std::string_view key, const std::array<E, n>& allowed) {
  const PlacedText written = reader.placed_text(key, Presence::optional);
  if (written.line == 0) return allowed.front();
  std::array<std::string_view, n> names;
  for (std::size_t place = 0; place < n; ++place) {
    names[place] = core::spelling(allowed[place]);
    if (names[place] == written.text) return allowed[place];
  }
  reader.problem(written.line, written.column, "lesson.unknown_value",
                 {{"key", std::string(key)}, {"value", written.text}, {"known", core::join(names)}});
  return allowed.front();
}

std::optional<core::Vocabulary> read_vocabulary(TableReader& reader, const std::filesystem::path& assets) {
  const PlacedText written = reader.placed_text("vocabulary", Presence::required);
  if (written.line == 0) return std::nullopt;
  const auto refuse = [&](const std::string& key, std::vector<std::pair<std::string, std::string>> values) {
    reader.problem(written.line, written.column, key, std::move(values));
    return std::nullopt;
  };
  const std::filesystem::path name(written.text);
  if (name.has_parent_path() || written.text == "..")
    return refuse("lesson.vocabulary_name", {{"name", written.text}});
  const std::filesystem::path path = assets / "vocabulary" / name;
  const core::Result<std::string> text = read_text_file(path);
  if (!text)
    return refuse("lesson.vocabulary_missing",
                  {{"name", written.text}, {"folder", path.parent_path().string()}});
  core::Result<core::Vocabulary> vocabulary = core::Vocabulary::parse(*text, path.string());
  if (!vocabulary) return refuse(vocabulary.error().key, vocabulary.error().values);
  return std::move(*vocabulary);
}

void read_model(const TomlNode& node, const std::string& file, const std::filesystem::path& assets,
                Lesson& lesson, Problems& problems) {
  using core::Architecture, core::Objective, core::Positions;
  const std::size_t n_before = problems.size();
  TableReader reader(node, "model", node.line, file, problems);
  core::ModelConfig& config = lesson.model.config;
  config.architecture =
      read_name(reader, "architecture", std::array{Architecture::decoder, Architecture::encoder});
  config.objective = read_name(reader, "objective", std::array{Objective::language_model, Objective::none});
  config.positions =
      read_name(reader, "positions", std::array{Positions::learned, Positions::sinusoidal, Positions::none});
  config.d_model = reader.whole("d_model", 0, Presence::required);
  config.n_heads = reader.whole("n_heads", 1, Presence::required);
  const bool is_split = !node.find("d_head");  // d_model is split between the heads
  config.d_head = reader.whole("d_head", config.n_heads > 0 ? config.d_model / config.n_heads : 0);
  config.n_layers = reader.whole("n_layers", 1);
  config.max_tokens = reader.whole("max_tokens", 64);
  config.bias = reader.truth("bias").value_or(false);
  config.scale_scores = reader.truth("scale_scores").value_or(true);
  config.tokenizer =
      core::TokenizerConfig{.kind = "word", .lower_case = reader.truth("lower_case").value_or(false)};
  const double deviation = reader.number("embedding_deviation", 1.0);
  if (!(deviation >= 0 && deviation <= core::kLargestDeviation))
    reader.problem(node.line, 1, "lesson.embedding_deviation",
                   {{"highest", std::to_string(static_cast<int>(core::kLargestDeviation))}});
  lesson.model.embedding_deviation = deviation;
  const std::int64_t seed = reader.whole("seed", 0, Presence::required);
  if (seed < 0) reader.problem(node.line, 1, "lesson.seed");
  lesson.model.seed = static_cast<std::uint64_t>(seed);
  if (std::optional<core::Vocabulary> vocabulary = read_vocabulary(reader, assets))
    lesson.model.vocabulary = std::move(*vocabulary);
  reader.finish();
  config.vocab_size = lesson.model.vocabulary.size();
  if (problems.size() > n_before) return;
  const core::Result<void> valid = core::validate(config, file);
  if (!valid) return reader.problem(node.line, 1, valid.error().key, valid.error().values);
  if (is_split && config.d_model % config.n_heads != 0)
    reader.problem(
        node.line, 1, "config.d_head",
        {{"d_model", std::to_string(config.d_model)}, {"n_heads", std::to_string(config.n_heads)}});
}

/// The words of the sentence as they are fed, so that a word's place here is its position in the model.
std::vector<std::string> fed_words(const Lesson& lesson) {
  std::vector<std::string> words =
      core::split_words(lesson.sentence, lesson.model.config.tokenizer.value_or(core::TokenizerConfig{}));
  if (const std::optional<std::int32_t> begin = lesson.model.vocabulary.begin())
    words.insert(words.begin(), lesson.model.vocabulary.token(*begin));
  return words;
}

void read_front_matter(const Section& section, const std::string& file, const std::filesystem::path& assets,
                       Lesson& lesson, Problems& problems) {
  const FencedBlock* front = nullptr;
  for (const FencedBlock& block : section.blocks) {
    if (block.kind != "lesson")
      add_problem(problems, file, block.line, 1, "lesson.block_outside_step", {{"kind", block.kind}});
    else if (front)
      add_problem(problems, file, block.line, 1, "lesson.block_twice", {{"kind", block.kind}});
    else
      front = &block;
  }
  if (!front) return add_problem(problems, file, section.line, 1, "lesson.no_front_matter");
  const std::optional<TomlNode> node = parse_block(*front, file, problems);
  if (!node) return;
  TableReader reader(*node, "lesson", front->line, file, problems);
  const PlacedText sentence = reader.placed_text("sentence", Presence::required);
  lesson.sentence = sentence.text;
  lesson.sentence_line = std::max(sentence.line, 1);
  const PlacedText inside = reader.placed_text("inside", Presence::optional);
  lesson.inside = inside.text;
  lesson.inside_line = std::max(inside.line, 1);
  const TomlNode* model = reader.find("model", Presence::required);
  if (model && model->get<TomlTable>())
    read_model(*model, file, assets, lesson, problems);
  else if (model)
    reader.problem(model->line, model->column, "lesson.expects_table",
                   {{"key", "model"}, {"table", "lesson"}});
  reader.finish();
  lesson.words = fed_words(lesson);
}

void read_step_block(TableReader& reader, Step& step) {
  step.stop = reader.placed_text("stop", Presence::required);
  step.show = reader.texts("show", Presence::optional);
  step.head = reader.whole("head", 0);
  step.light = reader.expression("light", Presence::optional);
  reader.finish();
}

void read_block(const FencedBlock& block, const std::string& file, Step& step, Problems& problems) {
  static constexpr std::array<std::string_view, 4> kKinds = {"step", "question", "experiment", "notes"};
  if (block.kind == "lesson") return add_problem(problems, file, block.line, 1, "lesson.front_matter_place");
  if (std::find(kKinds.begin(), kKinds.end(), block.kind) == kKinds.end())
    return add_problem(problems, file, block.line, 1, "lesson.unknown_block", {{"kind", block.kind}});
  const std::optional<TomlNode> node = parse_block(block, file, problems);
  if (!node) return;
  TableReader reader(*node, block.kind, block.line, file, problems);
  if (block.kind == "question") {
    step.questions.push_back(read_question(reader));
  } else if (block.kind == "experiment") {
    step.experiments.push_back(read_experiment(reader));
  } else if (block.kind == "notes") {
    step.notes = reader.markdown("text", Presence::required);
    reader.finish();
  } else {
    read_step_block(reader, step);
  }
}

Step read_step(const Section& section, const std::string& file, Problems& problems) {
  Step step;
  step.title = section.title;
  step.line = section.line;
  step.prose = parse_markdown(section.prose, section.line + 1);
  if (step.prose.empty())
    add_problem(problems, file, section.line, 1, "lesson.no_prose", {{"title", section.title}});
  int n_step_blocks = 0, n_notes = 0;
  for (const FencedBlock& block : section.blocks) {
    const bool is_second =
        (block.kind == "step" && ++n_step_blocks > 1) || (block.kind == "notes" && ++n_notes > 1);
    if (is_second)
      add_problem(problems, file, block.line, 1, "lesson.block_twice", {{"kind", block.kind}});
    else
      read_block(block, file, step, problems);
  }
  if (n_step_blocks == 0)
    add_problem(problems, file, section.line, 1, "lesson.step_block_missing", {{"title", section.title}});
  return step;
}

}  // namespace

ParsedLesson parse_lesson(std::string_view text, const std::filesystem::path& path,
                          const std::filesystem::path& assets) {
  ParsedLesson parsed;
  const std::string file = path.string();
  const Sections sections = split_lesson(text, file, parsed.problems);
  Lesson lesson;
  lesson.path = path;
  lesson.name = lesson_name(path);
  lesson.number = lesson_number(path);
  lesson.title = sections.lesson.title;
  read_front_matter(sections.lesson, file, assets, lesson, parsed.problems);
  lesson.introduction = parse_markdown(sections.lesson.prose, sections.lesson.line + 1);
  for (const Section& section : sections.steps)
    lesson.steps.push_back(read_step(section, file, parsed.problems));
  if (sections.steps.empty()) add_problem(parsed.problems, file, sections.lesson.line, 1, "lesson.no_steps");
  sort_by_place(parsed.problems);
  if (parsed.problems.empty()) parsed.lesson = std::move(lesson);
  return parsed;
}

core::Result<Lesson> load_lesson(const std::filesystem::path& path, const std::filesystem::path& assets) {
  const core::Result<std::string> text = read_text_file(path);
  if (!text) return text.error();
  ParsedLesson parsed = parse_lesson(*text, path, assets);
  if (!parsed.lesson) return parsed.problems.front().error;
  return std::move(*parsed.lesson);
}

core::Result<core::Session> make_session(const Lesson& lesson) {
  return core::Session::make(lesson.model, lesson.sentence);
}

}  // namespace headscope::lessons
