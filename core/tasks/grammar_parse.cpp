// Lines of tokens to statements. Each statement that is wrong is left out and its error collected, so that a
// teacher sees all at once.
#include "core/tasks/grammar_scan.h"
#include "core/tasks/grammar_syntax.h"

#include <algorithm>
#include <utility>

namespace headscope::core::grammar {

namespace {

constexpr std::size_t kMostFiles = 16;

Expression read_expression(Reader& in, std::size_t depth = 0);

std::vector<Argument> read_arguments(Reader& in, std::size_t depth) {
  std::vector<Argument> arguments;
  in.expect("(");
  if (in.skip_sign(")")) return arguments;
  do {
    Argument argument;
    if (in.is_sign("=", 1)) {
      argument.name = in.take_name();
      in.expect("=");
    }
    argument.value = read_expression(in, depth);
    arguments.push_back(std::move(argument));
  } while (in.skip_sign(","));
  in.expect(")");
  return arguments;
}

/// TEXT, or NAME(.NAME)…, or NAME(.NAME)…(ARGUMENTS)[.NAME]; a call's bracket stands right after its name, as
/// a group may follow a name and a blank.
Expression read_expression(Reader& in, std::size_t depth) {
  Expression expression;
  expression.place = in.peek().place;
  if (depth > kMostNesting) in.fail("grammar.nesting");
  if (in.peek().kind == Token::Kind::text) {
    expression.kind = Expression::Kind::text;
    expression.text = in.take().text;
    return expression;
  }
  if (in.peek().kind != Token::Kind::word) in.fail("grammar.expected_value");
  expression.names.push_back(in.take().text);
  while (in.skip_sign(".")) expression.names.push_back(in.take_name());
  if (in.is_sign("(") && in.peek().is_glued) {
    expression.kind = Expression::Kind::call;
    expression.arguments = read_arguments(in, depth + 1);
    if (in.skip_sign(".")) expression.column = in.take_name();
  }
  return expression;
}

Condition read_condition(Reader& in) {
  Condition condition;
  if (in.skip_word("not")) {
    condition.kind = Condition::Kind::absent;
    condition.left = read_expression(in);
    return condition;
  }
  condition.left = read_expression(in);
  if (in.skip_sign("="))
    condition.kind = Condition::Kind::equal;
  else if (in.skip_sign("!="))
    condition.kind = Condition::Kind::differs;
  else if (in.skip_word("in"))
    condition.kind = Condition::Kind::in;
  else if (in.skip_word("has"))
    condition.kind = Condition::Kind::has;
  else
    return condition;
  condition.right = read_expression(in);
  return condition;
}

std::vector<Condition> read_conditions(Reader& in) {
  std::vector<Condition> conditions;
  do conditions.push_back(read_condition(in));
  while (in.skip_sign(",") || in.skip_word("and"));
  return conditions;
}

/// `when` or `if` and its conditions, where it stands here.
std::vector<Condition> read_when(Reader& in) {
  return in.skip_word("when") || in.skip_word("if") ? read_conditions(in) : std::vector<Condition>();
}

std::vector<Item> read_items(Reader& in, std::size_t depth);

Item read_item(Reader& in, std::size_t depth) {
  Item item;
  item.place = in.peek().place;
  if (depth > kMostNesting) in.fail("grammar.nesting");
  if (in.is_sign(":", 1)) {
    item.label = in.take_name();
    in.expect(":");
  }
  if (in.skip_sign("(")) {
    item.is_group = true;
    item.items = read_items(in, depth + 1);
    item.when = read_when(in);
    in.expect(")");
  } else {
    item.expression = read_expression(in);
  }
  return item;
}

std::vector<Item> read_items(Reader& in, std::size_t depth) {
  std::vector<Item> items;
  while (!in.at_end() && !in.is_sign(")") && !in.is_one_of({"when", "if"}))
    items.push_back(read_item(in, depth));
  return items;
}

/// A positive number with up to three decimals, in thousandths.
std::uint64_t read_weight(Reader& in) {
  const Token start = in.peek();
  const auto digits = [&](std::size_t most) {
    std::string text = in.take().text;
    if (text.empty() || text.size() > most ||
        !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }))
      in.fail("grammar.weight", start, {});
    return text;
  };
  const std::string whole = digits(6);
  std::string thousandths = in.skip_sign(".") ? digits(3) : "";
  thousandths.resize(3, '0');
  const std::uint64_t weight = std::stoull(whole + thousandths);
  if (weight == 0) in.fail("grammar.weight", start, {});
  return weight;
}

void read_choose(Reader& in, Statement& statement) {
  statement.kind = Statement::Kind::choose;
  statement.name = in.take_name();
  in.expect("=");
  do {
    Expression option;
    option.kind = Expression::Kind::text;
    option.place = in.peek().place;
    option.text = in.take_value();
    const Token& next = in.peek();
    const bool has_weight = next.kind == Token::Kind::word && next.text[0] >= '0' && next.text[0] <= '9';
    const std::uint64_t weight = has_weight ? read_weight(in) : 1000;
    statement.options.emplace_back(std::move(option), weight);
  } while (in.skip_sign(","));
  statement.when = read_when(in);
}

void read_let(Reader& in, Statement& statement) {
  statement.kind = Statement::Kind::let;
  statement.name = in.take_name();
  in.expect("=");
  statement.source = read_expression(in);
  if (in.skip_word("where")) statement.where = read_conditions(in);
  statement.when = read_when(in);
}

void read_link(Reader& in, Statement& statement) {
  statement.kind = Statement::Kind::link;
  statement.name = in.take_name();
  in.expect(":");
  for (const bool is_query : {true, false}) {
    statement.languages.push_back(in.take_name());
    statement.paths.push_back(read_expression(in));
    if (is_query) in.expect("->");
  }
  statement.when = read_when(in);
}

Statement read_statement(Reader& in) {
  Statement statement;
  statement.place = in.peek().place;
  if (in.skip_word("choose")) {
    read_choose(in, statement);
  } else if (in.skip_word("let")) {
    read_let(in, statement);
  } else if (in.skip_word("link")) {
    read_link(in, statement);
  } else if (in.skip_word("align")) {
    statement.kind = Statement::Kind::align;
    statement.paths.push_back(read_expression(in));
    if (!in.at_end() && !in.is_word("possible")) statement.paths.push_back(read_expression(in));
    statement.is_possible = in.skip_word("possible");
  } else if (in.skip_word("hold")) {
    in.expect_word("out");
    statement.kind = Statement::Kind::hold_out;
    do statement.paths.push_back(read_expression(in));
    while (!in.at_end() && !in.is_one_of({"when", "if"}));
    statement.when = read_when(in);
  } else {
    statement.kind = Statement::Kind::line;
    statement.name = in.take_name();
    statement.when = read_when(in);
    in.expect(":");
    statement.items = read_items(in, 0);
  }
  in.expect_end();
  return statement;
}

FormCase read_case(Reader& in) {
  FormCase result;
  result.place = in.peek().place;
  if (!in.skip_word("else")) result.when = read_conditions(in);
  in.expect(":");
  do result.parts.push_back(read_expression(in));
  while (in.skip_sign("+"));
  in.expect_end();
  return result;
}

/// WORD.WORD: the name of a file beside the grammar.
std::string read_file_name(Reader& in) {
  std::string name = in.take_value();
  while (in.is_sign(".") && in.peek().is_glued) {
    in.take();
    name += "." + in.take_value();
  }
  // a quoted name could climb out of the folder
  if (name.find_first_of("/\\:") != std::string::npos || name[0] == '.')
    in.fail("grammar.file_name", in.peek(), {{"name", name}});
  return name;
}

WordsSyntax read_words(Reader& in, const Place& place) {
  WordsSyntax words;
  words.place = place;
  words.name = in.take_name();
  in.expect_word("from");
  words.file = read_file_name(in);
  if (in.skip_word("only")) {
    do {
      std::string column = in.take_name();
      in.expect("=");
      words.only.emplace_back(std::move(column), in.take_value());
    } while (in.skip_sign(",") || in.skip_word("and"));
  }
  return words;
}

std::vector<std::string> read_names_in_brackets(Reader& in) {
  std::vector<std::string> names;
  if (!in.skip_sign("(")) return names;
  do names.push_back(in.take_name());
  while (in.skip_sign(","));
  in.expect(")");
  return names;
}

class Parser {
 public:
  Parser(const ReadFile& read, std::vector<Error>& errors) : read_(read), errors_(errors) {}

  void parse_file(std::string_view text, const std::string& where) {
    const std::size_t file = syntax_.files.size();
    syntax_.files.push_back(where);
    const std::vector<Line> lines = scan(text, syntax_.files, file, errors_);
    body_ = Body::none;
    for (const Line& line : lines) {
      if (errors_.size() >= kMostProblems) return;
      Reader in(line, syntax_.files);
      try {
        if (line.indent > 0)
          parse_indented(in);
        else
          parse_top(in);
      } catch (Wrong& wrong) {
        errors_.push_back(std::move(wrong.error));
      }
    }
  }

  GrammarSyntax take() { return std::move(syntax_); }

 private:
  enum class Body : std::uint8_t { none, skipped, rule, form };

  void parse_indented(Reader& in) {
    if (body_ == Body::rule)
      syntax_.rules.back().statements.push_back(read_statement(in));
    else if (body_ == Body::form)
      syntax_.forms.back().cases.push_back(read_case(in));
    else if (body_ == Body::none)
      in.fail("grammar.indented");
  }

  void parse_top(Reader& in) {
    body_ = Body::skipped;  // should this line be wrong, those below are not judged
    const Token first = in.take();
    if (first.text == "rule") {
      RuleSyntax rule{.name = in.take_name(), .place = first.place};
      rule.parameters = read_names_in_brackets(in);
      in.expect_end();
      syntax_.rules.push_back(std::move(rule));
      body_ = Body::rule;
    } else if (first.text == "form") {
      FormSyntax form;
      form.place = first.place;
      form.words = in.take_name();
      in.expect(".");
      form.name = in.take_name();
      form.features = read_names_in_brackets(in);
      in.expect_end();
      syntax_.forms.push_back(std::move(form));
      body_ = Body::form;
    } else {
      parse_flat(in, first);
    }
  }

  void parse_flat(Reader& in, const Token& first) {
    if (first.text == "language" || first.text == "start") {
      std::vector<NameSyntax>& names = first.text == "language" ? syntax_.languages : syntax_.starts;
      NameSyntax name{.name = in.take_name(), .place = first.place};
      in.expect_end();
      names.push_back(std::move(name));
    } else if (first.text == "feature") {
      NameSyntax feature{.name = in.take_name(), .place = first.place};
      do feature.values.push_back(in.take_value());
      while (!in.at_end());
      syntax_.features.push_back(std::move(feature));
    } else if (first.text == "words") {
      WordsSyntax words = read_words(in, first.place);
      in.expect_end();
      syntax_.words.push_back(std::move(words));
    } else if (first.text == "table") {
      WordsSyntax words = read_words(in, first.place);
      words.is_table = true;
      in.expect_word("by");
      do words.keys.push_back(in.take_name());
      while (!in.at_end());
      syntax_.words.push_back(std::move(words));
    } else if (first.text == "include") {
      const std::string name = read_file_name(in);
      in.expect_end();
      parse_include(in, first, name);
    } else {
      in.fail("grammar.statement", first, {});
    }
    body_ = Body::none;
  }

  void parse_include(Reader& in, const Token& at, const std::string& name) {
    if (std::find(included_.begin(), included_.end(), name) != included_.end() ||
        syntax_.files.size() >= kMostFiles)
      in.fail("grammar.include_twice", at, {{"name", name}});
    included_.push_back(name);
    const Result<std::string> text = read_(name);
    if (!text) throw Wrong{text.error()};
    const std::string& own = syntax_.files[at.place.file];
    const std::size_t slash = own.find_last_of('/');
    parse_file(*text, (slash == std::string::npos ? "" : own.substr(0, slash + 1)) + name);
  }

  const ReadFile& read_;
  std::vector<Error>& errors_;
  GrammarSyntax syntax_;
  std::vector<std::string> included_;
  Body body_ = Body::none;
};

}  // namespace

GrammarSyntax parse(std::string_view text, const std::string& where, const ReadFile& read,
                    std::vector<Error>& errors) {
  Parser parser(read, errors);
  parser.parse_file(text, where);
  return parser.take();
}

}  // namespace headscope::core::grammar
