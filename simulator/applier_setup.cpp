// What the learner sets, and takes back.
#include "simulator/applier.h"

#include "core/formats/token_batch.h"
#include "core/random.h"
#include "simulator/gradient_job.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace headscope::simulator {
namespace {

/// More than anybody takes back; keeps a day of dragging from growing without bound.
constexpr std::size_t kUndoLimit = 1000;

/// Nor may what training made: its states are kept alive by the documents that name them.
constexpr std::size_t kUndoBytes = std::size_t{256} << 20;

/// Examples over which a head's mean output is taken.
constexpr int kMeanExamples = 64;

/// A document's own numbers, if training made them.
std::size_t bytes_of(const Document& document, const core::TrainState* shared) {
  const core::TrainState* trained = document.setup.trained.get();
  return trained && trained != shared ? trained->n_bytes() : 0;
}

/// The words of a row as they are typed, marks left out.
std::string typed_text(std::span<const std::int32_t> row, const core::Vocabulary& vocabulary) {
  const std::optional<std::int32_t> separator = vocabulary.find("<separator>");
  std::string text;
  for (const std::int32_t id : row) {
    if (id == vocabulary.begin() || id == vocabulary.end() || id == separator) continue;
    text += (text.empty() ? "" : " ") + vocabulary.token(id);
  }
  return text;
}

core::Gold gold_of(const core::Example& example, const core::Session& session) {
  core::Gold gold{.origin = core::Gold::Origin::given};
  switch (session.config().objective) {
    case core::Objective::language_model:
      if (!session.target_vocabulary()) return {};  // the sentence is its own answer
      gold.target = typed_text(example.target, *session.target_vocabulary());
      return gold;
    case core::Objective::classification:
      if (!example.label) return {};
      gold.labels = {*example.label};
      return gold;
    case core::Objective::span:
      if (!example.span) return {};
      gold.labels = {example.span->start, example.span->end};
      return gold;
    case core::Objective::token_classification:
      for (const std::vector<std::int32_t>& position : example.labels)
        gold.labels.insert(gold.labels.end(), position.begin(), position.end());
      return gold;
    case core::Objective::none:
      break;
  }
  return {};
}

}  // namespace

void Applier::operator()(const SetSentence& action) {
  change(state_.session.setup_for(action.text));
}

void Applier::operator()(const SetGold& action) {
  core::Setup next = state_.session.setup();
  next.gold = action.gold;
  change(std::move(next));
}

void Applier::operator()(const AssumeGold&) {
  const std::optional<core::Gold> gold = state_.session.predict_gold();
  if (!gold) return fail({"session.no_answer", ""});
  (*this)(SetGold{*gold});
}

void Applier::operator()(const SetRead& action) {
  core::Setup next = state_.session.setup();
  next.read = action.position;
  change(std::move(next));
}

void Applier::operator()(const DrawExample&) {
  if (!state_.task) return fail({"session.no_task", ""});
  constexpr std::uint64_t kSeed = 20;  // any: each model shows its examples in the same order
  core::Rng rng(kSeed, "examples." + std::to_string(state_.n_examples_drawn));
  const core::Example example = state_.task->draw(rng, core::Split::held_out);
  core::Setup next = state_.session.setup_for(typed_text(example.source, state_.session.vocabulary()));
  next.gold = gold_of(example, state_.session);
  next.read = example.read;
  ++state_.n_examples_drawn;
  change(std::move(next));
}

void Applier::operator()(const SetCell& action) {
  const CellAddress& address = action.address;
  if (address.quantity != core::Quantity::value) return fail({"edit.not_a_value", ""});
  const core::Result<void> valid = state_.session.check_edit(address.tensor, address.cell, action.value);
  if (!valid) return fail(valid.error());
  core::Setup next = state_.session.setup();
  const std::pair place(address.tensor, address.cell);
  // what the model had there itself is no edit; an activation's own number, set by hand, is one: nothing
  // flows back through it
  const bool is_given = state_.session.graph().spec(address.tensor).role != core::Role::activation;
  if (is_given && static_cast<double>(static_cast<float>(action.value)) ==
                      state_.session.unedited_value(address.tensor, address.cell))
    next.edits.erase(place);
  else
    next.edits[place] = action.value;
  change(std::move(next), action.stroke);
}

void Applier::operator()(const ClearCell& action) {
  core::Setup next = state_.session.setup();
  next.edits.erase({action.address.tensor, action.address.cell});
  change(std::move(next));
}

void Applier::operator()(const SetHead& action) {
  core::Setup next = state_.session.setup();
  next.heads.erase(action.head);
  if (action.mode == core::HeadMode::mean) {
    if (!state_.task) return fail({"session.no_task", ""});
    core::Rng rng(1, "means");
    std::vector<core::Example> examples;
    for (int n = 0; n < kMeanExamples; ++n) examples.push_back(state_.task->draw(rng, core::Split::held_out));
    core::Result<core::HeadSwitch> means =
        state_.session.mean_switch(action.head, core::batch_of(examples, *state_.task));
    if (!means) return fail(means.error());
    next.heads[action.head] = *std::move(means);
  } else if (action.mode) {
    next.heads[action.head] = {.mode = *action.mode};
  }
  change(std::move(next));
}

void Applier::operator()(const SetAttention& action) {
  core::Setup next = state_.session.setup();
  if (action.switches == core::AttentionSwitches{})
    next.attentions.erase(action.scores);
  else
    next.attentions[action.scores] = action.switches;
  change(std::move(next), action.stroke);
}

void Applier::operator()(const SetOptimiser& action) {
  core::Setup next = state_.session.setup();
  next.optimiser = action.optimiser;
  change(std::move(next), action.stroke);
}

void Applier::operator()(const RestoreSentence&) {
  core::Setup next = state_.session.setup_for(state_.initial.text);
  next.gold = state_.initial.gold;
  next.read = state_.initial.read;
  change(std::move(next));
}

void Applier::operator()(const RestoreCells&) {
  core::Setup next = state_.session.setup();
  next.edits = {};
  change(std::move(next));
}

void Applier::operator()(const Reset&) {
  change(state_.initial);
}

void Applier::operator()(const Undo&) {
  travel(state_.undo, state_.redo);
}

void Applier::operator()(const Redo&) {
  travel(state_.redo, state_.undo);
}

void Applier::operator()(const CheckGradient& action) {
  if (!state_.session.has_gold()) return fail({"session.no_gold", ""});
  if (!state_.has_cell({action.address.tensor, action.address.cell, core::Quantity::gradient}))
    return fail({"session.no_gradient", ""});
  forget_check();
  if (!state_.patience) {
    state_.checked = {action.address,
                      state_.session.check_gradient(action.address.tensor, action.address.cell)};
    return;
  }
  state_.checking = std::make_shared<GradientJob>(state_.session.gradient_checker(), action.address);
  look_at_check(*state_.patience);
}

void Applier::look_at_check(double seconds) {
  const auto result = state_.checking->wait(seconds);
  if (!result) return;
  const CellAddress address = state_.checking->address();
  state_.checking.reset();
  if (!*result) return fail(result->error());
  state_.checked = {address, **result};
}

void Applier::forget_check() {
  state_.checking.reset();
  state_.checked.reset();
}

Document Applier::document() const {
  return {state_.session.setup(), place()};
}

void Applier::change(core::Setup next, std::uint32_t stroke) {
  if (next == state_.session.setup()) return;
  Document before = document();
  if (!put(std::move(next))) return;
  const std::uint32_t last = std::exchange(state_.stroke, stroke);
  state_.redo.clear();
  if (stroke == 0 || stroke != last) remember(std::move(before));
}

void Applier::remember(Document document) {
  state_.undo.push_back(std::move(document));
  std::size_t bytes = 0;
  const core::TrainState* shared = nullptr;
  std::size_t n_kept = 0;
  for (; n_kept < std::min(state_.undo.size(), kUndoLimit); ++n_kept) {
    const Document& kept = state_.undo[state_.undo.size() - 1 - n_kept];
    bytes += bytes_of(kept, shared);
    shared = kept.setup.trained.get();
    if (bytes > kUndoBytes) break;
  }
  n_kept = std::max<std::size_t>(n_kept, 1);
  state_.undo.erase(state_.undo.begin(),
                    state_.undo.begin() + static_cast<std::ptrdiff_t>(state_.undo.size() - n_kept));
}

void Applier::travel(std::vector<Document>& from, std::vector<Document>& to) {
  if (from.empty()) return;
  Document before = document();
  const Document& wanted = from.back();
  const bool is_training = wanted.setup.trained != before.setup.trained;
  if (!put(wanted.setup)) return;
  state_.stroke = 0;
  if (is_training) move_cursor(wanted.position);
  from.pop_back();
  to.push_back(std::move(before));
}

bool Applier::put(core::Setup setup) {
  // the way back into the backward pass may be long, and set() would go it at once
  const std::size_t position = place();
  state_.session.move_to(std::min(state_.cursor().position(), state_.session.steps().backward_begin()));
  const core::Result<void> set = state_.session.set(std::move(setup));
  set_out({.to = position});
  if (!set) {
    fail(set.error());
    return false;
  }
  settle();
  return true;
}

void Applier::settle() {
  forget_check();
  state_.trained.reset();
  std::erase_if(state_.trail, [this](const CellAddress& address) { return !state_.has_cell(address); });
  if (state_.has_lesson()) lessons::update_goals(state_.runner, state_.session);
}

}  // namespace headscope::simulator
