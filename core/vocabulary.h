// Token strings and their ids. Id 0 is padding, whatever it is called; spare rows "<unknown 0>", "<unknown
// 1>" … take unknown words.
#pragma once

#include "core/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headscope::core {

class Vocabulary {
 public:
  /// The index is the id. Errors: vocabulary.empty, vocabulary.duplicate (a token twice; both ids).
  static Result<Vocabulary> make(std::vector<std::string> tokens, const std::string& where);
  /// From vocab.json's text: a list of strings. Errors: those of parse_json(), vocabulary.type (not a list),
  /// vocabulary.entry_type (an entry that is not a string; its id), and those of make().
  static Result<Vocabulary> parse(const std::string& json, const std::string& where);

  std::int64_t size() const { return static_cast<std::int64_t>(tokens_.size()); }
  /// Precondition: 0 ≤ id < size().
  const std::string& token(std::int32_t id) const { return tokens_[static_cast<std::size_t>(id)]; }
  const std::vector<std::string>& tokens() const { return tokens_; }
  std::optional<std::int32_t> find(std::string_view token) const;

  /// The marks before and after a sentence, where the vocabulary has them.
  std::optional<std::int32_t> begin() const { return find_mark("<begin>"); }
  std::optional<std::int32_t> end() const { return find_mark("<end>"); }
  /// The spare row of a word that the vocabulary does not have: FNV-1a of its bytes, modulo the spare rows,
  /// so the same word always gets the same row. None without spare rows.
  std::optional<std::int32_t> spare_row(std::string_view word) const;
  /// Whether the row is called "<unknown N>", N one or more digits, and is not row 0.
  bool is_spare(std::int32_t id) const;

 private:
  std::optional<std::int32_t> find_mark(std::string_view name) const;

  std::vector<std::string> tokens_;
  std::vector<std::int32_t> spare_;
  std::unordered_map<std::string, std::int32_t> ids_;
};

}  // namespace headscope::core
