// Session files, read with every check; session_format.cpp writes them.
#include "core/formats/checksum.h"
#include "core/formats/json.h"
#include "core/formats/json_members.h"
#include "core/formats/model_directory.h"
#include "core/formats/safetensors.h"
#include "core/formats/settings_json.h"
#include "core/gradients.h"
#include "core/hash.h"
#include "core/workspace.h"
#include "simulator/session_file.h"
#include "simulator/session_names.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace headscope::simulator {
namespace {

using core::Error;
using core::JsonMembers;

constexpr std::int64_t kMost = 1'000'000'000'000'000;  // of steps and the like: below 2^53
constexpr double kSmallestText = 0.75, kLargestText = 3;

template <class Number>
void check_range(JsonMembers& members, std::string_view key, Number value, Number lowest, Number highest) {
  if (value >= lowest && value <= highest) return;
  const auto text = [](Number number) { return core::format_number(static_cast<double>(number)); };
  members.fail("config.range", key,
               {{"value", text(value)}, {"lowest", text(lowest)}, {"highest", text(highest)}});
}

std::int64_t whole(JsonMembers& members, std::string_view key, std::int64_t lowest, std::int64_t highest) {
  std::int64_t value = lowest;
  members.read_required(key, value);
  check_range(members, key, value, lowest, highest);
  return value;
}

constexpr std::int64_t kMostInt32 = std::numeric_limits<std::int32_t>::max();

/// Reads what names tensors: the graph says which there are.
class Reader {
 public:
  explicit Reader(const core::Graph& graph) : graph_(graph) {}

  core::TensorId tensor(JsonMembers& members, std::string_view key) const {
    std::string name;
    members.read_required(key, name);
    const std::optional<core::TensorId> found = graph_.find(name);
    if (!found) members.fail("session_file.no_tensor", key, {{"name", name}});
    return found.value_or(core::TensorId{});
  }

  core::Cell cell(JsonMembers& members, core::TensorId tensor) const {
    std::vector<std::int64_t> indices;
    members.read_required("cell", indices);
    const int rank = graph_.spec(tensor).shape.rank();
    const bool has_form = static_cast<int>(indices.size()) == rank &&
                          std::all_of(indices.begin(), indices.end(), [](auto index) { return index >= 0; });
    core::Cell cell;
    if (!has_form) {
      members.fail("session_file.cell", "cell", {{"sides", std::to_string(rank)}});
      return cell;
    }
    for (const std::int64_t index : indices) cell.push_back(index);
    return cell;
  }

  void setup(JsonMembers& members, core::Setup& setup) const {
    members.read_required("text", setup.text);
    members.read_object("gold", [&setup](JsonMembers& gold) {
      gold.read_required("origin", setup.gold.origin);
      gold.read("target", setup.gold.target);
      std::vector<std::int64_t> labels;
      gold.read("labels", labels);
      for (const std::int64_t label : labels) {
        check_range<std::int64_t>(gold, "labels", label, -1, kMostInt32);
        setup.gold.labels.push_back(static_cast<std::int32_t>(label));
      }
    });
    if (members.has("read")) setup.read = static_cast<std::int32_t>(whole(members, "read", 0, kMostInt32));
    members.read_objects("edits", [&](JsonMembers& edit) {
      const core::TensorId id = tensor(edit, "tensor");
      const core::Cell at = cell(edit, id);
      double value = 0;
      edit.read_required("value", value);
      if (!setup.edits.emplace(std::pair(id, at), value).second) edit.fail("session_file.twice", "cell");
    });
    members.read_objects("heads", [&](JsonMembers& entry) {
      const core::HeadAddress address{tensor(entry, "head_output"), whole(entry, "head", 0, kMostInt32)};
      core::HeadSwitch head;
      entry.read_required("mode", head.mode);
      if (head.mode == core::HeadMode::mean) read_means(entry, head);
      if (!setup.heads.emplace(address, std::move(head)).second) entry.fail("session_file.twice", "head");
    });
    members.read_objects("attentions", [&](JsonMembers& entry) {
      const core::TensorId scores = tensor(entry, "scores");
      core::AttentionSwitches switches;
      entry.read("temperature", switches.temperature);
      entry.read("scale", switches.leaves_scale);
      entry.read("leak_future", switches.leaks_future);
      if (!setup.attentions.emplace(scores, switches).second) entry.fail("session_file.twice", "scores");
    });
    members.read_object(
        "optimiser", [&setup](JsonMembers& optimiser) { core::read_optimiser(optimiser, setup.optimiser); });
  }

  void view(JsonMembers& members, SavedView& view) const {
    members.read("level", view.level);
    members.read("opened", view.opened);
    if (!view.opened.empty() && !has_path(view.opened))
      members.fail("session_file.no_tensor", "opened", {{"name", view.opened}});
    if (members.has("shown")) view.shown = tensor(members, "shown");
    members.read("head", view.head);
    check_range<std::int64_t>(members, "head", view.head, 0, kMostInt32);
    members.read_objects("trail", [&](JsonMembers& entry) {
      CellAddress address{.tensor = tensor(entry, "tensor"), .cell = {}};
      address.cell = cell(entry, address.tensor);
      entry.read("quantity", address.quantity);
      view.trail.push_back(address);
    });
    members.read("appearance", view.appearance);
    members.read("layout", view.layout);
    members.read("play_by", view.play_by);
    members.read("left_panel", view.left_panel);
    members.read("text_scale", view.text_scale);
    check_range(members, "text_scale", view.text_scale, kSmallestText, kLargestText);
  }

 private:
  static void read_means(JsonMembers& entry, core::HeadSwitch& head) {
    std::vector<std::int64_t> sides;
    entry.read_required("shape", sides);
    std::int64_t count = 1;
    for (const std::int64_t side : sides) {
      check_range<std::int64_t>(entry, "shape", side, 1, kMostInt32);
      count *= entry.error() || count > kMostInt32 ? 0 : side;
    }
    entry.read_required("means", head.means);
    if (entry.error()) return;
    if (sides.size() != 2 || count != static_cast<std::int64_t>(head.means.size()))
      return entry.fail("session_file.means", "shape");
    head.shape = {sides[0], sides[1]};
  }

  /// Whether some tensor's name begins with these parts.
  bool has_path(const std::string& path) const {
    return std::any_of(graph_.specs().begin(), graph_.specs().end(), [&path](const core::TensorSpec& spec) {
      return spec.name.starts_with(path) &&
             (spec.name.size() == path.size() || spec.name[path.size()] == '.');
    });
  }

  const core::Graph& graph_;
};

lessons::ItemId read_item(JsonMembers& members) {
  const auto place = [&members](std::string_view key) {
    return static_cast<std::size_t>(whole(members, key, 0, kMostInt32));
  };
  const std::size_t step = place("step");
  return {step, place("item")};
}

void read_lesson(JsonMembers& members, SavedLesson& lesson) {
  members.read_required("name", lesson.name);
  lesson.step = static_cast<std::size_t>(whole(members, "step", 0, kMostInt32));
  if (members.has("head")) lesson.head = whole(members, "head", 0, kMostInt32);
  members.read_objects("answers", [&lesson](JsonMembers& entry) {
    const lessons::ItemId item = read_item(entry);
    lessons::Answer answer;
    entry.read("choices", answer.given.choices);
    entry.read("number", answer.given.number);
    entry.read_required("state", answer.state);
    entry.read("mark", answer.session_mark);
    if (!lesson.answers.emplace(item, std::move(answer)).second) entry.fail("session_file.twice", "item");
  });
  members.read_objects("goals", [&lesson](JsonMembers& entry) {
    if (!lesson.goals_reached.insert(read_item(entry)).second) entry.fail("session_file.twice", "item");
  });
}

core::Result<core::Vocabulary> read_words(JsonMembers& members, std::string_view key, std::int64_t size,
                                          const std::string& where) {
  std::vector<std::string> words;
  members.read_required(key, words);
  if (members.error()) return *members.error();
  if (static_cast<std::int64_t>(words.size()) != size)
    return Error{"vocabulary.size",
                 where,
                 {{"size", std::to_string(words.size())}, {"expected", std::to_string(size)}}};
  return core::Vocabulary::make(std::move(words), where);
}

core::Result<core::SessionModel> read_model(JsonMembers& members, std::string& name,
                                            const std::string& where) {
  members.read("name", name);
  members.require("config");
  if (members.error()) return *members.error();
  core::Result<core::ModelConfig> config =
      core::parse_config(core::format_json(*core::find_member(members.object(), "config")), where);
  if (!config) return config.error();
  core::Result<core::Vocabulary> words = read_words(members, "vocabulary", config->vocab_size, where);
  if (!words) return words.error();
  core::SessionModel model{.config = *config, .vocabulary = *std::move(words)};
  if (config->architecture == core::Architecture::encoder_decoder) {
    if (!members.has("target_vocabulary")) return Error{"session.no_target_vocabulary", where};
    core::Result<core::Vocabulary> target =
        read_words(members, "target_vocabulary", config->target_vocab_size, where);
    if (!target) return target.error();
    model.target_vocabulary = *std::move(target);
  }
  members.read("seed", model.seed);
  if (members.error()) return *members.error();
  return model;
}

/// Takes the tensors whose names begin so out of `tensors`.
core::StoredTensors take_prefixed(core::StoredTensors& tensors, std::string_view prefix) {
  core::StoredTensors taken;
  for (auto entry = tensors.lower_bound(prefix);
       entry != tensors.end() && entry->first.starts_with(prefix);) {
    taken.emplace(entry->first.substr(prefix.size()), std::move(entry->second));
    entry = tensors.erase(entry);
  }
  return taken;
}

/// Numbers laid out as Workspace::parameters(). Precondition: check_parameters() found nothing.
core::AlignedVector<float> lay_out(const core::Graph& graph, const core::StoredTensors& tensors) {
  const core::Plan plan(graph, core::GradientPlan(graph), core::Sizes{});
  core::AlignedVector<float> numbers(plan.n_parameters(), 0);
  for (const auto& [name, tensor] : tensors)
    std::transform(tensor.values.begin(), tensor.values.end(),
                   numbers.begin() + static_cast<std::ptrdiff_t>(plan.offset(*graph.find(name))),
                   [](double value) { return static_cast<float>(value); });
  return numbers;
}

core::Result<std::shared_ptr<const core::TrainState>> read_trained(JsonMembers& members,
                                                                   const core::Graph& graph,
                                                                   core::StoredTensors tensors,
                                                                   const std::string& where) {
  core::TrainState state;
  state.step = whole(members, "step", 1, kMost);
  if (members.error()) return *members.error();
  core::AlignedVector<float>* const parts[] = {&state.parameters, &state.first_moments,
                                               &state.second_moments};
  // the parameters last: they are what has no prefix
  for (std::size_t part = std::size(parts); part-- > 0;) {
    const core::StoredTensors taken = take_prefixed(tensors, names::kMoments[part]);
    if (taken.empty() && part > 0) continue;  // SGD has no second moments
    const std::string place =
        where + ": " + std::string(names::kTrained) + std::string(names::kMoments[part]);
    if (std::optional<Error> error = core::check_parameters(graph, taken, place)) return *std::move(error);
    if (std::vector<Error> errors = core::find_not_finite(taken, place); !errors.empty())
      return std::move(errors.front());
    *parts[part] = lay_out(graph, taken);
  }
  return std::make_shared<const core::TrainState>(std::move(state));
}

std::string checksum_of(const core::StoredFile& file, const std::string& text) {
  return core::hexadecimal(core::fnv1a(file.data, core::fnv1a(text)));
}

}  // namespace

core::Result<SessionFile> parse_session(std::string_view bytes, const std::string& where) {
  core::Result<core::StoredFile> stored = core::parse_safetensors_file(bytes, where);
  if (!stored) return stored.error();
  if (core::find_metadata(stored->metadata, "format") != names::kFormat ||
      core::find_metadata(stored->metadata, "version") != std::to_string(names::kVersion))
    return Error{"session_file.format", where};
  const std::string text = core::find_metadata(stored->metadata, "session");
  // "none" is for whoever writes a file by hand
  if (const std::string sum = core::find_metadata(stored->metadata, "checksum");
      sum != "none" && sum != checksum_of(*stored, text))
    return Error{"session_file.checksum", where};
  const core::Result<core::Json> json = core::parse_json(text, where);
  if (!json) return json.error();
  if (!json->object()) return Error{"config.not_an_object", where};
  JsonMembers members(*json->object(), where);

  SessionFile file;
  std::optional<core::Result<core::SessionModel>> model;
  members.require("model");
  members.read_object("model", [&](JsonMembers& of) { model = read_model(of, file.name, where); });
  if (members.error()) return *members.error();
  if (!*model) return model->error();
  const core::Result<core::Graph> graph = core::build_graph((*model)->config, where);
  if (!graph) return graph.error();
  core::StoredTensors trained = take_prefixed(stored->tensors, names::kTrained);
  if (std::optional<Error> error = core::check_parameters(*graph, stored->tensors, where))
    return *std::move(error);
  (*model)->parameters = lay_out(*graph, stored->tensors);
  (*model)->warnings = core::find_not_finite(stored->tensors, where);
  file.model = std::make_shared<const core::SessionModel>(**std::move(model));

  const Reader reader(*graph);
  members.read_object("task", [&file](JsonMembers& task) { core::read_task(task, file.task.emplace()); });
  members.read("examples_drawn", file.n_examples_drawn);
  members.require("setup");
  members.read_object("setup", [&](JsonMembers& setup) { reader.setup(setup, file.setup); });
  file.initial = core::Setup{.text = file.setup.text};
  members.read_object("initial", [&](JsonMembers& setup) {
    file.initial = {};
    reader.setup(setup, file.initial);
  });
  if (members.has("cursor")) file.cursor = static_cast<std::size_t>(whole(members, "cursor", 0, kMost));
  members.read_object("view", [&](JsonMembers& view) { reader.view(view, file.view); });
  members.read_object("lesson", [&file](JsonMembers& lesson) { read_lesson(lesson, file.lesson.emplace()); });
  if (members.error()) return *members.error();

  const core::JsonObject& setup = *core::find_member(members.object(), "setup")->object();
  if (const core::Json* state = core::find_member(setup, "trained")) {
    if (!state->object()) return Error{"config.not_object", where, {{"key", "setup.trained"}}};
    JsonMembers of_state(*state->object(), where, "setup.trained.");
    core::Result<std::shared_ptr<const core::TrainState>> read =
        read_trained(of_state, *graph, std::move(trained), where);
    if (!read) return read.error();
    file.setup.trained = *std::move(read);
  } else if (!trained.empty()) {
    return Error{
        "model.tensor_unknown", where, {{"name", std::string(names::kTrained) + trained.begin()->first}}};
  }
  return file;
}

}  // namespace headscope::simulator
