// Token batches from JSON, as written. What a model makes of them is in feed.cpp.
#include "core/formats/token_batch.h"

#include "core/formats/atomic_file.h"
#include "core/formats/json.h"

#include <limits>
#include <string_view>
#include <utility>

namespace headscope::core {

namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{256} << 20;
constexpr std::int64_t kLowest = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int32_t>::max();

/// Reads the lists of one batch. Each reader returns the first error, or none.
class BatchReader {
 public:
  BatchReader(const std::string& where, TokenBatch& batch) : where_(where), batch_(batch) {}

  std::optional<Error> read(const std::string& key, const Json& json) {
    if (key == "source") return read_ids(key, json, batch_.source);
    if (key == "target") return read_ids(key, json, batch_.target);
    if (key == "types") return read_table(key, json, batch_.types);
    if (key == "label") return read_numbers(key, json, batch_.label);
    if (key == "read") return read_numbers(key, json, batch_.read);
    if (key == "span") return read_spans(json);
    if (key == "labels") return read_labels(json);
    return Error{"batch.unknown_key", where_, {{"key", key}}};
  }

 private:
  using Values = std::vector<std::pair<std::string, std::string>>;

  Error error(std::string name, const std::string& key, std::size_t row, Values more = {}) const {
    more.insert(more.begin(), {{"key", key}, {"row", std::to_string(row)}});
    return {std::move(name), where_, std::move(more)};
  }
  static Values range(std::int64_t value) {
    return {{"value", std::to_string(value)},
            {"lowest", std::to_string(kLowest)},
            {"highest", std::to_string(kHighest)}};
  }
  static Values at(std::size_t position, Values more = {}) {
    more.insert(more.begin(), {"position", std::to_string(position)});
    return more;
  }

  /// The elements of a key's list, or the error that it is none.
  Result<const JsonArray*> list(const std::string& key, const Json& json) const {
    if (!json.array()) return Error{"batch.list_type", where_, {{"key", key}}};
    return json.array();
  }

  /// [[number, …], …]
  std::optional<Error> read_table(const std::string& key, const Json& json,
                                  std::vector<std::vector<std::int32_t>>& rows) const {
    const Result<const JsonArray*> list = this->list(key, json);
    if (!list) return list.error();
    for (const Json& row : **list) {
      const std::size_t r = rows.size();
      if (!row.array()) return error("batch.row_type", key, r);
      std::vector<std::int32_t>& numbers = rows.emplace_back();
      if (std::optional<Error> wrong = read_row(key, r, std::nullopt, *row.array(), numbers)) return wrong;
    }
    return std::nullopt;
  }

  /// Whole numbers of 32 bits; `position` is that of all of them, else each has its own.
  std::optional<Error> read_row(const std::string& key, std::size_t row, std::optional<std::size_t> position,
                                const JsonArray& list, std::vector<std::int32_t>& numbers) const {
    numbers.reserve(list.size());
    const bool has_ids = key == "source" || key == "target";
    for (const Json& entry : list) {
      const std::size_t place = position.value_or(numbers.size());
      const std::int64_t* number = entry.integer();
      if (!number) return error("batch.number_type", key, row, at(place));
      if (has_ids && (*number < 0 || *number > kHighest))
        return error("batch.id_range", key, row,
                     at(place, {{"id", std::to_string(*number)}, {"highest", std::to_string(kHighest)}}));
      if (*number < kLowest || *number > kHighest)
        return error("batch.number_range", key, row, at(place, range(*number)));
      numbers.push_back(static_cast<std::int32_t>(*number));
    }
    return std::nullopt;
  }

  /// A table of token ids, padding at the end of its rows left out.
  std::optional<Error> read_ids(const std::string& key, const Json& json,
                                std::vector<std::vector<std::int32_t>>& rows) const {
    std::optional<Error> wrong = read_table(key, json, rows);
    for (std::vector<std::int32_t>& row : rows)
      while (!row.empty() && row.back() == 0) row.pop_back();
    return wrong;
  }

  /// [number, …], one a row
  std::optional<Error> read_numbers(const std::string& key, const Json& json,
                                    std::vector<std::int32_t>& numbers) const {
    const Result<const JsonArray*> list = this->list(key, json);
    if (!list) return list.error();
    for (const Json& entry : **list) {
      const std::int64_t* number = entry.integer();
      if (!number) return error("batch.row_number_type", key, numbers.size());
      if (*number < kLowest || *number > kHighest)
        return error("batch.row_range", key, numbers.size(), range(*number));
      numbers.push_back(static_cast<std::int32_t>(*number));
    }
    return std::nullopt;
  }

  /// [[start, end], …]
  std::optional<Error> read_spans(const Json& json) const {
    const Result<const JsonArray*> list = this->list("span", json);
    if (!list) return list.error();
    for (const Json& row : **list) {
      const std::size_t r = batch_.span.size();
      std::vector<std::int32_t> edges;
      if (!row.array() || row.array()->size() != 2) return error("batch.span_type", "span", r);
      for (const Json& edge : *row.array()) {
        const std::int64_t* number = edge.integer();
        if (!number) return error("batch.span_type", "span", r);
        if (*number < kLowest || *number > kHighest)
          return error("batch.row_range", "span", r, range(*number));
        edges.push_back(static_cast<std::int32_t>(*number));
      }
      batch_.span.push_back({edges[0], edges[1]});
    }
    return std::nullopt;
  }

  /// [[[class, …], …], …]: row, position, output
  std::optional<Error> read_labels(const Json& json) const {
    const Result<const JsonArray*> list = this->list("labels", json);
    if (!list) return list.error();
    for (const Json& row : **list) {
      const std::size_t r = batch_.labels.size();
      if (!row.array()) return error("batch.row_type", "labels", r);
      std::vector<std::vector<std::int32_t>>& positions = batch_.labels.emplace_back();
      for (const Json& labels : *row.array()) {
        const std::size_t position = positions.size();
        if (!labels.array()) return error("batch.labels_type", "labels", r, at(position));
        std::vector<std::int32_t>& classes = positions.emplace_back();
        if (std::optional<Error> wrong = read_row("labels", r, position, *labels.array(), classes))
          return wrong;
      }
    }
    return std::nullopt;
  }

  const std::string& where_;
  TokenBatch& batch_;
};

}  // namespace

Result<TokenBatch> parse_token_batch(const std::string& text, const std::string& where) {
  const Result<Json> json = parse_json(text, where);
  if (!json) return json.error();
  const JsonObject* object = json->object();
  if (!object) return Error{"batch.type", where};
  TokenBatch batch;
  BatchReader reader(where, batch);
  for (const auto& [key, value] : *object)
    if (std::optional<Error> error = reader.read(key, value)) return std::move(*error);
  if (!find_member(*object, "source")) return Error{"batch.key", where, {{"key", "source"}}};
  return batch;
}

Result<TokenBatch> read_token_batch(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path, kMaxFileBytes);
  if (!text) return text.error();
  return parse_token_batch(*text, path.string());
}

}  // namespace headscope::core
