#include "simulator/changes.h"

#include "core/graph_paths.h"
#include "simulator/slice.h"
#include "simulator/tensor_facts.h"

#include <algorithm>
#include <set>
#include <utility>

namespace headscope::simulator {
namespace {

/// Of labels by position that many are written out.
constexpr std::size_t kMostLabels = 12;

std::string_view mode_key(std::optional<core::HeadMode> mode) {
  if (!mode) return "what_if.head_on";
  switch (*mode) {
    case core::HeadMode::off:
      return "what_if.head_off";
    case core::HeadMode::mean:
      return "what_if.head_mean";
    case core::HeadMode::uniform:
      return "what_if.head_uniform";
  }
  return "what_if.head_on";
}

/// Differences between two setups, gathered one kind after the other.
class Comparer {
 public:
  Comparer(const AppState& state, const core::Setup& from, const core::Setup& to, const Words& words,
           const lessons::NumberRules& rules)
      : state_(state), from_(from), to_(to), words_(words), rules_(rules) {}

  std::vector<Change> compare() {
    compare_text();
    compare_edits();
    compare_heads();
    compare_attentions();
    compare_optimiser();
    compare_training();
    return std::move(changes_);
  }

 private:
  const core::Graph& graph() const { return state_.session.graph(); }
  std::string say(std::string_view key, const lessons::TextValues& values = {}) const {
    return words_.text.text(key, values);
  }
  std::string number(double value, lessons::NumberKind kind = lessons::NumberKind::value) const {
    return lessons::format_number(value, kind, rules_);
  }
  void add(std::string words, std::optional<Action> take_back) {
    changes_.push_back({std::move(words), std::move(take_back)});
  }
  std::string from_to(const std::string& name, const std::string& from, const std::string& to) const {
    return say("what_if.from_to", {{"name", name}, {"from", from}, {"to", to}});
  }

  void compare_text() {
    if (from_.text != to_.text)
      add(say("what_if.changed_sentence", {{"sentence", to_.text}}),
          from_.text == state_.initial.text ? Action(RestoreSentence{}) : Action(SetSentence{from_.text}));
    if (from_.gold != to_.gold)
      add(to_.gold.origin == core::Gold::Origin::none
              ? say("what_if.changed_to_no_answer")
              : say(to_.gold.origin == core::Gold::Origin::assumed ? "what_if.changed_to_own_answer"
                                                                   : "what_if.changed_answer",
                    {{"answer", answer_text(state_, to_.gold)}}),
          // an answer to another sentence means nothing here
          from_.text == to_.text ? Action(SetGold{from_.gold}) : Action(SetGold{}));
    if (from_.read != to_.read && from_.text == to_.text) {
      const std::int32_t position = to_.read.value_or(state_.session.default_read());
      add(say("what_if.changed_read", {{"word", word_at(position)}}), SetRead{from_.read});
    }
  }

  std::string word_at(std::int32_t position) const {
    const auto at = static_cast<std::size_t>(std::max(0, position));
    return at < state_.session.n_positions() ? state_.session.token_at(at).text : std::to_string(position);
  }

  void compare_edits() {
    std::set<std::pair<core::TensorId, core::Cell>> places;
    for (const auto& [place, value] : from_.edits) places.insert(place);
    for (const auto& [place, value] : to_.edits) places.insert(place);
    for (const auto& place : places) {
      const std::optional<double> before = find(from_.edits, place), now = find(to_.edits, place);
      if (before == now) continue;
      add_edit({place.first, place.second}, before, now);
    }
  }
  static std::optional<double> find(const core::Edits& edits,
                                    const std::pair<core::TensorId, core::Cell>& place) {
    const auto found = edits.find(place);
    return found == edits.end() ? std::nullopt : std::optional(found->second);
  }
  void add_edit(const CellAddress& address, std::optional<double> before, std::optional<double> now) {
    const core::TensorSpec& spec = graph().spec(address.tensor);
    const lessons::NumberKind kind = number_kind_of(spec);
    const bool is_given = spec.role != core::Role::activation && state_.has_cell(address);
    if (is_given && !before) before = state_.session.unedited_value(address.tensor, address.cell);
    if (is_given && !now) now = state_.session.unedited_value(address.tensor, address.cell);
    const std::string name = cell_name(state_, address, words_);
    const Action back = find(from_.edits, {address.tensor, address.cell}) ? Action(SetCell{address, *before})
                                                                          : Action(ClearCell{address});
    if (before && now)
      add(from_to(name, number(*before, kind), number(*now, kind)), back);
    else if (now)
      add(say("what_if.set_by_hand", {{"name", name}, {"value", number(*now, kind)}}), back);
    else
      add(say("what_if.no_longer_by_hand", {{"name", name}}), back);
  }

  void compare_heads() {
    std::set<core::HeadAddress> heads;
    for (const auto& [head, value] : from_.heads) heads.insert(head);
    for (const auto& [head, value] : to_.heads) heads.insert(head);
    const auto mode_in = [](const core::Setup& setup, const core::HeadAddress& head) {
      const auto found = setup.heads.find(head);
      return found == setup.heads.end() ? std::nullopt : std::optional(found->second.mode);
    };
    for (const core::HeadAddress& head : heads) {
      const std::optional<core::HeadMode> before = mode_in(from_, head), now = mode_in(to_, head);
      if (before == now) continue;
      const std::string place = place_name(graph(), graph().spec(head.head_output).name, words_);
      const std::string name = say("what_if.head_name", {{"head", std::to_string(head.head)}});
      add(from_to(place.empty() ? name : place + ", " + name, say(mode_key(before)), say(mode_key(now))),
          SetHead{head, before});
    }
  }

  void compare_attentions() {
    std::set<core::TensorId> all;
    for (const auto& [scores, value] : from_.attentions) all.insert(scores);
    for (const auto& [scores, value] : to_.attentions) all.insert(scores);
    const auto switches_in = [](const core::Setup& setup, core::TensorId scores) {
      const auto found = setup.attentions.find(scores);
      return found == setup.attentions.end() ? core::AttentionSwitches{} : found->second;
    };
    for (const core::TensorId scores : all) {
      const core::AttentionSwitches before = switches_in(from_, scores), now = switches_in(to_, scores);
      const std::string place = place_name(graph(), graph().spec(scores).name, words_);
      const auto placed = [&](const std::string& words) {
        return place.empty() ? words : place + ": " + words;
      };
      if (before.leaks_future != now.leaks_future) {
        core::AttentionSwitches back = now;
        back.leaks_future = before.leaks_future;
        add(placed(say(now.leaks_future ? "what_if.changed_leak" : "what_if.changed_mask")),
            SetAttention{scores, back});
      }
      if (before.leaves_scale != now.leaves_scale) {
        core::AttentionSwitches back = now;
        back.leaves_scale = before.leaves_scale;
        add(placed(say(now.leaves_scale ? "what_if.changed_scale_on" : "what_if.changed_scale_off")),
            SetAttention{scores, back});
      }
      if (before.temperature != now.temperature) {
        core::AttentionSwitches back = now;
        back.temperature = before.temperature;
        add(placed(from_to(say("what_if.temperature"), number(before.temperature), number(now.temperature))),
            SetAttention{scores, back});
      }
    }
  }

  void compare_optimiser() {
    if (from_.optimiser.kind != to_.optimiser.kind) {
      core::OptimiserConfig back = to_.optimiser;
      back.kind = from_.optimiser.kind;
      const auto name = [&](core::OptimiserKind kind) {
        return say("what_if." + std::string(optimiser_key(kind)));
      };
      add(from_to(say("what_if.optimiser"), name(from_.optimiser.kind), name(to_.optimiser.kind)),
          SetOptimiser{back});
    }
    if (from_.optimiser.rate != to_.optimiser.rate) {
      core::OptimiserConfig back = to_.optimiser;
      back.rate = from_.optimiser.rate;
      add(from_to(say("what_if.rate"), rate_text(from_.optimiser.rate), rate_text(to_.optimiser.rate)),
          SetOptimiser{back});
    }
  }
  std::string rate_text(double rate) const { return number(rate, lessons::NumberKind::gradient); }

  void compare_training() {
    if (from_.trained == to_.trained) return;
    const auto steps = [](const core::Setup& setup) { return setup.trained ? setup.trained->step : 0; };
    const std::int64_t n = steps(to_) - steps(from_);
    add(say(n == 1    ? "what_if.trained_one"
            : n == -1 ? "what_if.untrained_one"
            : n >= 0  ? "what_if.trained"
                      : "what_if.untrained",
            {{"n", std::to_string(n < 0 ? -n : n)}}),
        std::nullopt);
  }

  const AppState& state_;
  const core::Setup& from_;
  const core::Setup& to_;
  const Words& words_;
  const lessons::NumberRules& rules_;
  std::vector<Change> changes_;
};

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

/// "good: very positive", "b: 2 / 7" of several predictions; of each word that is asked about.
std::vector<std::string> answers_at_words(const AppState& state, const core::Gold& gold) {
  const auto n_outputs = static_cast<std::size_t>(state.session.config().n_outputs);
  const bool is_of_this_sentence = gold.labels.size() == state.session.n_positions() * n_outputs;
  std::vector<std::string> answers;
  for (std::size_t at = 0; at + n_outputs <= gold.labels.size(); at += n_outputs) {
    std::vector<std::string> classes;
    bool is_asked = false;
    for (std::size_t output = 0; output < n_outputs; ++output) {
      classes.push_back(class_name(state, gold.labels[at + output]));
      is_asked |= gold.labels[at + output] >= 0;
    }
    if (!is_asked) continue;
    const std::string word = is_of_this_sentence ? state.session.token_at(at / n_outputs).text + ": " : "";
    answers.push_back(word + joined(classes, " / "));
  }
  return answers;
}

}  // namespace

std::vector<Change> changes_between(const AppState& state, const core::Setup& from, const core::Setup& to,
                                    const Words& words, const lessons::NumberRules& rules) {
  return Comparer(state, from, to, words, rules).compare();
}

std::string summary_of(const std::vector<Change>& changes, const Words& words) {
  if (changes.empty()) return {};
  if (changes.size() == 1) return changes.front().words;
  return words.text.text("what_if.and_more",
                         {{"first", changes.front().words}, {"n", std::to_string(changes.size() - 1)}});
}

std::string class_name(const AppState& state, std::int32_t label) {
  if (label < 0) return "–";
  return class_name(state.session, label).value_or(std::to_string(label));
}

std::string answer_text(const AppState& state, const core::Gold& gold) {
  if (gold.origin == core::Gold::Origin::none) return {};
  const core::Session& session = state.session;
  std::vector<std::string> words;
  switch (session.config().objective) {
    case core::Objective::language_model:
      return gold.target;
    case core::Objective::span:
      for (std::int32_t at = gold.labels.at(0); at <= gold.labels.at(1); ++at)
        if (at >= 0 && static_cast<std::size_t>(at) < session.n_positions())
          words.push_back(session.token_at(static_cast<std::size_t>(at)).text);
      return joined(words, " ");
    case core::Objective::classification:
      for (const std::int32_t label : gold.labels) words.push_back(class_name(state, label));
      return joined(words, ", ");
    case core::Objective::token_classification:
      words = answers_at_words(state, gold);
      if (words.size() > kMostLabels) {
        words.resize(kMostLabels);
        words.emplace_back("…");
      }
      return joined(words, ", ");
    case core::Objective::none:
      break;
  }
  return {};
}

std::string place_name(const core::Graph& graph, std::string_view path, const Words& words) {
  const std::vector<core::AttentionTensors> attentions = core::find_attentions(graph);
  const std::string_view block = core::block_of(path);
  if (block.empty()) return {};
  const std::string_view stack = core::owner(block);
  const bool has_stacks = std::ranges::any_of(
      attentions, [&](const core::AttentionTensors& other) { return !core::lies_in(other.path, stack); });
  const bool has_blocks = std::ranges::any_of(attentions, [&](const core::AttentionTensors& other) {
    return core::lies_in(other.path, stack) && !core::lies_in(other.path, block);
  });
  std::string name;
  const auto add = [&name](const std::string& word) { name += (name.empty() ? "" : " ") + word; };
  if (has_stacks) add(words.text.text(stack == "decoder" ? "top_bar.decoder" : "top_bar.encoder"));
  if (has_blocks) add(words.text.text("what_if.block", {{"n", std::string(core::leaf(block).substr(5))}}));
  if (core::leaf(core::attention_of(path)) == "cross_attention") add(words.text.text("what_if.cross"));
  return name;
}

double settable_value(const core::Session& session, const CellAddress& address) {
  const core::Trace<float> trace = session.trace();
  return trace.has(address.tensor, core::Quantity::previous_value)
             ? trace.number(address.tensor, address.cell, core::Quantity::previous_value)
             : trace.value(address.tensor, address.cell);
}

std::string cell_name(const AppState& state, const CellAddress& address, const Words& words) {
  const core::TensorSpec& spec = state.session.graph().spec(address.tensor);
  std::string name = short_name(spec);
  if (state.has_cell({address.tensor, address.cell})) {
    name += address_text(state.session, address);
  } else {  // of a sentence that is another now
    std::vector<std::string> indices;
    for (int place = 0; place < address.cell.rank(); ++place)
      indices.push_back(std::to_string(address.cell[place]));
    name += "[" + joined(indices, ", ") + "]";
  }
  const int head = spec.shape.find(core::Axis::head);
  if (head >= 0 && spec.shape.rank() > 2 && state.session.config().n_heads > 1)
    name += ", " + words.text.text("what_if.head_name", {{"head", std::to_string(address.cell[head])}});
  const std::string place = place_name(state.session.graph(), spec.name, words);
  return place.empty() ? name : name + ", " + place;
}

}  // namespace headscope::simulator
