#include "simulator/narration.h"

#include "core/influence.h"
#include "lessons/number_format.h"
#include "simulator/slice.h"
#include "simulator/tensor_facts.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headscope::simulator {
namespace {

using core::Axis;
using core::Combine;
using core::Form;

class Narrator {
 public:
  Narrator(const core::Session& session, const core::Cursor& cursor, const CellAddress& cell,
           const Words& words, const lessons::NumberRules& rules)
      : session_(session),
        trace_(session.trace(cursor)),
        words_(words),
        text_(words.text),
        rules_(rules),
        explanation_(core::explain(trace_, cell.tensor, cell.cell)) {
    narration_.cell = cell;
  }

  Narration narrate() {
    const core::TensorSpec& spec = session_.graph().spec(narration_.cell.tensor);
    narration_.name = short_name(spec);
    narration_.address = address_text(session_, narration_.cell);
    narration_.quantity = quantity_of(spec.name);
    narration_.value = number(narration_.cell.tensor, explanation_.value);
    narration_.is_computed = trace_.is_computed(narration_.cell.tensor);
    narration_.sentence = text_.text("explain." + sentence_key(spec), sentence_values());
    add_terms();
    add_sum();
    add_check();
    add_origins();
    add_destinations();
    return std::move(narration_);
  }

 private:
  std::string number(core::TensorId tensor, double value) const {
    return lessons::format_number(value, number_kind_of(session_.graph().spec(tensor)), rules_);
  }

  /// The tensor's entry, with the mask's reason where it decides; what was set by hand has one for all.
  std::string sentence_key(const core::TensorSpec& spec) const {
    if (explanation_.combine == Combine::by_hand) return "by_hand";
    const std::size_t dot = explanation_.key.find('.');
    return dot == std::string::npos ? text_key(spec)
                                    : text_key(spec) + "_" + explanation_.key.substr(dot + 1);
  }

  lessons::TextValues sentence_values() const {
    const core::ShapeSpec& shape = session_.graph().spec(narration_.cell.tensor).shape;
    lessons::TextValues values{{"value", narration_.value}, {"n", std::to_string(explanation_.terms.size())}};
    for (int place = 0; place < shape.rank(); ++place) {
      const std::int64_t index = narration_.cell.cell[place];
      const SliceSide side = whole_side(session_, narration_.cell.tensor, place);
      switch (shape[place].axis) {
        case Axis::query:
          values.emplace_back("query", escape_markdown(side_label(session_, side, index)));
          break;
        case Axis::key:
          values.emplace_back("key", escape_markdown(side_label(session_, side, index)));
          break;
        case Axis::vocabulary:
          values.emplace_back("word", escape_markdown(side_label(session_, side, index)));
          break;
        case Axis::head:
          values.emplace_back("head", std::to_string(index));
          break;
        case Axis::position:
          values.emplace_back("position", std::to_string(index));
          break;
        case Axis::concat:
          values.emplace_back("head", std::to_string(index / session_.config().d_head));
          values.emplace_back("channel", std::to_string(index % session_.config().d_head));
          break;
        case Axis::model:
        case Axis::feed_forward:
          values.emplace_back("channel", std::to_string(index));
          break;
        case Axis::head_channel:
          values.emplace_back("head_channel", std::to_string(index));
          break;
        case Axis::class_label:
          values.emplace_back("class", std::to_string(index));
          break;
        case Axis::output:
          values.emplace_back("output", std::to_string(index));
          break;
        case Axis::edge:
          values.emplace_back("edge", text_.text(index == 0 ? "explainer.start" : "explainer.end"));
          break;
        case Axis::distance:
          values.emplace_back("distance", side_label(session_, side, index));
          break;
        case Axis::token_type:
          values.emplace_back("type", std::to_string(index));
          break;
        case Axis::batch:
        case Axis::one:
          break;
      }
    }
    add_looked_up_word(values);
    return values;
  }

  /// An id's sentence names the word that the id stands for.
  void add_looked_up_word(lessons::TextValues& values) const {
    const core::TensorSpec& spec = session_.graph().spec(narration_.cell.tensor);
    if (spec.element != core::Element::integer) return;
    const auto id = static_cast<std::int32_t>(explanation_.value);
    if (id >= 0 && id < session_.vocabulary().size())
      values.emplace_back("word", escape_markdown(session_.vocabulary().token(id)));
  }

  /// What stands between factor `place` of a term and the one before it.
  static std::string_view sign_of(Form form, std::size_t place) {
    switch (form) {
      case Form::product:
      case Form::negative_log:
      case Form::relu_slope:
      case Form::gelu_slope:
      case Form::gelu_tanh_slope:
      case Form::decay:
        return "×";
      case Form::error:
        return place == 1 ? "×" : "−";
      case Form::exponential:
        return "−";
      case Form::quotient:
      case Form::mean_square:
      case Form::sine:
      case Form::cosine:
        return "÷";
      case Form::adam_step:  // the formula says how they meet
        return "·";
      case Form::relu:
      case Form::gelu:
      case Form::gelu_tanh:
      case Form::random:
        break;
    }
    return "";
  }

  /// The side along which a term's index counts: of the factor that has it.
  SliceSide side_summed_over(const core::Term& term) const {
    for (const core::Factor& factor : term.factors) {
      if (!factor.tensor) continue;
      const int place = session_.graph().spec(*factor.tensor).shape.find(explanation_.over);
      if (place >= 0 && factor.cell[place] == term.index) return whole_side(session_, *factor.tensor, place);
    }
    SliceSide side;
    side.axis = explanation_.over;
    return side;
  }

  void add_terms() {
    if (explanation_.terms.empty()) return;
    const core::TensorSpec& spec = session_.graph().spec(narration_.cell.tensor);
    for (const core::Term& term : explanation_.terms) {
      NarratedTerm narrated;
      narrated.amount = term.value;
      narrated.value = lessons::format_number(term.value, term_kind(spec), rules_);
      if (term.index >= 0 && explanation_.over != Axis::one) {
        const SliceSide side = side_summed_over(term);
        narrated.index_is_word = labels_are_tokens(side);
        narrated.index =
            narrated.index_is_word ? side_label(session_, side, term.index) : std::to_string(term.index);
      }
      for (const core::Factor& factor : term.factors) narrated.factors.push_back(narrate_factor(factor));
      if (is_named(term)) {
        narrated.index = tensor_name(*term.factors.front().tensor);
        narrated.index_is_name = true;
      }
      for (std::size_t place = 1; place < term.factors.size(); ++place)
        narrated.signs.emplace_back(sign_of(term.form, place));
      narration_.terms.push_back(std::move(narrated));
    }
    if (explanation_.combine == Combine::share) narration_.chosen = explanation_.chosen;
    add_heads();
  }

  /// An addend that is one tensor's number, outside a sum over channels or words: its name tells it from the
  /// others.
  bool is_named(const core::Term& term) const {
    return term.factors.size() == 1 && term.factors.front().tensor &&
           (term.index < 0 || explanation_.over == Axis::one);
  }

  std::string tensor_name(core::TensorId tensor) const {
    return text_.text("tensor." + text_key(session_.graph().spec(tensor)) + ".name");
  }

  /// A share's terms are exponentials, not shares; an inverse deviation's are squares.
  lessons::NumberKind term_kind(const core::TensorSpec& spec) const {
    const bool is_intermediate =
        explanation_.combine == Combine::share || explanation_.combine == Combine::inverse_root;
    return is_intermediate ? lessons::NumberKind::value : number_kind_of(spec);
  }

  NarratedFactor narrate_factor(const core::Factor& factor) const {
    if (!factor.tensor) return {factor.symbol, {}, std::nullopt};
    return {number(*factor.tensor, factor.value), quantity_of(session_.graph().spec(*factor.tensor).name),
            CellAddress{*factor.tensor, factor.cell}};
  }

  void add_heads() {
    const std::string term_key = text_key(session_.graph().spec(narration_.cell.tensor)) + ".term";
    if (words_.formulas.has(term_key)) narration_.value_head = words_.formulas.text(term_key);
    switch (explanation_.over) {
      // as in the formulas: d is summed along the model's width, c along a head's
      case Axis::model:
      case Axis::concat:
        narration_.index_head = "d";
        break;
      case Axis::feed_forward:
        narration_.index_head = "f";
        break;
      case Axis::class_label:
        narration_.index_head = "v";
        break;
      case Axis::head_channel:
        narration_.index_head = "c";
        break;
      case Axis::key:
        narration_.index_head = "j";
        break;
      case Axis::query:
        narration_.index_head = "i";
        break;
      case Axis::vocabulary:
        narration_.index_head = "v";
        break;
      default:
        break;
    }
    if (explanation_.terms.empty()) return;
    const core::Term& first = explanation_.terms.front();
    if (is_named(first)) return;
    for (std::size_t place = 0; place < first.factors.size(); ++place)
      narration_.heads.push_back(head_of(place));
  }

  /// The word of the factor's row where all terms share it, else the tensor's name.
  NarratedHead head_of(std::size_t place) const {
    if (explanation_.terms.front().form == Form::exponential && place == 1) return {"max", false, {}};
    const core::Factor& factor = explanation_.terms.front().factors[place];
    if (!factor.tensor) return {};
    const core::TensorSpec& spec = session_.graph().spec(*factor.tensor);
    NarratedHead head{short_name(spec), false, quantity_of(spec.name)};
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
      const SliceSide side = whole_side(session_, *factor.tensor, at);
      head.text = side_label(session_, side, index);
      head.is_word = labels_are_tokens(side);
      break;
    }
    return head;
  }

  void add_sum() {
    const lessons::NumberKind kind = term_kind(session_.graph().spec(narration_.cell.tensor));
    double sum = 0;
    for (const core::Term& term : explanation_.terms) sum += term.value;
    if (explanation_.n_masked > 0 && explanation_.combine == Combine::share)
      narration_.left_out = text_.text("explainer.left_out", {{"n", std::to_string(explanation_.n_masked)}});
    if (explanation_.combine == Combine::share) {
      narration_.sum_word = text_.text("explainer.sum");
      narration_.sum = lessons::format_number(sum, kind, rules_);
      narration_.conclusion =
          narration_.terms[explanation_.chosen].value + " ÷ " + narration_.sum + " = " + narration_.value;
      return;
    }
    if (explanation_.combine == Combine::inverse_root) {
      narration_.sum_word = text_.text("explainer.sum");
      narration_.sum = lessons::format_number(sum, kind, rules_);
      narration_.conclusion = "1 ÷ √" + narration_.sum + " = " + narration_.value;
      return;
    }
    if (explanation_.combine != Combine::sum || explanation_.terms.size() < 2) return;
    narration_.sum_word = text_.text("explainer.sum");
    // the sum is the stored value; where rounded terms visibly miss it, say so
    narration_.sum = narration_.value;
    double displayed = 0;
    for (const NarratedTerm& term : narration_.terms)
      displayed += lessons::parse_number(term.value).value_or(std::nan(""));
    const double shown = lessons::parse_number(narration_.value).value_or(std::nan(""));
    if (std::isfinite(displayed) && std::isfinite(shown) &&
        lessons::format_number(displayed, kind, rules_) != lessons::format_number(shown, kind, rules_))
      narration_.rounded = text_.text("explainer.rounded");
  }

  void add_check() {
    if (explanation_.combine == Combine::given || explanation_.combine == Combine::by_hand) return;
    const double combined = explanation_.combined();
    // rounding of a single-precision sum, as the tests of the core demand it; a share below the smallest
    // normal number loses digits, and is 0 in the end
    constexpr double kRounding = 1e-6, kUnderflow = std::numeric_limits<float>::min();
    const bool are_nan = std::isnan(combined) && std::isnan(explanation_.value);
    narration_.check_holds =
        are_nan || combined == explanation_.value ||
        std::abs(combined - explanation_.value) <= kRounding * explanation_.magnitude() + kUnderflow;
    const std::string stored = lessons::format_number(explanation_.value, lessons::NumberKind::check, rules_);
    narration_.check =
        narration_.check_holds
            ? text_.text("explainer.equals_stored", {{"value", stored}})
            : text_.text("explainer.differs",
                         {{"value", stored},
                          {"sum", lessons::format_number(combined, lessons::NumberKind::check, rules_)}});
  }

  NarratedLink link_to(const CellAddress& target) const {
    const core::TensorSpec& spec = session_.graph().spec(target.tensor);
    NarratedLink link{target,
                      short_name(spec),
                      address_text(session_, target),
                      number(target.tensor, trace_.value(target.tensor, target.cell)),
                      quantity_of(spec.name),
                      {}};
    if (const auto producer = session_.graph().producer(target.tensor))
      for (const core::TensorId operand : core::operands(session_.graph().operations()[*producer])) {
        if (session_.graph().spec(operand).element == core::Element::integer) continue;
        link.origin += (link.origin.empty() ? "" : ", ") + short_name(session_.graph().spec(operand));
      }
    return link;
  }

  /// The operands of the largest term; of every term where there are two at the most.
  void add_origins() {
    std::vector<const core::Term*> shown;
    for (const core::Term& term : explanation_.terms) shown.push_back(&term);
    if (shown.size() > 2) {
      const auto largest = explanation_.combine == Combine::share
                               ? shown.begin() + static_cast<std::ptrdiff_t>(explanation_.chosen)
                               : std::ranges::max_element(
                                     shown, {}, [](const core::Term* term) { return std::abs(term->value); });
      shown = {*largest};
    }
    for (const core::Term* term : shown)
      for (const core::Factor& factor : term->factors)
        if (factor.tensor) {
          const CellAddress target{*factor.tensor, factor.cell};
          const bool is_new = std::ranges::none_of(
              narration_.from, [&](const NarratedLink& link) { return link.target == target; });
          if (is_new) narration_.from.push_back(link_to(target));
        }
    add_input_origins();
  }

  /// A looked-up vector's id, a chosen position and a score behind the mask decide without being terms.
  void add_input_origins() {
    const auto producer = session_.graph().producer(narration_.cell.tensor);
    if (!producer) return;
    const core::Operation& operation = session_.graph().operations()[*producer];
    const core::Cell& cell = narration_.cell.cell;
    if (const auto* lookup = std::get_if<core::Lookup>(&operation))
      narration_.from.push_back(link_to({lookup->ids, {cell[0], cell[1]}}));
    if (const auto* select = std::get_if<core::SelectPosition>(&operation))
      narration_.from.push_back(link_to({select->positions, {cell[0]}}));
    if (explanation_.combine != Combine::masked) return;
    if (const auto* mask = std::get_if<core::MaskScores>(&operation))
      narration_.from.push_back(link_to({mask->input, cell}));
    if (const auto* mask = std::get_if<core::MaskPositions>(&operation))
      narration_.from.push_back(link_to({mask->input, cell}));
  }

  void add_destinations() {
    for (const core::Influence& influence :
         core::influences(trace_, narration_.cell.tensor, narration_.cell.cell)) {
      const core::ShapeSpec& shape = session_.graph().spec(influence.result).shape;
      // open sides keep the lit cell's head and position, so that following stays near
      core::Cell near;
      for (int place = 0; place < shape.rank(); ++place) {
        const int own = session_.graph().spec(narration_.cell.tensor).shape.find(shape[place].axis);
        near.push_back(own >= 0 ? narration_.cell.cell[own] : 0);
      }
      const core::Cell target = influence.region.cell(near);
      if (!trace_.shape(influence.result).contains(target)) continue;
      NarratedLink link = link_to({influence.result, target});
      const std::string whole = address_text(session_, link.target, influence.region);
      if (whole != link.address || !trace_.is_computed(influence.result)) link.number.clear();
      link.address = whole;
      narration_.to.push_back(std::move(link));
    }
  }

  const core::Session& session_;
  core::Trace<float> trace_;
  const Words& words_;
  const lessons::TextCatalog& text_;
  const lessons::NumberRules& rules_;
  core::Explanation explanation_;
  Narration narration_;
};

}  // namespace

Narration narrate(const core::Session& session, const core::Cursor& cursor, const CellAddress& cell,
                  const Words& words, const lessons::NumberRules& rules) {
  return Narrator(session, cursor, cell, words, rules).narrate();
}

std::string escape_markdown(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]()#+-.!<>|~&").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace headscope::simulator
