// Lesson prose and narrated sentences as rich text with tensor links.
#pragma once

#include "lessons/runner.h"
#include "simulator/panels/panel.h"
#include "simulator/rich_text.h"

#include <string_view>
#include <vector>

namespace headscope::simulator {

struct ProseStyle {
  TypeStyle type = TypeStyle::body;
  ImU32 colour = 0;  // 0: primary
};

/// Draws blocks from `at` down; links light their tensor, live numbers their cell. Returns the height.
float draw_prose(Panel& panel, ImVec2 at, float width, const std::vector<lessons::ProseBlock>& blocks,
                 const ProseStyle& style = {});

/// A sentence of the text file with Markdown and [[tensor|words]] links. Returns the height.
float draw_sentence(Panel& panel, ImVec2 at, float width, std::string_view markdown,
                    const ProseStyle& style = {});

/// What the step does with these numbers, under the stage's title. Returns the height used.
float draw_said(Panel& panel, ImVec2 at, float width);

/// Runs of a block as plain rich text runs.
std::vector<Run> rich_runs(const Panel& panel, const std::vector<lessons::ProseRun>& runs, Source source);

}  // namespace headscope::simulator
