// Prose with its numbers in it.
#include "lessons/prose.h"

#include <algorithm>

namespace headscope::lessons {
namespace {

void evaluate_run(const std::string& source, const Scope& scope, ProseRun& shown) {
  const auto refuse = [&](const core::Error& error) {
    shown.text = "…";
    shown.error = error;
  };
  const ExpressionResult<Expression> parsed = parse_expression(source);
  if (const auto* error = std::get_if<ExpressionError>(&parsed)) return refuse(error->error);
  const auto& expression = std::get<Expression>(parsed);
  const ExpressionResult<Value> value = evaluate(expression, scope);
  if (const auto* error = std::get_if<ExpressionError>(&value)) return refuse(error->error);
  shown.text = value_text(std::get<Value>(value), scope.session);
  if (const std::optional<CellReference> reference = referenced_cell(expression, scope)) {
    shown.tensor = reference->tensor;
    shown.cell = reference->cell;
  }
}

ProseRun resolve_run(const Run& run, const Scope& scope) {
  ProseRun shown;
  shown.kind = run.kind;
  shown.text = run.text;
  shown.strong = run.strong;
  shown.emphasis = run.emphasis;
  if (run.kind == Run::Kind::web_link) shown.address = run.target;
  if (run.kind == Run::Kind::live) evaluate_run(run.target, scope, shown);
  if (run.kind == Run::Kind::tensor_link) {
    shown.tensor = find_tensor(scope.session.graph(), run.target, scope.inside);
    if (!shown.tensor) shown.kind = Run::Kind::text;
  }
  return shown;
}

}  // namespace

std::vector<ProseBlock> resolve_prose(const std::vector<Block>& blocks, const Scope& scope) {
  std::vector<ProseBlock> resolved;
  for (const Block& block : blocks) {
    ProseBlock shown{block.kind, block.level, block.depth, block.number, block.info, {}};
    for (const Run& run : block.runs) shown.runs.push_back(resolve_run(run, scope));
    resolved.push_back(std::move(shown));
  }
  return resolved;
}

void collect_errors(const std::vector<ProseBlock>& blocks, std::vector<core::Error>& errors) {
  for (const ProseBlock& block : blocks)
    for (const ProseRun& run : block.runs)
      if (run.error && std::find(errors.begin(), errors.end(), *run.error) == errors.end())
        errors.push_back(*run.error);
}

}  // namespace headscope::lessons
