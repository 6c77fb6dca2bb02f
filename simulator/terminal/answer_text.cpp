#include "simulator/terminal/answer_text.h"

#include "lessons/lesson_scope.h"
#include "lessons/number_format.h"
#include "simulator/slice.h"
#include "simulator/tensor_facts.h"
#include "simulator/terminal/input.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

namespace headscope::simulator::terminal {
namespace {

using lessons::Given;
using lessons::QuestionKind;
using lessons::QuestionView;

core::Error bad_answer(std::string key, std::size_t count = 0) {
  return {.key = "answer." + std::move(key), .where = "", .values = {{"count", std::to_string(count)}}};
}

std::optional<lessons::CellReference> reference(const AppState& state, std::string_view text) {
  const lessons::ExpressionResult<lessons::Expression> parsed = lessons::parse_expression(text);
  const auto* expression = std::get_if<lessons::Expression>(&parsed);
  if (!expression) return std::nullopt;
  return lessons::referenced_cell(*expression,
                                  lessons::lesson_scope(state.lesson(), state.session, state.head()));
}

/// A head by its own number, from 0 as everywhere.
core::Result<Given> read_head(const QuestionView& question, std::string_view text) {
  const std::optional<std::size_t> head = parse_count(text);
  if (!head || *head >= question.choices.size())
    return core::Error{
        .key = "answer.head", .where = "", .values = {{"last", std::to_string(question.choices.size() - 1)}}};
  return Given{.choices = {static_cast<std::int64_t>(*head)}};
}

/// A word among the choices, else the number of a choice from 1.
core::Result<Given> read_choice(const QuestionView& question, std::string_view text) {
  std::vector<std::int64_t> same;
  for (std::size_t choice = 0; choice < question.choices.size(); ++choice)
    if (question.choices[choice].label == text) same.push_back(static_cast<std::int64_t>(choice));
  if (same.size() == 1) return Given{.choices = same};
  if (same.size() > 1)
    return core::Error{.key = "answer.several", .where = "", .values = {{"word", std::string(text)}}};
  const std::optional<std::size_t> number = parse_count(text);
  if (!number || *number < 1 || *number > question.choices.size())
    return bad_answer("choice", question.choices.size());
  return Given{.choices = {static_cast<std::int64_t>(*number) - 1}};
}

/// Numbers from 1, apart by blanks or commas, none twice.
std::optional<std::vector<std::int64_t>> read_list(std::string_view text, std::size_t count) {
  std::vector<std::int64_t> list;
  while (!(text = trim(text)).empty()) {
    if (text.front() == ',') {
      text.remove_prefix(1);
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" ,\t"), text.size());
    const std::optional<std::size_t> number = parse_count(text.substr(0, end));
    if (!number || *number < 1 || *number > count) return std::nullopt;
    const auto place = static_cast<std::int64_t>(*number) - 1;
    if (std::ranges::find(list, place) != list.end()) return std::nullopt;
    list.push_back(place);
    text.remove_prefix(end);
  }
  return list;
}

core::Result<Given> read_statements(const QuestionView& question, std::string_view text) {
  if (trim(text) == "0") return Given{};
  std::optional<std::vector<std::int64_t>> list = read_list(text, question.choices.size());
  if (!list || list->empty()) return bad_answer("list", question.choices.size());
  std::ranges::sort(*list);
  return Given{.choices = *std::move(list)};
}

core::Result<Given> read_order(const QuestionView& question, std::string_view text) {
  std::optional<std::vector<std::int64_t>> list = read_list(text, question.choices.size());
  if (!list || list->size() != question.choices.size()) return bad_answer("order", question.choices.size());
  return Given{.choices = *std::move(list)};
}

/// "on, sat", or with the tensor's name and brackets.
core::Result<Given> read_cell(const AppState& state, const QuestionView& question, std::string_view text) {
  if (!question.tensor) return bad_answer("cell");
  const std::string& name = state.session.graph().spec(*question.tensor).name;
  const std::string written =
      text.find('[') == std::string_view::npos ? name + "[" + std::string(text) + "]" : std::string(text);
  const std::optional<CellAddress> address = find_cell(state, written);
  if (!address || address->tensor != *question.tensor) return bad_answer("cell");
  const Slice slice = slice_of(state.session, *question.tensor, question.head);
  const std::optional<Slice::Place> place = slice.find(address->cell);
  if (!place) return bad_answer("cell");
  return Given{.choices = {place->row, place->column}};
}

}  // namespace

std::optional<CellAddress> find_cell(const AppState& state, std::string_view text) {
  const std::optional<lessons::CellReference> found = reference(state, text);
  if (!found || !found->cell) return std::nullopt;
  return CellAddress{found->tensor, *found->cell};
}

std::optional<core::TensorId> find_tensor(const AppState& state, std::string_view text) {
  return lessons::find_tensor(state.session.graph(), trim(text), state.lesson().inside);
}

core::Result<Given> read_answer(const AppState& state, const QuestionView& question, std::string_view text) {
  text = trim(text);
  switch (question.kind) {
    case QuestionKind::token:
      return read_choice(question, text);
    case QuestionKind::head:
      return read_head(question, text);
    case QuestionKind::cell:
      return read_cell(state, question, text);
    case QuestionKind::number: {
      const std::optional<double> number = lessons::parse_number(text);
      if (!number) return bad_answer("number");
      return Given{.choices = {}, .number = *number};
    }
    case QuestionKind::statements:
      return read_statements(question, text);
    case QuestionKind::order:
      break;
  }
  return read_order(question, text);
}

}  // namespace headscope::simulator::terminal
