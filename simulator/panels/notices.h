// What there is to say about the sentence: words that the vocabulary lacks, words that were cut.
#pragma once

#include "simulator/panels/panel.h"

#include <string>
#include <vector>

namespace headscope::simulator {

std::vector<std::string> sentence_notices(const Panel& panel);

}  // namespace headscope::simulator
