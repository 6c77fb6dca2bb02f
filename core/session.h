// One model, one sentence, all its numbers: what a lesson or a window looks at, through forward pass, loss,
// backward pass, update, and on to the next training step. Every change recomputes at once; what was changed
// is kept apart (Setup), so that taking it back gives the same bits as before.
#pragma once

#include "core/detached_checker.h"
#include "core/model.h"
#include "core/progress.h"
#include "core/result.h"
#include "core/setup.h"
#include "core/stepper.h"
#include "core/tasks/task.h"
#include "core/tokenizer.h"
#include "core/trace.h"
#include "core/vocabulary.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headscope::core {

/// A model made from a seed: what a lesson names in its front matter.
struct SeedModel {
  ModelConfig config;
  Vocabulary vocabulary;
  std::uint64_t seed = 0;
  double embedding_deviation = 1.0;
  std::optional<Vocabulary> target_vocabulary = {};  // an encoder-decoder's
};

/// Whether the two give the same numbers for the same sentence and edits.
bool is_same_model(const SeedModel& left, const SeedModel& right);

/// The model of a session, before any change.
struct SessionModel {
  ModelConfig config;
  Vocabulary vocabulary;
  std::optional<Vocabulary> target_vocabulary = {};
  AlignedVector<float> parameters = {};  // laid out as Workspace::parameters()
  std::optional<std::uint64_t> seed = {};
  std::vector<Error> warnings = {};  // what was loaded with a warning (NaN in the weights)
};

/// A model directory's. Errors: those of read_model_directory(); session.no_vocabulary,
/// session.no_target_vocabulary (of an encoder-decoder), session.too_large.
Result<std::shared_ptr<const SessionModel>> read_session_model(const std::filesystem::path& directory);

class Session {
 public:
  /// Errors: those of validate(), build_graph(), set(); session.no_target_vocabulary (of an encoder-decoder).
  static Result<Session> make(SeedModel model, std::string sentence);
  /// Errors: those of read_session_model(), set().
  static Result<Session> open(const std::filesystem::path& directory, std::string sentence);
  /// Errors: those of build_graph(), set(). Precondition: as many parameters as the configuration asks for.
  static Result<Session> make(std::shared_ptr<const SessionModel> model, Setup setup);

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();
  /// Another session of the same model, with the same setup, at the same step.
  Session fork() const;

  /// Replaces everything that a person set, and recomputes; the cursor keeps its place, or goes to the
  /// nearest that there is. On an error nothing changes. Errors: those of tokenize() (where: "sentence",
  /// "target"), feed(), check_edit(), validate() of the optimiser; session.too_large (most: the numbers that
  /// a session holds); session.labels (given, needed: how many), session.switch (a head or an attention that
  /// is not there), session.means, session.temperature (lowest, highest).
  Result<void> set(Setup setup);
  /// The same for sentence and edits alone: all else is as setup_for() leaves it.
  Result<void> set(std::string sentence, Edits edits);
  const Setup& setup() const;
  /// How many numbers the session would hold with the setup: what setting it takes grows with them. As many
  /// as now where the setup would be refused.
  double n_numbers_with(const Setup& setup) const;
  /// The setup with a sentence. With another one than now goes what belongs to that: the gold answer, the
  /// position that asks, the edits of inputs and activations.
  Setup setup_for(std::string sentence) const;

  /// Whether the cell may be edited to `value`. Errors: edit.computed (the loss, probabilities that a loss
  /// reads), edit.no_such_cell, edit.not_finite, edit.range (ids, lengths, targets: `lowest`, `highest`).
  Result<void> check_edit(TensorId tensor, const Cell& cell, double value) const;
  /// What the cell held before the learner's edit: a parameter as made, loaded or trained, an input as typed.
  /// Precondition: an input's or a parameter's cell.
  double unedited_value(TensorId tensor, const Cell& cell) const;

  const SessionModel& model() const;
  std::shared_ptr<const SessionModel> shared_model() const;
  const ModelConfig& config() const { return model().config; }
  const Graph& graph() const;  // with the switches of the setup
  const Vocabulary& vocabulary() const { return model().vocabulary; }
  const std::optional<Vocabulary>& target_vocabulary() const { return model().target_vocabulary; }
  const std::string& text() const { return setup().text; }
  const Sentence& sentence() const;
  const Edits& edits() const { return setup().edits; }
  const std::optional<std::uint64_t>& seed() const { return model().seed; }
  const std::vector<Error>& warnings() const { return model().warnings; }

  /// How many positions are fed, and the word at each: the typed word, or the vocabulary's where an id was
  /// edited. The target's are those that an encoder-decoder's decoder is fed, its begin token first.
  std::size_t n_positions(TextSide side = TextSide::source) const;
  const Token& token_at(std::size_t position, TextSide side = TextSide::source) const;

  /// What people call the classes, in order; empty where they are but numbers. No number depends on it.
  const std::vector<std::string>& class_names() const;
  void name_classes(std::vector<std::string> names);

  /// The fed position that asks where nobody chose one: of the question's last word.
  std::int32_t default_read() const;
  /// Whether there is something to predict, so that loss, gradients and update mean anything.
  bool has_gold() const;
  /// The model's own answer to the sentence, as an assumed gold one: the likeliest class or classes, the best
  /// span, a greedy translation. None where the objective has none to give (none; a decoder's language
  /// model, whose sentence is its gold).
  /// A translation tells `progress` after every word; none where it was stopped.
  std::optional<Gold> predict_gold(const Progress& progress = {}) const;

  // --- one training step, taken apart ---
  const StepList& steps() const;
  /// How many steps there are to walk: all; without a gold answer those up to the probabilities.
  std::size_t n_steps() const;
  const Cursor& cursor() const;
  /// Runs or takes back steps until `position` of them have run (at most n_steps()).
  void move_to(std::size_t position);
  /// The number, from 1, of the training step that is being taken apart.
  std::int64_t training_step() const;
  /// Walks to the end of the update; the setup with which the next training step begins, on the same
  /// sentence: the update as done, edits of parameters a part of the parameters. Errors (the cursor stays):
  /// session.no_gold; session.not_finite (where: the parameter; step).
  Result<Setup> next_setup();

  /// The numbers at the cursor, which a new session has behind its last forward operation that means
  /// anything. Activations hold numbers wherever the cursor stands; gradients and updates are as of it.
  Trace<float> trace() const;
  /// The same with the cursor elsewhere in the forward pass: what a lesson's step shows.
  Trace<float> trace(Cursor cursor) const;
  /// With the cursor behind the last forward operation that means anything: for expressions.
  Trace<float> forward_trace() const;

  /// The gradient of a cell of a parameter or an activation, held against a finite difference, with the
  /// parameters as they were before the update. Precondition: has_gold(), the tensor has a gradient.
  GradientCheck check_gradient(TensorId tensor, const Cell& cell) const;
  /// What checks gradients of the numbers as they are now, on whatever thread: the same one until they
  /// change. Precondition: has_gold().
  std::shared_ptr<DetachedChecker> gradient_checker() const;

  /// A head that puts out what it does on average over `examples` (not empty), with the model as it is now.
  /// Errors: session.switch (no such head); those of feed(); session.too_large (most: the numbers of all
  /// examples together).
  Result<HeadSwitch> mean_switch(const HeadAddress& head, const TokenBatch& examples) const;

 private:
  struct Engine;  // graph, numbers, cursor: everything that is computed
  explicit Session(std::unique_ptr<Engine> engine);

  std::unique_ptr<Engine> engine_;
};

}  // namespace headscope::core
