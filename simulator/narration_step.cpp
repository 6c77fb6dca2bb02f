// One sentence about a step: whose number it made or sent back, from which numbers.
#include "simulator/narration_parts.h"

#include "simulator/tensor_facts.h"
#include "simulator/term_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>

namespace headscope::simulator {
namespace {

using core::Axis;
using core::Combine;
using core::Phase;
using core::Quantity;

/// Sums of so many terms are written out; of longer ones the two largest.
constexpr std::size_t kMostTerms = 3, kLargestShown = 2;

/// The cell of the largest size, the first of equals; none where none is finite and not 0.
std::optional<core::Cell> largest_cell(const core::Shape& shape,
                                       const std::function<double(const core::Cell&)>& number) {
  std::optional<core::Cell> largest;
  double most = 0;
  for (std::int64_t place = 0; place < shape.count(); ++place) {
    const core::Cell cell = shape.cell(place);
    const double size = std::abs(number(cell));
    if (!std::isfinite(size) || size <= most) continue;
    most = size;
    largest = cell;
  }
  return largest;
}

class StepWriter {
 public:
  StepWriter(const NarrationSource& source, const core::Step& step) : source_(source), step_(step) {}

  std::string write(const std::optional<CellAddress>& lit) {
    const std::optional<CellAddress> cell = has_run() ? cell_to_tell(lit) : std::nullopt;
    if (!cell) return step_title(source_.graph(), step_, source_.words.text);
    explanation_ = core::explain(source_.trace, cell->tensor, cell->cell, cell->quantity);
    return step_.phase == Phase::backward ? of_backward(*cell) : of_result(*cell);
  }

 private:
  std::string say(const std::string& key, const lessons::TextValues& values) const {
    return source_.text("step." + key, values);
  }

  bool has_run() const {
    const core::Trace<float>& trace = source_.trace;
    switch (step_.phase) {
      case Phase::forward:
        return step_.operation < trace.cursor().position();
      case Phase::backward: {
        const auto operations = trace.workspace().gradient_plan().operations();
        const auto place = std::ranges::find(operations, step_.operation) - operations.begin();
        return static_cast<std::size_t>(place) < trace.backward_done();
      }
      case Phase::update:
        break;
    }
    return trace.is_updated(step_.parameter);
  }

  // --- whose number ---

  Quantity written() const { return step_.phase == Phase::backward ? Quantity::gradient : Quantity::value; }

  std::optional<CellAddress> cell_to_tell(const std::optional<CellAddress>& lit) const {
    const std::vector<core::TensorId> results =
        step_results(source_.graph(), source_.trace.workspace().gradient_plan(), step_);
    if (lit && lit->quantity == written() && std::ranges::count(results, lit->tensor) > 0) return lit;
    for (const core::TensorId tensor : results)
      if (const std::optional<core::Cell> cell = telling_cell(tensor))
        return CellAddress{tensor, *cell, written()};
    const core::Shape& shape = source_.trace.shape(results.front());
    if (shape.count() == 0) return std::nullopt;
    return CellAddress{results.front(), shape.cell(0), written()};
  }

  std::optional<core::Cell> telling_cell(core::TensorId tensor) const {
    const core::Trace<float>& trace = source_.trace;
    return largest_cell(trace.shape(tensor), [&](const core::Cell& cell) {
      if (step_.phase == Phase::update)
        return trace.value(tensor, cell) - trace.number(tensor, cell, Quantity::previous_value);
      return trace.number(tensor, cell, written());
    });
  }

  /// "head 1, *not* → *bad*", "*cat*, channel 3".
  std::string place(const CellAddress& cell) const {
    std::string query, key, rest;
    const core::ShapeSpec& shape = source_.spec(cell.tensor).shape;
    const auto add = [&](const std::string& words) { rest += (rest.empty() ? "" : ", ") + words; };
    for (int at = 0; at < shape.rank(); ++at) {
      const std::int64_t index = cell.cell[at];
      const SliceSide side = whole_side(source_.session, cell.tensor, at);
      const std::string label = source_.label_in_sentence(side, index);
      const std::string word = "*" + label + "*";
      const auto counted = [&](std::string_view name) {
        add(say("place." + std::string(name), {{"n", std::to_string(index)}}));
      };
      switch (side.axis) {
        case Axis::query:
          query = word;
          break;
        case Axis::key:
        case Axis::vocabulary:
          key = word;
          break;
        case Axis::head:
          if (source_.session.config().n_heads > 1) counted("head");
          break;
        case Axis::concat:
          add(say("place.head", {{"n", std::to_string(index / source_.session.config().d_head)}}));
          add(say("place.channel", {{"n", std::to_string(index % source_.session.config().d_head)}}));
          break;
        case Axis::head_channel:  // a learned matrix leads from one kind of channel to the other
          counted(shape.find(Axis::model) < 0 ? "channel" : "head_channel");
          break;
        case Axis::class_label:
          if (labels_are_words(source_.session, side))
            key = word;
          else
            counted(counted_word(side.axis));
          break;
        case Axis::model:
        case Axis::feed_forward:
        case Axis::position:
        case Axis::output:
        case Axis::token_type:
          counted(counted_word(side.axis));
          break;
        case Axis::edge:
          add(edge_word(source_.words.text, index));
          break;
        case Axis::distance:
          add(say("place.distance", {{"n", label}}));
          break;
        case Axis::batch:
        case Axis::one:
          break;
      }
    }
    std::string words = query;
    if (!key.empty()) words += (words.empty() ? "" : " → ") + key;
    // the head stands before the words, what is within the cell behind them
    const bool begins_with_head = shape.find(Axis::head) >= 0 && source_.session.config().n_heads > 1;
    if (!begins_with_head) return words.empty() ? rest : words + (rest.empty() ? "" : ", " + rest);
    const std::size_t head = std::min(rest.find(", "), rest.size());
    return rest.substr(0, head) + (words.empty() ? "" : ", " + words) + rest.substr(head);
  }

  /// "**masked_scores**".
  std::string bold_name(const CellAddress& cell) const {
    const NarratedName name = source_.name(cell);
    return "**" + escape_markdown(name.before + name.name + name.after) + "**";
  }

  /// "**masked_scores**, head 1, *on* → *sat*".
  std::string subject(const CellAddress& cell) const {
    const std::string where = place(cell);
    return where.empty() ? bold_name(cell) : say("subject", {{"name", bold_name(cell)}, {"place", where}});
  }

  // --- from which numbers ---

  std::string arithmetic(const core::Term& term) const {
    if (is_update(explanation_)) return escape_markdown(update_arithmetic(term));
    return escape_markdown(
        joined_factors(term, [&](const core::Factor& factor) { return number_in(term, factor); }));
  }

  std::string number_in(const core::Term& term, const core::Factor& factor) const {
    // at the beginning a negative number needs no brackets
    return &factor == term.factors.data() && term.form != core::Form::mean_square
               ? source_.number(factor)
               : source_.number_in_line(factor);
  }

  /// "−0.001 × 0.98": the row of the table, since the whole of AdamW's step is too long for a sentence.
  std::string update_arithmetic(const core::Term& term) const {
    const NarratedTerm row = narrate_term(source_, explanation_, term);
    std::string text = row.factors.front().number;
    for (std::size_t at = 1; at < row.factors.size(); ++at) {
      const std::string& number = row.factors[at].number;
      const bool is_negative = number.starts_with(source_.rules.minus);
      text += " " + row.signs[at - 1] + " " + (is_negative ? "(" + number + ")" : number);
    }
    return text;
  }

  /// Terms with their signs between them: "0.31 × 0.20 − 0.12 × 0.75".
  std::string sum_of(const std::vector<const core::Term*>& terms) const {
    const std::string& minus = source_.rules.minus;
    std::string sum;
    for (const core::Term* term : terms) {
      std::string text = arithmetic(*term);
      if (sum.empty()) {
        sum = std::move(text);
      } else if (text.starts_with(minus)) {
        sum.append(" − ").append(text.substr(minus.size()));
      } else {
        sum.append(" + ").append(text);
      }
    }
    return sum;
  }

  /// All of a short sum; of a long one the two largest terms, in their order, and how many there are.
  std::string sum_of(std::vector<core::Term> const& terms) const {
    std::vector<const core::Term*> shown;
    shown.reserve(terms.size());
    for (const core::Term& term : terms) shown.push_back(&term);
    if (terms.size() <= kMostTerms) return sum_of(shown);
    std::ranges::stable_sort(shown, [](const core::Term* left, const core::Term* right) {
      return std::abs(left->value) > std::abs(right->value);
    });
    shown.resize(kLargestShown);
    std::ranges::sort(shown);  // they lie in one array: by their place
    return say("long_sum", {{"terms", sum_of(shown)}, {"n", std::to_string(terms.size())}});
  }

  std::string of_result(const CellAddress& cell) const {
    const std::string value = escape_markdown(own_number(source_, explanation_, explanation_.value));
    lessons::TextValues values{{"cell", subject(cell)}, {"value", value}};
    switch (explanation_.combine) {
      case Combine::by_hand:
        return say("by_hand", values);
      case Combine::masked:
        return say(explanation_.key.ends_with("padding") ? "padding" : "masked", values);
      case Combine::share:
      case Combine::inverse_root: {
        double sum = 0;
        for (const core::Term& term : explanation_.terms) sum += term.value;
        const auto digits = [&](double number) {
          return escape_markdown(lessons::format_number(number, lessons::NumberKind::value, source_.rules));
        };
        values.emplace_back("n", std::to_string(explanation_.terms.size()));
        values.emplace_back("sum", digits(sum));
        if (explanation_.combine == Combine::inverse_root) return say("inverse_root", values);
        const core::Term& chosen = explanation_.terms[explanation_.chosen];
        values.emplace_back("term", arithmetic(chosen));
        return say("share", values);
      }
      case Combine::given:
      case Combine::sum:
        break;
    }
    if (explanation_.terms.empty()) return say("nothing", values);
    const core::Term& first = explanation_.terms.front();
    if (first.form == core::Form::random) return say("random", values);
    const bool is_copy = explanation_.terms.size() == 1 && first.factors.size() == 1 &&
                         first.form == core::Form::product && first.factors.front().tensor;
    if (is_copy) {
      const core::Factor& from = first.factors.front();
      const CellAddress source{*from.tensor, from.cell, from.quantity};
      values.emplace_back("from", place(source) == place(cell) ? bold_name(source) : subject(source));
      return say("copy", values);
    }
    values.emplace_back("sum", sum_of(explanation_.terms));
    return say("sum", values);
  }

  /// What this operation alone sent back to the cell.
  std::string of_backward(const CellAddress& cell) const {
    std::vector<core::Term> sent;
    double sum = 0;
    for (const core::Term& term : explanation_.terms)
      if (term.operation == step_.operation) {
        sent.push_back(term);
        sum += term.value;
      }
    const auto number = [&](double gradient) {
      return escape_markdown(own_number(source_, explanation_, gradient));
    };
    lessons::TextValues values{{"cell", subject(cell)}, {"value", number(sum)}};
    if (sent.empty()) return say("nothing_back", values);
    values.emplace_back("sum", sum_of(sent));
    if (sent.size() < explanation_.terms.size()) {
      values.emplace_back("total", number(explanation_.value));
      return say(is_one_number(sent) ? "pass_on_more" : "sum_more", values);
    }
    return say(is_one_number(sent) ? "pass_on" : "sum", values);
  }

  static bool is_one_number(const std::vector<core::Term>& terms) {
    return terms.size() == 1 && terms.front().factors.size() == 1;
  }

  const NarrationSource& source_;
  const core::Step& step_;
  core::Explanation explanation_;
};

}  // namespace

std::string narrate_step(const core::Session& session, const core::Trace<float>& trace,
                         const core::Step& step, const Words& words, const std::optional<CellAddress>& lit,
                         const lessons::NumberRules& rules) {
  const NarrationSource source{session, trace, words, rules};
  return StepWriter(source, step).write(lit);
}

}  // namespace headscope::simulator
