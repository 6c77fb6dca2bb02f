// Batches of token ids (NAME.tokens.json), and how a batch becomes a graph's inputs.
#pragma once

#include "core/model.h"
#include "core/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace headscope::core {

/// A start and an end position, both within the row.
struct SpanEdges {
  std::int32_t start = 0, end = 0;
  bool operator==(const SpanEdges&) const = default;
};

/// A batch as written: row r of each list belongs to row r of `source` and has its own length. Trailing
/// padding of ids (0) is removed when a file is read. A key that is left out is an empty list.
struct TokenBatch {
  std::vector<std::vector<std::int32_t>> source;
  std::vector<std::vector<std::int32_t>> target = {};               // encoder-decoder
  std::vector<std::int32_t> label = {};                             // classification
  std::vector<SpanEdges> span = {};                                 // span
  std::vector<std::int32_t> read = {};                              // span_reader pointer
  std::vector<std::vector<std::vector<std::int32_t>>> labels = {};  // [row][position][output], -1: not scored
  std::vector<std::vector<std::int32_t>> types = {};                // n_token_types above 0
  /// What an encoder-decoder's decoder is fed where there is no target: the target vocabulary's begin token.
  std::optional<std::int32_t> target_begin = std::nullopt;

  bool operator==(const TokenBatch&) const = default;
};

/// Errors: those of read_file (above 256 MiB: file.too_large) and parse_json, batch.type (not an object),
/// batch.key ("source" is missing), batch.unknown_key (no key of docs/model-format.md, section 4),
/// batch.list_type (a key whose value is not a list), batch.row_type (a row that is not a list),
/// batch.labels_type (a position's labels that are not a list), batch.span_type (not two whole numbers),
/// batch.row_number_type, batch.number_type (not a whole number), batch.id_range (an id that is negative, or
/// beyond 32 bits), batch.row_range, batch.number_range (any other number beyond 32 bits). Rows and positions
/// in errors count from 0.
Result<TokenBatch> read_token_batch(const std::filesystem::path& path);
Result<TokenBatch> parse_token_batch(const std::string& text, const std::string& where);

/// What a batch feeds: ids padded with 0 on the right to the longest row, lengths, and targets (-1 where
/// nothing is predicted). A decoder's language_model row t0…tn feeds t0…t(n-1) and predicts t1…tn; an
/// encoder-decoder's target row does so, its source row is fed whole; so are all other rows.
struct FedBatch {
  Sizes sizes;
  std::vector<std::int32_t> ids;             // [batch, source]
  std::vector<std::int32_t> lengths;         // [batch]
  std::vector<std::int32_t> types;           // [batch, source] where n_token_types > 0
  std::vector<std::int32_t> target_ids;      // [batch, target], encoder-decoder
  std::vector<std::int32_t> target_lengths;  // [batch], encoder-decoder
  std::vector<std::int32_t> read;            // [batch], span_reader pointer
  /// As the objective's input: language_model [batch, source or target], classification [batch], span [batch,
  /// 2], token_classification [batch, source, n_outputs]; empty for objective none.
  std::vector<std::int32_t> targets;
  /// Whether anything is predicted. Without it every target is -1, and only what lies before the losses means
  /// anything (forward_end()).
  bool has_targets = false;
};

/// Keys of the format that the configuration does not need are passed over; without the objective's own key
/// (`label`, `span`, `labels`; `target` where target_begin stands in) the batch has no targets.
/// Errors: batch.empty (no token in any row), batch.key (`read` or `target` is missing), batch.rows (a list
/// with another number of rows than `source`), batch.padding_inside (an id 0 before a row's last token),
/// batch.id_range, batch.row_range, batch.number_range (an id, a class, a position or a type that the model
/// does not have), batch.too_long (more than max_tokens fed), batch.too_large (padded to the longest row,
/// more than 2^22 ids or labels), batch.empty_row (a row without tokens, for classification and span),
/// batch.on_padding (a label, an edge, a read position or a type beyond the row's own tokens),
/// batch.span_reversed (ends before it starts), batch.n_outputs (another number of labels at a position),
/// batch.nothing_to_predict (a language model and no row of two tokens; labels that score nothing).
Result<FedBatch> feed(const TokenBatch& batch, const ModelConfig& config, const std::string& where);

/// Fails where a batch has nothing to learn from: batch.key, which names the objective's missing key, or
/// batch.no_objective (objective none has no loss).
Result<void> require_targets(const FedBatch& batch, const ModelConfig& config, const std::string& where);

/// How many operations of the graph mean something for this batch: all, or those up to `probabilities` where
/// it has no targets.
std::size_t forward_end(const Graph& graph, const FedBatch& batch);

/// Binds the sizes and copies the inputs. Precondition: the batch was fed for this graph's configuration and
/// is within the workspace's capacity.
template <class T>
void set_inputs(const Graph& graph, Workspace<T>& workspace, const FedBatch& batch);

}  // namespace headscope::core
