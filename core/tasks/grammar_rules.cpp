// Rules of a grammar: variables, steps, lines, links, and the combinations that are held out.
#include "core/hash.h"
#include "core/tasks/grammar_analysis.h"
#include "core/tasks/grammar_candidates.h"
#include "core/tasks/grammar_operands.h"
#include "core/tasks/grammar_pieces.h"
#include "core/tasks/grammar_problems.h"
#include "core/tasks/grammar_program.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace headscope::core::grammar {

namespace {

constexpr std::size_t kMostRules = 512;
constexpr std::size_t kMostSlots = 256;        // of a rule
constexpr std::size_t kMostStatements = 8192;  // of all rules
constexpr std::size_t kMostFields = 2048;

class Rules {
 public:
  Rules(const GrammarSyntax& syntax, Program& program, std::vector<Error>& errors)
      : syntax_(syntax), program_(program), problems_(syntax.files, errors) {}

  void compile() {
    problems_.collect([&] { declare(); });
    if (!problems_.is_empty()) return;
    for (std::size_t rule = 0; rule < program_.rules.size(); ++rule) declare_slots(rule);
    if (!problems_.is_empty()) return;
    problems_.collect([&] { analysis_.emplace(syntax_, program_); });
    if (!analysis_) return;
    operands_.emplace(syntax_, program_, *analysis_);
    pieces_.emplace(program_, *analysis_, *operands_);
    candidates_.emplace(program_, *analysis_, *operands_, problems_);
    if (program_.languages.size() == 2)
      program_.relations.push_back({"alignment", TextSide::target, TextSide::source});
    for (std::size_t rule = 0; rule < program_.rules.size(); ++rule) compile_rule(rule);
    problems_.collect([&] { check_start(); });
    if (!problems_.is_empty()) return;
    check_languages();
    check_ends();
    if (!problems_.is_empty()) return;
    pieces_->make_vocabularies();
    problems_.collect([&] { number_fields(); });
    for (std::size_t symbol = 0; symbol < program_.symbols.size(); ++symbol)
      program_.hashes.push_back(fnv1a(program_.symbols.text(static_cast<Symbol>(symbol))));
    for (const std::string& token : program_.tokens[0]) program_.token_hashes.push_back(fnv1a(token));
  }

 private:
  /// The rules' names and every text that they write.
  void declare() {
    if (syntax_.rules.empty()) throw Wrong{{"grammar.no_rule", syntax_.files[0], {{"line", "1"}}}};
    std::size_t n_statements = 0;
    for (const RuleSyntax& rule : syntax_.rules) {
      if (const std::optional<std::size_t> first = find_rule(program_, rule.name))
        problems_.fail("grammar.duplicate", rule.place,
                       {{"name", rule.name}, {"first", std::to_string(syntax_.rules[*first].place.line)}});
      if (find_words(program_, rule.name) || find_table(program_, rule.name))
        problems_.fail("grammar.name_taken", rule.place, {{"name", rule.name}});
      n_statements += rule.statements.size();
      if (program_.rules.size() >= kMostRules || n_statements > kMostStatements)
        problems_.fail("grammar.too_large", rule.place);
      program_.rules.push_back({.name = rule.name, .slots = {}, .n_parameters = 0, .place = rule.place});
      for (const Statement& statement : rule.statements) {
        for (const auto& [option, weight] : statement.options) intern(option);
        intern(statement.source);
        for (const std::vector<Condition>* conditions : {&statement.where, &statement.when})
          for (const Condition& condition : *conditions) intern(condition.left), intern(condition.right);
        for (const Item& item : statement.items) intern(item);
      }
    }
  }

  void intern(const Expression& expression) {
    if (expression.kind == Expression::Kind::text) program_.symbols.intern(expression.text);
    if (expression.kind == Expression::Kind::path && expression.names.size() == 1)
      program_.symbols.intern(expression.names[0]);
    for (const Argument& argument : expression.arguments) intern(argument.value);
  }
  void intern(const Item& item) {
    intern(item.expression);
    for (const Item& each : item.items) intern(each);
    for (const Condition& condition : item.when) intern(condition.left), intern(condition.right);
  }

  /// Parameters, variables, and labels of its lines. A variable may have several lines: the first whose
  /// condition holds counts, so only the last may be without one.
  void declare_slots(std::size_t index) {
    const RuleSyntax& syntax = syntax_.rules[index];
    Rule& rule = program_.rules[index];
    std::map<std::string, Place> certain;  // have a value whatever else
    const auto claim = [&](const std::string& name, const Place& place) {
      const auto first = certain.find(name);
      if (first != certain.end())
        problems_.fail("grammar.duplicate", place,
                       {{"name", name}, {"first", std::to_string(first->second.line)}});
      if (rule.slots.size() >= kMostSlots) problems_.fail("grammar.too_large", place);
      if (!rule.find_slot(name)) rule.slots.push_back(name);
    };
    for (const std::string& parameter : syntax.parameters)
      problems_.collect([&] {
        claim(parameter, syntax.place);
        certain.emplace(parameter, syntax.place);
      });
    rule.n_parameters = rule.slots.size();
    for (const Statement& statement : syntax.statements) {
      if (statement.kind != Statement::Kind::choose && statement.kind != Statement::Kind::let) continue;
      problems_.collect([&] {
        claim(statement.name, statement.place);
        if (statement.when.empty()) certain.emplace(statement.name, statement.place);
      });
    }
    n_variables_.push_back(rule.slots.size());
    for (const Statement& statement : syntax.statements)
      for (const Item& item : statement.items) problems_.collect([&] { declare_labels(rule, item); });
  }

  void declare_labels(Rule& rule, const Item& item) const {
    if (!item.label.empty() && !rule.find_slot(item.label)) {
      if (rule.slots.size() >= kMostSlots) problems_.fail("grammar.too_large", item.place);
      rule.slots.push_back(item.label);
    }
    for (const Item& each : item.items) declare_labels(rule, each);
  }

  void compile_rule(std::size_t index) {
    const RuleSyntax& syntax = syntax_.rules[index];
    Rule& rule = program_.rules[index];
    rule.is_possible.assign(rule.slots.size(), false);
    operands_->enter(index);
    for (std::size_t slot = 0; slot < rule.n_parameters; ++slot) operands_->set(slot);
    for (const Statement& statement : syntax.statements) {
      const bool is_choose = statement.kind == Statement::Kind::choose;
      if (!is_choose && statement.kind != Statement::Kind::let) continue;
      problems_.collect([&] {
        Step step = is_choose ? compile_choose(statement) : compile_let(statement);
        step.place = statement.place;
        step.slot = *rule.find_slot(statement.name);
        step.when = operands_->tests(statement.when);
        rule.steps.push_back(std::move(step));
      });
      operands_->set(*rule.find_slot(statement.name));
    }
    for (const Statement& statement : syntax.statements)
      problems_.collect([&] { compile_other(rule, statement); });
  }

  Step compile_choose(const Statement& statement) const {
    Step step;
    for (const auto& [option, weight] : statement.options) {
      const Symbol symbol = *program_.symbols.find(option.text);
      if (std::find(step.options.begin(), step.options.end(), symbol) != step.options.end())
        problems_.fail("grammar.duplicate", option.place,
                       {{"name", option.text}, {"first", std::to_string(statement.place.line)}});
      step.options.push_back(symbol);
      step.sums.push_back((step.sums.empty() ? 0 : step.sums.back()) + weight);
    }
    return step;
  }

  Step compile_let(const Statement& statement) {
    const Expression& source = statement.source;
    const bool is_name = source.kind != Expression::Kind::text && source.names.size() == 1;
    const std::optional<std::size_t> words = is_name ? find_words(program_, source.names[0]) : std::nullopt;
    const std::optional<std::size_t> target = is_name ? find_rule(program_, source.names[0]) : std::nullopt;
    if (words && source.kind == Expression::Kind::path) return candidates_->compile(statement, *words);
    if (!statement.where.empty())
      problems_.fail("grammar.where", statement.place, {{"name", dotted(source.names)}});
    if (target) return compile_call(statement, *target);
    Step step;
    step.kind = Step::Kind::value;
    const bool is_variable = is_name && source.kind == Expression::Kind::path &&
                             program_.rules[operands_->rule()].find_slot(source.names[0]);
    if (is_name && source.kind == Expression::Kind::path && !is_variable)
      problems_.fail("grammar.unknown_source", source.place, {{"name", source.names[0]}});
    step.value = source.kind == Expression::Kind::path ? operands_->path(source) : operands_->value(source);
    return step;
  }

  Step compile_call(const Statement& statement, std::size_t target) {
    Step step;
    step.kind = Step::Kind::rule;
    step.target = target;
    const Rule& called = program_.rules[target];
    std::vector<bool> is_given(called.n_parameters);
    for (const Argument& argument : statement.source.arguments) {
      const std::string name = name_of(argument);
      const std::optional<std::size_t> slot = called.find_slot(name);
      if (!slot || *slot >= called.n_parameters)
        problems_.fail("grammar.unknown_argument", argument.value.place,
                       {{"name", name}, {"of", called.name}});
      if (is_given[*slot]) problems_.fail("grammar.argument_twice", argument.value.place, {{"name", name}});
      is_given[*slot] = true;
      step.arguments.emplace_back(
          *slot, argument.name.empty() ? operands_->path(argument.value) : operands_->value(argument.value));
    }
    for (std::size_t slot = 0; slot < is_given.size(); ++slot)
      if (!is_given[slot])
        problems_.fail("grammar.argument_missing", statement.source.place,
                       {{"name", called.slots[slot]}, {"of", called.name}});
    return step;
  }

  // Lines, links, alignment, held-out combinations

  std::size_t language(const std::string& name, const Place& place) const {
    const auto found = std::find(program_.languages.begin(), program_.languages.end(), name);
    if (found == program_.languages.end())
      problems_.fail("grammar.unknown_language", place, {{"name", name}});
    return static_cast<std::size_t>(found - program_.languages.begin());
  }

  void compile_other(Rule& rule, const Statement& statement) {
    if (statement.kind == Statement::Kind::line) {
      const std::size_t of = language(statement.name, statement.place);
      if (!rule.lines[of].empty() && rule.lines[of].back().when.empty())
        problems_.fail("grammar.unreachable", statement.place);
      RuleLine line;
      line.when = operands_->tests(statement.when);
      line.pieces = pieces_->compile(statement.items, of);
      rule.lines[of].push_back(std::move(line));
    } else if (statement.kind == Statement::Kind::link) {
      compile_link(rule, statement);
    } else if (statement.kind == Statement::Kind::align) {
      compile_align(rule, statement);
    } else if (statement.kind == Statement::Kind::hold_out) {
      HoldOutStep step;
      for (const Expression& path : statement.paths) {
        step.paths.push_back(operands_->path(path));
        if (!operands_->possible(path).rules.empty())
          problems_.fail("grammar.hold_out", path.place, {{"name", dotted(path.names)}});
      }
      step.when = operands_->tests(statement.when);
      rule.hold_outs.push_back(std::move(step));
      program_.holds_out = true;
    }
  }

  void compile_link(Rule& rule, const Statement& statement) {
    LinkStep link;
    Relation relation{.name = statement.name};
    for (std::size_t end = 0; end < 2; ++end) {
      link.languages[end] = language(statement.languages[end], statement.place);
      link.paths[end] = tokens_path(rule, statement.paths[end]);
    }
    relation.query = link.languages[0] == 0 ? TextSide::source : TextSide::target;
    relation.key = link.languages[1] == 0 ? TextSide::source : TextSide::target;
    const auto known = std::find_if(program_.relations.begin(), program_.relations.end(),
                                    [&](const Relation& each) { return each.name == relation.name; });
    link.relation = static_cast<std::size_t>(known - program_.relations.begin());
    if (known == program_.relations.end())
      program_.relations.push_back(relation);
    else if (!(*known == relation))
      problems_.fail("grammar.relation_languages", statement.place, {{"name", statement.name}});
    link.when = operands_->tests(statement.when);
    rule.links.push_back(std::move(link));
  }

  void compile_align(Rule& rule, const Statement& statement) {
    if (program_.languages.size() < 2) problems_.fail("grammar.one_language", statement.place);
    AlignStep step{.is_sure = !statement.is_possible};
    for (std::size_t end = 0; end < statement.paths.size(); ++end)
      step.paths[end] = tokens_path(rule, statement.paths[end]);
    if (statement.paths.size() == 2) {
      rule.alignments.push_back(std::move(step));
      return;
    }
    if (!statement.is_possible || !step.paths[0].fields.empty())
      problems_.fail("grammar.align", statement.place);
    rule.is_possible[step.paths[0].slot] = true;
  }

  /// A path to what makes tokens: a constituent, a variable with an entry, or a label.
  Operand tokens_path(const Rule& rule, const Expression& expression) {
    Operand path = operands_->tokens_path(expression);
    const bool is_variable = path.fields.empty() && path.slot < n_variables_[operands_->rule()];
    if (is_variable && operands_->possible(expression).is_text() && !is_label(rule, expression.names[0]))
      problems_.fail("grammar.no_tokens", expression.place, {{"name", expression.names[0]}});
    return path;
  }

  bool is_label(const Rule& rule, const std::string& name) const {
    const std::vector<Statement>& statements = syntax_.rules[*find_rule(program_, rule.name)].statements;
    return std::any_of(statements.begin(), statements.end(), [&](const Statement& statement) {
      return std::any_of(statement.items.begin(), statement.items.end(),
                         [&](const Item& item) { return has_label(item, name); });
    });
  }

  static bool has_label(const Item& item, const std::string& name) {
    return item.label == name || std::any_of(item.items.begin(), item.items.end(),
                                             [&](const Item& each) { return has_label(each, name); });
  }

  // The whole

  void check_start() {
    if (syntax_.starts.size() > 1)
      problems_.fail("grammar.duplicate", syntax_.starts[1].place,
                     {{"name", "start"}, {"first", std::to_string(syntax_.starts[0].place.line)}});
    if (!syntax_.starts.empty()) {
      const std::optional<std::size_t> start = find_rule(program_, syntax_.starts[0].name);
      if (!start)
        problems_.fail("grammar.unknown_rule", syntax_.starts[0].place, {{"name", syntax_.starts[0].name}});
      program_.start = *start;
    }
    const Rule& start = program_.rules[program_.start];
    if (start.n_parameters > 0)
      problems_.fail("grammar.start_parameters", start.place, {{"name", start.name}});
    for (std::size_t of = 0; of < program_.languages.size(); ++of)
      if (start.lines[of].empty())
        problems_.fail("grammar.no_text_in_language", start.place,
                       {{"name", start.name}, {"language", program_.languages[of]}});
  }

  /// A constituent must have a line in the language that it stands in.
  void check_languages() {
    for (std::size_t rule = 0; rule < program_.rules.size(); ++rule)
      for (const Statement& statement : syntax_.rules[rule].statements)
        if (statement.kind == Statement::Kind::line)
          for (const Item& item : statement.items)
            problems_.collect([&] { check_item(rule, item, language(statement.name, statement.place)); });
  }

  void check_item(std::size_t rule, const Item& item, std::size_t of) const {
    for (const Item& each : item.items) check_item(rule, each, of);
    if (item.is_group || item.expression.kind != Expression::Kind::path) return;
    for (const std::size_t target : analysis_->of(rule, item.expression).rules)
      if (program_.rules[target].lines[of].empty())
        problems_.fail("grammar.no_text_in_language", item.place,
                       {{"name", program_.rules[target].name}, {"language", program_.languages[of]}});
  }

  /// A rule ends if all that it needs whatever is drawn ends.
  void check_ends() {
    std::vector<bool> ends(program_.rules.size());
    for (bool is_new = true; is_new;) {
      is_new = false;
      for (std::size_t rule = 0; rule < ends.size(); ++rule) {
        const std::vector<Step>& steps = program_.rules[rule].steps;
        if (ends[rule] || !std::all_of(steps.begin(), steps.end(), [&](const Step& step) {
              return step.kind != Step::Kind::rule || !step.when.empty() || ends[step.target];
            }))
          continue;
        ends[rule] = is_new = true;
      }
    }
    for (std::size_t rule = 0; rule < ends.size(); ++rule)
      if (!ends[rule])
        problems_.collect([&] {
          problems_.fail("grammar.recursion", program_.rules[rule].place,
                         {{"name", program_.rules[rule].name}});
        });
  }

  /// Every name that can follow a dot: the grammar's own paths, and those that C++ asks for.
  void number_fields() {
    for (const Rule& rule : program_.rules)
      for (const std::string& slot : rule.slots) operands_->field(slot);
    for (const Words& words : program_.words)
      for (const std::string& column : program_.cells[words.cells].columns) operands_->field(column);
    if (program_.fields.size() > kMostFields) problems_.fail("grammar.too_large", syntax_.rules[0].place);
    for (Rule& rule : program_.rules) {
      rule.slot_of.assign(program_.fields.size(), -1);
      for (const auto& [name, field] : program_.fields)
        if (const std::optional<std::size_t> slot = rule.find_slot(name))
          rule.slot_of[field] = static_cast<std::int16_t>(*slot);
    }
    for (std::size_t words = 0; words < program_.words.size(); ++words) {
      std::vector<std::int16_t>& columns = program_.column_of.emplace_back(program_.fields.size(), -1);
      for (const auto& [name, field] : program_.fields)
        if (const std::optional<std::size_t> column = program_.cells_of(words).find_column(name))
          columns[field] = static_cast<std::int16_t>(*column);
    }
  }

  const GrammarSyntax& syntax_;
  Program& program_;
  Problems problems_;
  std::optional<Analysis> analysis_;
  std::optional<Operands> operands_;
  std::optional<Pieces> pieces_;
  std::optional<CandidateLists> candidates_;
  std::vector<std::size_t> n_variables_;  // [rule]: slots that are no mere labels
};

}  // namespace

void compile_rules(const GrammarSyntax& syntax, Program& program, std::vector<Error>& errors) {
  Rules(syntax, program, errors).compile();
}

}  // namespace headscope::core::grammar
