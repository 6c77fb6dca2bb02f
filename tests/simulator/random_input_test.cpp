// Whatever a hand does to mouse and keyboard in whatever order: no crash, the state stays whole, and no
// string is cut off or written over.
#include "core/random.h"
#include "tests/simulator/app_fixture.h"
#include "tests/simulator/bundled_state.h"
#include "tests/simulator/frame_check.h"
#include "tests/simulator/whole_state.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator {
namespace {

using Backend = test::NullBackend;

/// One hand in one window.
class Hand {
 public:
  Hand(AppState state, ImVec2 window, std::uint64_t seed, const std::string& stream)
      : window_(window), rng_(seed, stream), app_(test::app_of(std::move(state)), window) {
    app_.settle();
  }

  /// Does one thing and says which.
  std::string act() {
    switch (pick(12)) {
      case 0:
      case 1:
        return move();
      case 2:
      case 3:
      case 4:
        return click();
      case 5:
        return drag();
      case 6:
        return turn_wheel();
      case 7:
      case 8:
        return type_letter();
      case 9:
        return type_number();
      case 10:
        return press_control();
      default:
        return press();
    }
  }

  const test::AppOnNull& app() const { return app_; }
  ImVec2 window() const { return window_; }
  /// Nothing lies over the panels.
  bool nothing_is_open() const {
    const WindowState& window = app_.app.window();
    return window.help == Shown::no && window.opening == Shown::no && !window.edit;
  }

 private:
  int pick(int n) { return static_cast<int>(rng_.below(static_cast<std::uint64_t>(n))); }
  /// Three in four on a string that is drawn: there is something to be hit.
  ImVec2 place() {
    const std::vector<TextEntry>& entries = app_.record.entries;
    if (pick(4) > 0 && !entries.empty()) return entries[rng_.below(entries.size())].rect.centre();
    return {static_cast<float>(pick(static_cast<int>(window_.x))),
            static_cast<float>(pick(static_cast<int>(window_.y)))};
  }
  static std::string said(const std::string& what, ImVec2 at) {
    return what + " " + std::to_string(static_cast<int>(at.x)) + "," + std::to_string(static_cast<int>(at.y));
  }

  std::string move() {
    const ImVec2 at = place();
    app_.backend.move_mouse(at);
    app_.settle();
    return said("move to", at);
  }
  std::string click() {
    const ImVec2 at = place();
    if (pick(5) == 0) return app_.double_click(at), said("double click at", at);
    return app_.click(at), said("click at", at);
  }
  std::string drag() {
    const ImVec2 from = place(), to = place();
    app_.backend.move_mouse(from);
    app_.frame(), app_.frame();
    app_.backend.mouse_button(Backend::Button::down);
    app_.frame();
    for (const float share : {0.3F, 0.7F, 1.0F}) {
      app_.backend.move_mouse({from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share});
      app_.frame();
    }
    app_.backend.mouse_button(Backend::Button::up);
    app_.frame();
    app_.settle();
    return said("drag from", from) + said(" to", to);
  }
  std::string turn_wheel() {
    const int lines = pick(7) - 3;
    app_.turn_wheel(static_cast<float>(lines));
    return "wheel " + std::to_string(lines);
  }
  std::string type_letter() {
    constexpr std::string_view kLetters = "ngechptrdbo?+=-fx";
    const std::string letter(1, kLetters[static_cast<std::size_t>(pick(static_cast<int>(kLetters.size())))]);
    app_.type(letter);
    return "type " + letter;
  }
  std::string type_number() {
    constexpr std::array kNumbers = {"1.5", "-0.25", "0", "1e30", "x", "the ", "\u2212", "."};
    const std::string number = kNumbers[static_cast<std::size_t>(pick(static_cast<int>(kNumbers.size())))];
    app_.type(number);
    return "type " + number;
  }
  std::string press_control() {
    constexpr std::array kKeys = {ImGuiKey_Z, ImGuiKey_Y, ImGuiKey_A};
    app_.press(kKeys[static_cast<std::size_t>(pick(3))], Backend::Modifier::control);
    return "Ctrl and a letter";
  }
  std::string press() {
    constexpr std::array kKeys = {ImGuiKey_Tab,    ImGuiKey_LeftArrow, ImGuiKey_RightArrow, ImGuiKey_UpArrow,
                                  ImGuiKey_PageUp, ImGuiKey_DownArrow, ImGuiKey_PageDown,   ImGuiKey_Home,
                                  ImGuiKey_End,    ImGuiKey_Enter,     ImGuiKey_Escape,     ImGuiKey_Space,
                                  ImGuiKey_Delete, ImGuiKey_Backspace};
    const int key = pick(static_cast<int>(kKeys.size()));
    const bool with_shift = pick(3) == 0;
    app_.press(kKeys[static_cast<std::size_t>(key)],
               with_shift ? Backend::Modifier::shift : Backend::Modifier::none);
    return std::string(with_shift ? "Shift and " : "") + "key " + std::to_string(key);
  }

  ImVec2 window_;
  core::Rng rng_;
  test::AppOnNull app_;
};

/// The faults that `n` inputs met.
std::vector<std::string> play(AppState state, const std::string& name, ImVec2 window, int n,
                              std::uint64_t seed) {
  const core::Result<Words> words = Words::load(test::source_folder() / "assets", "en");
  REQUIRE(words);
  Hand hand(std::move(state), window, seed, name);
  std::vector<std::string> faults;
  std::string last;
  for (int input = 0; input < n; ++input) {
    const std::string done = hand.act();
    INFO(name << ", seed " << seed << ", input " << input << ": " << done << ", after " << last);
    last = done;
    test::require_whole(hand.app().state(), *words);
    std::string shown;
    for (const TextEntry& entry : hand.app().record.entries) shown += "\"" + entry.text + "\" ";
    INFO("window " << hand.window().x << "×" << hand.window().y << ", text " << hand.app().state().text_scale
                   << ": " << shown);
    // never blank; where nothing has room it says so
    REQUIRE((hand.app().record.entries.size() > 3 || shown.find("Too little room") != std::string::npos));
    if (!hand.nothing_is_open()) continue;
    // a tooltip lies over what it explains
    TextRecord under = hand.app().record;
    std::erase_if(under.entries, [](const TextEntry& entry) { return entry.role == "tooltip"; });
    for (const std::string& fault : test::faults_of(under, hand.window()))
      faults.push_back(name + ", seed " + std::to_string(seed) + ", input " + std::to_string(input) + " (" +
                       done + "), position " + std::to_string(hand.app().state().cursor().position()) +
                       ", text " + std::to_string(static_cast<int>(hand.app().state().text_scale * 100)) +
                       " %: " + fault);
  }
  return faults;
}

void play_all(int n, std::uint64_t seed) {
  const int share = n / static_cast<int>(test::kBundled.size() + 1) + 1;
  const std::array<ImVec2, 3> kWindows = {{{1280, 720}, {1600, 900}, {800, 600}}};
  std::vector<std::string> faults;
  std::size_t turn = seed;
  const auto add = [&](AppState state, const std::string& name) {
    const std::vector<std::string> more =
        play(std::move(state), name, kWindows[turn++ % kWindows.size()], share, seed);
    faults.insert(faults.end(), more.begin(), more.end());
  };
  for (const char* model : test::kBundled) add(test::open_bundled(model), model);
  add(test::open_shipped("2"), "lesson 2");
  if (const char* file = std::getenv("HEADSCOPE_FAULTS")) {  // all of them, to work through
    std::ofstream out(file, std::ios::app);
    for (const std::string& fault : faults) out << fault << "\n";
  }
  std::string first;
  for (std::size_t at = 0; at < std::min<std::size_t>(faults.size(), 12); ++at) first += faults[at] + "\n";
  INFO(faults.size() << " faults, the first are:\n" << first);
  CHECK(faults.empty());
}

TEST_CASE("600 random inputs of mouse and keyboard over bundled models and a lesson",
          "[simulator][input][random]") {
  play_all(600, 3);
}

TEST_CASE("20,000 random inputs", "[simulator][input][long][.]") {
  for (std::uint64_t seed = 100; seed < 110; ++seed) play_all(2000, seed);
}

}  // namespace
}  // namespace headscope::simulator
