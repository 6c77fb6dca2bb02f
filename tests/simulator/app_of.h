// The application of a state, or the error's words thrown.
#pragma once

#include "simulator/app.h"

#include <stdexcept>
#include <utility>

namespace headscope::simulator::test {

inline App app_of(AppState state) {
  core::Result<App> app = App::make(std::move(state));
  if (!app) throw std::runtime_error(app.error().key + " " + app.error().where);
  return *std::move(app);
}

}  // namespace headscope::simulator::test
