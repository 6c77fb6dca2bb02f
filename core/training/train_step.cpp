#include "core/training/train_step.h"

#include "core/interventions_run.h"
#include "core/simd.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::core {
namespace {

/// Positions of a slice of the batch: enough for products to fill their tiles, few enough for an operation's
/// numbers to be in the cache when the next one reads them. Measured; no bit depends on it.
constexpr std::int64_t kSlicePositions = 256;

/// The first number that is not finite, a mask's -∞ apart; the end where there is none.
template <class Number>
auto find_bad(std::span<const Number> numbers, bool may_be_masked) {
  return std::ranges::find_if(numbers, [&](Number number) {
    return !std::isfinite(number) && !(may_be_masked && number == -std::numeric_limits<Number>::infinity());
  });
}

/// max |number|.
template <class T>
T largest_size(std::span<const T> numbers) {
  Vector<T> most{};
  for_vectors<T>(static_cast<std::int64_t>(numbers.size()), [&](std::int64_t at, std::int64_t count) {
    const Vector<T> some = load_some<T>(numbers.data() + at, count);
    most = larger<T>(most, larger<T>(some, -some));
  });
  return largest_of<T>(most);
}

bool is_mask(const Operation& operation) {
  return std::holds_alternative<MaskScores>(operation) || std::holds_alternative<MaskPositions>(operation);
}

}  // namespace

template <class T>
TrainStep<T>::TrainStep(const Graph& graph, const Sizes& capacity, const TrainOptions& options)
    : graph_(graph),
      options_(options),
      workspace_(graph, capacity, WithGradients::yes),
      first_(workspace_.plan().n_parameters()),
      second_(options.optimiser.kind == OptimiserKind::adamw ? workspace_.plan().n_parameters() : 0),
      pool_(std::max(options.n_threads, 1)) {
  assert(workspace_.gradient_plan().has_loss());
  const TensorId loss = workspace_.gradient_plan().loss();
  for (std::size_t index = 0; index < graph.operations().size(); ++index) {
    const Operation& operation = graph.operations()[index];
    if (is_by_row(graph, operation))
      forward_.push_back(index);
    else if (result(operation) != loss)
      shared_.push_back(index);
  }
  const auto order = workspace_.gradient_plan().operations();
  backward_.assign(order.begin(), order.end());
  plan_pieces();
  plan_parameter_work();
}

template <class T>
void TrainStep<T>::plan_pieces() {
  for (std::uint32_t index = 0; index < graph_.n_tensors(); ++index) {
    const TensorId tensor{index};
    if (graph_.spec(tensor).role != Role::parameter || !workspace_.has_gradient(tensor)) continue;
    if (std::ranges::count(options_.frozen, tensor) > 0) continue;
    const std::size_t begin = workspace_.plan().offset(tensor);
    const std::size_t end = begin + workspace_.values(tensor).size();
    for (std::size_t at = begin; at < end; at += kNormPiece)
      pieces_.push_back({tensor, at, std::min(at + kNormPiece, end)});
  }
  piece_norms_.assign(pieces_.size(), 0);
  piece_sizes_.assign(pieces_.size(), 0);
}

/// Splits the larger parameters' gradients into parts, so that threads finish together.
template <class T>
void TrainStep<T>::plan_parameter_work() {
  constexpr std::int64_t kCellsPerPart = 8192;
  for (const std::size_t operation : backward_) {
    std::int64_t n_cells = 0;
    for (const Operand& operand : operands_of(graph_.operations()[operation]))
      if (operand.is_differentiable && graph_.spec(operand.tensor).role == Role::parameter) {
        // two that share one would write it at the same time
        assert(workspace_.gradient_plan().writers(operand.tensor).size() == 1);
        n_cells += workspace_.shape(operand.tensor).count();
      }
    if (n_cells == 0) continue;
    const std::int64_t n_parts =
        pool_.n_threads() == 1
            ? 1
            : std::clamp<std::int64_t>(n_cells / kCellsPerPart, 1, std::int64_t{4} * pool_.n_threads());
    for (std::int64_t part = 0; part < n_parts; ++part)
      parameter_work_.push_back({operation, {part, n_parts}});
  }
}

template <class T>
void TrainStep<T>::set_optimiser(const OptimiserConfig& optimiser) {
  assert(optimiser.kind == options_.optimiser.kind);
  options_.optimiser = optimiser;
}

template <class T>
Result<StepReport> TrainStep<T>::run(std::int64_t number) {
  const RunOptions options{options_.interventions, options_.seed, static_cast<std::uint64_t>(number)};
  run_rows(options);
  run_parameters();
  StepReport report;
  report.loss = static_cast<double>(workspace_.values(workspace_.gradient_plan().loss())[0]);
  report.gradient_norm = std::sqrt(square_norm());
  if (!std::isfinite(report.loss) || !std::isfinite(report.gradient_norm)) return find_not_finite(number);
  const UpdateFactors factors = factors_at(options_.optimiser, number, report.gradient_norm);
  report.rate = factors.rate;
  if (may_overflow(factors, report.gradient_norm))
    if (std::optional<Error> error = try_update(factors, number)) return *std::move(error);
  update(factors);
  return report;
}

template <class T>
void TrainStep<T>::run_rows(const RunOptions& options) {
  const Sizes& sizes = workspace_.sizes();
  assert(sizes.batch >= 1);
  if (shared_sizes_ != sizes) {
    for (const std::size_t operation : shared_)
      run_operation(graph_, workspace_, operation, {0, sizes.batch}, options);
    shared_sizes_ = sizes;
  }
  const std::int64_t n_positions = std::max<std::int64_t>(sizes.source + sizes.target, 1);
  const std::int64_t per_thread = (sizes.batch + pool_.n_threads() - 1) / pool_.n_threads();
  const std::int64_t most = std::clamp<std::int64_t>(kSlicePositions / n_positions, 1, per_thread);
  const std::int64_t n_slices = (sizes.batch + most - 1) / most;
  pool_.run(n_slices, [&](std::int64_t slice) {
    const Rows rows{sizes.batch * slice / n_slices, sizes.batch * (slice + 1) / n_slices};
    for (const std::size_t operation : forward_) run_operation(graph_, workspace_, operation, rows, options);
    for (const std::size_t operation : backward_)
      run_operation_backward(graph_, workspace_, operation, rows, options);
  });
  const std::size_t mean = *graph_.producer(workspace_.gradient_plan().loss());
  run_operation(graph_, workspace_, mean, {0, sizes.batch}, options);
}

template <class T>
void TrainStep<T>::run_parameters() {
  const auto run_work = [&](std::size_t begin, std::size_t end) {
    pool_.run(static_cast<std::int64_t>(end - begin), [&](std::int64_t item) {
      const ParameterWork& work = parameter_work_[begin + static_cast<std::size_t>(item)];
      run_parameters_backward(graph_, workspace_, work.operation, work.part);
    });
  };
  if (!options_.interventions || options_.interventions->empty()) return run_work(0, parameter_work_.size());
  // what was set by hand sends nothing back: operation by operation, since two may share a tensor
  for (std::size_t begin = 0; begin < parameter_work_.size();) {
    const std::size_t operation = parameter_work_[begin].operation;
    std::size_t end = begin;
    while (end < parameter_work_.size() && parameter_work_[end].operation == operation) ++end;
    const HeldBackGradients<T> held(graph_, workspace_, options_.interventions,
                                    result(graph_.operations()[operation]), {0, workspace_.sizes().batch});
    run_work(begin, end);
    begin = end;
  }
}

template <class T>
double TrainStep<T>::square_norm() {
  const std::span<const T> gradients = std::as_const(workspace_).parameter_gradients();
  const std::span<const T> values = std::as_const(workspace_).parameters();
  pool_.run(static_cast<std::int64_t>(pieces_.size()), [&](std::int64_t item) {
    const Piece& piece = pieces_[static_cast<std::size_t>(item)];
    const std::size_t n = piece.end - piece.begin, place = static_cast<std::size_t>(item);
    piece_norms_[place] = square_sum<T>(gradients.subspan(piece.begin, n));
    piece_sizes_[place] =
        static_cast<double>(std::max(largest_size<T>(values.subspan(piece.begin, n)),
                                     largest_size<T>(std::span<const T>(first_).subspan(piece.begin, n))));
  });
  double sum = 0;
  for (const double norm : piece_norms_) sum += norm;
  return sum;
}

/// Whether the update could leave the range of T: a bound from the largest parameter and moment, far above
/// what training reaches, so that it almost never is.
template <class T>
bool TrainStep<T>::may_overflow(const UpdateFactors& factors, double gradient_norm) const {
  const OptimiserConfig& config = options_.optimiser;
  const double size = piece_sizes_.empty() ? 0 : *std::ranges::max_element(piece_sizes_);
  double change = factors.rate * config.weight_decay * size;
  if (config.kind == OptimiserKind::adamw)
    change += factors.rate * (size + gradient_norm) / factors.correction1 / config.epsilon;
  else
    change += factors.rate * (config.momentum * size + gradient_norm + config.weight_decay * size);
  constexpr double kSafe = 1e-3;  // of the range: the bound leaves out roundings
  return !(size + change < kSafe * static_cast<double>(std::numeric_limits<T>::max()) &&
           gradient_norm < std::sqrt(kSafe * static_cast<double>(std::numeric_limits<T>::max())));
}

/// Updates copies, piece by piece, and says which number would no longer be finite.
template <class T>
std::optional<Error> TrainStep<T>::try_update(const UpdateFactors& factors, std::int64_t step) const {
  const auto copied = [](std::span<const T> numbers, const Piece& piece) {
    return numbers.empty() ? std::vector<T>()
                           : std::vector<T>(numbers.data() + piece.begin, numbers.data() + piece.end);
  };
  for (const Piece& piece : pieces_) {
    std::vector<T> values = copied(workspace_.parameters(), piece), first = copied(first_, piece),
                   second = copied(second_, piece);
    update_numbers<T>(options_.optimiser, factors, values,
                      workspace_.parameter_gradients().subspan(piece.begin, piece.end - piece.begin), first,
                      second);
    for (std::size_t place = 0; place < values.size(); ++place) {
      const bool is_finite = std::isfinite(values[place]) && std::isfinite(first[place]) &&
                             (second.empty() || std::isfinite(second[place]));
      if (is_finite) continue;
      const TensorId tensor = piece.tensor;
      const auto at = static_cast<std::int64_t>(piece.begin + place - workspace_.plan().offset(tensor));
      return not_finite(tensor, workspace_.shape(tensor).cell(at), "update", "", step);
    }
  }
  return std::nullopt;
}

template <class T>
void TrainStep<T>::update(const UpdateFactors& factors) {
  const std::span<T> values = workspace_.parameters();
  const std::span<const T> gradients = std::as_const(workspace_).parameter_gradients();
  pool_.run(static_cast<std::int64_t>(pieces_.size()), [&](std::int64_t item) {
    const Piece& piece = pieces_[static_cast<std::size_t>(item)];
    const auto part = [&piece](auto numbers) {
      return numbers.subspan(piece.begin, piece.end - piece.begin);
    };
    update_numbers<T>(options_.optimiser, factors, part(values), part(gradients), part(std::span(first_)),
                      second_.empty() ? std::span<T>() : part(std::span(second_)));
  });
}

template <class T>
Error TrainStep<T>::not_finite(TensorId tensor, const Cell& cell, std::string_view phase,
                               std::string_view operation, std::int64_t step) const {
  std::string place;
  for (int side = 0; side < cell.rank(); ++side) place += (side > 0 ? "," : "") + std::to_string(cell[side]);
  std::string key = "training.not_finite";  // in a pass; or where no operation is at fault
  if (phase == "parameter") key = "training.parameter_not_finite";
  if (phase == "update") key = "training.update_not_finite";
  return Error{std::move(key),
               "",
               {{"tensor", graph_.spec(tensor).name},
                {"cell", place},
                {"phase", std::string(phase)},
                {"operation", std::string(operation)},
                {"step", std::to_string(step)}}};
}

template <class T>
Error TrainStep<T>::find_not_finite(std::int64_t step) const {
  std::optional<Error> found;
  const auto look = [&](TensorId tensor, std::string_view phase, std::span<const T> numbers,
                        std::string_view operation, bool may_be_masked) {
    const auto bad = find_bad(numbers, may_be_masked);
    if (bad == numbers.end()) return false;
    found = not_finite(tensor, workspace_.shape(tensor).cell(bad - numbers.begin()), phase, operation, step);
    return true;
  };
  for (std::uint32_t index = 0; index < graph_.n_tensors(); ++index)
    if (graph_.spec({index}).role == Role::parameter &&
        look({index}, "parameter", workspace_.values({index}), "", false))
      return *found;
  for (const Operation& operation : graph_.operations())
    if (look(result(operation), "forward", workspace_.values(result(operation)), kind_of(operation),
             is_mask(operation)))
      return *found;
  for (const std::size_t index : backward_)
    for (const Operand& operand : operands_of(graph_.operations()[index]))
      if (operand.is_differentiable && workspace_.has_gradient(operand.tensor) &&
          look(operand.tensor, "backward", workspace_.gradients(operand.tensor),
               kind_of(graph_.operations()[index]), false))
        return *found;
  // every gradient is finite, the sum of their squares is not
  return Error{"training.gradient_overflow", "", {{"step", std::to_string(step)}}};
}

template class TrainStep<float>;
template class TrainStep<double>;

}  // namespace headscope::core
