// A grammar file as it is written, before its names are looked up.
#pragma once

#include "core/result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::core::grammar {

/// Where something stands: a file of GrammarSyntax::files, line and column from 1.
struct Place {
  std::size_t file = 0, line = 0, column = 0;
};

struct Argument;

/// A value or what makes words: a quoted text; names parted by dots; or a call, `names(arguments)`, perhaps
/// with `.column` after it.
struct Expression {
  enum class Kind : std::uint8_t { text, path, call };
  Kind kind = Kind::path;
  std::string text = {};
  std::vector<std::string> names = {};
  std::vector<Argument> arguments;  // without "= {}": an Argument is no complete type yet
  std::string column = {};
  Place place = {};
};

/// `name=value`; without a name its place among the others counts, or its value's name.
struct Argument {
  std::string name = {};
  Expression value = {};
};

struct Condition {
  enum class Kind : std::uint8_t { equal, differs, in, has, present, absent };
  Kind kind = Kind::present;
  Expression left = {}, right = {};  // `right` not of present and absent
};

struct Item {
  std::string label = {};
  Expression expression = {};    // where it is no group
  std::vector<Item> items = {};  // a group's
  bool is_group = false;
  std::vector<Condition> when = {};  // a group's
  Place place = {};
};

struct Statement {
  enum class Kind : std::uint8_t { choose, let, line, link, align, hold_out };
  Kind kind = Kind::let;
  std::string name = {};                                           // variable, language or relation
  std::vector<std::pair<Expression, std::uint64_t>> options = {};  // choose: text and weight
  Expression source = {};                                          // let
  std::vector<Condition> where = {};                               // let
  std::vector<Condition> when = {};                                // also written `if`
  std::vector<Item> items = {};                                    // line
  std::vector<Expression> paths = {};                              // link (query, key), align, hold_out
  std::vector<std::string> languages = {};                         // link: of query and key
  bool is_possible = false;                                        // align
  Place place = {};
};

struct RuleSyntax {
  std::string name;
  std::vector<std::string> parameters = {};
  std::vector<Statement> statements = {};
  Place place = {};
};

struct FormCase {
  std::vector<Condition> when = {};  // none: `else`
  std::vector<Expression> parts = {};
  Place place = {};
};

struct FormSyntax {
  std::string words, name;
  std::vector<std::string> features = {};
  std::vector<FormCase> cases = {};
  Place place = {};
};

struct WordsSyntax {
  std::string name, file;
  std::vector<std::pair<std::string, std::string>> only = {};  // column, member
  std::vector<std::string> keys = {};                          // of a `table`
  bool is_table = false;
  Place place = {};
};

struct NameSyntax {
  std::string name;
  std::vector<std::string> values = {};  // a feature's
  Place place = {};
};

struct GrammarSyntax {
  std::vector<std::string> files;  // as errors name them
  std::vector<NameSyntax> languages, features, starts;
  std::vector<WordsSyntax> words;
  std::vector<FormSyntax> forms;
  std::vector<RuleSyntax> rules;
};

/// Thrown within the engine from the line that is wrong to whoever collects what is wrong.
struct Wrong {
  Error error;
};

/// The text of a file beside the grammar.
using ReadFile = std::function<Result<std::string>(const std::string& name)>;

/// So many errors are collected; what comes after them is not read.
inline constexpr std::size_t kMostProblems = 20;

/// Parses the text and what it includes; lines that cannot be read are left out and their errors collected.
GrammarSyntax parse(std::string_view text, const std::string& where, const ReadFile& read,
                    std::vector<Error>& errors);

/// `key` with file, line and column, and more values.
Error error_at(std::string key, const std::vector<std::string>& files, const Place& place,
               std::vector<std::pair<std::string, std::string>> values = {});

/// How deep brackets may stand in brackets.
inline constexpr std::size_t kMostNesting = 16;

}  // namespace headscope::core::grammar
