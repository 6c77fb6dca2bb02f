// From a batch's rows to the inputs of a graph: padding, what is predicted, and every refusal.
#include "core/formats/token_batch.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <string_view>
#include <utility>

namespace headscope::core {

namespace {

using Ids = std::vector<std::int32_t>;
using IdRows = std::vector<Ids>;
using Values = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t kMostFed = std::size_t{1} << 22;  // ids or labels of a batch, padding included

/// The key that says what the objective is to predict; empty for none.
std::string_view target_key(const ModelConfig& config) {
  switch (config.objective) {
    case Objective::language_model:
      return config.architecture == Architecture::encoder_decoder ? "target" : "source";
    case Objective::classification:
      return "label";
    case Objective::span:
      return "span";
    case Objective::token_classification:
      return "labels";
    case Objective::none:
      break;
  }
  return "";
}

/// A batch made in memory may still have padding at the end of its rows.
std::span<const std::int32_t> without_padding(const Ids& row) {
  std::size_t n = row.size();
  while (n > 0 && row[n - 1] == 0) --n;
  return {row.data(), n};
}

/// Rows of ids, padded to the longest.
struct Padded {
  Ids ids;
  Ids lengths;
  std::size_t width = 0;
};

/// Fills a FedBatch. Each step returns the first error, or none.
class Feeder {
 public:
  Feeder(const TokenBatch& batch, const ModelConfig& config, const std::string& where)
      : batch_(batch), config_(config), where_(where), n_rows_(batch.source.size()) {}

  Result<FedBatch> feed() {
    std::optional<Error> error = check_tokens();
    if (!error) error = feed_source();
    if (!error && config_.n_token_types > 0) error = feed_types();
    if (!error && config_.architecture == Architecture::encoder_decoder) error = feed_target();
    if (!error) error = feed_objective();
    if (error) return *std::move(error);
    return std::move(fed_);
  }

 private:
  Error row_error(std::string name, std::string_view key, std::size_t row, Values more = {}) const {
    more.insert(more.begin(), {{"key", std::string(key)}, {"row", std::to_string(row)}});
    return {std::move(name), where_, std::move(more)};
  }
  Error cell_error(std::string name, std::string_view key, std::size_t row, std::size_t position,
                   Values more = {}) const {
    more.insert(more.begin(), {"position", std::to_string(position)});
    return row_error(std::move(name), key, row, std::move(more));
  }
  static Values range(std::int64_t value, std::int64_t lowest, std::int64_t highest) {
    return {{"value", std::to_string(value)},
            {"lowest", std::to_string(lowest)},
            {"highest", std::to_string(highest)}};
  }
  std::optional<Error> check_rows(std::string_view key, std::size_t n) const {
    if (n == n_rows_) return std::nullopt;
    return Error{
        "batch.rows",
        where_,
        {{"key", std::string(key)}, {"rows", std::to_string(n)}, {"expected", std::to_string(n_rows_)}}};
  }
  /// How many tokens a source row has of its own.
  std::size_t length(std::size_t row) const { return without_padding(batch_.source[row]).size(); }

  /// A token in some row; in every row for the objectives that read each row as one.
  std::optional<Error> check_tokens() const {
    const bool is_by_row =
        config_.objective == Objective::classification || config_.objective == Objective::span;
    bool has_token = false;
    for (std::size_t r = 0; r < n_rows_; ++r) has_token = has_token || length(r) > 0;
    // a translation's source rows may be empty, all of them: its target is predicted then from itself alone
    if (n_rows_ == 0 || (!has_token && config_.architecture != Architecture::encoder_decoder))
      return Error{"batch.empty", where_};
    for (std::size_t r = 0; is_by_row && r < n_rows_; ++r)
      if (length(r) == 0) return row_error("batch.empty_row", "source", r);
    return std::nullopt;
  }

  /// Whether the row's ids are within the vocabulary, and padding stands at its end only.
  std::optional<Error> check_ids(std::span<const std::int32_t> row, std::string_view key, std::size_t r,
                                 std::int64_t vocab_size) const {
    for (std::size_t position = 0; position < row.size(); ++position) {
      const std::int32_t id = row[position];
      if (id == 0) return cell_error("batch.padding_inside", key, r, position);
      if (id < 0 || id >= vocab_size)
        return cell_error("batch.id_range", key, r, position,
                          {{"id", std::to_string(id)}, {"highest", std::to_string(vocab_size - 1)}});
    }
    return std::nullopt;
  }

  /// One long row makes every other as long: a small file could ask for any amount of memory. Precondition:
  /// n_rows > 0.
  std::optional<Error> check_size(std::size_t n_rows, std::size_t n_in_row) const {
    if (n_in_row <= kMostFed / n_rows) return std::nullopt;
    return Error{"batch.too_large", where_, {{"most", std::to_string(kMostFed)}}};
  }

  /// The rows less their last `n_ahead` tokens, which are predicted and not fed.
  Result<Padded> pad(const IdRows& rows, std::string_view key, std::int64_t vocab_size,
                     std::size_t n_ahead) const {
    Padded padded;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::span<const std::int32_t> row = without_padding(rows[r]);
      if (std::optional<Error> error = check_ids(row, key, r, vocab_size)) return *std::move(error);
      const std::size_t n_fed = row.size() - std::min(row.size(), n_ahead);
      if (n_fed > static_cast<std::size_t>(config_.max_tokens))
        return row_error(
            "batch.too_long", key, r,
            {{"length", std::to_string(n_fed)}, {"highest", std::to_string(config_.max_tokens)}});
      padded.lengths.push_back(static_cast<std::int32_t>(n_fed));
      padded.width = std::max(padded.width, n_fed);
    }
    if (n_ahead > 0 && padded.width == 0) return Error{"batch.nothing_to_predict", where_};
    padded.width = std::max<std::size_t>(padded.width, 1);  // no side of a tensor is empty
    if (std::optional<Error> error = check_size(rows.size(), padded.width)) return *std::move(error);
    padded.ids.assign(rows.size() * padded.width, 0);
    for (std::size_t r = 0; r < rows.size(); ++r)
      std::copy_n(rows[r].begin(), padded.lengths[r],
                  padded.ids.begin() + static_cast<std::ptrdiff_t>(r * padded.width));
    return padded;
  }

  /// targets[r][i] = row r's token i + 1
  void predict_next(const IdRows& rows, const Padded& fed) {
    fed_.targets.assign(fed.ids.size(), -1);
    for (std::size_t r = 0; r < rows.size(); ++r)
      std::copy_n(rows[r].begin() + (fed.lengths[r] > 0 ? 1 : 0), fed.lengths[r],
                  fed_.targets.begin() + static_cast<std::ptrdiff_t>(r * fed.width));
    fed_.has_targets = true;
  }

  std::optional<Error> feed_source() {
    const bool predicts = target_key(config_) == "source";
    Result<Padded> padded = pad(batch_.source, "source", config_.vocab_size, predicts ? 1 : 0);
    if (!padded) return padded.error();
    if (predicts) predict_next(batch_.source, *padded);
    fed_.sizes = {static_cast<std::int64_t>(n_rows_), static_cast<std::int64_t>(padded->width), 0};
    fed_.ids = std::move(padded->ids);
    fed_.lengths = std::move(padded->lengths);
    return std::nullopt;
  }

  std::optional<Error> feed_target() {
    IdRows rows = batch_.target;
    std::size_t n_ahead = config_.objective == Objective::language_model ? 1 : 0;
    if (rows.empty() && batch_.target_begin) {
      rows.assign(n_rows_, {*batch_.target_begin});
      n_ahead = 0;
    }
    if (rows.empty()) return Error{"batch.key", where_, {{"key", "target"}}};
    if (std::optional<Error> error = check_rows("target", rows.size())) return error;
    Result<Padded> padded = pad(rows, "target", config_.target_vocab_size, n_ahead);
    if (!padded) return padded.error();
    if (n_ahead > 0) predict_next(rows, *padded);
    fed_.sizes.target = static_cast<std::int64_t>(padded->width);
    fed_.target_ids = std::move(padded->ids);
    fed_.target_lengths = std::move(padded->lengths);
    return std::nullopt;
  }

  std::optional<Error> feed_types() {
    fed_.types.assign(fed_.ids.size(), 0);
    if (batch_.types.empty()) return std::nullopt;
    if (std::optional<Error> error = check_rows("types", batch_.types.size())) return error;
    const auto width = static_cast<std::size_t>(fed_.sizes.source);
    for (std::size_t r = 0; r < n_rows_; ++r)
      for (std::size_t i = 0; i < batch_.types[r].size(); ++i) {
        const std::int32_t type = batch_.types[r][i];
        if (type < 0 || type >= config_.n_token_types)
          return cell_error("batch.number_range", "types", r, i, range(type, 0, config_.n_token_types - 1));
        if (type != 0 && i >= length(r)) return on_padding("types", r, i);
        if (i < width) fed_.types[r * width + i] = type;
      }
    return std::nullopt;
  }

  Error on_padding(std::string_view key, std::size_t row, std::size_t position) const {
    return cell_error("batch.on_padding", key, row, position, {{"length", std::to_string(length(row))}});
  }

  std::optional<Error> feed_objective() {
    switch (config_.objective) {
      case Objective::language_model:
        // without a target that is predicted (target_begin)
        if (!fed_.has_targets) fed_.targets.assign(fed_.target_ids.size(), -1);
        return std::nullopt;
      case Objective::classification:
        return feed_label();
      case Objective::span:
        return feed_span();
      case Objective::token_classification:
        return feed_labels();
      case Objective::none:
        break;
    }
    return std::nullopt;
  }

  std::optional<Error> feed_label() {
    fed_.targets.assign(n_rows_, -1);
    if (batch_.label.empty()) return std::nullopt;
    if (std::optional<Error> error = check_rows("label", batch_.label.size())) return error;
    for (std::size_t r = 0; r < n_rows_; ++r)
      if (const std::int32_t label = batch_.label[r]; label < 0 || label >= config_.n_classes)
        return row_error("batch.row_range", "label", r, range(label, 0, config_.n_classes - 1));
    fed_.targets = batch_.label;
    fed_.has_targets = true;
    return std::nullopt;
  }

  /// Whether a position is one of the row's own tokens.
  std::optional<Error> check_position(std::string_view key, std::size_t row, std::int32_t position) const {
    if (position < 0)
      return row_error("batch.row_range", key, row,
                       range(position, 0, static_cast<std::int64_t>(length(row)) - 1));
    const auto place = static_cast<std::size_t>(position);
    return place >= length(row) ? std::optional(on_padding(key, row, place)) : std::nullopt;
  }

  std::optional<Error> feed_span() {
    if (config_.span_reader == SpanReader::pointer) {
      if (batch_.read.empty()) return Error{"batch.key", where_, {{"key", "read"}}};
      if (std::optional<Error> error = check_rows("read", batch_.read.size())) return error;
      for (std::size_t r = 0; r < n_rows_; ++r)
        if (std::optional<Error> error = check_position("read", r, batch_.read[r])) return error;
      fed_.read = batch_.read;
    }
    fed_.targets.assign(2 * n_rows_, -1);
    if (batch_.span.empty()) return std::nullopt;
    if (std::optional<Error> error = check_rows("span", batch_.span.size())) return error;
    for (std::size_t r = 0; r < n_rows_; ++r) {
      const SpanEdges& edges = batch_.span[r];
      if (std::optional<Error> error = check_position("span", r, edges.start)) return error;
      if (std::optional<Error> error = check_position("span", r, edges.end)) return error;
      if (edges.end < edges.start)
        return row_error("batch.span_reversed", "span", r,
                         {{"start", std::to_string(edges.start)}, {"end", std::to_string(edges.end)}});
      fed_.targets[2 * r] = edges.start;
      fed_.targets[2 * r + 1] = edges.end;
    }
    fed_.has_targets = true;
    return std::nullopt;
  }

  std::optional<Error> feed_labels() {
    const auto n_outputs = static_cast<std::size_t>(config_.n_outputs);
    const auto width = static_cast<std::size_t>(fed_.sizes.source);
    if (std::optional<Error> error = check_size(n_rows_, width * n_outputs)) return error;
    fed_.targets.assign(n_rows_ * width * n_outputs, -1);
    if (batch_.labels.empty()) return std::nullopt;
    if (std::optional<Error> error = check_rows("labels", batch_.labels.size())) return error;
    for (std::size_t r = 0; r < n_rows_; ++r)
      for (std::size_t i = 0; i < batch_.labels[r].size(); ++i) {
        const Ids& labels = batch_.labels[r][i];
        if (labels.size() != n_outputs)
          return cell_error(
              "batch.n_outputs", "labels", r, i,
              {{"count", std::to_string(labels.size())}, {"expected", std::to_string(n_outputs)}});
        for (std::size_t o = 0; o < n_outputs; ++o) {
          if (labels[o] < -1 || labels[o] >= config_.n_classes)
            return cell_error("batch.number_range", "labels", r, i,
                              range(labels[o], -1, config_.n_classes - 1));
          if (labels[o] == -1) continue;
          if (i >= length(r)) return on_padding("labels", r, i);
          fed_.targets[(r * width + i) * n_outputs + o] = labels[o];
          fed_.has_targets = true;
        }
      }
    if (!fed_.has_targets) return Error{"batch.nothing_to_predict", where_};
    return std::nullopt;
  }

  const TokenBatch& batch_;
  const ModelConfig& config_;
  const std::string& where_;
  std::size_t n_rows_;
  FedBatch fed_;
};

}  // namespace

Result<FedBatch> feed(const TokenBatch& batch, const ModelConfig& config, const std::string& where) {
  return Feeder(batch, config, where).feed();
}

Result<void> require_targets(const FedBatch& batch, const ModelConfig& config, const std::string& where) {
  if (config.objective == Objective::none) return Error{"batch.no_objective", where};
  if (!batch.has_targets) return Error{"batch.key", where, {{"key", std::string(target_key(config))}}};
  return {};
}

std::size_t forward_end(const Graph& graph, const FedBatch& batch) {
  const std::optional<TensorId> probabilities = graph.find("probabilities");
  if (batch.has_targets || !probabilities) return graph.operations().size();
  return *graph.producer(*probabilities) + 1;
}

template <class T>
void set_inputs(const Graph& graph, Workspace<T>& workspace, const FedBatch& batch) {
  workspace.bind(graph, batch.sizes);
  const auto copy = [&workspace](const Ids& from, std::optional<TensorId> to) {
    if (!to) return;
    const std::span<std::int32_t> numbers = workspace.integers(*to);
    assert(numbers.size() == from.size());
    std::copy(from.begin(), from.end(), numbers.begin());
  };
  const Inputs inputs = find_inputs(graph);
  copy(batch.ids, inputs.ids);
  copy(batch.lengths, inputs.lengths);
  copy(batch.types, inputs.types);
  copy(batch.target_ids, inputs.target_ids);
  copy(batch.target_lengths, inputs.target_lengths);
  copy(batch.read, inputs.read);
  copy(batch.targets, inputs.targets);
  // the format gives types to source rows alone: a target's are all 0
  if (inputs.target_types) std::ranges::fill(workspace.integers(*inputs.target_types), 0);
}
template void set_inputs(const Graph&, Workspace<float>&, const FedBatch&);
template void set_inputs(const Graph&, Workspace<double>&, const FedBatch&);

}  // namespace headscope::core
