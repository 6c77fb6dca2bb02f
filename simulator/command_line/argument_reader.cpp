#include "simulator/command_line/argument_reader.h"

namespace headscope::simulator {

core::Error bad_value(std::string option, std::string given, std::string allowed) {
  return {.key = "arguments.value",
          .where = "",
          .values = {
              {"option", std::move(option)}, {"given", std::move(given)}, {"allowed", std::move(allowed)}}};
}

core::Error needs(std::string option, std::string needed) {
  return {.key = "arguments.needs",
          .where = "",
          .values = {{"option", std::move(option)}, {"needed", std::move(needed)}}};
}

core::Error not_with(std::string first, std::string second) {
  return {.key = "arguments.not_with",
          .where = "",
          .values = {{"first", std::move(first)}, {"second", std::move(second)}}};
}

void read_interventions(Reader& reader, const Typed& typed, InterventionOptions& options) {
  options.zero_heads = typed.zero_head;
  options.mean_heads = typed.mean_head;
  options.mean_data.assign(typed.mean_data.begin(), typed.mean_data.end());
  options.frozen = typed.freeze_activation;
  options.uniform_attentions = typed.uniform_attention;
  options.cells = typed.set;
  options.leaves_scale = !typed.no_scale;
  options.leaks_future = typed.leak_future;
  if (typed.mean_head.empty() != typed.mean_data.empty())
    reader.fail(typed.mean_head.empty() ? needs("--mean-data", "--mean-head")
                                        : needs("--mean-head", "--mean-data"));
  reader.real("--temperature", typed.temperature, "0.000001 … 1000000", is_temperature, options.temperature);
}

}  // namespace headscope::simulator
