// What the learner sets, and takes back.
#include "simulator/applier.h"

#include "core/formats/token_batch.h"
#include "core/random.h"
#include "simulator/job.h"

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
  const auto assume = [](AppState& state, const std::optional<core::Gold>& gold) {
    Applier applier(state);
    if (!gold) return applier.fail({"session.no_answer", ""});
    applier(SetGold{*gold});
  };
  if (!is_long(state_, n_numbers_of_answer(state_.session)))
    return assume(state_, state_.session.predict_gold());
  compute("progress.answer",
          [maker = SessionMaker(state_.session, state_.session.setup()),
           assume](const core::Progress& progress) -> Job::Finish {
            const auto made = maker.make();
            const std::optional<core::Gold> gold = *made ? (*made)->predict_gold(progress) : std::nullopt;
            return [gold, assume](AppState& state) { assume(state, gold); };
          });
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
    const auto set_means = [head = action.head](AppState& state, core::Result<core::HeadSwitch> means) {
      Applier applier(state);
      if (!means) return applier.fail(means.error());
      core::Setup with_means = state.session.setup();
      with_means.heads[head] = *std::move(means);
      applier.change(std::move(with_means));
    };
    const core::TokenBatch batch = core::batch_of(examples, *state_.task);
    if (!is_long(state_, state_.session.n_numbers_with(next) * kMeanExamples))
      return set_means(state_, state_.session.mean_switch(action.head, batch));
    return compute("progress.means",
                   [maker = SessionMaker(state_.session, state_.session.setup()), head = action.head, batch,
                    set_means](const core::Progress&) -> Job::Finish {
                     const auto made = maker.make();
                     const auto means = *made ? (*made)->mean_switch(head, batch) : made->error();
                     return [means, set_means](AppState& state) { set_means(state, means); };
                   });
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
  travel(&AppState::undo, &AppState::redo);
}

void Applier::operator()(const Redo&) {
  travel(&AppState::redo, &AppState::undo);
}

Document Applier::document() const {
  return {state_.session.setup(), place()};
}

void Applier::change(core::Setup next, std::uint32_t stroke) {
  if (next == state_.session.setup()) return;
  put(std::move(next), place(), [before = document(), stroke](Applier& applier) {
    const std::uint32_t last = std::exchange(applier.state_.stroke, stroke);
    applier.state_.redo.clear();
    if (stroke == 0 || stroke != last) applier.remember(before);
  });
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

void Applier::travel(Documents from, Documents to) {
  if ((state_.*from).empty()) return;
  const Document wanted = (state_.*from).back();
  const Document before = document();
  const bool is_training = wanted.setup.trained != before.setup.trained;
  put(wanted.setup, place(), [wanted, before, is_training, from, to](Applier& applier) {
    applier.state_.stroke = 0;
    if (is_training && applier.place() != wanted.position) applier.move_cursor(wanted.position);
    (applier.state_.*from).pop_back();
    (applier.state_.*to).push_back(before);
  });
}

void Applier::settle() {
  forget_check();
  state_.trained.reset();
  std::erase_if(state_.trail, [this](const CellAddress& address) { return !state_.has_cell(address); });
  if (state_.has_lesson()) lessons::update_goals(state_.runner, state_.session);
}

}  // namespace headscope::simulator
