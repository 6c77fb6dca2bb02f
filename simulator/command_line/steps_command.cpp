// headscope steps: the numbered steps of one training step on a batch. What explain --step counts.
#include "core/formats/json.h"
#include "core/steps.h"
#include "simulator/command_line/commands.h"
#include "simulator/command_line/model_run.h"
#include "simulator/terminal/step_text.h"
#include "simulator/terminal/text_layout.h"
#include "simulator/words.h"

#include <array>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::simulator {
namespace {

constexpr std::array<std::string_view, 3> kPhases = {"forward", "backward", "update"};

/// One step in words.
struct StepWords {
  std::string_view phase;
  std::string title;
  std::vector<std::string> tensors, formulas;
};

class StepWriter {
 public:
  StepWriter(const core::Graph& graph, const lessons::TextCatalog& text, const lessons::TextCatalog& formulas)
      : graph_(graph), gradients_(graph), steps_(graph, gradients_), text_(text), formulas_(formulas) {}

  const core::StepList& steps() const { return steps_; }

  StepWords words(std::size_t place) const {
    const core::Step step = steps_[place];
    StepWords words{.phase = kPhases[static_cast<std::size_t>(step.phase)],
                    .title = step_title(graph_, step, text_),
                    .tensors = {},
                    .formulas = {}};
    for (const core::TensorId tensor : step_results(graph_, gradients_, step))
      words.tensors.push_back((step.phase == core::Phase::backward ? "grad." : "") +
                              graph_.spec(tensor).name);
    for (const std::string& formula :
         step_formulas(graph_, gradients_, step, core::OptimiserKind::adamw, formulas_))
      words.formulas.push_back(terminal::plain_formula(formula));
    return words;
  }

 private:
  const core::Graph& graph_;
  core::GradientPlan gradients_;
  core::StepList steps_;
  const lessons::TextCatalog& text_;
  const lessons::TextCatalog& formulas_;
};

std::string json_list(const std::vector<std::string>& texts) {
  std::string list = "[";
  for (const std::string& text : texts) list += (list.size() > 1 ? ", " : "") + core::quote_json(text);
  return list + "]";
}

void print_json(const StepWriter& writer, std::size_t n_steps, std::ostream& out) {
  out << "[";
  for (std::size_t place = 0; place < n_steps; ++place) {
    const StepWords words = writer.words(place);
    out << (place > 0 ? ",\n " : "") << "{\"step\": " << place + 1 << ", \"phase\": \"" << words.phase
        << "\", \"title\": " << core::quote_json(words.title) << ", \"tensors\": " << json_list(words.tensors)
        << ", \"formulas\": " << json_list(words.formulas) << "}";
  }
  out << "]\n";
}

void print_text(const StepWriter& writer, std::size_t n_steps, bool has_formulas,
                const lessons::TextCatalog& text, std::ostream& out) {
  const std::size_t width = std::to_string(n_steps).size();
  for (std::size_t place = 0; place < n_steps; ++place) {
    const StepWords words = writer.words(place);
    out << terminal::pad(std::to_string(place + 1), width, terminal::Align::right) << "  "
        << terminal::pad(text.text("command.steps.phase." + std::string(words.phase)), 8,
                         terminal::Align::left)
        << "  " << words.title << "\n";
    const std::string indent(width + 12, ' ');
    for (const std::string& tensor : words.tensors) out << indent << tensor << "\n";
    if (!has_formulas) continue;
    for (const std::string& formula : words.formulas) out << indent << formula << "\n";
  }
}

}  // namespace

core::Result<void> run(const StepsCommand& command, const CommandContext& context) {
  const core::Result<ModelAndBatch> loaded = read_model_and_batch(command.input, Keeps::values);
  if (!loaded) return loaded.error();
  print_warnings(*loaded, context);
  const core::Result<Words> words = Words::load(context.data.assets, context.language);
  if (!words) return words.error();
  const StepWriter writer(loaded->model.graph, words->text, words->formulas);
  const std::size_t n_steps = loaded->batch.has_targets ? writer.steps().size() : loaded->n_operations();
  if (command.format == OutputFormat::json)
    print_json(writer, n_steps, context.out);
  else
    print_text(writer, n_steps, command.has_formulas, words->text, context.out);
  return {};
}

}  // namespace headscope::simulator
