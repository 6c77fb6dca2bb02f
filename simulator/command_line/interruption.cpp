#include "simulator/command_line/interruption.h"

#include <csignal>

namespace headscope::simulator {
namespace {

volatile std::sig_atomic_t is_noted = 0;

void note(int signal) {
  is_noted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

Interruption::Interruption() {
  is_noted = 0;
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
}

Interruption::~Interruption() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool Interruption::is_wanted() const {
  return is_noted != 0;
}

}  // namespace headscope::simulator
