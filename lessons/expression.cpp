// Parses expressions (recursive descent, bounded depth) and answers questions about their text alone.
#include "lessons/expression.h"

#include "lessons/expression_scanner.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace headscope::lessons {
namespace {

using Kind = ExpressionNode::Kind;

constexpr std::size_t kLongestSource = 2000;  // bytes
constexpr int kDeepest = 60;                  // levels: keeps parser and evaluation far from the stack's end

struct Function {
  std::string_view name;
  int least, most;
};
constexpr int kAnyNumber = std::numeric_limits<int>::max();
constexpr std::array<Function, 15> kFunctions = {{{"sum", 1, 1},
                                                  {"mean", 1, 1},
                                                  {"max", 1, kAnyNumber},
                                                  {"min", 1, kAnyNumber},
                                                  {"argmax", 1, 1},
                                                  {"argmin", 1, 1},
                                                  {"abs", 1, 1},
                                                  {"sqrt", 1, 1},
                                                  {"exp", 1, 1},
                                                  {"ln", 1, 1},
                                                  {"count", 1, 1},
                                                  {"word", 1, 1},
                                                  {"position", 1, 1},
                                                  {"before", 2, 2},
                                                  {"chosen", 1, 1}}};

constexpr std::array<std::string_view, 7> kReserved = {"given",  "head",    "n_tokens", "n_heads",
                                                       "d_head", "d_model", "n_layers"};

template <class Names>
bool has_name(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Where a primary stands: a bare name means a word of the sentence in an index, in position() and in word().
enum class Names { tensors, words };

class Parser {
 public:
  explicit Parser(std::string_view source) : scanner_(source) {}
  Expression parse();

 private:
  int add(ExpressionNode node);
  int parse_or(Names names);
  int parse_and(Names names);
  int parse_not(Names names);
  int parse_comparison(Names names);
  int parse_sum(Names names);
  int parse_product(Names names);
  int parse_unary(Names names);
  int parse_primary(Names names);
  int parse_number();
  int parse_call(std::string name, int column);
  int parse_index(std::string name, int column);
  int binary(std::string op, int column, int left, int right);
  void expect(std::string_view symbol);
  [[noreturn]] void fail_here() const;

  Scanner scanner_;
  Expression expression_;
  std::vector<int> depths_;  // of the tree below each node
  int open_ = 0;             // primaries that are being parsed
};

int Parser::add(ExpressionNode node) {
  int depth = 0;
  for (int child : node.children) depth = std::max(depth, depths_[static_cast<std::size_t>(child)]);
  if (depth + 1 > kDeepest) fail_parsing(node.column, "expression.too_deep");
  depths_.push_back(depth + 1);
  expression_.nodes.push_back(std::move(node));
  return static_cast<int>(expression_.nodes.size()) - 1;
}

void Parser::fail_here() const {
  const Token& token = scanner_.token();
  if (token.kind == Token::Kind::end) fail_parsing(token.column, "expression.unexpected_end");
  fail_parsing(token.column, "expression.unexpected", {{"found", std::string(token.text)}});
}

void Parser::expect(std::string_view symbol) {
  const Token& token = scanner_.token();
  if (scanner_.is_symbol(symbol)) return scanner_.advance();
  if (token.kind == Token::Kind::end)
    fail_parsing(token.column, "expression.expected_at_end", {{"symbol", std::string(symbol)}});
  fail_parsing(token.column, "expression.expected",
               {{"symbol", std::string(symbol)}, {"found", std::string(token.text)}});
}

int Parser::binary(std::string op, int column, int left, int right) {
  ExpressionNode node;
  node.kind = Kind::binary;
  node.column = column;
  node.text = std::move(op);
  node.children = {left, right};
  return add(std::move(node));
}

int Parser::parse_or(Names names) {
  int left = parse_and(names);
  while (scanner_.is_name("or")) {
    const int column = scanner_.token().column;
    scanner_.advance();
    left = binary("or", column, left, parse_and(names));
  }
  return left;
}

int Parser::parse_and(Names names) {
  int left = parse_not(names);
  while (scanner_.is_name("and")) {
    const int column = scanner_.token().column;
    scanner_.advance();
    left = binary("and", column, left, parse_not(names));
  }
  return left;
}

int Parser::parse_not(Names names) {
  std::vector<int> columns;
  for (; scanner_.is_name("not"); scanner_.advance()) columns.push_back(scanner_.token().column);
  int operand = parse_comparison(names);
  for (; !columns.empty(); columns.pop_back()) {
    ExpressionNode node{.kind = Kind::unary, .column = columns.back(), .text = "not", .children = {operand}};
    operand = add(std::move(node));
  }
  return operand;
}

int Parser::parse_comparison(Names names) {
  static constexpr std::array<std::string_view, 6> kComparisons = {"==", "!=", "<", "<=", ">", ">="};
  const auto is_comparison = [&] {
    return scanner_.token().kind == Token::Kind::symbol && has_name(kComparisons, scanner_.token().text);
  };
  const int left = parse_sum(names);
  if (!is_comparison()) return left;
  const Token op = scanner_.token();
  scanner_.advance();
  const int right = parse_sum(names);
  if (is_comparison()) fail_parsing(scanner_.token().column, "expression.chained_comparison");
  return binary(std::string(op.text), op.column, left, right);
}

int Parser::parse_sum(Names names) {
  int left = parse_product(names);
  while (scanner_.is_symbol("+") || scanner_.is_symbol("-")) {
    const Token op = scanner_.token();
    scanner_.advance();
    left = binary(std::string(op.text), op.column, left, parse_product(names));
  }
  return left;
}

int Parser::parse_product(Names names) {
  int left = parse_unary(names);
  while (scanner_.is_symbol("*") || scanner_.is_symbol("/")) {
    const Token op = scanner_.token();
    scanner_.advance();
    left = binary(std::string(op.text), op.column, left, parse_unary(names));
  }
  return left;
}

int Parser::parse_unary(Names names) {
  std::vector<int> columns;
  for (; scanner_.is_symbol("-"); scanner_.advance()) columns.push_back(scanner_.token().column);
  int operand = parse_primary(names);
  for (; !columns.empty(); columns.pop_back()) {
    ExpressionNode node{.kind = Kind::unary, .column = columns.back(), .text = "-", .children = {operand}};
    operand = add(std::move(node));
  }
  return operand;
}

int Parser::parse_number() {
  const Token token = scanner_.token();
  double value = 0;
  const char* end = token.text.data() + token.text.size();
  const auto [stop, error] = std::from_chars(token.text.data(), end, value);
  if (error != std::errc() || stop != end)
    fail_parsing(token.column, "expression.number", {{"found", std::string(token.text)}});
  const bool is_whole = token.text.find_first_not_of("0123456789") == std::string_view::npos && value < 1e15;
  scanner_.advance();
  return add({.kind = is_whole ? Kind::whole : Kind::number, .column = token.column, .number = value});
}

int Parser::parse_call(std::string name, int column) {
  const auto function = std::find_if(kFunctions.begin(), kFunctions.end(),
                                     [&](const Function& candidate) { return candidate.name == name; });
  if (function == kFunctions.end()) {
    std::string known;
    for (const Function& candidate : kFunctions)
      known += (known.empty() ? "" : ", ") + std::string(candidate.name);
    fail_parsing(column, "expression.unknown_function", {{"name", name}, {"known", known}});
  }
  scanner_.advance();  // "("
  std::vector<int> arguments;
  const Names names = name == "position" || name == "word" ? Names::words : Names::tensors;
  while (!scanner_.is_symbol(")")) {
    if (!arguments.empty()) expect(",");
    arguments.push_back(parse_or(names));
    if (!scanner_.is_symbol(",") && !scanner_.is_symbol(")")) expect(")");
  }
  expect(")");
  const int n_arguments = static_cast<int>(arguments.size());
  if (n_arguments < function->least || n_arguments > function->most)
    fail_parsing(column, "expression.arguments", {{"name", name}, {"count", std::to_string(n_arguments)}});
  return add(
      {.kind = Kind::call, .column = column, .text = std::move(name), .children = std::move(arguments)});
}

int Parser::parse_index(std::string name, int column) {
  scanner_.advance();  // "["
  std::vector<int> indices;
  do {
    if (!indices.empty()) scanner_.advance();  // ","
    if (scanner_.is_symbol(":")) {
      indices.push_back(add({.kind = Kind::all, .column = scanner_.token().column}));
      scanner_.advance();
    } else {
      indices.push_back(parse_sum(Names::words));
    }
  } while (scanner_.is_symbol(","));
  expect("]");
  return add(
      {.kind = Kind::index, .column = column, .text = std::move(name), .children = std::move(indices)});
}

int Parser::parse_primary(Names names) {
  const Token token = scanner_.token();
  if (++open_ > kDeepest) fail_parsing(token.column, "expression.too_deep");
  int node = 0;
  const std::string text(token.text);
  if (token.kind == Token::Kind::number) {
    node = parse_number();
  } else if (token.kind == Token::Kind::text) {
    scanner_.advance();
    node =
        add({.kind = Kind::text, .column = token.column, .text = text, .names_word = names == Names::words});
  } else if (scanner_.is_symbol("(")) {
    scanner_.advance();
    node = parse_or(names);
    expect(")");
  } else if (token.kind == Token::Kind::name && text != "and" && text != "or" && text != "not") {
    scanner_.advance();
    if (scanner_.is_symbol("(")) {
      node = parse_call(text, token.column);
    } else if (scanner_.is_symbol("[")) {
      node = parse_index(text, token.column);
    } else {
      const bool is_word = names == Names::words && !has_name(kReserved, text);
      node = add({.kind = Kind::name, .column = token.column, .text = text, .names_word = is_word});
    }
  } else {
    fail_here();
  }
  --open_;
  return node;
}

Expression Parser::parse() {
  parse_or(Names::tensors);
  if (scanner_.token().kind != Token::Kind::end) fail_here();
  return std::move(expression_);
}

}  // namespace

ExpressionResult<Expression> parse_expression(std::string_view source) {
  if (source.size() > kLongestSource)
    return ExpressionError{1, {"expression.too_long", "", {{"most", std::to_string(kLongestSource)}}}};
  if (source.find_first_not_of(" \t\n") == std::string_view::npos)
    return ExpressionError{1, {"expression.empty", ""}};
  try {
    Expression expression = Parser(source).parse();
    expression.source = source;
    return expression;
  } catch (const ParseFailure& failure) {
    return failure.error;
  }
}

bool is_literal(const Expression& expression) {
  const auto names_something = [](const ExpressionNode& node) {
    const bool is_own = node.text == "given" || node.text == "head";
    return node.kind == Kind::index || (node.kind == Kind::name && !is_own) || node.names_word ||
           (node.kind == Kind::call && (node.text == "word" || node.text == "position"));
  };
  return std::none_of(expression.nodes.begin(), expression.nodes.end(), names_something);
}

bool mentions_given(const Expression& expression) {
  return std::any_of(expression.nodes.begin(), expression.nodes.end(), [](const ExpressionNode& node) {
    return (node.kind == Kind::name && node.text == "given") ||
           (node.kind == Kind::call && (node.text == "before" || node.text == "chosen"));
  });
}

std::vector<Mention> mentioned_words(const Expression& expression) {
  std::vector<Mention> words;
  for (const ExpressionNode& node : expression.nodes)
    if (node.names_word) words.push_back({node.text, node.column});
  return words;
}

}  // namespace headscope::lessons
