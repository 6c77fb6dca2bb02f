// What a person sets beside a model: sentence, gold answer, edits, switches, optimiser. A session's numbers
// follow from the model and its setup alone, so undo, reset and a saved file are this struct and no more.
#pragma once

#include "core/interventions.h"
#include "core/training/optimiser.h"
#include "core/training/trainer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace headscope::core {

/// A person's own numbers, by tensor and cell: of inputs and parameters before the run, of activations after
/// their operation (set by hand: can_be_set_by_hand()).
using Edits = std::map<std::pair<TensorId, Cell>, double>;

/// What the model should answer. A decoder that is a language model has its sentence for that: the words
/// themselves are what is to be said next.
struct Gold {
  enum class Origin : std::uint8_t {
    none,    // nobody said: no loss, no gradient
    given,   // typed, chosen, or a task's
    assumed  // the model's own answer, taken for right
  };
  Origin origin = Origin::none;
  std::string target = {};                // an encoder-decoder's: the sentence in the target's words
  std::vector<std::int32_t> labels = {};  // classification {class}; span {start, end}, fed positions;
                                          // token_classification [position][output], -1: not scored
  bool operator==(const Gold&) const = default;
};

/// One head of one attention, named by the attention's head_output.
struct HeadAddress {
  TensorId head_output;
  std::int64_t head = 0;
  auto operator<=>(const HeadAddress&) const = default;
};

enum class HeadMode : std::uint8_t {
  off,     // its output is 0
  mean,    // its output is the mean over other text, position by position
  uniform  // it attends alike to every key that the mask leaves
};
struct HeadSwitch {
  HeadMode mode = HeadMode::off;
  Shape shape = {};                // mean: [positions, d_head]
  std::vector<double> means = {};  // mean: row-major
  bool operator==(const HeadSwitch&) const = default;
};

struct Setup {
  std::string text;  // the sentence; of an encoder-decoder the source's
  Gold gold = {};
  std::optional<std::int32_t> read = {};  // span_reader pointer: the fed position that asks; none: the last
  Edits edits = {};
  std::map<HeadAddress, HeadSwitch> heads = {};
  std::map<TensorId, AttentionSwitches> attentions = {};  // by the attention's scores; none at its defaults
  OptimiserConfig optimiser = {};
  /// Where training has come since the model was made or loaded; none: nowhere.
  std::shared_ptr<const TrainState> trained = {};

  bool operator==(const Setup&) const = default;  // `trained` by identity: states are never changed
};

}  // namespace headscope::core
