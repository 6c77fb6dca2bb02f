// What the model should answer, said in the way of its objective; and what it answers by itself.
#include "simulator/changes.h"
#include "simulator/panels/what_if.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace headscope::simulator {
namespace {

/// More classes than these are typed, not shown as chips.
constexpr std::int64_t kMostChips = 60;

core::Gold given(std::vector<std::int32_t> labels) {
  return {.origin = core::Gold::Origin::given, .target = {}, .labels = std::move(labels)};
}

std::vector<std::string> words_of(const core::Session& session) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < session.n_positions(); ++at) words.push_back(session.token_at(at).text);
  return words;
}

class AnswerPart {
 public:
  explicit AnswerPart(Column& column)
      : column_(column),
        panel_(column.panel()),
        session_(panel_.state.session),
        gold_(session_.setup().gold) {}

  void draw() {
    column_.heading(column_.text("what_if.answer"));
    if (session_.config().objective == core::Objective::none)
      return column_.say(column_.text("what_if.no_objective"));
    if (is_own_answer()) return column_.say(column_.text("what_if.sentence_is_answer"));
    draw_read();
    if (gold_.origin == core::Gold::Origin::none)
      column_.note(Note::warning, column_.text("what_if.no_answer"));
    switch (session_.config().objective) {
      case core::Objective::classification:
        draw_classes();
        break;
      case core::Objective::span:
        draw_span();
        break;
      case core::Objective::token_classification:
        draw_positions();
        break;
      case core::Objective::language_model:
        draw_target();
        break;
      case core::Objective::none:
        break;
    }
    draw_assumed();
    draw_own_answer();
  }

 private:
  /// A decoder's language model: the words themselves are what is to be said next.
  bool is_own_answer() const {
    return session_.config().objective == core::Objective::language_model && !session_.target_vocabulary();
  }
  void set(core::Gold gold) { panel_.actions.push_back(SetGold{std::move(gold)}); }

  void draw_read() {
    const core::ModelConfig& config = session_.config();
    if (config.objective != core::Objective::span || config.span_reader != core::SpanReader::pointer) return;
    column_.say(column_.text("what_if.which_asks"));
    const int read = session_.setup().read.value_or(session_.default_read());
    if (const auto pressed = column_.choose("read", words_of(session_), read, Source::token))
      panel_.actions.push_back(SetRead{*pressed});
  }

  void draw_classes() {
    const std::int64_t n = session_.config().n_classes;
    const std::optional<int> chosen =
        gold_.labels.size() == 1 ? std::optional(static_cast<int>(gold_.labels[0])) : std::nullopt;
    if (n > kMostChips) {
      column_.say(column_.text("what_if.class_number", {{"last", std::to_string(n - 1)}}));
      if (chosen && panel_.state.task) column_.say_loud(class_name(panel_.state, *chosen), Source::token);
      const auto typed = column_.number_field("class", chosen, lessons::NumberKind::integer);
      if (typed)
        set(given({static_cast<std::int32_t>(std::clamp<double>(*typed, 0, static_cast<double>(n - 1)))}));
      return;
    }
    std::vector<std::string> names;
    for (std::int64_t label = 0; label < n; ++label)
      names.push_back(class_name(panel_.state, static_cast<std::int32_t>(label)));
    if (const auto pressed = column_.choose("class", names, chosen, Source::token)) set(given({*pressed}));
  }

  /// Two clicks make a span: its first word, its last.
  void draw_span() {
    std::optional<std::int32_t>& begin = panel_.window.what_if.span_begin;
    const auto n = static_cast<std::int32_t>(session_.n_positions());
    if (begin && *begin >= n) begin.reset();
    column_.say(column_.text(begin ? "what_if.span_end" : "what_if.span_begin"));
    std::vector<Chosen> chosen(static_cast<std::size_t>(n), Chosen::no);
    const std::int32_t first = begin ? *begin : gold_.labels.size() == 2 ? gold_.labels[0] : 0;
    const std::int32_t last = begin ? *begin : gold_.labels.size() == 2 ? gold_.labels[1] : -1;
    for (std::int32_t at = std::max(0, first); at <= last && at < n; ++at)
      chosen[static_cast<std::size_t>(at)] = Chosen::yes;
    const auto pressed = column_.choose("span", words_of(session_), chosen, Source::token);
    if (!pressed) return;
    const std::int32_t at = *pressed;
    if (!begin) {
      begin = at;
      return;
    }
    set(given({std::min(*begin, at), std::max(*begin, at)}));
    begin.reset();
  }

  /// A chip for each prediction; pressing it takes the next class, with Shift the one before.
  void draw_positions() {
    const auto n_outputs = static_cast<std::size_t>(session_.config().n_outputs);
    const std::size_t n = session_.n_positions();
    std::vector<std::int32_t> labels = gold_.labels;
    labels.resize(n * n_outputs, -1);
    column_.say(column_.text(n_outputs == 1 ? "what_if.each_word" : "what_if.each_word_of_many",
                             {{"n", std::to_string(n_outputs)}}));
    if (n_outputs > 1) {
      for (std::size_t at = 0; at < n; ++at) {
        std::vector<std::string> words;
        std::vector<Chosen> chosen;
        column_.say_loud(session_.token_at(at).text, Source::token);
        for (std::size_t output = 0; output < n_outputs; ++output)
          add(words, chosen, {}, labels[at * n_outputs + output]);
        if (const auto pressed =
                column_.choose("label" + std::to_string(at) + "_", words, chosen, Source::token))
          turn(labels, at * n_outputs + static_cast<std::size_t>(*pressed));
      }
      return;
    }
    std::vector<std::string> words;
    std::vector<Chosen> chosen;
    for (std::size_t at = 0; at < n; ++at) add(words, chosen, session_.token_at(at).text + ": ", labels[at]);
    if (const auto pressed = column_.choose("label", words, chosen, Source::token))
      turn(labels, static_cast<std::size_t>(*pressed));
  }
  void add(std::vector<std::string>& words, std::vector<Chosen>& chosen, const std::string& before,
           std::int32_t label) const {
    words.push_back(before + class_name(panel_.state, label));
    chosen.push_back(label < 0 ? Chosen::no : Chosen::yes);
  }
  /// On to the next class; behind the last it is not scored.
  void turn(std::vector<std::int32_t> labels, std::size_t place) {
    const auto n = static_cast<std::int32_t>(session_.config().n_classes);
    const std::int32_t step = ImGui::GetIO().KeyShift ? -1 : 1;
    std::int32_t& label = labels[place];
    label = (label + 1 + step + n + 1) % (n + 1) - 1;
    const bool is_scored = std::ranges::any_of(labels, [](std::int32_t one) { return one >= 0; });
    set(is_scored ? given(std::move(labels)) : core::Gold{});
  }

  void draw_target() {
    const auto typed = column_.field("target", gold_.target, column_.text("what_if.target_hint"));
    if (!typed) return;
    set(typed->empty() ? core::Gold{} : core::Gold{.origin = core::Gold::Origin::given, .target = *typed});
  }

  void draw_assumed() {
    if (gold_.origin == core::Gold::Origin::assumed)
      column_.note(Note::warning, column_.text("what_if.assumed"));
    if (gold_.origin != core::Gold::Origin::none &&
        column_.press("no_answer", column_.text("what_if.take_answer_away"), Emphasis::quiet))
      set({});
  }

  void draw_own_answer() {
    // a large model is asked when somebody wants to know
    if (is_long(panel_.state, n_numbers_of_answer(session_))) {
      if (gold_.origin != core::Gold::Origin::assumed &&
          column_.press("assume", column_.text("what_if.assume")))
        panel_.actions.push_back(AssumeGold{});
      return;
    }
    const std::optional<core::Gold>& own = own_answer();
    if (!own) return;
    const std::string answer = answer_text(panel_.state, asked_of(*own));
    column_.say(column_.text("what_if.own_answer",
                             {{"answer", answer.empty() ? column_.text("what_if.nothing") : answer}}));
    if (gold_.origin == core::Gold::Origin::assumed) return;
    if (column_.press("assume", column_.text("what_if.assume"))) panel_.actions.push_back(AssumeGold{});
  }

  /// Of the model's own answer what the right one is about: a model answers at every word, asked or not.
  core::Gold asked_of(core::Gold own) const {
    if (session_.config().objective != core::Objective::token_classification ||
        gold_.labels.size() != own.labels.size())
      return own;
    for (std::size_t at = 0; at < own.labels.size(); ++at)
      if (gold_.labels[at] < 0) own.labels[at] = -1;
    return own;
  }

  const std::optional<core::Gold>& own_answer() {
    std::optional<OwnAnswer>& kept = panel_.window.what_if.own_answer;
    if (!kept || kept->setup != session_.setup()) kept = OwnAnswer{session_.setup(), session_.predict_gold()};
    return kept->gold;
  }

  Column& column_;
  Panel& panel_;
  const core::Session& session_;
  const core::Gold& gold_;
};

}  // namespace

void draw_answer_part(Column& column) {
  AnswerPart(column).draw();
}

}  // namespace headscope::simulator
