// A grammar with its names looked up: what is run to draw a sentence. Texts are numbers here; 0 is "absent".
#pragma once

#include "core/tasks/grammar.h"
#include "core/tasks/grammar_syntax.h"
#include "core/tasks/word_table.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headscope::core::grammar {

using Symbol = std::int32_t;
inline constexpr Symbol kAbsent = 0;  // a table's "-"

/// Texts and their numbers; each is also known as the words that blanks part it into.
class Symbols {
 public:
  Symbols() : texts_(1, &nothing_), members_(1) {}
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;
  Symbol intern(std::string_view text);
  std::optional<Symbol> find(std::string_view text) const;
  const std::string& text(Symbol symbol) const { return *texts_[static_cast<std::size_t>(symbol)]; }
  /// One text's words: itself where it has no blank, none where it is empty.
  std::span<const Symbol> members(Symbol symbol) const;
  std::size_t size() const { return texts_.size(); }

 private:
  struct Members {
    std::size_t begin = 0, count = 0;
  };
  std::string nothing_;                    // the text of kAbsent
  std::vector<const std::string*> texts_;  // the keys of `numbers_`, which never move
  std::vector<Members> members_;
  std::vector<Symbol> pool_;
  std::unordered_map<std::string, Symbol> numbers_;
};

/// Names that follow a dot, as small numbers.
using Names = std::map<std::string, std::size_t, std::less<>>;

struct Feature {
  std::string name;
  std::vector<Symbol> values;
};

/// A file's cells.
struct Cells {
  std::string file;
  std::vector<std::string> columns;
  std::vector<Symbol> cells;  // [row][column]
  std::vector<std::size_t> lines;
  std::size_t n_rows() const { return lines.size(); }
  Symbol cell(std::size_t row, std::size_t column) const { return cells[row * columns.size() + column]; }
  std::optional<std::size_t> find_column(std::string_view name) const;
};

struct Words {
  std::string name;
  std::size_t cells = 0;                    // of Program::cells
  std::vector<std::size_t> rows = {};       // [entry]
  std::vector<std::uint64_t> weights = {};  // [entry], thousandths; empty: all are equally likely
  std::map<std::string, std::size_t, std::less<>> forms = {};
};

struct KeyedTable {
  std::string name;
  std::size_t cells = 0;
  std::vector<std::size_t> keys;                                    // columns
  std::vector<std::vector<std::pair<Symbol, std::size_t>>> places;  // [key]: symbol → its place, sorted
  std::vector<std::int32_t> rows;  // [place of key 0][place of key 1]…, or -1
};

struct Form {
  std::string name;
  std::size_t words = 0;
  std::vector<std::size_t> features;
  std::size_t n_combinations = 1;
  std::vector<Symbol> cells;  // [entry][feature 0][feature 1]…
};

/// A value that can be computed: a text, a path from one of the rule's variables, a table's cell.
struct Operand {
  enum class Kind : std::uint8_t { constant, path, table };
  Kind kind = Kind::constant;
  Symbol symbol = kAbsent;
  std::size_t slot = 0;
  std::vector<std::size_t> fields = {};  // numbers of Program::fields
  std::size_t table = 0, column = 0;
  std::vector<Operand> keys = {};
  Place place = {};
};

struct Test {
  Condition::Kind kind = Condition::Kind::present;
  Operand left = {}, right = {};
};

/// A condition on a candidate's column; without one, on the entry itself.
struct Filter {
  Condition::Kind kind = Condition::Kind::equal;
  std::optional<std::size_t> column = {};
  Operand right = {};
};

/// Entries with running sums of their weights (empty: one each).
struct Candidates {
  std::vector<std::int32_t> entries = {};
  std::vector<std::uint64_t> sums = {};
  std::uint64_t total() const { return sums.empty() ? entries.size() : sums.back(); }
};

/// Candidates by what a column must be, for the one condition that is not known before the draw.
struct CandidateIndex {
  Filter filter = {};
  std::vector<Symbol> symbols = {};  // sorted
  std::vector<Candidates> lists = {};
};

struct Step {
  enum class Kind : std::uint8_t { choose, words, rule, value };
  Kind kind = Kind::choose;
  std::size_t slot = 0;
  std::vector<Test> when = {};
  std::vector<Symbol> options = {};      // choose
  std::vector<std::uint64_t> sums = {};  // choose: running sums of the weights
  std::size_t target = 0;                // words or rule
  Candidates candidates = {};            // words: those that fulfil what is known beforehand
  std::optional<CandidateIndex> index = {};
  std::vector<Filter> filters = {};
  std::vector<std::pair<std::size_t, Operand>> arguments = {};  // rule: its slot
  Operand value = {};
  Place place = {};
};

/// How a piece's word is spelled, for one kind of entry that it can be.
struct Spelling {
  std::size_t words = 0;
  bool is_form = false;
  std::size_t form_or_column = 0;
  std::vector<Operand> arguments = {};  // in the form's order
};

struct Piece {
  enum class Kind : std::uint8_t { text, node, word, table, group };
  Kind kind = Kind::text;
  std::optional<std::size_t> label = {};  // slot
  Symbol symbol = kAbsent;
  Operand operand = {};  // node, word: the variable; table: the cell
  std::vector<Spelling> spellings = {};
  std::vector<Piece> pieces = {};
  std::vector<Test> when = {};
  Place place = {};
};

struct RuleLine {
  std::vector<Test> when = {};
  std::vector<Piece> pieces = {};
};

struct LinkStep {
  std::size_t relation = 0;
  std::array<std::size_t, 2> languages = {};  // of query and key
  std::array<Operand, 2> paths = {};
  std::vector<Test> when = {};
};

/// Beyond the links of tokens of one variable.
struct AlignStep {
  std::array<Operand, 2> paths = {};  // of source and target
  bool is_sure = true;
};

struct HoldOutStep {
  std::vector<Operand> paths = {};
  std::vector<Test> when = {};
};

struct Rule {
  std::string name;
  std::vector<std::string> slots;  // parameters, variables, labels
  std::size_t n_parameters = 0;
  std::vector<Step> steps = {};
  std::array<std::vector<RuleLine>, 2> lines = {};  // [language]
  std::vector<LinkStep> links = {};
  std::vector<AlignStep> alignments = {};
  std::vector<bool> is_possible = {};  // [slot]: the links of its own tokens are not sure
  std::vector<HoldOutStep> hold_outs = {};
  std::vector<std::int16_t> slot_of = {};  // [field], or -1
  Place place = {};
  std::optional<std::size_t> find_slot(std::string_view name) const;
};

struct Program {
  std::vector<std::string> files;
  std::vector<std::string> languages;
  Symbols symbols;
  std::vector<Feature> features;
  std::vector<Cells> cells;
  std::vector<Words> words;
  std::vector<KeyedTable> tables;
  std::vector<Form> forms;
  std::vector<Rule> rules;
  std::size_t start = 0;
  Names fields;
  std::vector<std::vector<std::int16_t>> column_of;  // [words][field], or -1
  std::vector<Relation> relations;
  std::array<std::vector<std::string>, 2> tokens;
  std::array<std::vector<std::int32_t>, 2> token_of;  // [language][symbol], or -1
  std::vector<std::uint64_t> hashes;                  // [symbol]
  std::vector<std::uint64_t> token_hashes;            // [token of the first language]
  bool holds_out = false;                             // by combinations; otherwise by whole sentences

  std::size_t row_of(const GrammarValue& entry) const {
    return words[static_cast<std::size_t>(entry.words)].rows[static_cast<std::size_t>(entry.id)];
  }
  const Cells& cells_of(std::size_t words_index) const { return cells[words[words_index].cells]; }
};

/// Where a table's keys lead; the cell's column is `column`. kAbsent where there is no such row.
Symbol look_up(const Program& program, const KeyedTable& table, std::span<const Symbol> keys,
               std::size_t column);

/// Whether a condition holds of two texts; lists are parted by blanks.
bool holds(const Program& program, Condition::Kind kind, Symbol left, Symbol right);

/// Languages, features, tables, words and forms. Errors are collected; with one, the rest of `program` is not
/// to be used.
void compile_lexicon(const GrammarSyntax& syntax, const ReadFile& read, Program& program,
                     std::vector<Error>& errors);
/// Forms alone. Precondition: the rest of compile_lexicon() found nothing wrong.
void compile_forms(const GrammarSyntax& syntax, Program& program, std::vector<Error>& errors);
/// Rules and vocabularies. Precondition: compile_lexicon() found nothing wrong.
void compile_rules(const GrammarSyntax& syntax, Program& program, std::vector<Error>& errors);

/// Draws; see Grammar::draw(). Adds to `work` what the draw took: steps, pieces and entries looked at.
Result<void> run(const Program& program, std::size_t rule, std::span<const GrammarPreset> presets, Rng& rng,
                 Derivation& into, std::size_t& work);
GrammarValue evaluate(const Program& program, const Derivation& derivation, std::size_t node,
                      const Operand& operand);
/// The tokens of the variable or constituent that a path names.
TokenRange find_range(const Program& program, const Derivation& derivation, std::size_t node,
                      const Operand& path, std::size_t language);

}  // namespace headscope::core::grammar
