// The terms of an explanation as the rows of a table, what they make, and whether that is the stored number.
#include "simulator/narration_parts.h"

#include "simulator/tensor_facts.h"
#include "simulator/term_text.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

using core::Axis;
using core::Combine;
using core::Form;
using core::Quantity;

/// Words of so many masked keys are listed; of more their number alone.
constexpr std::size_t kMostMaskedWords = 6;

class TermsWriter {
 public:
  TermsWriter(const NarrationSource& source, const core::Explanation& explanation, Narration& narration)
      : source_(source), explanation_(explanation), narration_(narration) {}

  void write() {
    told_apart_ = places_told_apart();
    for (const core::Term& term : explanation_.terms) {
      narration_.terms.push_back(narrate_term(source_, explanation_, term));
      write_index(term, narration_.terms.back());
    }
    if (explanation_.combine == Combine::share) narration_.chosen = explanation_.chosen;
    write_groups();
    if (!explanation_.terms.empty()) write_heads();
    write_sum();
    write_left_out();
    write_check();
  }

 private:
  bool is_gradient() const { return explanation_.quantity == Quantity::gradient; }

  /// An addend that is one tensor's number, outside a sum over channels or words: its name tells it from the
  /// others.
  bool is_named(const core::Term& term) const {
    return term.factors.size() == 1 && term.factors.front().tensor &&
           (term.index < 0 || explanation_.over == Axis::one);
  }

  /// The side along which a term's index counts: of the factor that has it.
  SliceSide side_summed_over(const core::Term& term) const {
    for (const core::Factor& factor : term.factors) {
      if (!factor.tensor) continue;
      const core::ShapeSpec& shape = source_.spec(*factor.tensor).shape;
      for (int place = 0; place < shape.rank(); ++place)
        if ((shape[place].axis == explanation_.over || explanation_.over == Axis::one) &&
            shape[place].axis != Axis::batch && factor.cell[place] == term.index)
          return whole_side(source_.session, *factor.tensor, place);
    }
    SliceSide side;
    side.axis = explanation_.over;
    return side;
  }

  /// The sides that tell the terms' cells apart, the batch aside: two where losses of words and of their
  /// several classes are averaged.
  std::vector<int> places_told_apart() const {
    std::vector<int> places;
    if (is_gradient() || is_update(explanation_) || explanation_.terms.empty()) return places;
    const auto first = [](const core::Term& term) -> const core::Factor& { return term.factors.front(); };
    const core::Factor& one = first(explanation_.terms.front());
    if (!one.tensor) return places;
    const auto same_tensor = [&](const core::Term& term) { return first(term).tensor == one.tensor; };
    if (!std::ranges::all_of(explanation_.terms, same_tensor)) return places;
    const core::ShapeSpec& shape = source_.spec(*one.tensor).shape;
    for (int place = 0; place < shape.rank(); ++place)
      if (shape[place].axis != Axis::batch &&
          std::ranges::any_of(explanation_.terms, [&](const core::Term& term) {
            return first(term).cell[place] != one.cell[place];
          }))
        places.push_back(place);
    return places;
  }

  void write_index(const core::Term& term, NarratedTerm& row) const {
    if (is_update(explanation_)) {
      row.index = source_.text("explainer.part." + std::string(part_key(term)));
      row.index_kind = LabelKind::said;
      return;
    }
    if (!is_gradient() && is_named(term)) {
      row.index = source_.tensor_name(*term.factors.front().tensor);
      row.index_kind = LabelKind::said;
      return;
    }
    if (told_apart_.size() > 1) {
      for (const int place : told_apart_) {
        const SliceSide side = whole_side(source_.session, *term.factors.front().tensor, place);
        if (!row.index.empty()) row.index += ", ";
        row.index += label_at(side, term.factors.front().cell[place]);
        if (kind_of(side) != LabelKind::number) row.index_kind = kind_of(side);
      }
      return;
    }
    const bool counts = term.index >= 0 && (explanation_.over != Axis::one || is_gradient());
    if (!counts) return;
    const SliceSide side = side_summed_over(term);
    row.index_kind = kind_of(side);
    const bool has_label = row.index_kind != LabelKind::number || side.axis == Axis::concat;
    row.index = has_label ? label_at(side, term.index) : std::to_string(term.index);
  }

  LabelKind kind_of(const SliceSide& side) const {
    if (side.axis == Axis::edge) return LabelKind::said;
    return labels_are_words(source_.session, side) ? LabelKind::word : LabelKind::number;
  }
  std::string label_at(const SliceSide& side, std::int64_t index) const {
    return side.axis == Axis::edge ? edge_word(source_.words.text, index)
                                   : side_label(source_.session, side, index);
  }

  /// Which part of an update a term is: the number before, the gradient's share, weight decay, the step.
  std::string_view part_key(const core::Term& term) const {
    if (term.form == Form::decay) return "decay";
    if (term.form == Form::adam_step) return "step";
    for (const core::Factor& factor : term.factors) {
      if (factor.quantity == Quantity::first_moment) return "step";
      if (factor.quantity == Quantity::gradient) return "gradient";
    }
    const bool is_decay =
        explanation_.quantity != Quantity::value && term.factors.back().quantity == Quantity::previous_value;
    return is_decay ? "decay" : "before";
  }

  /// One for each operation that sent something back, where there are several.
  void write_groups() {
    if (!is_gradient()) return;
    const auto sender = [&](std::size_t place) { return explanation_.terms[place].operation; };
    for (std::size_t place = 0; place < explanation_.terms.size(); ++place) {
      if (place == 0 || sender(place) != sender(place - 1))
        narration_.groups.push_back(
            {short_name(source_.spec(core::result(source_.graph().operations()[*sender(place)]))),
             place,
             place,
             {}});
      narration_.groups.back().end = place + 1;
    }
    if (narration_.groups.size() < 2) return narration_.groups.clear();
    for (NarratedGroup& group : narration_.groups) {
      double sum = 0;
      for (std::size_t place = group.begin; place < group.end; ++place)
        sum += explanation_.terms[place].value;
      group.value = own_number(source_, explanation_, sum);
    }
    // branches of a number each: the name is the row's
    if (narration_.groups.size() != narration_.terms.size()) return;
    for (std::size_t place = 0; place < narration_.terms.size(); ++place) {
      narration_.terms[place].index = narration_.groups[place].name;
      narration_.terms[place].index_kind = LabelKind::tensor;
    }
  }

  void write_heads() {
    narration_.index_head = index_head();
    if (is_gradient()) {
      narration_.heads = {{source_.text("explainer.upstream"), LabelKind::said, "gradient"},
                          {source_.text("explainer.local"), LabelKind::said, {}}};
    } else if (!is_update(explanation_) && !is_named(explanation_.terms.front())) {
      for (std::size_t place = 0; place < explanation_.terms.front().factors.size(); ++place)
        narration_.heads.push_back(head_of(place));
    }
    const std::string term_key = text_key(source_.spec(explanation_.tensor)) + ".term";
    narration_.value_head_is_said = is_gradient() || is_update(explanation_);
    if (narration_.value_head_is_said)
      narration_.value_head = source_.text("explainer.term");
    else if (source_.words.formulas.has(term_key))
      narration_.value_head = source_.words.formulas.text(term_key);
  }

  std::string index_head() const {
    // as in the formulas: d is summed along the model's width, c along a head's, k along a softmax's row
    switch (explanation_.over) {
      case Axis::model:
      case Axis::concat:
        return "d";
      case Axis::feed_forward:
        return "f";
      case Axis::class_label:
      case Axis::vocabulary:
        return "v";
      case Axis::head_channel:
        return "c";
      case Axis::key:
        return is_gradient() && goes_through_softmax() ? "k" : "j";
      case Axis::query:
        return "i";
      default:
        return "";
    }
  }

  bool goes_through_softmax() const {
    if (explanation_.terms.empty()) return false;  // all is masked, or held back by what was set by hand
    const std::optional<std::size_t>& operation = explanation_.terms.front().operation;
    return operation && std::holds_alternative<core::Softmax>(source_.graph().operations()[*operation]);
  }

  /// The word of the factor's row where all terms share it, else the tensor's name.
  NarratedHead head_of(std::size_t place) const {
    const core::Term& first = explanation_.terms.front();
    if (first.form == Form::exponential && place == 1) return {"max", LabelKind::tensor, {}};
    const core::Factor& factor = first.factors[place];
    if (!factor.tensor) return {};
    const core::TensorSpec& spec = source_.spec(*factor.tensor);
    NarratedHead head{short_name(spec), LabelKind::tensor, quantity_of(spec.name)};
    for (const Axis axis : {Axis::query, Axis::key}) {
      const int at = spec.shape.find(axis);
      if (at < 0 || explanation_.terms.size() < 2) continue;
      const std::int64_t index = factor.cell[at];
      const bool is_shared = std::ranges::all_of(explanation_.terms, [&](const core::Term& term) {
        return term.index < 0 ||
               (term.factors.size() > place && term.factors[place].tensor == factor.tensor &&
                term.factors[place].cell[at] == index);
      });
      if (!is_shared) continue;
      const SliceSide side = whole_side(source_.session, *factor.tensor, at);
      head.text = side_label(source_.session, side, index);
      if (labels_are_words(source_.session, side)) head.kind = LabelKind::word;
      break;
    }
    return head;
  }

  void write_sum() {
    double sum = 0;
    for (const core::Term& term : explanation_.terms) sum += term.value;
    if (is_intermediate(explanation_)) {
      narration_.sum_word = source_.text("explainer.sum");
      narration_.sum = lessons::format_number(sum, lessons::NumberKind::value, source_.rules);
      narration_.conclusion = explanation_.combine == Combine::share
                                  ? narration_.terms[explanation_.chosen].value + " ÷ " + narration_.sum +
                                        " = " + narration_.value
                                  : "1 ÷ √" + narration_.sum + " = " + narration_.value;
      return;
    }
    if (explanation_.combine != Combine::sum || explanation_.terms.size() < 2) return;
    narration_.sum_word = source_.text("explainer.sum");
    // the sum is the stored value; where rounded terms visibly miss it, say so
    narration_.sum = narration_.value;
    double displayed = 0;
    for (const NarratedTerm& term : narration_.terms)
      displayed += lessons::parse_number(term.value).value_or(std::nan(""));
    const double shown = lessons::parse_number(narration_.value).value_or(std::nan(""));
    if (std::isfinite(displayed) && std::isfinite(shown) &&
        own_number(source_, explanation_, displayed) != own_number(source_, explanation_, shown))
      narration_.rounded = source_.text("explainer.rounded");
  }

  void write_left_out() {
    const auto say = [&](const std::string& sentence) {
      narration_.left_out += (narration_.left_out.empty() ? "" : " ") + sentence;
    };
    const std::string count = std::to_string(explanation_.n_masked);
    if (explanation_.n_masked > 0 && is_gradient()) {
      const std::vector<std::string> masked = masked_words();
      std::string listed;
      for (const std::string& word : masked) listed += (listed.empty() ? "" : ", ") + word;
      say(masked.empty() ? source_.text("explainer.masked_keys", {{"n", count}})
                         : source_.text("explainer.masked_words", {{"words", listed}}));
    } else if (explanation_.n_masked > 0 && explanation_.combine == Combine::share) {
      say(source_.text("explainer.left_out", {{"n", count}}));
    }
    if (explanation_.n_by_hand > 0)
      say(source_.text("explainer.held_back", {{"n", std::to_string(explanation_.n_by_hand)}}));
  }

  /// The words whose share of the softmax's row is exactly 0; none where there are too many to list.
  std::vector<std::string> masked_words() const {
    if (!goes_through_softmax()) return {};
    const std::optional<std::size_t>& operation = explanation_.terms.front().operation;
    const auto& softmax = std::get<core::Softmax>(source_.graph().operations()[*operation]);
    const SliceSide side = whole_side(source_.session, softmax.input, softmax.axis);
    std::vector<std::string> words;
    core::Cell cell = explanation_.cell;
    for (std::int64_t k = 0; k < source_.trace.shape(softmax.input)[softmax.axis]; ++k) {
      cell[softmax.axis] = k;
      const double logit = source_.trace.value(softmax.input, cell);
      if (std::isinf(logit) && logit < 0) words.push_back(side_label(source_.session, side, k));
    }
    if (words.size() > kMostMaskedWords) words.clear();
    return words;
  }

  void write_check() {
    if (explanation_.combine == Combine::given || explanation_.combine == Combine::by_hand) return;
    const double combined = explanation_.combined();
    // rounding of a single-precision sum, as the tests of the core demand it; a share below the smallest
    // normal number loses digits, and is 0 in the end
    constexpr double kRounding = 1e-6, kUnderflow = std::numeric_limits<float>::min();
    const bool are_nan = std::isnan(combined) && std::isnan(explanation_.value);
    narration_.check_holds =
        are_nan || combined == explanation_.value ||
        std::abs(combined - explanation_.value) <= kRounding * explanation_.magnitude() + kUnderflow;
    const auto digits = [&](double value) {
      return lessons::format_number(value, lessons::NumberKind::check, source_.rules);
    };
    narration_.check = narration_.check_holds
                           ? source_.text("explainer.equals_stored", {{"value", digits(explanation_.value)}})
                           : source_.text("explainer.differs",
                                          {{"value", digits(explanation_.value)}, {"sum", digits(combined)}});
  }

  const NarrationSource& source_;
  const core::Explanation& explanation_;
  Narration& narration_;
  std::vector<int> told_apart_;
};

}  // namespace

void add_terms(const NarrationSource& source, const core::Explanation& explanation, Narration& narration) {
  TermsWriter(source, explanation, narration).write();
}

}  // namespace headscope::simulator
