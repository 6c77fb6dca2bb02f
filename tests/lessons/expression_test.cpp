// The expression language: grammar, values, words, errors with columns.
#include "lessons/expression.h"

#include "lesson_files.h"
#include "lessons/lesson_scope.h"

#include <cmath>

using namespace headscope;
using namespace headscope::lessons;

namespace {

/// The small lesson's session; expressions are evaluated in it.
struct Bench {
  Lesson lesson = test::small_lesson();
  core::Session session = test::session_of(lesson);
  std::int64_t head = 0;

  Scope scope() const { return lesson_scope(lesson, session, head); }
  ExpressionResult<Value> run(std::string_view source) const {
    const auto parsed = parse_expression(source);
    if (const auto* error = std::get_if<ExpressionError>(&parsed)) return *error;
    return evaluate(std::get<Expression>(parsed), scope());
  }
  Value value(std::string_view source) const {
    const auto result = run(source);
    INFO(source);
    if (const auto* error = std::get_if<ExpressionError>(&result))
      FAIL(error->error.key << " at " << error->column);
    return std::get<Value>(result);
  }
  double number(std::string_view source) const {
    const auto found = as_number(value(source));
    REQUIRE(found);
    return *found;
  }
  bool truth(std::string_view source) const {
    const auto found = as_truth(value(source));
    REQUIRE(found);
    return *found;
  }
  std::string text(std::string_view source) const { return value_text(value(source), session); }
  double cell(std::string_view name, core::Cell cell) const {
    return session.trace().value(*session.graph().find(name), cell);
  }
};

const std::string kAttention = "decoder.block0.self_attention.";

void check_error(const Bench& bench, std::string_view source, std::string_view key, int column) {
  INFO(source);
  const auto result = bench.run(source);
  const auto* error = std::get_if<ExpressionError>(&result);
  REQUIRE(error);
  CHECK(error->error.key == key);
  CHECK(error->column == column);
}

}  // namespace

TEST_CASE("arithmetic follows the usual precedence", "[lessons][expression]") {
  const Bench bench;
  const std::vector<std::pair<std::string, double>> table = {
      {"1 + 2 * 3", 7},    {"(1 + 2) * 3", 9}, {"8 / 2 / 2", 2}, {"7 - 2 - 1", 4},
      {"-2 * -3", 6},      {"--4", 4},         {"2 - -1", 3},    {"1.5e1", 15},
      {"abs(-3)", 3},      {"sqrt(9)", 3},     {"exp(0)", 1},    {"ln(1)", 0},
      {"max(1, 3, 2)", 3}, {"min(4, 2)", 2},   {"max(5)", 5},    {"sqrt(16) / 2", 2}};
  for (const auto& [source, expected] : table) {
    INFO(source);
    CHECK(bench.number(source) == expected);
  }
}

TEST_CASE("comparisons and logic give truths", "[lessons][expression]") {
  const Bench bench;
  for (const char* source :
       {"1 < 2", "2 <= 2", "3 > 2 and 2 > 1", "1 > 2 or 1 == 1", "not 1 == 2", "not not 1 == 1", "1 != 2",
        "'cat' == 'cat'", "'cat' != 'dog'", "1 < 2 or 1 / 0 > 'x'"}) {
    INFO(source);
    CHECK(bench.truth(source));
  }
  for (const char* source : {"1 > 2", "1 == 2 and 1 == 1", "not 1 == 1", "1 == 1.1", "'cat' == 'Cat'"}) {
    INFO(source);
    CHECK_FALSE(bench.truth(source));
  }
}

TEST_CASE("exactly one of <, ==, > holds, within the rounding of single precision", "[lessons][expression]") {
  const Bench bench;
  CHECK(bench.truth("1 == 1.000001"));
  CHECK_FALSE(bench.truth("1 < 1.000001"));
  CHECK(bench.truth("1 <= 1.000001"));
  CHECK(bench.truth("1 >= 1.000001"));
  CHECK(bench.truth("1 < 1.0001"));
  CHECK(bench.truth("1000000 == 1000001"));
  CHECK(bench.truth("0.00001 == 0"));
  CHECK(bench.truth("masked_scores[the#1, mat] == masked_scores[the#1, cat]"));
}

TEST_CASE("an index is a number, a word, a head or a colon", "[lessons][expression]") {
  const Bench bench;
  const double on_sat = bench.cell(kAttention + "scores", {0, 0, 3, 2});
  for (const char* source : {"scores[on, sat]", "scores['on', \"sat\"]", "scores[3, 2]", "scores[0, on, sat]",
                             "scores[head, on, sat]", "scores[on, sat + 0]", "scores[n_tokens - 3, sat]",
                             "decoder.block0.self_attention.scores[on, sat]", "max(scores[on, sat])",
                             "scores[sat + 1, on - 1]", "scores[position(on), position('sat')]"}) {
    INFO(source);
    CHECK(bench.number(source) == on_sat);
  }
  CHECK(bench.number("scores[1, on, sat]") == bench.cell(kAttention + "scores", {0, 1, 3, 2}));
  CHECK(bench.number("scores[the#2, the#1]") == bench.cell(kAttention + "scores", {0, 0, 4, 0}));
  CHECK(bench.number("w_query[1, 2]") == bench.cell(kAttention + "w_query", {0, 1, 2}));
  CHECK(bench.number("w_query[1, 1, 2]") == bench.cell(kAttention + "w_query", {1, 1, 2}));
  CHECK(bench.number("embedded[cat, 3]") == bench.cell("decoder.embedded", {0, 1, 3}));
  CHECK(bench.number("position_embedding[cat, 3]") == bench.cell("decoder.position_embedding", {1, 3}));
  CHECK(bench.number("token_embedding[cat, 3]") == bench.cell("decoder.token_vectors", {0, 1, 3}));
  CHECK(bench.number("source.lengths") == 6);
  CHECK(bench.number("loss") == bench.cell("loss", {0}));
}

TEST_CASE("a missing head index means the current head", "[lessons][expression]") {
  Bench bench;
  bench.head = 1;
  CHECK(bench.number("scores[on, sat]") == bench.cell(kAttention + "scores", {0, 1, 3, 2}));
  CHECK(bench.number("scores[0, on, sat]") == bench.cell(kAttention + "scores", {0, 0, 3, 2}));
  CHECK(bench.number("scores[head, on, sat]") == bench.cell(kAttention + "scores", {0, 1, 3, 2}));
}

TEST_CASE("open sides keep their axes through sums and argmax", "[lessons][expression]") {
  const Bench bench;
  const Value row = bench.value("weights[on, :]");
  const Array* array = std::get_if<Array>(&row);
  REQUIRE(array);
  CHECK(array->axes == std::vector<core::Axis>{core::Axis::key});
  CHECK(array->values.size() == 6);
  CHECK(bench.truth("sum(weights[on, :]) == 1"));
  CHECK(bench.truth("mean(weights[on, :]) * n_tokens == 1"));
  CHECK(bench.number("count(weights[on, :])") == 4);
  CHECK(bench.number("count(weights > 0)") == 21);
  CHECK(bench.truth("sum(weights) == n_tokens"));
  CHECK(bench.text("argmax(scores[on, :])") == "sat");
  CHECK(bench.text("argmax(scores)") == "the, cat");
  CHECK(bench.text("argmax(weights[:, on, cat])") == "1");
  CHECK(bench.truth("argmax(scores[on, :]) == 2"));
  CHECK(bench.truth("argmax(scores[on, :]) == 'sat'"));
  CHECK(bench.truth("scores[on, argmax(scores[on, :])] == max(scores[on, :])"));
  CHECK(bench.truth("argmin(scores[the#1, :]) == position(mat)"));
  CHECK(bench.truth("sum(queries[on, :] * keys[sat, :]) == scores[on, sat]"));
  CHECK(bench.truth("exp(scaled_scores[on, sat]) / sum(exp(scaled_scores[on, :])) < weights[on, sat]"));
  CHECK(bench.truth("exp(masked_scores[on, sat]) / sum(exp(masked_scores[on, :])) == weights[on, sat]"));
}

TEST_CASE("constants of the model and words can be named", "[lessons][expression]") {
  const Bench bench;
  CHECK(bench.text("n_tokens") == "6");
  CHECK(bench.text("n_heads * d_head") == "8");
  CHECK(bench.text("d_model") == "8");
  CHECK(bench.text("n_layers") == "1");
  CHECK(bench.text("word(3)") == "on");
  CHECK(bench.text("word(sat)") == "sat");
  CHECK(bench.text("word(n_tokens - 1)") == "mat");
  CHECK(bench.text("word(argmax(scores[on, :]))") == "sat");
  CHECK(bench.text("position(the#2)") == "4");
  CHECK(bench.text("d_head / 8") == "0.50");
}

TEST_CASE("a tie counts for every place that shares it", "[lessons][expression]") {
  const Bench bench;
  CHECK(bench.truth("argmax(weights[the#1, :] * 0) == 3"));
  CHECK(bench.truth("argmin(masked_scores[the#1, :]) == argmin(0 * n_tokens + masked_scores[the#1, :])"));
}

TEST_CASE("words that the learner's sentence lacks are bound by their place in the lesson's",
          "[lessons][expression]") {
  Bench bench;
  REQUIRE(bench.session.set("a dog ran to sat", {}));
  CHECK(bench.text("word(on)") == "to");
  CHECK(bench.text("word(cat)") == "dog");
  CHECK(bench.number("position(sat)") == 4);  // it is there: where it stands now
  CHECK(bench.number("scores[on, cat]") == bench.cell(kAttention + "scores", {0, 0, 3, 1}));
  check_error(bench, "scores[mat, cat]", "expression.word_gone", 8);
  check_error(bench, "scores[5, 0]", "expression.index_range", 8);
}

TEST_CASE("expressions that cannot be parsed name their column", "[lessons][expression]") {
  const Bench bench;
  check_error(bench, "", "expression.empty", 1);
  check_error(bench, "   ", "expression.empty", 1);
  check_error(bench, "1 +", "expression.unexpected_end", 4);
  check_error(bench, "1 + * 2", "expression.unexpected", 5);
  check_error(bench, "1 2", "expression.unexpected", 3);
  check_error(bench, "scores[on, sat", "expression.expected_at_end", 15);
  check_error(bench, "scores[on sat]", "expression.expected", 11);
  check_error(bench, "scores[]", "expression.unexpected", 8);
  check_error(bench, "scores[on,]", "expression.unexpected", 11);
  check_error(bench, "(1 + 2", "expression.expected_at_end", 7);
  check_error(bench, "scores['on, sat]", "expression.unclosed_string", 8);
  check_error(bench, "1 < 2 < 3", "expression.chained_comparison", 7);
  check_error(bench, "softmax(scores)", "expression.unknown_function", 1);
  check_error(bench, "sqrt()", "expression.arguments", 1);
  check_error(bench, "sqrt(1, 2)", "expression.arguments", 1);
  check_error(bench, "1 + $", "expression.unexpected", 5);
  check_error(bench, "1.5e", "expression.number", 1);
  check_error(bench, "max(:)", "expression.unexpected", 5);
  check_error(bench, "1 and", "expression.unexpected_end", 6);
  check_error(bench, std::string(3000, '1'), "expression.too_long", 1);
}

TEST_CASE("expressions that cannot be evaluated name their column", "[lessons][expression]") {
  const Bench bench;
  check_error(bench, "2 * skores[on, sat]", "expression.unknown_tensor", 5);
  check_error(bench, "cat", "expression.unknown_tensor", 1);
  check_error(bench, "scores[on, dog]", "expression.unknown_word", 12);
  check_error(bench, "scores[on]", "expression.indices", 1);
  check_error(bench, "scores[0, 0, 0, 0]", "expression.indices", 1);
  check_error(bench, "scores[on, 6]", "expression.index_range", 12);
  check_error(bench, "scores[on, -1]", "expression.index_range", 12);
  check_error(bench, "queries[on, cat]", "expression.not_an_index", 13);
  check_error(bench, "scores[on, 0.5]", "expression.not_an_index", 12);
  check_error(bench, "scores[on, :] and 1 == 1", "expression.not_a_truth", 1);
  check_error(bench, "sqrt('cat')", "expression.not_a_number", 6);
  check_error(bench, "1 + 'cat'", "expression.not_a_number", 3);
  check_error(bench, "sum(1)", "expression.not_an_array", 1);
  check_error(bench, "1 < 'cat'", "expression.not_comparable", 3);
  check_error(bench, "scores[on, :] + queries[on, :]", "expression.sides", 15);
  check_error(bench, "given > 1", "expression.no_given", 1);
  check_error(bench, "before(scores, weights)", "expression.no_given", 1);
  check_error(bench, "word(6)", "expression.index_range", 6);
}

TEST_CASE("an unknown tensor comes with the closest known name", "[lessons][expression]") {
  const Bench bench;
  const auto result = bench.run("scaled_score[on, sat]");
  const auto* error = std::get_if<ExpressionError>(&result);
  REQUIRE(error);
  CHECK(error->error.values == std::vector<std::pair<std::string, std::string>>{
                                   {"name", "scaled_score"}, {"closest", "scaled_scores"}});
  const core::Graph& graph = bench.session.graph();
  CHECK(closest_tensor(graph, "scores", "") == "decoder.block0.self_attention.scores");
  CHECK(closest_tensor(graph, "logit", "") == "logits");
}

TEST_CASE("deep nesting is refused, not run into the end of the stack", "[lessons][expression]") {
  const Bench bench;
  const auto repeat = [](const std::string& text, int times) {
    std::string result;
    for (int time = 0; time < times; ++time) result += text;
    return result;
  };
  for (const std::string& source :
       {repeat("(", 900) + "1" + repeat(")", 900), repeat("-", 1900) + "1", repeat("not ", 400) + "1 == 1",
        "1" + repeat("+1", 900), repeat("abs(", 400)}) {
    const auto result = bench.run(source);
    const auto* error = std::get_if<ExpressionError>(&result);
    REQUIRE(error);
    CHECK(error->error.key == "expression.too_deep");
  }
  CHECK(bench.number(repeat("(", 40) + "1" + repeat(")", 40)) == 1);
}

TEST_CASE("a literal is an expression that names nothing of model or sentence", "[lessons][expression]") {
  const auto literal = [](std::string_view source) {
    const auto parsed = parse_expression(source);
    REQUIRE(std::holds_alternative<Expression>(parsed));
    return is_literal(std::get<Expression>(parsed));
  };
  for (const char* source :
       {"3", "1.45", "'sat'", "1 + 2 == 3", "given", "head", "sqrt(4) > 1", "max(1, 2)"}) {
    INFO(source);
    CHECK(literal(source));
  }
  for (const char* source : {"scores[on, sat]", "loss", "n_tokens", "word(3)", "position(on)", "1 + d_head",
                             "argmax(weights[on, :])"}) {
    INFO(source);
    CHECK_FALSE(literal(source));
  }
}

TEST_CASE("a comparison with the learner's answer uses the question's tolerance", "[lessons][expression]") {
  const Bench bench;
  Scope scope = bench.scope();
  scope.given = 2.53;
  scope.tolerance = 0.05;
  const auto truth = [&](std::string_view source) {
    return as_truth(std::get<Value>(evaluate(std::get<Expression>(parse_expression(source)), scope))).value();
  };
  CHECK(truth("given == scores[on, sat]"));
  CHECK_FALSE(truth("given == scores[on, sat] + 0.2"));
  CHECK_FALSE(truth("scores[on, sat] == scores[on, sat] + 0.02"));
}

TEST_CASE("an expression that is one cell refers to it", "[lessons][expression]") {
  const Bench bench;
  const auto reference = [&](std::string_view source) {
    return referenced_cell(std::get<Expression>(parse_expression(source)), bench.scope());
  };
  const auto cell = reference("scores[on, sat]");
  REQUIRE(cell);
  CHECK(cell->tensor == *bench.session.graph().find(kAttention + "scores"));
  CHECK(cell->cell == core::Cell{0, 0, 3, 2});
  REQUIRE(reference("scores[on, :]"));
  CHECK_FALSE(reference("scores[on, :]")->cell);
  CHECK(reference("weights"));
  CHECK_FALSE(reference("scores[on, sat] + 1"));
  CHECK_FALSE(reference("n_tokens"));
  CHECK_FALSE(reference("scores[on, dog]"));
}

TEST_CASE("short names are looked up inside, then outwards", "[lessons][expression]") {
  const Bench bench;
  const core::Graph& graph = bench.session.graph();
  CHECK(find_tensor(graph, "output", "decoder.block0.self_attention") == graph.find(kAttention + "output"));
  CHECK(find_tensor(graph, "output", "decoder.block0") == graph.find("decoder.block0.output"));
  CHECK(find_tensor(graph, "embedded", "decoder.block0.self_attention") == graph.find("decoder.embedded"));
  CHECK(find_tensor(graph, "source.ids", "decoder.block0") == graph.find("source.ids"));
  CHECK_FALSE(find_tensor(graph, "scores", ""));
}
