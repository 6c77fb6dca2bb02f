// What to do about a run that has gone wrong, as a command that can be copied.
#pragma once

#include "core/training/run.h"
#include "simulator/command_line/commands.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace headscope::simulator {

/// The path as one word of a shell's line, printable.
std::string shell_word(const std::filesystem::path& path);

/// "headscope train --resume PATH".
std::string resume_line(const std::filesystem::path& path);

/// The newest checkpoint from which it makes sense to go on at a lower rate: the loss there was no higher
/// than at the beginning, and no parameter's size more than ten times the largest of the beginning (a layer
/// norm can hide for a while that they grow). Step 0 where there is no other.
std::int64_t sound_step(const core::Run& run);

/// What is offered after a step that failed: where the run stands now, and the command that goes on. None
/// where the numbers were not finite before the first step.
std::optional<core::Error> offer_after(const core::Error& failure, const core::Run& run,
                                       const std::filesystem::path& path);

/// A remark about a loss that ends above the one it began with; empty where it does not.
std::string remark_on_loss(const core::Run& run, const std::filesystem::path& path,
                           const lessons::TextCatalog& text);

}  // namespace headscope::simulator
