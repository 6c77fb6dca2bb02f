// The transport's track: segments with a tick an operation and one playhead.
#pragma once

#include "simulator/widgets/controls.h"

#include <span>
#include <string>

namespace headscope::simulator {

struct TrackSegment {
  std::string word;  // "forward"
  int ticks = 0;     // operations; 0: the segment is there, but can not be reached yet
  Stroke stroke = Stroke::solid;
  Concept hue = Concept::none;  // gradient for backward
};
struct TrackSpec {
  std::span<const TrackSegment> segments;
  int position = 0;   // operations done, over all segments
  std::string label;  // under the playhead: the operation's word
  Source label_source = Source::catalog;
  std::string note = {};  // under the segments that cannot be reached: why
};
struct TrackResponse {
  std::optional<int> moved;  // to this position: click, drag, arrows with the focus
  std::optional<int> hovered;
};
/// Words above, track, ticks, the playhead's label below, over `width`.
TrackResponse track(Ui& ui, std::string_view id, ImVec2 at, float width, const TrackSpec& spec);
float track_height(const Painter& painter);
/// The same without label and note: words, track, ticks.
float bare_track_height(const Painter& painter);

}  // namespace headscope::simulator
