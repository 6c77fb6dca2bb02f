// Vocabulary: two directions of one list, and the rows kept for unknown words.
#include "core/vocabulary.h"

#include "core/formats/json.h"
#include "core/hash.h"

#include <algorithm>

namespace headscope::core {

namespace {

constexpr std::int32_t kPadding = 0;  // whatever it is called

/// "<unknown 12>": what a spare row is called.
bool is_spare_name(std::string_view token) {
  constexpr std::string_view kHead = "<unknown ";
  if (!token.starts_with(kHead) || !token.ends_with('>')) return false;
  const std::string_view number = token.substr(kHead.size(), token.size() - kHead.size() - 1);
  return !number.empty() &&
         std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<Vocabulary> Vocabulary::make(std::vector<std::string> tokens, const std::string& where) {
  if (tokens.empty()) return Error{"vocabulary.empty", where};
  Vocabulary vocabulary;
  vocabulary.tokens_ = std::move(tokens);
  for (std::size_t row = 0; row < vocabulary.tokens_.size(); ++row) {
    const std::string& token = vocabulary.tokens_[row];
    const auto id = static_cast<std::int32_t>(row);
    const auto [entry, is_new] = vocabulary.ids_.emplace(token, id);
    if (!is_new)
      return Error{
          "vocabulary.duplicate",
          where,
          {{"token", token}, {"first", std::to_string(entry->second)}, {"second", std::to_string(id)}}};
    if (id != kPadding && is_spare_name(token)) vocabulary.spare_.push_back(id);
  }
  return vocabulary;
}

Result<Vocabulary> Vocabulary::parse(const std::string& json, const std::string& where) {
  const Result<Json> parsed = parse_json(json, where);
  if (!parsed) return parsed.error();
  const JsonArray* list = parsed->array();
  if (!list) return Error{"vocabulary.type", where};
  std::vector<std::string> tokens;
  tokens.reserve(list->size());
  for (const Json& entry : *list) {
    const std::string* token = entry.text();
    if (!token) return Error{"vocabulary.entry_type", where, {{"id", std::to_string(tokens.size())}}};
    tokens.push_back(*token);
  }
  return make(std::move(tokens), where);
}

std::optional<std::int32_t> Vocabulary::find(std::string_view token) const {
  const auto found = ids_.find(std::string(token));
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::int32_t> Vocabulary::find_mark(std::string_view name) const {
  const std::optional<std::int32_t> id = find(name);
  return id == kPadding ? std::nullopt : id;
}

std::optional<std::int32_t> Vocabulary::spare_row(std::string_view word) const {
  if (spare_.empty()) return std::nullopt;
  return spare_[static_cast<std::size_t>(fnv1a(word) % spare_.size())];
}

bool Vocabulary::is_spare(std::int32_t id) const {
  return std::binary_search(spare_.begin(), spare_.end(), id);
}

}  // namespace headscope::core
