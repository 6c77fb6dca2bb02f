// One model, one sentence, all its numbers: what a lesson or a window looks at. Every change recomputes the
// whole forward pass at once; edits are kept apart, so that taking one back gives the same bits as before.
#pragma once

#include "core/model.h"
#include "core/result.h"
#include "core/tokenizer.h"
#include "core/trace.h"
#include "core/vocabulary.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace headscope::core {

/// A model made from a seed: what a lesson names in its front matter.
struct SeedModel {
  ModelConfig config;
  Vocabulary vocabulary;
  std::uint64_t seed = 0;
  double embedding_deviation = 1.0;
};

/// Whether the two give the same numbers for the same sentence and edits.
bool is_same_model(const SeedModel& left, const SeedModel& right);

/// The learner's own changes: cells of inputs and parameters, by tensor and cell.
using Edits = std::map<std::pair<TensorId, Cell>, double>;

class Session {
 public:
  /// Errors: those of validate(), build_graph(), tokenize(), feed(); session.too_large.
  static Result<Session> make(SeedModel model, std::string sentence);
  /// Errors: those of read_model_directory(), tokenize(), feed(); session.no_vocabulary.
  static Result<Session> open(const std::filesystem::path& directory, std::string sentence);

  /// Replaces sentence and edits together and recomputes. On an error nothing changes.
  /// Errors: those of tokenize() and feed(); those of check_edit().
  Result<void> set(std::string sentence, Edits edits);
  /// Whether the cell may be edited to `value`. Errors: edit.activation (computed, not given),
  /// edit.no_such_cell, edit.not_finite, edit.range (ids, lengths, targets: `lowest`, `highest`).
  Result<void> check_edit(TensorId tensor, const Cell& cell, double value) const;

  const ModelConfig& config() const { return config_; }
  const Graph& graph() const { return graph_; }
  const Vocabulary& vocabulary() const { return vocabulary_; }
  const std::string& text() const { return text_; }
  const Sentence& sentence() const { return sentence_; }
  const Edits& edits() const { return edits_; }
  /// What the cell held before the learner's edit: a parameter as made or loaded, an input as typed.
  /// Precondition: an input's or a parameter's cell.
  double unedited_value(TensorId tensor, const Cell& cell) const;
  const std::optional<std::uint64_t>& seed() const { return seed_; }
  /// What was loaded with a warning (NaN in the weights).
  const std::vector<Error>& warnings() const { return warnings_; }

  /// How many positions are fed, and the word at each: the typed word, or the vocabulary's where an id was
  /// edited.
  std::size_t n_positions() const { return positions_.size(); }
  const Token& token_at(std::size_t position) const { return positions_[position]; }

  /// Every operation has run; `cursor` says how far the viewer has come.
  Trace<float> trace(Cursor cursor) const { return {graph_, workspace_, cursor}; }
  /// The cursor stands behind the loss, or behind the probabilities where nothing is predicted.
  Trace<float> trace() const { return trace(Cursor(graph_.operations().size(), end_)); }

 private:
  Session(ModelConfig config, Graph graph, Vocabulary vocabulary);
  /// check_edit() for inputs of these sizes.
  Result<void> check_edit_within(const Sizes& sizes, TensorId tensor, const Cell& cell, double value) const;
  void compute();

  ModelConfig config_;
  Graph graph_;
  Vocabulary vocabulary_;
  std::optional<std::uint64_t> seed_;
  std::vector<Error> warnings_;
  Workspace<float> workspace_;
  Workspace<float> unedited_;  // parameters as made or loaded, inputs as typed
  std::string text_;
  Sentence sentence_;
  std::vector<Token> positions_;
  Edits edits_;
  std::optional<std::int32_t> target_begin_;  // of an encoder-decoder
  std::size_t end_ = 0;                       // forward_end() of what is fed
};

}  // namespace headscope::core
