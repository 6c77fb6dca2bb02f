// A model directory: config.json, model.safetensors, vocab.json and an encoder-decoder's target_vocab.json.
// Read with every check, written atomically.
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
  StoredTensors parameters;                     // exactly the graph's parameters, shapes checked
  std::optional<Vocabulary> vocabulary;         // absent: only token ids can be fed
  std::optional<Vocabulary> target_vocabulary;  // an encoder-decoder's; absent as above
  std::vector<Error> warnings;  // loaded, and said: model.not_finite, one per tensor (first cell, how many)
};

/// Errors: model.no_directory, those of read_file, parse_config(), build_graph(), read_safetensors() and
/// Vocabulary::parse(); model.tensor_missing, model.tensor_unknown, model.tensor_shape, vocabulary.size
/// (differs from vocab_size or target_vocab_size). The graph is the one source of names and shapes.
Result<StoredModel> read_model_directory(const std::filesystem::path& directory);

/// Whether the tensors are the graph's parameters, all of them and no other, in the right shapes. Errors:
/// model.tensor_missing, model.tensor_shape, model.tensor_unknown.
std::optional<Error> check_parameters(const Graph& graph, const StoredTensors& tensors,
                                      const std::string& where);

/// model.not_finite for each tensor with a cell that no finite float holds (name, cell: the first one,
/// count).
std::vector<Error> find_not_finite(const StoredTensors& tensors, const std::string& where);

/// config.json's text to a checked configuration; `d_head` is filled in where it was left out. Keys that no
/// version knows are passed over (optional keys may be added); a key without a default is required where it
/// means something. Errors: those of parse_json(), config.not_an_object, config.format, config.version,
/// config.key_missing, config.not_integer, config.not_number, config.not_boolean, config.not_text,
/// config.not_object (a key's type), config.value (a name that is not allowed there), config.d_head (left
/// out, and n_heads does not divide d_model), those of validate().
Result<ModelConfig> parse_config(const std::string& text, const std::string& where);

/// parse_config() of a file. Errors: those of read_file and parse_config().
Result<ModelConfig> read_config(const std::filesystem::path& path);

/// config.json's text: parse_config() of it gives an equal configuration.
std::string format_config(const ModelConfig& config);

/// The vocabulary of a file, of as many tokens as the configuration says; none where there is no such file.
/// Errors: those of read_file and Vocabulary::parse(), vocabulary.size.
Result<std::optional<Vocabulary>> read_vocabulary(const std::filesystem::path& path, std::int64_t vocab_size);

/// Writes the files, each atomically, into the directory (made where it is missing). Parameters come from the
/// workspace, as F32. Without a vocabulary, a vocab.json or target_vocab.json that is there is removed: its
/// words are another model's. Errors: those of make_folder() and write_file_atomically(). Preconditions: the
/// vocabularies have vocab_size and target_vocab_size tokens; only an encoder-decoder has the second.
template <class T>
Result<void> write_model_directory(const std::filesystem::path& directory, const ModelConfig& config,
                                   const Graph& graph, const Workspace<T>& workspace,
                                   const std::optional<Vocabulary>& vocabulary,
                                   const std::optional<Vocabulary>& target_vocabulary = std::nullopt);

/// Copies the stored numbers into the workspace. Precondition: read_model_directory() made the model.
template <class T>
void set_parameters(const StoredModel& model, Workspace<T>& workspace);

}  // namespace headscope::core
