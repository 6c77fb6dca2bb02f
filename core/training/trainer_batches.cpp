// What a trainer learns from: the rows of a file, or examples that a task draws. A step's batch depends on
// the seed and the step alone.
#include "core/hash.h"
#include "core/random.h"
#include "core/training/trainer.h"

#include <array>
#include <cassert>
#include <numeric>
#include <utility>

namespace headscope::core {
namespace {

/// The chosen rows of a list that has one entry a row, or none at all.
template <class Rows>
Rows choose(const Rows& rows, std::span<const std::int32_t> chosen) {
  Rows some;
  if (rows.empty()) return some;
  some.reserve(chosen.size());
  for (const std::int32_t row : chosen) some.push_back(rows[static_cast<std::size_t>(row)]);
  return some;
}

TokenBatch choose_rows(const TokenBatch& batch, std::span<const std::int32_t> chosen) {
  return {.source = choose(batch.source, chosen),
          .target = choose(batch.target, chosen),
          .label = choose(batch.label, chosen),
          .span = choose(batch.span, chosen),
          .read = choose(batch.read, chosen),
          .labels = choose(batch.labels, chosen),
          .types = choose(batch.types, chosen),
          .target_begin = batch.target_begin};
}

/// FNV-1a of a number's eight bytes, the lowest first.
std::uint64_t hash_number(std::int64_t number, std::uint64_t hash) {
  std::array<char, 8> bytes{};
  for (std::size_t place = 0; place < bytes.size(); ++place)
    bytes[place] = static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * place) & 0xffU);
  return fnv1a({bytes.data(), bytes.size()}, hash);
}
std::uint64_t hash_of(std::int32_t number, std::uint64_t hash) {
  return hash_number(number, hash);
}
std::uint64_t hash_of(const SpanEdges& edges, std::uint64_t hash) {
  return hash_number(edges.end, hash_number(edges.start, hash));
}
template <class Entry>
std::uint64_t hash_of(const std::vector<Entry>& entries, std::uint64_t hash) {
  hash = hash_number(static_cast<std::int64_t>(entries.size()), hash);
  for (const Entry& entry : entries) hash = hash_of(entry, hash);
  return hash;
}

}  // namespace

/// Reads the file of token ids, and holds all of it against the model: no later step meets a row that cannot
/// be fed.
Result<void> Trainer::read_file() {
  const std::string where = config_.data.file->string();
  Result<TokenBatch> batch = read_token_batch(*config_.data.file);
  if (!batch) return batch.error();
  const Result<FedBatch> fed = feed(*batch, config_.model, where);
  if (!fed) return fed.error();
  if (Result<void> loss = require_targets(*fed, config_.model, where); !loss) return loss;
  const auto n_rows = static_cast<std::int64_t>(batch->source.size());
  if (config_.data.is_full_batch) {
    config_.batch_size = n_rows;
  } else if (config_.batch_size > n_rows) {
    return Error{"train.range",
                 where,
                 {{"key", "batch_size"},
                  {"value", std::to_string(config_.batch_size)},
                  {"lowest", "1"},
                  {"highest", std::to_string(n_rows)}}};
  }
  largest_ = {1, fed->sizes.source, fed->sizes.target};
  file_ = std::make_shared<const TokenBatch>(*std::move(batch));
  return {};
}

std::uint64_t Trainer::data_hash() const {
  if (!file_) return 0;
  std::uint64_t hash = hash_of(file_->source, kFnv1aStart);
  hash = hash_of(file_->target, hash);
  hash = hash_of(file_->label, hash);
  hash = hash_of(file_->span, hash);
  hash = hash_of(file_->read, hash);
  hash = hash_of(file_->labels, hash);
  return hash_of(file_->types, hash);
}

std::vector<std::int32_t> Trainer::rows_at(std::int64_t step, std::int64_t n_rows) const {
  const auto n_all = static_cast<std::int64_t>(file_->source.size());
  std::vector<std::int32_t> rows(static_cast<std::size_t>(n_all));
  std::iota(rows.begin(), rows.end(), 0);
  // the first places of a shuffle (Fisher and Yates): each set of rows equally likely, no row twice
  Rng rng(config_.seed, "examples." + std::to_string(step));
  for (std::int64_t place = 0; place < n_rows; ++place) {
    const auto other =
        place + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(n_all - place)));
    std::swap(rows[static_cast<std::size_t>(place)], rows[static_cast<std::size_t>(other)]);
  }
  rows.resize(static_cast<std::size_t>(n_rows));
  return rows;
}

Result<TokenBatch> Trainer::batch_at(std::int64_t step) const {
  assert(step >= 1);
  if (file_ && config_.data.is_full_batch) return *file_;
  const std::int64_t n_rows = step == step_ + 1 ? settings_.batch_size : settings_at(step).batch_size;
  if (file_) return choose_rows(*file_, rows_at(step, n_rows));
  Rng rng(config_.seed, "examples." + std::to_string(step));
  std::vector<Example> examples;
  examples.reserve(static_cast<std::size_t>(n_rows));
  for (std::int64_t row = 0; row < n_rows; ++row) examples.push_back(task_->draw(rng, Split::training));
  return batch_of(examples, *task_);
}

}  // namespace headscope::core
