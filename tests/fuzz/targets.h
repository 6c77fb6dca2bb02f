// What the fuzzer tries: one function a loader, each given any bytes at all. It refuses or accepts them; what
// it accepts must hold together.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace headscope::fuzz {

// Each throws BrokenPromise where the loader accepted bytes and did not keep what its header promises.
void try_safetensors(std::string_view bytes);
void try_config(std::string_view bytes);
void try_run_file(std::string_view bytes);
void try_checkpoint(std::string_view bytes);
void try_vocabulary(std::string_view bytes);
void try_token_batch(std::string_view bytes);
void try_grammar(std::string_view bytes);
void try_session(std::string_view bytes);
void try_lesson(std::string_view bytes);
void try_expression(std::string_view bytes);

struct BrokenPromise : std::logic_error {
  using std::logic_error::logic_error;
};
inline void promise(bool is_kept, const char* what) {
  if (!is_kept) throw BrokenPromise(what);
}

struct Target {
  std::string_view name;  // of its folder in tests/fuzz/corpus
  void (*run)(std::string_view bytes);
};
inline constexpr std::array kTargets = {
    Target{"safetensors", try_safetensors}, Target{"config", try_config},
    Target{"run_file", try_run_file},       Target{"checkpoint", try_checkpoint},
    Target{"vocabulary", try_vocabulary},   Target{"token_batch", try_token_batch},
    Target{"grammar", try_grammar},         Target{"lesson", try_lesson},
    Target{"expression", try_expression},   Target{"session", try_session}};

/// What a target may hold at any moment beyond the bytes given: what a value in memory takes more than the
/// two characters that a file spends on it (64 KiB of "0,0,0,…" become 32,768 values of some 50 bytes, in the
/// library's form and in ours), a small model, and what a graph of the most layers takes.
inline constexpr std::size_t kAllowance = std::size_t{48} << 20;

/// Runs the target and returns the most bytes that it held on the heap beyond those held before.
std::size_t peak_bytes(const Target& target, std::string_view bytes);

}  // namespace headscope::fuzz
