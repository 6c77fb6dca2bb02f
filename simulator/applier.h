// What each action does to the state: the functions behind apply_action(), parted by what they are about.
#pragma once

#include "simulator/actions.h"
#include "simulator/diagram.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace headscope::simulator {

class Applier {
 public:
  explicit Applier(AppState& state) : state_(state) {}

  void operator()(const NextStep&);
  void operator()(const PreviousStep&);
  void operator()(const GoToStep& action);
  void operator()(const OpenLesson& action);
  void operator()(const OpenModel& action);
  void operator()(const OpenKept& action);
  void operator()(const SaveSession& action);
  void operator()(const Dismiss&) {}
  void operator()(const AnswerQuestion& action);
  void operator()(const RevealAnswer& action);
  void operator()(const ReloadLesson&);
  void operator()(const NextOperation&);
  void operator()(const PreviousOperation&);
  void operator()(const NextLayer&);
  void operator()(const PreviousLayer&);
  void operator()(const MoveCursor& action);
  void operator()(const NextTrainingStep&);
  void operator()(const SetPlaying& action);
  void operator()(const SetPlayBy& action);
  void operator()(const SetSentence& action);
  void operator()(const SetGold& action);
  void operator()(const AssumeGold&);
  void operator()(const SetRead& action);
  void operator()(const DrawExample&);
  void operator()(const SetCell& action);
  void operator()(const ClearCell& action);
  void operator()(const SetHead& action);
  void operator()(const SetAttention& action);
  void operator()(const SetOptimiser& action);
  void operator()(const RestoreSentence&);
  void operator()(const RestoreCells&);
  void operator()(const Reset&);
  void operator()(const Undo&);
  void operator()(const Redo&);
  void operator()(const LockCell& action);
  void operator()(const FollowCell& action);
  void operator()(const StepBack&);
  void operator()(const ReturnTo& action);
  void operator()(const CheckGradient& action);
  void operator()(const GoOn&);
  void operator()(const Stop&);
  void operator()(const ChooseHead& action);
  void operator()(const OpenPlace& action);
  void operator()(const ShowTensor& action);
  void operator()(const ChooseResult& action);
  void operator()(const SetDifference& action);
  void operator()(const MarkBefore&);
  void operator()(const SetLeftPanel& action);
  void operator()(const SetAppearance& action);
  void operator()(const SetLayout& action);
  void operator()(const SetTextScale& action);

  /// Keeps what differences are shown against with the state, or begins a job that makes it.
  void refresh_comparison();

 private:
  /// What follows once numbers have changed, or a state was put in place.
  using Then = std::function<void(Applier&)>;
  /// Hands what is open over to be kept, if there is anything to lose.
  void leave();
  /// Another lesson or model; the look stays. `then` follows where it could be opened.
  void open(const std::function<core::Result<AppState>()>& opening, const Then& then = {});
  void put_in_place(AppState opened);
  void fail(const core::Error& error);
  /// Whether the step has a question of this number: a link or a log may name one that it has not.
  bool is_asked(std::size_t question) const;
  /// The lesson's step decides where the cursor stands and what is lit.
  void arrive();
  /// What was looked at belongs to where the cursor stood.
  void forget_looks();
  void move_cursor(std::size_t position);
  void set_out(Walk walk);
  /// Walks as far as the patience lasts, and does at the end what is to be done there.
  void walk_on();
  /// Where the cursor stands, or is on its way to; before a training step that is not reached yet.
  std::size_t place() const;
  /// The job's result, if it is there within so many seconds.
  void look_at_check(double seconds);
  void forget_check();
  /// The rest of the way first, since its numbers make the next step's.
  void train();
  void train_here(std::size_t from);
  Document document() const;
  void change(core::Setup next, std::uint32_t stroke = 0);
  void remember(Document document);
  using Documents = std::vector<Document> AppState::*;
  void travel(Documents from, Documents to);
  /// Sets what determines all numbers, goes to the position, and does what follows; by a job where that is
  /// long. On an error all stays as it was.
  void put(core::Setup setup, std::size_t position, const Then& then);
  /// Begins a job, and ends it where it is done within the patience. On std::bad_alloc it fails with
  /// session.memory.
  void compute(std::string_view words,
               std::function<std::function<void(AppState&)>(const core::Progress&)> work,
               std::function<void(AppState&)> when_stopped = {});
  /// Ends the job if it is done within so many seconds, and does what waits for it.
  void look_at_job(double seconds);
  /// After numbers have changed.
  void settle();
  /// How many steps must have run for the number to be there.
  std::size_t position_of(const CellAddress& address) const;
  /// The tensor that the stage is about at its nearest level.
  std::optional<core::TensorId> subject() const;
  /// From an operation without heads straight to its part.
  void level_out();
  /// The box that the diagram opens at the state's level.
  std::size_t opened_at_level(const Diagram& diagram) const;
  /// The same cell in another head, where the tensor has heads.
  void move_to_head(CellAddress& address, std::int64_t head) const;

  AppState& state_;
};

}  // namespace headscope::simulator
