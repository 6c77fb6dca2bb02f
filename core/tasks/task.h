// A task: a generator of examples that a model can learn from, with its vocabulary, its held-out share, and
// gold relations, which say what token would do well to look at which.
#pragma once

#include "core/formats/token_batch.h"
#include "core/model.h"
#include "core/random.h"
#include "core/result.h"
#include "core/vocabulary.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::core {

enum class TaskSize : std::uint8_t { pocket, full };

/// What makes a task again: its name, its size, and settings that differ from the task's own.
struct TaskConfig {
  std::string name;  // one of task_names()
  TaskSize size = TaskSize::pocket;
  std::vector<std::pair<std::string, std::string>> settings = {};  // key, value; no key twice
  bool operator==(const TaskConfig&) const = default;
};

/// One of the sequences that are fed.
enum class TextSide : std::uint8_t { source, target };

/// A named relation between tokens. `query` and `key` say which attention can show it: source and source the
/// encoder's (or the decoder's, where it stands alone) self-attention, target and target the decoder's,
/// target and source cross-attention.
struct Relation {
  std::string name;  // "adjective_noun"; words for people: assets/text, [relation.NAME]
  TextSide query = TextSide::source, key = TextSide::source;
  bool operator==(const Relation&) const = default;
};

/// A gold link: positions in what is fed. On the target side the query is the row that predicts the word, as
/// it is there that the decoder needs to look; its key is a position that has been fed.
struct Link {
  std::int32_t relation = 0;  // index of Task::relations()
  std::int32_t query = 0, key = 0;
  bool is_sure = true;  // alignment: sure or only possible (Och and Ney 2003)
  bool operator==(const Link&) const = default;
};

/// A row of a batch, and what is known about it.
struct Example {
  std::vector<std::int32_t> source = {};
  std::vector<std::int32_t> target = {};  // an encoder-decoder's, with begin and end
  std::vector<std::vector<std::int32_t>> labels =
      {};                                  // token_classification: [position][output], -1 not scored
  std::optional<std::int32_t> label = {};  // classification
  std::optional<SpanEdges> span = {};
  std::optional<std::int32_t> read = {};
  /// The fed positions whose predictions count for the score (language_model, token_classification); empty:
  /// all that have a target.
  std::vector<std::int32_t> judged = {};
  std::vector<Link> links = {};
  bool is_held_out = false;
};

/// How right an example is: by each prediction, or only as a whole.
enum class ScoreKind : std::uint8_t { accuracy, exact_match };

enum class Split : std::uint8_t { training, held_out };

class Task {
 public:
  virtual ~Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  const TaskConfig& config() const { return config_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  /// An encoder-decoder's.
  const std::optional<Vocabulary>& target_vocabulary() const { return target_vocabulary_; }
  const std::vector<Relation>& relations() const { return relations_; }
  ScoreKind score_kind() const { return score_kind_; }
  /// What the task asks of a model: architecture, objective, sizes of the vocabularies, max_tokens, classes,
  /// outputs, span reader. What remains (widths, heads, layers, positions) is the recipe's.
  const ModelConfig& form() const { return form_; }

  /// A class in a word: the token, where the classes are the tokens; else what the task calls it.
  virtual std::string class_name(std::int32_t label) const;
  /// The row as people write it: sentence_text() of its tokens, unless they are no sentence.
  virtual std::string text_of(std::span<const std::int32_t> ids, TextSide side) const;

  /// An example of that split. About a tenth of all combinations is held out: no training example is or
  /// contains one. Depends on the generator alone.
  Example draw(Rng& rng, Split split) const;

 protected:
  Task(TaskConfig config, Vocabulary vocabulary)
      : config_(std::move(config)), vocabulary_(std::move(vocabulary)) {}

  /// One example of either split, with is_held_out set; the same combination always gives the same answer.
  virtual Example draw_any(Rng& rng) const = 0;

  TaskConfig config_;
  Vocabulary vocabulary_;
  std::optional<Vocabulary> target_vocabulary_;
  std::vector<Relation> relations_;
  ScoreKind score_kind_ = ScoreKind::accuracy;
  ModelConfig form_;
};

/// The tasks' names, in the order of teaching.
std::span<const std::string_view> task_names();

/// Errors: task.unknown (name, known), task.setting (key, known), task.setting_value (key, value, known),
/// those of its grammar's files (`assets`/tasks/NAME/).
Result<std::unique_ptr<const Task>> make_task(const TaskConfig& config, const std::filesystem::path& assets);

// For the tasks themselves.

/// A setting's value; none where it was left out.
std::optional<std::string> find_setting(const TaskConfig& config, std::string_view key);
/// Errors: task.setting (key, known), task.no_settings (key).
Result<void> check_settings(const TaskConfig& config, std::span<const std::string_view> known);
/// Errors: task.size (name): there is no full size of it.
Result<void> require_pocket(const TaskConfig& config);

/// Examples as a batch, in order.
TokenBatch batch_of(std::span<const Example> examples, const Task& task);

/// Whether a combination with this hash is held out: a tenth of all are. Precondition: a hash all of whose
/// bits are mixed; FNV-1a's are not.
constexpr bool is_held_out_hash(std::uint64_t hash) {
  return hash % 10 == 0;
}

}  // namespace headscope::core
