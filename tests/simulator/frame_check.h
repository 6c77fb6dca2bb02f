// What must hold for every frame, whatever it shows: no string is cut off, none is written over another.
#pragma once

#include "simulator/painter.h"

#include <algorithm>
#include <string>
#include <vector>

namespace headscope::simulator::test {

/// Whether a sentence was drawn without one of its values: "{n} words".
inline bool has_placeholder(const std::string& text) {
  const std::size_t open = text.find('{'), close = text.find('}', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos || close == open + 1) return false;
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(open) + 1,
                     text.begin() + static_cast<std::ptrdiff_t>(close),
                     [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

/// Where the letters are: a line box is higher than they, of it a fifth above and below is air.
inline Rect letters_of(const TextEntry& entry) {
  Rect letters = entry.rect;
  if (entry.is_upright) {
    const float air = letters.width() / 5;
    letters.min.x += air, letters.max.x -= air;
  } else {
    const float air = letters.height() / 5;
    letters.min.y += air, letters.max.y -= air;
  }
  return letters;
}

/// The faults of a frame in words; none for a good one. `window` is its size.
inline std::vector<std::string> faults_of(const TextRecord& record, ImVec2 window) {
  constexpr float kSideBearing = 1;  // a glyph may hang over its advance by so much
  std::vector<std::string> faults;
  const auto place = [](const TextEntry& entry) {
    const auto whole = [](float length) { return std::to_string(static_cast<int>(length)); };
    return "\"" + entry.text + "\" (" + entry.role + ") at " + whole(entry.rect.min.x) + "," +
           whole(entry.rect.min.y) + " to " + whole(entry.rect.max.x) + "," + whole(entry.rect.max.y) +
           " within " + whole(entry.clip.min.x) + "," + whole(entry.clip.min.y) + " to " +
           whole(entry.clip.max.x) + "," + whole(entry.clip.max.y);
  };
  struct Seen {
    Rect box;  // of the letters, as far as it shows
    const TextEntry* entry;
  };
  std::vector<Seen> seen;
  for (const TextEntry& entry : record.entries) {
    if (entry.text.empty() || entry.text == " ") continue;
    if (has_placeholder(entry.full)) faults.push_back("a value is missing: " + place(entry));
    const Rect& clip = entry.clip;
    const bool is_shown = entry.rect.max.y > clip.min.y && entry.rect.min.y < clip.max.y;
    const bool is_wide = entry.rect.min.x < clip.min.x - kSideBearing ||
                         entry.rect.max.x > clip.max.x + kSideBearing ||
                         entry.rect.max.x > window.x + kSideBearing;
    // what a scroll area hides above or below is no fault, sideways nothing scrolls
    if (is_shown && is_wide) faults.push_back("cut off: " + place(entry));
    const Rect whole = letters_of(entry);
    if (!entry.scrolls &&
        (whole.min.y < clip.min.y - kSideBearing || whole.max.y > clip.max.y + kSideBearing))
      faults.push_back("cut off above or below: " + place(entry));
    const Rect letters{{std::max(whole.min.x, clip.min.x), std::max(whole.min.y, clip.min.y)},
                       {std::min(whole.max.x, clip.max.x), std::min(whole.max.y, clip.max.y)}};
    // a tooltip lies over what it explains
    if (letters.width() > 0 && letters.height() > 0 && entry.role != "tooltip")
      seen.push_back({letters, &entry});
  }
  std::ranges::sort(seen, {}, [](const Seen& one) { return one.box.min.y; });
  for (std::size_t at = 0; at < seen.size(); ++at)
    for (std::size_t next = at + 1; next < seen.size() && seen[next].box.min.y < seen[at].box.max.y; ++next) {
      const Rect &a = seen[at].box, &b = seen[next].box;
      constexpr float kTouch = 2;  // letters of neighbours may touch
      const float across = std::min(a.max.x, b.max.x) - std::max(a.min.x, b.min.x),
                  down = std::min(a.max.y, b.max.y) - std::max(a.min.y, b.min.y);
      if (across > kTouch && down > kTouch)
        faults.push_back(place(*seen[at].entry) + " is written over " + place(*seen[next].entry));
    }
  return faults;
}

}  // namespace headscope::simulator::test
