// Batches of token ids (NAME.tokens.json), and how a batch becomes a graph's inputs.
#pragma once

#include "core/model.h"
#include "core/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace headscope::core {

/// Rows of token ids, as written: row r has its own length, trailing padding (id 0) removed.
struct TokenBatch {
  std::vector<std::vector<std::int32_t>> source;
  std::vector<std::string> other_keys = {};  // of the format and in the file, but not read by this version
};

/// Errors: those of read_file (above 256 MiB: file.too_large) and parse_json, batch.type (not an object),
/// batch.key
/// ("source" is missing), batch.source_type, batch.row_type (not lists), batch.id_type (not an integer),
/// batch.id_range (negative, or beyond 32 bits), batch.unknown_key (no key of docs/model-format.md, section
/// 4). Rows and positions in errors count from 0.
Result<TokenBatch> read_token_batch(const std::filesystem::path& path);
Result<TokenBatch> parse_token_batch(const std::string& text, const std::string& where);

/// What a batch feeds: ids padded with 0 on the right to the longest row, lengths, and targets (-1 where
/// nothing is predicted). A decoder's language_model row t0…tn feeds t0…t(n-1) and predicts t1…tn; other rows
/// are fed whole.
struct FedBatch {
  Sizes sizes;
  std::vector<std::int32_t> ids;      // [batch, source]
  std::vector<std::int32_t> lengths;  // [batch]
  std::vector<std::int32_t> targets;  // [batch, source]
};

/// Other keys of the format are passed over where the configuration does not need them.
/// Errors: batch.unsupported_key (this version cannot feed what the configuration needs), batch.empty (no
/// token in any row), batch.padding_inside (an id 0 before a row's last token), batch.id_range,
/// batch.too_long (more than max_tokens fed), batch.nothing_to_predict (a language model, and no row of two
/// tokens).
Result<FedBatch> feed(const TokenBatch& batch, const ModelConfig& config, const std::string& where);

/// Binds the sizes and copies the inputs. Precondition: the batch was fed for this graph's configuration and
/// is within the workspace's capacity.
template <class T>
void set_inputs(const Graph& graph, Workspace<T>& workspace, const FedBatch& batch);

}  // namespace headscope::core
