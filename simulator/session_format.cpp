// Session files, written; session_parse.cpp reads them.
#include "core/formats/checksum.h"
#include "core/formats/json.h"
#include "core/formats/model_directory.h"
#include "core/formats/safetensors.h"
#include "core/formats/settings_json.h"
#include "core/gradients.h"
#include "core/hash.h"
#include "core/workspace.h"
#include "simulator/session_file.h"
#include "simulator/session_names.h"

#include <cassert>
#include <limits>
#include <span>
#include <utility>

namespace headscope::simulator {
namespace {

using core::Json;
using core::JsonArray;
using core::JsonObject;

template <class E>
Json spelt(E value) {
  return Json{std::string(core::spelling(value))};
}

Json number(std::size_t value) {
  return Json{static_cast<std::int64_t>(value)};
}

/// As a text beyond what a signed 64-bit number holds, as JsonMembers reads it.
Json unsigned_number(std::uint64_t value) {
  constexpr auto kMost = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  return value <= kMost ? Json{static_cast<std::int64_t>(value)} : Json{std::to_string(value)};
}

template <class Range>
Json list(const Range& numbers) {
  JsonArray array;
  for (const auto& entry : numbers) array.emplace_back().value = entry;
  return Json{std::move(array)};
}

Json list_whole(std::span<const std::int32_t> numbers) {
  JsonArray array;
  for (const std::int32_t entry : numbers) array.emplace_back().value = std::int64_t{entry};
  return Json{std::move(array)};
}

Json cell_json(const core::Cell& cell) {
  JsonArray array;
  for (int side = 0; side < cell.rank(); ++side) array.emplace_back().value = cell[side];
  return Json{std::move(array)};
}

class Writer {
 public:
  explicit Writer(const core::Graph& graph) : graph_(graph) {}

  Json setup(const core::Setup& setup) const {
    JsonObject gold{{"origin", spelt(setup.gold.origin)},
                    {"target", Json{setup.gold.target}},
                    {"labels", list_whole(setup.gold.labels)}};
    JsonObject object{{"text", Json{setup.text}}, {"gold", Json{std::move(gold)}}};
    if (setup.read) object.push_back({"read", Json{std::int64_t{*setup.read}}});
    JsonArray edits;
    for (const auto& [place, value] : setup.edits)
      edits.push_back(Json{JsonObject{
          {"tensor", name(place.first)}, {"cell", cell_json(place.second)}, {"value", Json{value}}}});
    object.push_back({"edits", Json{std::move(edits)}});
    JsonArray heads;
    for (const auto& [address, head] : setup.heads) {
      JsonObject entry{{"head_output", name(address.head_output)},
                       {"head", Json{address.head}},
                       {"mode", spelt(head.mode)}};
      if (head.mode == core::HeadMode::mean) {
        entry.push_back({"shape", list(head.shape.sides())});
        entry.push_back({"means", list(head.means)});
      }
      heads.push_back(Json{std::move(entry)});
    }
    object.push_back({"heads", Json{std::move(heads)}});
    JsonArray attentions;
    for (const auto& [scores, switches] : setup.attentions)
      attentions.push_back(Json{JsonObject{{"scores", name(scores)},
                                           {"temperature", Json{switches.temperature}},
                                           {"scale", Json{switches.leaves_scale}},
                                           {"leak_future", Json{switches.leaks_future}}}});
    object.push_back({"attentions", Json{std::move(attentions)}});
    object.push_back({"optimiser", Json{core::optimiser_json(setup.optimiser)}});
    if (setup.trained) object.push_back({"trained", Json{JsonObject{{"step", Json{setup.trained->step}}}}});
    return Json{std::move(object)};
  }

  Json view(const SavedView& view) const {
    JsonArray trail;
    for (const CellAddress& address : view.trail)
      trail.push_back(Json{JsonObject{{"tensor", name(address.tensor)},
                                      {"cell", cell_json(address.cell)},
                                      {"quantity", spelt(address.quantity)}}});
    JsonObject object{{"level", spelt(view.level)}, {"opened", Json{view.opened}}};
    if (view.shown) object.push_back({"shown", name(*view.shown)});
    object.push_back({"head", Json{view.head}});
    object.push_back({"trail", Json{std::move(trail)}});
    object.push_back({"appearance", spelt(view.appearance)});
    object.push_back({"layout", spelt(view.layout)});
    object.push_back({"play_by", spelt(view.play_by)});
    object.push_back({"left_panel", spelt(view.left_panel)});
    object.push_back({"text_scale", Json{view.text_scale}});
    return Json{std::move(object)};
  }

  /// The parameters in `numbers`, which are laid out as Workspace::parameters().
  void add_tensors(const std::string& prefix, std::span<const float> numbers,
                   std::vector<core::TensorView>& tensors) const {
    for (std::uint32_t index = 0; index < graph_.n_tensors(); ++index) {
      const core::TensorSpec& spec = graph_.spec({index});
      if (spec.role != core::Role::parameter) continue;
      const core::Shape& shape = plan_.shape({index});
      tensors.push_back({prefix + spec.name,
                         {shape.sides().begin(), shape.sides().end()},
                         numbers.subspan(plan_.offset({index}), static_cast<std::size_t>(shape.count()))});
    }
  }

 private:
  Json name(core::TensorId tensor) const { return Json{graph_.spec(tensor).name}; }

  const core::Graph& graph_;
  core::Plan plan_{graph_, core::GradientPlan(graph_), core::Sizes{}};
};

Json model_json(const SessionFile& file) {
  const core::SessionModel& model = *file.model;
  // format_config()'s text is what parse_config() reads
  core::Result<Json> config = core::parse_json(core::format_config(model.config), "config");
  assert(config);
  JsonObject object{{"name", Json{file.name}},
                    {"config", *std::move(config)},
                    {"vocabulary", list(model.vocabulary.tokens())}};
  if (model.target_vocabulary)
    object.push_back({"target_vocabulary", list(model.target_vocabulary->tokens())});
  if (model.seed) object.push_back({"seed", unsigned_number(*model.seed)});
  return Json{std::move(object)};
}

JsonObject item_json(const lessons::ItemId& item) {
  return {{"step", number(item.step)}, {"item", number(item.item)}};
}

Json lesson_json(const SavedLesson& lesson) {
  JsonObject object{{"name", Json{lesson.name}}, {"step", number(lesson.step)}};
  if (lesson.head) object.push_back({"head", Json{*lesson.head}});
  JsonArray answers, goals;
  for (const auto& [item, answer] : lesson.answers) {
    JsonObject entry = item_json(item);
    entry.push_back({"choices", list(answer.given.choices)});
    entry.push_back({"number", Json{answer.given.number}});
    entry.push_back({"state", spelt(answer.state)});
    entry.push_back({"mark", unsigned_number(answer.session_mark)});
    answers.push_back(Json{std::move(entry)});
  }
  for (const lessons::ItemId& item : lesson.goals_reached) goals.push_back(Json{item_json(item)});
  object.push_back({"answers", Json{std::move(answers)}});
  object.push_back({"goals", Json{std::move(goals)}});
  return Json{std::move(object)};
}

}  // namespace

std::string format_session(const SessionFile& file) {
  const core::Result<core::Graph> graph = core::build_graph(file.model->config, "model");
  assert(graph && "a session's model has a graph");
  const Writer writer(*graph);
  JsonObject object{{"model", model_json(file)}};
  if (file.task) object.push_back({"task", Json{core::task_json(*file.task)}});
  object.push_back({"examples_drawn", unsigned_number(file.n_examples_drawn)});
  object.push_back({"initial", writer.setup(file.initial)});
  object.push_back({"setup", writer.setup(file.setup)});
  object.push_back({"cursor", number(file.cursor)});
  object.push_back({"view", writer.view(file.view)});
  if (file.lesson) object.push_back({"lesson", lesson_json(*file.lesson)});
  const std::string text = core::format_json(Json{std::move(object)});

  std::vector<core::TensorView> tensors;
  writer.add_tensors("", file.model->parameters, tensors);
  if (const core::TrainState* trained = file.setup.trained.get()) {
    const std::span<const float> parts[] = {trained->parameters, trained->first_moments,
                                            trained->second_moments};
    for (std::size_t part = 0; part < std::size(parts); ++part)
      if (!parts[part].empty())
        writer.add_tensors(std::string(names::kTrained) + std::string(names::kMoments[part]), parts[part],
                           tensors);
  }
  std::uint64_t hash = core::fnv1a(text);
  for (const core::TensorView& tensor : tensors)
    hash = core::hash_numbers(std::get<std::span<const float>>(tensor.values), hash);
  return core::format_safetensors_views(tensors, {{"format", std::string(names::kFormat)},
                                                  {"version", std::to_string(names::kVersion)},
                                                  {"checksum", core::hexadecimal(hash)},
                                                  {"session", text}});
}

}  // namespace headscope::simulator
