// The sentence of a narration: which of the text file's, and what fills its places.
#include "simulator/narration_parts.h"
#include "simulator/slice.h"

#include <cmath>
#include <cstddef>
#include <set>
#include <utility>

namespace headscope::simulator {
namespace {

using core::Axis;
using core::Combine;
using core::Quantity;

class SentenceWriter {
 public:
  SentenceWriter(const NarrationSource& source, const core::Explanation& explanation,
                 const Narration& narration)
      : source_(source), explanation_(explanation), narration_(narration) {}

  std::string write() const {
    switch (explanation_.quantity) {
      case Quantity::value:
        return is_update(explanation_) ? of_update() : of_value();
      case Quantity::gradient:
        return of_gradient();
      case Quantity::first_moment:
      case Quantity::second_moment:
        return is_update(explanation_) ? of_update() : say("explain_update.moment_before");
      case Quantity::previous_value:
        return say("explain_update.previous_value");
      case Quantity::previous_first:
      case Quantity::previous_second:
        break;
    }
    return say("explain_update.moment_before");
  }

 private:
  CellAddress cell() const { return {explanation_.tensor, explanation_.cell, explanation_.quantity}; }
  std::string say(const std::string& key, const lessons::TextValues& values = {}) const {
    return source_.text(key, values);
  }

  /// The tensor's entry, with the mask's reason where it decides; what was set by hand has one for all.
  std::string of_value() const {
    lessons::TextValues values = cell_values(source_, cell());
    values.emplace_back("value", narration_.value);
    values.emplace_back("n", std::to_string(explanation_.terms.size()));
    std::string key = text_key(source_.spec(explanation_.tensor));
    const std::size_t dot = explanation_.key.find('.');
    if (dot != std::string::npos) key += "_" + explanation_.key.substr(dot + 1);
    if (explanation_.combine == Combine::by_hand) key = "by_hand";
    if (key == "label" || key == "labels") {
      const auto name = class_name(source_.session, static_cast<std::int64_t>(explanation_.value));
      if (name) values.emplace_back("class", escape_markdown(*name)), key += "_named";
    }
    return say("explain." + key, values);
  }

  std::string of_gradient() const {
    const NarratedName name = source_.name({explanation_.tensor, explanation_.cell});
    const lessons::TextValues values = {
        {"cell", escape_markdown(name.text())},
        {"rate", source_.number(explanation_.tensor, Quantity::gradient, std::abs(explanation_.value))}};
    const auto told = [&](const std::string& key) { return say("explain_gradient." + key, values); };
    if (explanation_.combine == Combine::given) return told("loss");
    if (explanation_.combine == Combine::masked)
      return told(explanation_.key.substr(explanation_.key.rfind('.') + 1));
    std::string sentence;
    if (std::isnan(explanation_.value))
      sentence = told("not_a_number");
    else if (explanation_.terms.empty() && explanation_.n_by_hand == 0 && narration_.is_computed)
      sentence = told("unread");
    else if (explanation_.value == 0)
      sentence = explanation_.terms.empty() && !narration_.is_computed ? told("open") : told("flat");
    else
      sentence = told(explanation_.value < 0 ? "falls" : "rises");
    return sentence + how_it_came(values) + held_by_hand(values);
  }

  /// Which operations sent it back.
  std::string how_it_came(const lessons::TextValues&) const {
    std::set<std::size_t> senders;
    for (const core::Term& term : explanation_.terms)
      if (term.operation) senders.insert(*term.operation);
    if (senders.empty()) return {};
    if (senders.size() > 1)
      return " " + say("explain_gradient.fork", {{"n", std::to_string(senders.size())}});
    return " " +
           step_title(source_.graph(),
                      {.phase = core::Phase::backward, .operation = *senders.begin(), .parameter = {}},
                      source_.words.text) +
           ".";
  }

  std::string held_by_hand(const lessons::TextValues& values) const {
    const bool is_set = source_.trace.set_by_hand(explanation_.tensor, explanation_.cell) != nullptr;
    return is_set ? " " + say("explain_gradient.by_hand", values) : "";
  }

  std::string of_update() const {
    const core::UpdateView<float>& update = *source_.trace.update();
    lessons::TextValues values{{"rate", source_.constant(update.factors.rate)},
                               {"beta1", source_.constant(update.config.beta1)},
                               {"beta2", source_.constant(update.config.beta2)},
                               {"momentum", source_.constant(update.config.momentum)},
                               {"step", std::to_string(update.step)}};
    std::string sentence = say("explain_update." + explanation_.key, values);
    if (update.factors.gradient_scale != 1)
      sentence +=
          " " + say("explain_update.clipped", {{"scale", source_.constant(update.factors.gradient_scale)}});
    return sentence;
  }

  const NarrationSource& source_;
  const core::Explanation& explanation_;
  const Narration& narration_;
};

/// An id's sentence names the word that the id stands for.
void add_looked_up_word(const NarrationSource& source, const CellAddress& cell, lessons::TextValues& values) {
  if (source.spec(cell.tensor).element != core::Element::integer) return;
  const auto id = static_cast<std::int32_t>(source.trace.value(cell.tensor, cell.cell));
  if (id >= 0 && id < source.session.vocabulary().size())
    values.emplace_back("word", source.token_in_sentence(source.session.vocabulary().token(id)));
}

}  // namespace

lessons::TextValues cell_values(const NarrationSource& source, const CellAddress& cell) {
  const core::ShapeSpec& shape = source.spec(cell.tensor).shape;
  lessons::TextValues values;
  for (int place = 0; place < shape.rank(); ++place) {
    const std::int64_t index = cell.cell[place];
    const SliceSide side = whole_side(source.session, cell.tensor, place);
    const auto label = [&] { return source.label_in_sentence(side, index); };
    switch (shape[place].axis) {
      case Axis::query:
        values.emplace_back("query", label());
        break;
      case Axis::key:
        values.emplace_back("key", label());
        break;
      case Axis::vocabulary:
        values.emplace_back("word", label());
        break;
      case Axis::concat:
        values.emplace_back("head", std::to_string(index / source.session.config().d_head));
        values.emplace_back("channel", std::to_string(index % source.session.config().d_head));
        break;
      case Axis::feed_forward:
        values.emplace_back("channel", std::to_string(index));
        break;
      case Axis::edge:
        values.emplace_back("edge", edge_word(source.words.text, index));
        break;
      case Axis::distance:
        values.emplace_back("distance", side_label(source.session, side, index));
        break;
      case Axis::class_label:
        values.emplace_back(
            "class", labels_are_words(source.session, side) ? "*" + label() + "*" : std::to_string(index));
        break;
      case Axis::head:
      case Axis::position:
      case Axis::model:
      case Axis::head_channel:
      case Axis::output:
      case Axis::token_type:
        values.emplace_back(counted_word(shape[place].axis), std::to_string(index));
        break;
      case Axis::batch:
      case Axis::one:
        break;
    }
  }
  add_looked_up_word(source, cell, values);
  return values;
}

void add_sentence(const NarrationSource& source, const core::Explanation& explanation, Narration& narration) {
  narration.sentence = SentenceWriter(source, explanation, narration).write();
}

}  // namespace headscope::simulator
