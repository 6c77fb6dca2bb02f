// A grammar: rules and words that make sentences, or pairs of sentences in two languages, with gold links
// between their tokens. It is read from a text file and tables beside it: docs/grammar-format.md.
#pragma once

#include "core/random.h"
#include "core/result.h"
#include "core/tasks/task.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::core {

namespace grammar {
struct Program;
struct Operand;
}  // namespace grammar

/// What a variable has: nothing, a text (its number in the grammar), an entry of some words, or a constituent
/// (its node in the derivation).
struct GrammarValue {
  enum class Kind : std::uint8_t { absent, text, entry, node };
  Kind kind = Kind::absent;
  std::int16_t words = -1;  // an entry's
  std::int32_t id = 0;
  bool operator==(const GrammarValue&) const = default;
};

/// First and last token, both belonging; -1 where there is none.
struct TokenRange {
  std::int32_t first = -1, last = -1;
  bool operator==(const TokenRange&) const = default;
};

/// A rule's expansion.
struct DerivationNode {
  std::int32_t rule = 0;
  std::int32_t first_slot = 0;            // of its variables in Derivation::values
  std::array<TokenRange, 2> ranges = {};  // [language]: all tokens from its first to its last
};

/// A sentence or a pair of them, and what it was made from. The same one can be drawn into again and again:
/// it keeps its memory.
struct Derivation {
  std::array<std::vector<std::int32_t>, 2> tokens = {};  // [language][position]: index of Grammar::tokens()
  std::vector<Link> links = {};                          // positions in `tokens`
  std::vector<std::uint64_t> combinations = {};          // hashes of those that the grammar holds out by
  bool is_held_out = false;                              // whether one of them is: is_held_out_hash()
  std::vector<DerivationNode> nodes = {};                // the first is the whole
  std::vector<GrammarValue> values = {};                 // [node's first_slot + variable]
  std::array<std::vector<TokenRange>, 2> ranges =
      {};  // [language], as `values`: of the tokens a variable made
  std::array<std::vector<std::int32_t>, 2> owners = {};  // [language][position]: index in `values`, or -1
};

/// A variable of a rule's expansion, or what is reached through it: "subject.noun.gender".
class GrammarPath {
 public:
  explicit GrammarPath(std::shared_ptr<const grammar::Operand> operand) : operand_(std::move(operand)) {}
  const grammar::Operand& operand() const { return *operand_; }

 private:
  std::shared_ptr<const grammar::Operand> operand_;
};

/// A variable that is given instead of drawn.
struct GrammarPreset {
  std::size_t variable = 0;
  GrammarValue value = {};
};

class Grammar {
 public:
  /// How a file beside the grammar is read.
  using ReadFile = std::function<Result<std::string>(const std::string& name)>;

  /// Reads the grammar, the grammars that it includes and its tables, all in one folder, and checks them:
  /// names, and a few thousand sentences that it makes. Error: the first that problems() gives.
  static Result<Grammar> load(const std::filesystem::path& file);
  /// The same from text; `where` is the name of the file in errors.
  static Result<Grammar> parse(std::string_view text, const std::string& where, const ReadFile& read);
  /// Everything that is wrong with a grammar and its tables, at most 20 of it: `where` is the file, with
  /// values line and (where it is known) column. Empty: load() succeeds. Errors: those of read_file(), and
  /// grammar.*, which docs/grammar-format.md lists.
  static std::vector<Error> problems(const std::filesystem::path& file);

  /// One or two; the first is the source.
  const std::vector<std::string>& languages() const;
  /// Every token that the grammar can make in that language, in the order of their bytes.
  const std::vector<std::string>& tokens(std::size_t language) const;
  /// With two languages the first is "alignment": target to source.
  const std::vector<Relation>& relations() const;

  /// Draws a sentence by the start rule. The result depends on the generator alone. Errors, all of which
  /// load() looks for, but a rare combination can escape it: grammar.no_candidate, grammar.absent_form,
  /// grammar.no_row, grammar.no_line, grammar.feature_value, grammar.too_deep, grammar.too_long.
  Result<void> draw(Rng& rng, Derivation& into) const;
  /// Draws by another rule; the variables in `presets` are given, all others drawn. Precondition: the rule's
  /// parameters are among them, none twice.
  Result<void> draw(std::size_t rule, std::span<const GrammarPreset> presets, Rng& rng,
                    Derivation& into) const;

  std::optional<std::size_t> find_rule(std::string_view name) const;
  std::size_t n_rules() const;
  const std::string& rule_name(std::size_t rule) const;
  /// How many parameters, variables and labels the rule has.
  std::size_t n_variables(std::size_t rule) const;
  /// A parameter, variable or label of the rule.
  std::optional<std::size_t> find_variable(std::size_t rule, std::string_view name) const;
  /// A text that the grammar or its tables contain, as a value.
  std::optional<GrammarValue> find_text(std::string_view text) const;
  std::optional<std::size_t> find_words(std::string_view name) const;
  /// How many entries those words have; an entry's value is {entry, words, 0 … n_entries − 1}.
  std::size_t n_entries(std::size_t words) const;
  std::size_t n_words() const;
  /// Where an entry comes from.
  struct EntryPlace {
    std::string_view name;  // its first cell
    std::string_view file;  // of its table
    std::size_t line = 0;
  };
  /// Precondition: an entry.
  EntryPlace place(const GrammarValue& entry) const;
  /// The entry's cell; empty where it is "-". Precondition: an entry.
  std::optional<std::string_view> cell(const GrammarValue& entry, std::string_view column) const;

  /// What `path` ("subject.noun.gender") means in that rule's expansions; none if there is no such variable.
  std::optional<GrammarPath> find_path(std::size_t rule, std::string_view path) const;
  GrammarValue value(const Derivation& derivation, std::size_t node, const GrammarPath& path) const;
  /// The tokens of the constituent, or those that the variable or label made.
  TokenRange range(const Derivation& derivation, std::size_t node, const GrammarPath& path,
                   std::size_t language) const;
  /// A text's letters; empty for all other values.
  std::string_view text(const GrammarValue& value) const;

 private:
  explicit Grammar(std::shared_ptr<const grammar::Program> program) : program_(std::move(program)) {}
  static std::optional<Grammar> make(std::string_view text, const std::string& where, const ReadFile& read,
                                     std::vector<Error>& errors);

  std::shared_ptr<const grammar::Program> program_;
};

/// The most that a sentence may have in one language, constituents in constituents, and constituents in all.
inline constexpr std::size_t kMostSentenceTokens = 512;
inline constexpr std::size_t kMostDepth = 64;
inline constexpr std::size_t kMostNodes = 4096;

}  // namespace headscope::core
