// Ctrl-C as a wish that a long command grants between two steps.
#pragma once

namespace headscope::simulator {

/// While it lives, the first SIGINT or SIGTERM is only noted; a second one ends the program at once, as
/// without it. One at a time.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  bool is_wanted() const;
};

}  // namespace headscope::simulator
