// What is long: computed beside the drawing, its result put in place when it is there.
#include "simulator/applier.h"
#include "simulator/job.h"

#include <algorithm>
#include <memory>
#include <new>
#include <string>
#include <utility>

namespace headscope::simulator {
namespace {

/// What differences are shown against: the marked setup, or this sentence with the model as it was opened.
core::Setup setup_before(const AppState& state) {
  if (state.comparison.marked) return *state.comparison.marked;
  core::Setup before = state.session.setup();
  before.heads = state.initial.heads;
  before.attentions = state.initial.attentions;
  before.optimiser = state.initial.optimiser;
  before.trained = state.initial.trained;
  before.edits = state.initial.edits;
  std::erase_if(before.edits, [&](const auto& edit) {
    return state.session.graph().spec(edit.first.first).role != core::Role::parameter;
  });
  return before;
}

}  // namespace

void Applier::compute(std::string_view words, std::function<Job::Finish(const core::Progress&)> work,
                      Job::Finish when_stopped) {
  const auto run = [kept = std::move(work),
                    when_stopped](const core::Progress& progress) -> std::optional<Job::Finish> {
    try {
      return kept(progress);
    } catch (const std::bad_alloc&) {
      return [when_stopped](AppState& state) {
        if (when_stopped) when_stopped(state);
        Applier(state).fail({"session.memory", ""});
      };
    }
  };
  state_.job = std::make_shared<Job>(words, run, std::move(when_stopped));
  look_at_job(state_.patience.value_or(0));
}

void Applier::look_at_job(double seconds) {
  if (!state_.job->background.wait(seconds)) return;
  const std::shared_ptr<Job> job = std::exchange(state_.job, nullptr);
  const std::optional<Job::Finish> finish = job->background.take();
  if (!job->background.is_stopped() && finish)
    (*finish)(state_);
  else if (job->when_stopped)
    job->when_stopped(state_);
  refresh_comparison();
  for (const Action& action : job->waiting) apply_action(state_, action);
}

void Applier::put(core::Setup setup, std::size_t position, const Then& then) {
  const auto go_back = [back = place()](AppState& state) { Applier(state).set_out({.to = back}); };
  const auto refuse = [go_back](AppState& state, const core::Error& error) {
    go_back(state);
    Applier(state).fail(error);
  };
  const auto arrive = [position, then](AppState& state) {
    Applier applier(state);
    applier.set_out({.to = position});
    applier.settle();
    then(applier);
  };
  if (is_long(state_, state_.session.n_numbers_with(setup))) {
    state_.walk.reset();
    const SessionMaker maker(state_.session, std::move(setup));
    const auto work = [maker, refuse, arrive](const core::Progress&) -> Job::Finish {
      return [made = maker.make(), refuse, arrive](AppState& state) {
        if (!*made) return refuse(state, made->error());
        state.session = *std::move(*made);
        arrive(state);
      };
    };
    return compute("progress.numbers", work, go_back);
  }
  // the way back into the backward pass may be long, and set() would go it at once
  state_.session.move_to(std::min(state_.cursor().position(), state_.session.steps().backward_begin()));
  if (const core::Result<void> set = state_.session.set(std::move(setup)); !set)
    return refuse(state_, set.error());
  arrive(state_);
}

void Applier::refresh_comparison() {
  Comparison& comparison = state_.comparison;
  if (!comparison.is_shown) {
    comparison.before.reset();
    return;
  }
  if (state_.job) return;  // when it is done
  core::Setup wanted = setup_before(state_);
  const bool is_another = !comparison.before || wanted != comparison.before->setup();
  const auto refuse = [](AppState& state, const core::Error& error) {
    state.comparison = {};
    state.message = error;
  };
  if (is_another && is_long(state_, state_.session.n_numbers_with(wanted))) {
    comparison.before.reset();
    const std::size_t position = state_.cursor().position();
    return compute(
        "progress.before",
        [maker = SessionMaker(state_.session, std::move(wanted)), position,
         refuse](const core::Progress&) -> Job::Finish {
          const auto made = maker.make();
          if (*made) (*made)->move_to(position);
          return [made, refuse](AppState& state) {
            if (!*made) return refuse(state, made->error());
            state.comparison.before = std::make_unique<core::Session>(*std::move(*made));
          };
        },
        [](AppState& state) { state.comparison = {}; });
  }
  if (!comparison.before) comparison.before = std::make_unique<core::Session>(state_.session.fork());
  core::Session& before = *comparison.before;
  if (is_another) {
    before.move_to(std::min(before.cursor().position(), before.steps().backward_begin()));
    if (const core::Result<void> set = before.set(std::move(wanted)); !set)
      return refuse(state_, set.error());
  }
  before.move_to(state_.cursor().position());
}

void Applier::operator()(const GoOn&) {
  if (state_.job) return look_at_job(0);
  if (state_.checking) look_at_check(0);
  if (state_.walk) walk_on();
}

void Applier::operator()(const Stop&) {
  state_.walk.reset();
  state_.checking.reset();
  if (!state_.job) return;
  state_.job->waiting.clear();
  state_.job->background.stop();
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
  using Checked = GradientJob::Result;
  const auto check = [checker = state_.session.gradient_checker(),
                      address = action.address](const core::Progress& progress) -> std::optional<Checked> {
    try {
      const std::optional<core::GradientCheck> done = checker->check(address.tensor, address.cell, progress);
      return done ? std::optional<Checked>(*done) : std::nullopt;
    } catch (const std::bad_alloc&) {
      return core::Error{"session.check_memory", ""};
    }
  };
  state_.checking = std::make_shared<GradientJob>(action.address, check);
  look_at_check(*state_.patience);
}

void Applier::look_at_check(double seconds) {
  if (!state_.checking->background.wait(seconds)) return;
  const std::shared_ptr<GradientJob> job = std::exchange(state_.checking, nullptr);
  const std::optional<core::Result<core::GradientCheck>> result = job->background.take();
  if (!result) return;
  if (!*result) return fail(result->error());
  state_.checked = {job->address, **result};
}

void Applier::forget_check() {
  state_.checking.reset();
  state_.checked.reset();
}

}  // namespace headscope::simulator
