// A model directory: config.json, model.safetensors, vocab.json. Read with every check, written atomically.
#pragma once

#include "core/formats/safetensors.h"
#include "core/model.h"
#include "core/result.h"
#include "core/vocabulary.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace headscope::core {

/// A model as it stands on disk, checked against its own configuration.
struct StoredModel {
  ModelConfig config;
  Graph graph;
  StoredTensors parameters;              // exactly the graph's parameters, shapes checked
  std::optional<Vocabulary> vocabulary;  // absent: only token ids can be fed
  std::vector<Error> warnings;           // loaded, and said: model.not_finite names the first such cell
};

/// Errors: json.syntax, config.format, config.version, config.key_missing, config.key_type, config.value,
/// config.unsupported, those of validate(), read_safetensors() and Vocabulary; model.tensor_missing,
/// model.tensor_unknown, model.tensor_shape. Unknown config keys are allowed (optional keys may be added).
Result<StoredModel> read_model_directory(const std::filesystem::path& directory);

Result<ModelConfig> parse_config(const std::string& text, const std::string& where);
std::string format_config(const ModelConfig& config);

/// Writes the three files, each atomically. Parameters come from the workspace.
template <class T>
Result<void> write_model_directory(const std::filesystem::path& directory, const ModelConfig& config,
                                   const Graph& graph, const Workspace<T>& workspace,
                                   const std::optional<Vocabulary>& vocabulary);

/// Copies the stored numbers into the workspace. Precondition: read_model_directory() made the model.
template <class T>
void set_parameters(const StoredModel& model, Workspace<T>& workspace);

}  // namespace headscope::core
