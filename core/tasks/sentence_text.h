// Tokens of a sentence as people write it.
#pragma once

#include <span>
#include <string>

namespace headscope::core {

/// "the cat slept ." becomes "The cat slept.": a capital at the start of each sentence, no space before a
/// full stop, a comma, a colon, a semicolon, an exclamation or a question mark. Marks such as "<begin>",
/// "<end>" and "<pad>" are left out. For display only: it is not read back.
std::string sentence_text(std::span<const std::string> tokens);

}  // namespace headscope::core
