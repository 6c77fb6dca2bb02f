// Grammar: reads, checks by drawing, and answers by name. The work is done in grammar_*.cpp.
#include "core/tasks/grammar.h"

#include "core/formats/atomic_file.h"
#include "core/tasks/grammar_program.h"

#include <algorithm>
#include <utility>

namespace headscope::core {

namespace {

using grammar::kMostProblems;

constexpr int kCheckedSentences = 4000;
constexpr int kFailedSentences = 100;  // after so many the kinds of failure are known
/// Checking stops after so much work, however few sentences that was: a grammar of a usual size needs a
/// hundredth.
constexpr std::size_t kMostCheckWork = std::size_t{1} << 23;

Grammar::ReadFile read_beside(const std::filesystem::path& file) {
  return [folder = file.parent_path()](const std::string& name) {
    return read_file(folder / name, kMostGrammarBytes);
  };
}

/// Draws sentences as the learner will get them; each kind of failure is collected once.
void try_sentences(const grammar::Program& program, std::vector<Error>& errors) {
  Derivation derivation;
  Rng rng(0, "grammar check");
  std::size_t work = 0;
  int n_failed = 0;
  for (int k = 0; k < kCheckedSentences && work < kMostCheckWork; ++k) {
    const Result<void> drawn = grammar::run(program, program.start, {}, rng, derivation, work);
    if (drawn) continue;
    if (std::find(errors.begin(), errors.end(), drawn.error()) == errors.end())
      errors.push_back(drawn.error());
    if (errors.size() >= kMostProblems || ++n_failed >= kFailedSentences) return;
  }
}

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    parts.emplace_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

std::optional<Grammar> Grammar::make(std::string_view text, const std::string& where, const ReadFile& read,
                                     std::vector<Error>& errors) {
  if (text.size() > kMostGrammarBytes) {
    errors.push_back({"file.too_large", where, {{"limit", std::to_string(kMostGrammarBytes)}}});
    return std::nullopt;
  }
  const grammar::GrammarSyntax syntax = grammar::parse(text, where, read, errors);
  auto program = std::make_shared<grammar::Program>();
  program->files = syntax.files;
  if (errors.empty()) grammar::compile_lexicon(syntax, read, *program, errors);
  if (errors.empty()) grammar::compile_rules(syntax, *program, errors);
  if (errors.empty()) try_sentences(*program, errors);
  if (errors.size() > kMostProblems) errors.resize(kMostProblems);
  if (!errors.empty()) return std::nullopt;
  return Grammar(std::move(program));
}

Result<Grammar> Grammar::parse(std::string_view text, const std::string& where, const ReadFile& read) {
  std::vector<Error> errors;
  std::optional<Grammar> grammar = make(text, where, read, errors);
  if (!grammar) return errors.front();
  return *std::move(grammar);
}

Result<Grammar> Grammar::load(const std::filesystem::path& file) {
  const Result<std::string> text = read_file(file, kMostGrammarBytes);
  if (!text) return text.error();
  return parse(*text, file.string(), read_beside(file));
}

std::vector<Error> Grammar::problems(const std::filesystem::path& file) {
  const Result<std::string> text = read_file(file, kMostGrammarBytes);
  if (!text) return {text.error()};
  std::vector<Error> errors;
  make(*text, file.string(), read_beside(file), errors);
  return errors;
}

const std::vector<std::string>& Grammar::languages() const {
  return program_->languages;
}

const std::vector<std::string>& Grammar::tokens(std::size_t language) const {
  return program_->tokens[language];
}

const std::vector<Relation>& Grammar::relations() const {
  return program_->relations;
}

Result<void> Grammar::draw(Rng& rng, Derivation& into) const {
  return draw(program_->start, {}, rng, into);
}

Result<void> Grammar::draw(std::size_t rule, std::span<const GrammarPreset> presets, Rng& rng,
                           Derivation& into) const {
  std::size_t work = 0;
  return grammar::run(*program_, rule, presets, rng, into, work);
}

std::optional<std::size_t> Grammar::find_rule(std::string_view name) const {
  const auto& rules = program_->rules;
  const auto found =
      std::find_if(rules.begin(), rules.end(), [&](const grammar::Rule& rule) { return rule.name == name; });
  if (found == rules.end()) return std::nullopt;
  return static_cast<std::size_t>(found - rules.begin());
}

std::size_t Grammar::n_rules() const {
  return program_->rules.size();
}

std::size_t Grammar::n_variables(std::size_t rule) const {
  return program_->rules[rule].slots.size();
}

const std::string& Grammar::rule_name(std::size_t rule) const {
  return program_->rules[rule].name;
}

std::optional<std::size_t> Grammar::find_variable(std::size_t rule, std::string_view name) const {
  return program_->rules[rule].find_slot(name);
}

std::optional<GrammarValue> Grammar::find_text(std::string_view text) const {
  const std::optional<grammar::Symbol> symbol = program_->symbols.find(text);
  if (!symbol) return std::nullopt;
  return GrammarValue{.kind = GrammarValue::Kind::text, .words = -1, .id = *symbol};
}

std::optional<std::size_t> Grammar::find_words(std::string_view name) const {
  const auto& words = program_->words;
  const auto found =
      std::find_if(words.begin(), words.end(), [&](const grammar::Words& each) { return each.name == name; });
  if (found == words.end()) return std::nullopt;
  return static_cast<std::size_t>(found - words.begin());
}

std::size_t Grammar::n_words() const {
  return program_->words.size();
}

Grammar::EntryPlace Grammar::place(const GrammarValue& entry) const {
  const grammar::Cells& cells = program_->cells_of(static_cast<std::size_t>(entry.words));
  const std::size_t row = program_->row_of(entry);
  return {.name = program_->symbols.text(cells.cell(row, 0)), .file = cells.file, .line = cells.lines[row]};
}

std::size_t Grammar::n_entries(std::size_t words) const {
  return program_->words[words].rows.size();
}

std::optional<std::string_view> Grammar::cell(const GrammarValue& entry, std::string_view column) const {
  const grammar::Cells& cells = program_->cells_of(static_cast<std::size_t>(entry.words));
  const std::optional<std::size_t> found = cells.find_column(column);
  if (!found) return std::nullopt;
  const grammar::Symbol symbol = cells.cell(program_->row_of(entry), *found);
  if (symbol == grammar::kAbsent) return std::nullopt;
  return program_->symbols.text(symbol);
}

std::optional<GrammarPath> Grammar::find_path(std::size_t rule, std::string_view path) const {
  const std::vector<std::string> parts = parts_of(path);
  const std::optional<std::size_t> slot = find_variable(rule, parts[0]);
  if (!slot) return std::nullopt;
  grammar::Operand operand{.kind = grammar::Operand::Kind::path, .slot = *slot};
  for (std::size_t k = 1; k < parts.size(); ++k) {
    const auto field = program_->fields.find(parts[k]);
    if (field == program_->fields.end()) return std::nullopt;
    operand.fields.push_back(field->second);
  }
  return GrammarPath(std::make_shared<const grammar::Operand>(std::move(operand)));
}

GrammarValue Grammar::value(const Derivation& derivation, std::size_t node, const GrammarPath& path) const {
  return grammar::evaluate(*program_, derivation, node, path.operand());
}

TokenRange Grammar::range(const Derivation& derivation, std::size_t node, const GrammarPath& path,
                          std::size_t language) const {
  return grammar::find_range(*program_, derivation, node, path.operand(), language);
}

std::string_view Grammar::text(const GrammarValue& value) const {
  return value.kind == GrammarValue::Kind::text ? program_->symbols.text(value.id) : std::string_view();
}

}  // namespace headscope::core
