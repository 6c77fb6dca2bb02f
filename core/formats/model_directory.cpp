// A model directory against its own configuration: the graph says which parameters there must be.
#include "core/formats/model_directory.h"

#include "core/formats/atomic_file.h"
#include "core/formats/json.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <system_error>
#include <utility>

namespace headscope::core {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMaxConfigBytes = 1 << 20;
constexpr std::uint64_t kMaxVocabularyBytes = std::uint64_t{256} << 20;

/// A parameter's shape; its sides are all fixed by the configuration, so that any sizes give the same.
std::vector<std::int64_t> parameter_shape(const TensorSpec& spec) {
  const Shape shape = bind(spec.shape, Sizes{});
  return {shape.sides().begin(), shape.sides().end()};
}

std::string format_vocabulary(const Vocabulary& vocabulary) {
  std::string text;
  for (const std::string& token : vocabulary.tokens())
    text.append(text.empty() ? "[" : ",\n ").append(quote_json(token));
  return text + "]\n";
}

/// Writes the vocabulary, or removes one that an earlier model left: its words would be taken for this
/// model's.
Result<void> write_vocabulary(const fs::path& path, const std::optional<Vocabulary>& vocabulary) {
  if (vocabulary) return write_file_atomically(path, format_vocabulary(*vocabulary));
  std::error_code error;
  fs::remove(path, error);
  if (error) return Error{"file.unwritable", path.string()};
  return {};
}

}  // namespace

std::optional<Error> check_parameters(const Graph& graph, const StoredTensors& tensors,
                                      const std::string& where) {
  for (const TensorSpec& spec : graph.specs()) {
    if (spec.role != Role::parameter) continue;
    const auto found = tensors.find(spec.name);
    if (found == tensors.end()) return Error{"model.tensor_missing", where, {{"name", spec.name}}};
    const std::vector<std::int64_t> expected = parameter_shape(spec);
    if (found->second.shape != expected)
      return Error{"model.tensor_shape",
                   where,
                   {{"name", spec.name},
                    {"shape", format_list(found->second.shape)},
                    {"expected", format_list(expected)}}};
  }
  for (const auto& [name, tensor] : tensors) {
    const std::optional<TensorId> id = graph.find(name);
    if (!id || graph.spec(*id).role != Role::parameter || graph.spec(*id).name != name)
      return Error{"model.tensor_unknown", where, {{"name", name}}};
  }
  return std::nullopt;
}

std::vector<Error> find_not_finite(const StoredTensors& tensors, const std::string& where) {
  std::vector<Error> warnings;
  const auto is_not_finite = [](double value) { return !std::isfinite(static_cast<float>(value)); };
  for (const auto& [name, tensor] : tensors) {
    const auto first = std::find_if(tensor.values.begin(), tensor.values.end(), is_not_finite);
    if (first == tensor.values.end()) continue;
    const auto count = std::count_if(first, tensor.values.end(), is_not_finite);
    Shape shape;
    for (const std::int64_t side : tensor.shape) shape.push_back(side);
    const Cell cell = shape.cell(first - tensor.values.begin());
    std::string address;
    for (int axis = 0; axis < cell.rank(); ++axis)
      address.append(axis > 0 ? "," : "").append(std::to_string(cell[axis]));
    warnings.push_back(
        {"model.not_finite", where, {{"name", name}, {"cell", address}, {"count", std::to_string(count)}}});
  }
  return warnings;
}

Result<ModelConfig> read_config(const fs::path& path) {
  const Result<std::string> text = read_file(path, kMaxConfigBytes);
  if (!text) return text.error();
  return parse_config(*text, path.string());
}

Result<std::optional<Vocabulary>> read_vocabulary(const fs::path& path, std::int64_t vocab_size) {
  const Result<std::string> text = read_file(path, kMaxVocabularyBytes);
  if (!text && text.error().key == "file.missing") return std::optional<Vocabulary>();
  if (!text) return text.error();
  Result<Vocabulary> vocabulary = Vocabulary::parse(*text, path.string());
  if (!vocabulary) return vocabulary.error();
  if (vocabulary->size() != vocab_size)
    return Error{"vocabulary.size",
                 path.string(),
                 {{"size", std::to_string(vocabulary->size())}, {"expected", std::to_string(vocab_size)}}};
  return std::optional(std::move(*vocabulary));
}

Result<StoredModel> read_model_directory(const fs::path& directory) {
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored)) return Error{"model.no_directory", directory.string()};
  const fs::path config_path = directory / "config.json";
  Result<ModelConfig> config = read_config(config_path);
  if (!config) return config.error();
  Result<Graph> graph = build_graph(*config, config_path.string());
  if (!graph) return graph.error();

  const fs::path tensors_path = directory / "model.safetensors";
  Result<StoredTensors> tensors = read_safetensors(tensors_path);
  if (!tensors) return tensors.error();
  if (std::optional<Error> error = check_parameters(*graph, *tensors, tensors_path.string()))
    return std::move(*error);
  Result<std::optional<Vocabulary>> vocabulary =
      read_vocabulary(directory / "vocab.json", config->vocab_size);
  if (!vocabulary) return vocabulary.error();

  Result<std::optional<Vocabulary>> target_vocabulary{std::optional<Vocabulary>()};
  if (config->architecture == Architecture::encoder_decoder)
    target_vocabulary = read_vocabulary(directory / "target_vocab.json", config->target_vocab_size);
  if (!target_vocabulary) return target_vocabulary.error();

  std::vector<Error> warnings = find_not_finite(*tensors, tensors_path.string());
  return StoredModel{std::move(*config),
                     std::move(*graph),
                     std::move(*tensors),
                     std::move(*vocabulary),
                     std::move(*target_vocabulary),
                     std::move(warnings)};
}

template <class T>
Result<void> write_model_directory(const fs::path& directory, const ModelConfig& config, const Graph& graph,
                                   const Workspace<T>& workspace, const std::optional<Vocabulary>& vocabulary,
                                   const std::optional<Vocabulary>& target_vocabulary) {
  assert(!vocabulary || vocabulary->size() == config.vocab_size);
  assert(!target_vocabulary || target_vocabulary->size() == config.target_vocab_size);
  if (Result<void> made = make_folder(directory); !made) return made;

  std::vector<std::pair<std::string, StoredTensor>> tensors;
  for (std::uint32_t index = 0; index < graph.n_tensors(); ++index) {
    const TensorSpec& spec = graph.spec({index});
    if (spec.role != Role::parameter) continue;
    const std::span<const T> values = workspace.values({index});
    tensors.emplace_back(
        spec.name, StoredTensor{StoredType::f32, parameter_shape(spec), {values.begin(), values.end()}});
  }
  if (Result<void> written = write_safetensors(directory / "model.safetensors", tensors); !written)
    return written;
  if (Result<void> written = write_vocabulary(directory / "vocab.json", vocabulary); !written) return written;
  if (Result<void> written = write_vocabulary(directory / "target_vocab.json", target_vocabulary); !written)
    return written;
  // last: a directory whose first writing was cut short has no configuration, and is not read as a model
  return write_file_atomically(directory / "config.json", format_config(config));
}
template Result<void> write_model_directory(const fs::path&, const ModelConfig&, const Graph&,
                                            const Workspace<float>&, const std::optional<Vocabulary>&,
                                            const std::optional<Vocabulary>&);
template Result<void> write_model_directory(const fs::path&, const ModelConfig&, const Graph&,
                                            const Workspace<double>&, const std::optional<Vocabulary>&,
                                            const std::optional<Vocabulary>&);

template <class T>
void set_parameters(const StoredModel& model, Workspace<T>& workspace) {
  for (const auto& [name, tensor] : model.parameters) {
    const std::optional<TensorId> id = model.graph.find(name);
    assert(id && "read_model_directory() checked the names");
    const std::span<T> values = workspace.values(*id);
    assert(values.size() == tensor.values.size());
    std::transform(tensor.values.begin(), tensor.values.end(), values.begin(),
                   [](double value) { return static_cast<T>(value); });
  }
}
template void set_parameters(const StoredModel&, Workspace<float>&);
template void set_parameters(const StoredModel&, Workspace<double>&);

}  // namespace headscope::core
