// Token batches: from JSON to rows of ids, and from rows to the inputs of a graph.
#include "core/formats/token_batch.h"

#include "core/config_names.h"
#include "core/formats/atomic_file.h"
#include "core/formats/json.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <string_view>
#include <utility>

namespace headscope::core {

namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{256} << 20;
constexpr std::array<std::string_view, 6> kOtherKeys = {"target", "label", "span", "read", "labels", "types"};

/// Errors about one token: its row and position, from 0, among the values.
Error token_error(std::string key, const std::string& where, std::size_t row, std::size_t position,
                  std::vector<std::pair<std::string, std::string>> values = {}) {
  values.insert(values.begin(), {{"row", std::to_string(row)}, {"position", std::to_string(position)}});
  return {std::move(key), where, std::move(values)};
}

Error id_range_error(const std::string& where, std::size_t row, std::size_t position, std::int64_t id,
                     std::int64_t highest) {
  return token_error("batch.id_range", where, row, position,
                     {{"id", std::to_string(id)}, {"highest", std::to_string(highest)}});
}

void remove_padding(std::vector<std::int32_t>& row) {
  while (!row.empty() && row.back() == 0) row.pop_back();
}

Result<std::vector<std::int32_t>> parse_row(const Json& json, std::size_t row, const std::string& where) {
  if (!json.array()) return Error{"batch.row_type", where, {{"row", std::to_string(row)}}};
  std::vector<std::int32_t> ids;
  ids.reserve(json.array()->size());
  for (const Json& entry : *json.array()) {
    const std::int64_t* id = entry.integer();
    if (!id) return token_error("batch.id_type", where, row, ids.size());
    constexpr std::int64_t kHighest = std::numeric_limits<std::int32_t>::max();
    if (*id < 0 || *id > kHighest) return id_range_error(where, row, ids.size(), *id, kHighest);
    ids.push_back(static_cast<std::int32_t>(*id));
  }
  remove_padding(ids);
  return ids;
}

/// The keys besides "source" that a batch must or may have for this configuration.
std::vector<std::string_view> used_keys(const ModelConfig& config) {
  std::vector<std::string_view> keys;
  if (config.architecture == Architecture::encoder_decoder) keys.push_back("target");
  if (config.objective == Objective::classification) keys.push_back("label");
  if (config.objective == Objective::span) keys.push_back("span");
  if (config.objective == Objective::span && config.span_reader == SpanReader::pointer)
    keys.push_back("read");
  if (config.objective == Objective::token_classification) keys.push_back("labels");
  if (config.n_token_types > 0) keys.push_back("types");
  return keys;
}

/// Whether the row's ids are within the vocabulary, and padding stands at its end only.
std::optional<Error> check_ids(const std::vector<std::int32_t>& row, std::size_t r, std::int64_t vocab_size,
                               const std::string& where) {
  for (std::size_t position = 0; position < row.size(); ++position) {
    if (row[position] == 0) return token_error("batch.padding_inside", where, r, position);
    if (row[position] < 0 || row[position] >= vocab_size)
      return id_range_error(where, r, position, row[position], vocab_size - 1);
  }
  return std::nullopt;
}

}  // namespace

Result<TokenBatch> parse_token_batch(const std::string& text, const std::string& where) {
  const Result<Json> json = parse_json(text, where);
  if (!json) return json.error();
  const JsonObject* object = json->object();
  if (!object) return Error{"batch.type", where};
  TokenBatch batch;
  for (const auto& [key, value] : *object) {
    if (key == "source") continue;
    if (std::find(kOtherKeys.begin(), kOtherKeys.end(), key) == kOtherKeys.end())
      return Error{"batch.unknown_key", where, {{"key", key}}};
    batch.other_keys.push_back(key);
  }
  const Json* source = find_member(*object, "source");
  if (!source) return Error{"batch.key", where, {{"key", "source"}}};
  if (!source->array()) return Error{"batch.source_type", where};
  for (const Json& row : *source->array()) {
    Result<std::vector<std::int32_t>> ids = parse_row(row, batch.source.size(), where);
    if (!ids) return ids.error();
    batch.source.push_back(std::move(*ids));
  }
  return batch;
}

Result<TokenBatch> read_token_batch(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path, kMaxFileBytes);
  if (!text) return text.error();
  return parse_token_batch(*text, path.string());
}

Result<FedBatch> feed(const TokenBatch& batch, const ModelConfig& config, const std::string& where) {
  if (const std::vector<std::string_view> keys = used_keys(config); !keys.empty())
    return Error{"batch.unsupported_key", where, {{"key", std::string(keys.front())}}};

  const std::size_t n_ahead = config.objective == Objective::language_model ? 1 : 0;  // predicted, not fed
  std::size_t n_longest = 0;
  bool has_token = false;
  for (std::size_t r = 0; r < batch.source.size(); ++r) {
    std::vector<std::int32_t> row = batch.source[r];
    remove_padding(row);  // a batch made in memory may still have it
    if (std::optional<Error> error = check_ids(row, r, config.vocab_size, where)) return std::move(*error);
    has_token = has_token || !row.empty();
    const std::size_t n_fed = row.size() - std::min(row.size(), n_ahead);
    if (n_fed > static_cast<std::size_t>(config.max_tokens))
      return Error{"batch.too_long",
                   where,
                   {{"row", std::to_string(r)},
                    {"length", std::to_string(n_fed)},
                    {"highest", std::to_string(config.max_tokens)}}};
    n_longest = std::max(n_longest, n_fed);
  }
  if (!has_token) return Error{"batch.empty", where};
  if (n_longest == 0) return Error{"batch.nothing_to_predict", where};

  FedBatch fed;
  fed.sizes = {static_cast<std::int64_t>(batch.source.size()), static_cast<std::int64_t>(n_longest), 0};
  fed.ids.assign(batch.source.size() * n_longest, 0);
  fed.targets.assign(fed.ids.size(), -1);
  for (std::size_t r = 0; r < batch.source.size(); ++r) {
    std::vector<std::int32_t> row = batch.source[r];
    remove_padding(row);
    const std::size_t n_fed = row.size() - std::min(row.size(), n_ahead);
    for (std::size_t i = 0; i < n_fed; ++i) {
      fed.ids[r * n_longest + i] = row[i];
      if (n_ahead == 1) fed.targets[r * n_longest + i] = row[i + 1];
    }
    fed.lengths.push_back(static_cast<std::int32_t>(n_fed));
  }
  return fed;
}

template <class T>
void set_inputs(const Graph& graph, Workspace<T>& workspace, const FedBatch& batch) {
  workspace.bind(graph, batch.sizes);
  const auto copy = [&workspace](const std::vector<std::int32_t>& from, TensorId to) {
    const std::span<std::int32_t> numbers = workspace.integers(to);
    assert(numbers.size() == from.size());
    std::copy(from.begin(), from.end(), numbers.begin());
  };
  const Inputs inputs = find_inputs(graph);
  copy(batch.ids, inputs.ids);
  copy(batch.lengths, inputs.lengths);
  if (inputs.targets) copy(batch.targets, *inputs.targets);
}
template void set_inputs(const Graph&, Workspace<float>&, const FedBatch&);
template void set_inputs(const Graph&, Workspace<double>&, const FedBatch&);

}  // namespace headscope::core
