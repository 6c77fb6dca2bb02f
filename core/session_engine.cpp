#include "core/session_engine.h"

#include "core/execute.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

namespace headscope::core {
namespace {

Error edit_range(const std::string& name, std::int64_t lowest, std::int64_t highest) {
  return {"edit.range", name, {{"lowest", std::to_string(lowest)}, {"highest", std::to_string(highest)}}};
}

struct Range {
  std::int64_t lowest = 0, highest = 0;
};

/// How many there are to choose from where something is predicted.
std::int64_t n_choices(const ModelConfig& config, const Sizes& sizes) {
  switch (config.objective) {
    case Objective::language_model:
      return config.architecture == Architecture::encoder_decoder ? config.target_vocab_size
                                                                  : config.vocab_size;
    case Objective::span:
      return sizes.source;
    case Objective::classification:
    case Objective::token_classification:
      return config.n_classes;
    case Objective::none:
      break;
  }
  return 0;
}

/// What an input's cell may hold.
Range input_range(const ModelConfig& config, const Inputs& inputs, const Sizes& sizes, TensorId tensor) {
  if (tensor == inputs.targets) return {-1, n_choices(config, sizes) - 1};
  // a row without tokens has no mean and no span
  const bool needs_token =
      config.objective == Objective::classification || config.objective == Objective::span;
  if (tensor == inputs.lengths) return {needs_token ? 1 : 0, sizes.source};
  if (tensor == inputs.target_lengths) return {0, sizes.target};
  if (tensor == inputs.target_ids) return {0, config.target_vocab_size - 1};
  if (tensor == inputs.types || tensor == inputs.target_types) return {0, config.n_token_types - 1};
  if (tensor == inputs.read) return {0, sizes.source - 1};
  return {0, config.vocab_size - 1};
}

}  // namespace

double n_numbers(const Graph& graph, const Sizes& capacity) {
  constexpr double kOfParameter = 7, kOfActivation = 2;
  return kOfParameter * count_reals(graph, capacity, Role::parameter) +
         kOfActivation * count_reals(graph, capacity, Role::activation);
}

Result<void> Session::Engine::check_edit(const Sizes& sizes, TensorId tensor, const Cell& cell,
                                         double value) const {
  if (tensor.index >= graph.n_tensors()) return Error{"edit.no_such_cell", std::to_string(tensor.index)};
  const TensorSpec& spec = graph.spec(tensor);
  if (spec.role == Role::activation && !can_be_set_by_hand(graph, tensor))
    return Error{"edit.computed", spec.name};
  if (!bind(spec.shape, sizes).contains(cell)) return Error{"edit.no_such_cell", spec.name};
  if (!std::isfinite(value) || !std::isfinite(static_cast<float>(value)))
    return Error{"edit.not_finite", spec.name};
  if (spec.element == Element::real) return {};
  const auto [lowest, highest] = input_range(model->config, inputs, sizes, tensor);
  if (value != std::floor(value) || value < static_cast<double>(lowest) ||
      value > static_cast<double>(highest))
    return edit_range(spec.name, lowest, highest);
  return {};
}

template <class Op>
bool Session::Engine::is_result_of(TensorId tensor) const {
  if (tensor.index >= graph.n_tensors()) return false;
  const std::optional<std::size_t> producer = graph.producer(tensor);
  return producer && std::holds_alternative<Op>(graph.operations()[*producer]);
}

Result<void> Session::Engine::check_head(const HeadAddress& address) const {
  const bool is_there = is_result_of<MixValues>(address.head_output) && address.head >= 0 &&
                        address.head < model->config.n_heads;
  if (!is_there) return Error{"session.switch", std::to_string(address.head)};
  return {};
}

Result<void> Session::Engine::check_switches(const Setup& next) const {
  for (const auto& [address, head] : next.heads) {
    if (Result<void> valid = check_head(address); !valid) return valid.error();
    const bool has_means = head.shape.rank() == 2 && head.shape[0] > 0 &&
                           head.shape[1] == model->config.d_head &&
                           static_cast<std::int64_t>(head.means.size()) == head.shape.count() &&
                           std::ranges::all_of(head.means, [](double mean) { return std::isfinite(mean); });
    if (head.mode == HeadMode::mean && !has_means)
      return Error{"session.means", graph.spec(address.head_output).name};
  }
  for (const auto& [scores, switches] : next.attentions) {
    if (!is_result_of<Scores>(scores)) return Error{"session.switch", std::to_string(scores.index)};
    // beyond these a softmax is as good as one-hot, or even; a command line's --temperature may go further
    constexpr double kLowest = 0.01, kHighest = 100;
    if (!(switches.temperature >= kLowest && switches.temperature <= kHighest))
      return Error{"session.temperature", graph.spec(scores).name, {{"lowest", "0.01"}, {"highest", "100"}}};
  }
  return {};
}

/// What the head switches set by hand.
std::vector<Override> Session::Engine::head_overrides() const {
  std::vector<Override> overrides;
  for (const auto& [address, head] : setup.heads) {
    switch (head.mode) {
      case HeadMode::off:
        overrides.push_back(zero_head(graph, address.head_output, address.head));
        break;
      case HeadMode::mean:
        overrides.push_back(mean_head(graph, address.head_output, address.head, head.shape, head.means));
        break;
      case HeadMode::uniform: {
        const Operation& mix = graph.operations()[*graph.producer(address.head_output)];
        TensorId weights = std::get<MixValues>(mix).weights;
        // behind dropout the softmax lies further back
        while (!std::holds_alternative<Softmax>(graph.operations()[*graph.producer(weights)]))
          weights = operands(graph.operations()[*graph.producer(weights)]).front();
        overrides.push_back(uniform_attention(graph, weights, address.head));
        break;
      }
    }
  }
  return overrides;
}

Sizes Session::Engine::capacity_for(const Sizes& needed) const {
  const bool has_target = model->config.architecture == Architecture::encoder_decoder;
  return {1, core::capacity_for(needed.source, model->config),
          has_target ? core::capacity_for(needed.target, model->config) : 0};
}

Result<void> Session::Engine::set(Setup next) {
  Result<Typed> read = read_typed(*model, next);
  if (!read) return read.error();
  for (const auto& [place, value] : next.edits)
    if (Result<void> valid = check_edit(read->fed.sizes, place.first, place.second, value); !valid)
      return valid.error();
  if (Result<void> valid = check_switches(next); !valid) return valid.error();
  if (Result<void> valid = validate(next.optimiser, kSentence); !valid) return valid.error();

  const Sizes& sizes = read->fed.sizes;
  const bool has_room = stepper && sizes.source <= stepper->workspace().capacity().source &&
                        sizes.target <= stepper->workspace().capacity().target;
  if (!has_room) {
    if (n_numbers(original, capacity_for(sizes)) > kMostNumbers)
      return Error{"session.too_large", kSentence, {{"most", std::to_string(kMostNumbers)}}};
  }

  // nothing fails from here on
  const std::size_t position = stepper ? stepper->cursor().position() : 0;
  const bool is_first = !stepper;
  if (!has_room) stepper = std::make_unique<Stepper<float>>(graph, capacity_for(sizes));
  checker.reset();
  stepper->move_to(std::min(position, stepper->steps().update_begin()));  // takes updates back
  setup = std::move(next);
  typed = *std::move(read);
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index)
    if (const auto producer = original.producer({index});
        producer && std::holds_alternative<Scores>(original.operations()[*producer])) {
      const auto found = setup.attentions.find(TensorId{index});
      set_switches(graph, {index}, original,
                   found == setup.attentions.end() ? AttentionSwitches{} : found->second);
    }
  interventions.overrides = head_overrides();
  put_givens();
  put_edits();
  stepper->set_options({.interventions = &interventions});
  stepper->restart();
  const TrainState* trained = setup.trained.get();
  stepper->set_optimiser(
      setup.optimiser, (trained ? trained->step : 0) + 1,
      trained ? std::span<const float>(trained->first_moments) : std::span<const float>(),
      trained ? std::span<const float>(trained->second_moments) : std::span<const float>());

  // an edit may have made a target, or taken the only one away
  has_gold = inputs.targets && std::ranges::any_of(stepper->workspace().integers(*inputs.targets),
                                                   [](std::int32_t target) { return target >= 0; });
  FedBatch fed_as_edited;
  fed_as_edited.has_targets = has_gold;
  const std::size_t end = forward_end(graph, fed_as_edited);
  n_steps = has_gold ? stepper->steps().size() : end;
  stepper->move_to(end);
  stepper->move_to(is_first ? end : std::min(position, n_steps));
  words =
      words_at(std::as_const(*stepper).workspace().integers(inputs.ids), typed.sentence, model->vocabulary);
  if (inputs.target_ids)
    target_words = words_at(std::as_const(*stepper).workspace().integers(*inputs.target_ids), typed.target,
                            *model->target_vocabulary);
  return {};
}

/// Parameters as made, loaded or trained, and inputs as typed.
void Session::Engine::put_givens() {
  Workspace<float>& workspace = stepper->workspace();
  set_inputs(graph, workspace, typed.fed);
  std::ranges::copy(base_parameters(), workspace.parameters().begin());
}

void Session::Engine::put_edits() {
  Workspace<float>& workspace = stepper->workspace();
  for (const auto& [place, value] : setup.edits) {
    const auto& [tensor, cell] = place;
    const TensorSpec& spec = graph.spec(tensor);
    if (spec.role == Role::activation) {
      interventions.overrides.push_back(set_cell(tensor, cell, value));
      continue;
    }
    const auto at = static_cast<std::size_t>(workspace.shape(tensor).flat(cell));
    if (spec.element == Element::real)
      workspace.values(tensor)[at] = static_cast<float>(value);
    else
      workspace.integers(tensor)[at] = static_cast<std::int32_t>(value);
  }
}

Workspace<float> Session::Engine::before_update() const {
  Workspace<float> before = stepper->workspace();
  const Trace<float> trace = stepper->trace();
  for (const TensorId parameter : stepper->steps().parameters()) {
    if (!trace.is_updated(parameter)) break;
    const std::span<float> values = before.values(parameter);
    std::copy_n(trace.update()->previous_value.data() + before.plan().offset(parameter), values.size(),
                values.begin());
  }
  return before;
}

}  // namespace headscope::core
