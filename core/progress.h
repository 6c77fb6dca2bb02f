// How long work tells how far it is, and is stopped.
#pragma once

#include <functional>

namespace headscope::core {

/// Told from time to time which share of the work is done, from 0 to 1; false stops it. Empty: nobody asks.
using Progress = std::function<bool(double share)>;

}  // namespace headscope::core
