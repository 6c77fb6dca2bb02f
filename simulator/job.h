// What an action computes beside the drawing: another session to take the place of this one, a model that is
// opened, a model's own answer, a gradient check.
#pragma once

#include "core/result.h"
#include "simulator/actions.h"
#include "simulator/background.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::simulator {

/// A job that changes the state once it is done. The work sees nothing of the state: what it needs it is
/// given; two sessions of a model are there at once meanwhile.
struct Job {
  /// What is to be done with the state, in the interface's thread.
  using Finish = std::function<void(AppState&)>;

  Job(std::string_view key, Background<Finish>::Work work, Finish stopped)
      : words(key), when_stopped(std::move(stopped)), background(std::move(work)) {}

  std::string_view words;  // key of the catalog: what it does
  Finish when_stopped;
  Actions waiting = {};  // what was done meanwhile, and comes after it
  Background<Finish> background;
};

/// Makes another session of the same model, whose classes are called the same, on whatever thread.
class SessionMaker {
 public:
  SessionMaker(const core::Session& session, core::Setup setup)
      : model_(session.shared_model()), class_names_(session.class_names()), setup_(std::move(setup)) {}

  /// In a pointer, since what a job gives back is copied. Errors: those of core::Session::make().
  std::shared_ptr<core::Result<core::Session>> make() const {
    auto made = std::make_shared<core::Result<core::Session>>(core::Session::make(model_, setup_));
    if (*made) (*made)->name_classes(class_names_);
    return made;
  }

 private:
  std::shared_ptr<const core::SessionModel> model_;
  std::vector<std::string> class_names_;
  core::Setup setup_;
};

/// A gradient check of one cell. Nothing waits for it; a number that changes takes it away.
struct GradientJob {
  using Result = core::Result<core::GradientCheck>;
  GradientJob(CellAddress of, Background<Result>::Work work) : address(of), background(std::move(work)) {}

  CellAddress address;
  Background<Result> background;
};

}  // namespace headscope::simulator
