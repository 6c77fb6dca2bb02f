#include "simulator/command_line/intervention_options.h"

#include "core/execute.h"
#include "core/formats/token_batch.h"
#include "core/graph_paths.h"
#include "core/head_means.h"
#include "simulator/command_line/cell_argument.h"
#include "simulator/command_line/model_run.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace headscope::simulator {
namespace {

core::Error wrong_form(std::string option, std::string given, std::string form) {
  return {.key = "intervention.form",
          .where = "",
          .values = {{"option", std::move(option)}, {"given", std::move(given)}, {"form", std::move(form)}}};
}

class Intervener {
 public:
  /// Of any graph that is run at these sizes. Without a model and a batch for it, nothing can be frozen and
  /// no mean can be taken.
  Intervener(core::Graph& graph, const core::Sizes& sizes, const core::StoredModel* model = nullptr,
             const core::FedBatch* batch = nullptr)
      : graph_(graph),
        sizes_(sizes),
        model_(model),
        batch_(batch),
        attentions_(core::find_attentions(graph)) {}

  /// Activations that stay as they are with nothing changed by hand, to the bits of T. Before set_switches().
  template <class T>
  core::Result<void> freeze(const std::vector<std::string>& given) {
    std::vector<core::TensorId> tensors;
    std::size_t end = 0;  // of the operations that are needed
    for (const std::string& name : given) {
      const core::Result<core::TensorId> tensor = find_computed(name, "--freeze-activation");
      if (!tensor) return tensor.error();
      tensors.push_back(*tensor);
      end = std::max(end, *graph_.producer(*tensor) + 1);
    }
    if (tensors.empty()) return {};
    const core::Workspace<T> workspace = run_over<T>(*batch_, end);
    for (const core::TensorId tensor : tensors) {
      const std::span<const T> values = workspace.values(tensor);
      made_.overrides.push_back(
          core::freeze(tensor, workspace.shape(tensor), {values.begin(), values.end()}));
    }
    return {};
  }

  core::Result<void> zero_head(const std::string& given) {
    const core::Result<Place> place = find_head(given, "--zero-head");
    if (!place) return place.error();
    made_.overrides.push_back(core::zero_head(graph_, place->attention->head_output, *place->head));
    return {};
  }

  /// Heads that give their means over the text of all files, whatever they see: in double, with nothing
  /// changed by hand. Before set_switches().
  core::Result<void> mean_heads(const std::vector<std::string>& given,
                                const std::vector<std::filesystem::path>& files) {
    std::vector<Place> places;
    std::vector<core::HeadMeans> means;
    std::size_t end = 0;  // of the operations that are needed
    for (const std::string& one : given) {
      const core::Result<Place> place = find_head(one, "--mean-head");
      if (!place) return place.error();
      const core::TensorId head_output = place->attention->head_output;
      places.push_back(*place);
      means.emplace_back(graph_, head_output, *place->head);
      end = std::max(end, *graph_.producer(head_output) + 1);
    }
    for (const std::filesystem::path& file : files) {
      const core::Result<core::FedBatch> batch = read(file);
      if (!batch) return batch.error();
      const core::Workspace<double> workspace = run_over<double>(*batch, end);
      for (core::HeadMeans& of_head : means) of_head.add(workspace);
    }
    for (std::size_t at = 0; at < places.size(); ++at) {
      if (means[at].shape()[0] == 0)  // all sources, or all targets, are empty
        return core::Error{
            .key = "intervention.no_position", .where = "--mean-data", .values = {{"head", given[at]}}};
      made_.overrides.push_back(core::mean_head(graph_, places[at].attention->head_output, *places[at].head,
                                                means[at].shape(), means[at].means()));
    }
    return {};
  }

  core::Result<void> uniform(const std::string& given) {
    const core::Result<Place> place = find_place(given, "--uniform-attention");
    if (!place) return place.error();
    made_.overrides.push_back(core::uniform_attention(graph_, place->attention->weights, place->head));
    return {};
  }

  /// "TENSOR:0,0,1,2=0.5"
  core::Result<void> set(const std::string& given) {
    constexpr const char* kForm = "TENSOR:0,0,1,2=0.5";
    const std::size_t colon = given.find(':'), equals = given.rfind('=');
    if (colon == std::string::npos || equals == std::string::npos || equals < colon)
      return wrong_form("--set", given, kForm);
    double value = 0;
    const char* const end = given.data() + given.size();
    const auto [after, failure] = std::from_chars(given.data() + equals + 1, end, value);
    if (failure == std::errc::invalid_argument || after != end) return wrong_form("--set", given, kForm);
    // the run may be in float, where a larger number would be infinite
    if (failure != std::errc() || !std::isfinite(static_cast<float>(value)))
      return core::Error{.key = "intervention.not_finite",
                         .where = "--set",
                         .values = {{"given", given.substr(equals + 1)}}};
    const core::Result<core::TensorId> tensor = find_computed(given.substr(0, colon), "--set");
    if (!tensor) return tensor.error();
    const core::Result<core::Cell> cell =
        cell_argument(graph_, *tensor, core::bind(graph_.spec(*tensor).shape, sizes_),
                      std::string_view(given).substr(colon + 1, equals - colon - 1), "--set");
    if (!cell) return cell.error();
    made_.overrides.push_back(core::set_cell(*tensor, *cell, value));
    return {};
  }

  /// The switches of all attentions. What changes nothing is refused: it would look like a finding.
  core::Result<void> set_switches(const core::AttentionSwitches& switches) {
    if (switches == core::AttentionSwitches{}) return {};
    bool has_scale = false, has_future = false;
    for (const core::Operation& operation : graph_.operations()) {
      const auto* scale = std::get_if<core::ScaleScores>(&operation);
      const auto* mask = std::get_if<core::MaskScores>(&operation);
      has_scale = has_scale || (scale && scale->width > 0 && is_of_attention(scale->input));
      has_future = has_future || (mask && mask->mask == core::Mask::causal_and_padding);
    }
    const auto no_effect = [](const char* option) {
      return core::Error{.key = "intervention.no_effect", .where = "", .values = {{"option", option}}};
    };
    if (!switches.leaves_scale && !has_scale) return no_effect("--no-scale");
    if (switches.leaks_future && !has_future) return no_effect("--leak-future");
    const core::Graph original = graph_;
    for (const core::AttentionTensors& attention : attentions_)
      core::set_switches(graph_, attention.scores, original, switches);
    return {};
  }

  core::Interventions take() { return std::move(made_); }

 private:
  struct Place {
    const core::AttentionTensors* attention = nullptr;
    std::optional<std::int64_t> head;
  };

  core::Result<core::FedBatch> read(const std::filesystem::path& file) const {
    const core::Result<core::TokenBatch> batch = core::read_token_batch(file);
    if (!batch) return batch.error();
    core::Result<core::FedBatch> fed = core::feed(*batch, model_->config, file.string());
    if (!fed) return fed;
    if (core::Result<void> fits = check_size(graph_, fed->sizes, Keeps::values, file.string()); !fits)
      return fits.error();
    return fed;
  }

  /// The model with nothing changed by hand over a batch, up to an operation.
  template <class T>
  core::Workspace<T> run_over(const core::FedBatch& batch, std::size_t end) const {
    core::Workspace<T> workspace(graph_, batch.sizes);
    core::set_parameters(*model_, workspace);
    core::set_inputs(graph_, workspace, batch);
    core::run_forward(graph_, workspace, 0, end);
    return workspace;
  }

  /// A tensor that can be set by hand.
  core::Result<core::TensorId> find_computed(const std::string& name, const std::string& option) const {
    core::Result<core::TensorId> tensor = tensor_argument(graph_, name, option);
    if (!tensor) return tensor;
    if (!graph_.producer(*tensor))
      return core::Error{.key = "intervention.not_computed", .where = option, .values = {{"name", name}}};
    if (!core::can_be_set_by_hand(graph_, *tensor))
      return core::Error{.key = "intervention.contradicts", .where = option, .values = {{"name", name}}};
    return tensor;
  }

  bool is_of_attention(core::TensorId scores) const {
    for (const core::AttentionTensors& attention : attentions_)
      if (attention.scores == scores) return true;
    return false;
  }

  /// "decoder.block0.self_attention" or, with a head, "decoder.block0.self_attention:1".
  core::Result<Place> find_place(const std::string& given, const std::string& option) const {
    const std::size_t colon = given.find(':');
    const std::string name = given.substr(0, colon);
    Place place;
    std::string known;
    for (const core::AttentionTensors& attention : attentions_) {
      if (attention.path == name) place.attention = &attention;
      known.append(known.empty() ? "" : ", ").append(attention.path);
    }
    if (!place.attention)
      return core::Error{
          .key = "intervention.attention", .where = option, .values = {{"name", name}, {"known", known}}};
    if (colon == std::string::npos) return place;
    std::int64_t head = 0;
    const char* const end = given.data() + given.size();
    const auto [after, failure] = std::from_chars(given.data() + colon + 1, end, head);
    if (failure != std::errc() || after != end || head < 0 || head >= place.attention->n_heads)
      return core::Error{.key = "intervention.head",
                         .where = option,
                         .values = {{"head", given.substr(colon + 1)},
                                    {"name", name},
                                    {"last", std::to_string(place.attention->n_heads - 1)}}};
    place.head = head;
    return place;
  }

  /// "decoder.block0.self_attention:1"
  core::Result<Place> find_head(const std::string& given, const std::string& option) const {
    core::Result<Place> place = find_place(given, option);
    if (place && !place->head) return wrong_form(option, given, "ATTENTION:HEAD");
    return place;
  }

  core::Graph& graph_;
  core::Sizes sizes_;
  const core::StoredModel* model_;
  const core::FedBatch* batch_;
  std::vector<core::AttentionTensors> attentions_;
  core::Interventions made_;
};

/// Everything that needs no numbers of the model, in the order that intervene() promises.
core::Result<core::Interventions> finish(Intervener& intervener, const InterventionOptions& options) {
  for (const std::string& given : options.uniform_attentions)
    if (const core::Result<void> done = intervener.uniform(given); !done) return done.error();
  for (const std::string& given : options.cells)
    if (const core::Result<void> done = intervener.set(given); !done) return done.error();
  const core::AttentionSwitches switches{.temperature = options.temperature,
                                         .leaves_scale = options.leaves_scale,
                                         .leaks_future = options.leaks_future};
  if (const core::Result<void> done = intervener.set_switches(switches); !done) return done.error();
  return intervener.take();
}

}  // namespace

core::Result<core::Interventions> intervene(const InterventionOptions& options, core::StoredModel& model,
                                            const core::FedBatch& batch, Precision precision) {
  Intervener intervener(model.graph, batch.sizes, &model, &batch);
  if (const core::Result<void> done = precision == Precision::twofold
                                          ? intervener.freeze<double>(options.frozen)
                                          : intervener.freeze<float>(options.frozen);
      !done)
    return done.error();
  for (const std::string& given : options.zero_heads)
    if (const core::Result<void> done = intervener.zero_head(given); !done) return done.error();
  if (const core::Result<void> done = intervener.mean_heads(options.mean_heads, options.mean_data); !done)
    return done.error();
  return finish(intervener, options);
}

core::Intervene intervene_in_run(const InterventionOptions& options, const core::RunConfig& run) {
  const std::int64_t longest = run.model.max_tokens;
  const core::Sizes sizes{.batch = run.batch_size, .source = longest, .target = longest};
  return [options, sizes](core::Graph& graph) -> core::Result<core::Interventions> {
    Intervener intervener(graph, sizes);
    for (const std::string& given : options.zero_heads)
      if (const core::Result<void> done = intervener.zero_head(given); !done) return done.error();
    return finish(intervener, options);
  };
}

}  // namespace headscope::simulator
