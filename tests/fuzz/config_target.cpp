// config.json: a configuration that is accepted has a graph, and is written so that it is read as the same.
#include "core/formats/model_directory.h"
#include "tests/fuzz/targets.h"

namespace headscope::fuzz {

void try_config(std::string_view bytes) {
  const core::Result<core::ModelConfig> config = core::parse_config(std::string(bytes), "bytes");
  if (!config) return;
  promise(core::validate(*config, "bytes").has_value(), "what is accepted is valid");
  const core::Result<core::ModelConfig> again = core::parse_config(core::format_config(*config), "bytes");
  promise(again.has_value() && *again == *config, "a configuration is read as it was written");
  promise(core::build_graph(*config, "bytes").has_value(), "a valid configuration has a graph");
}

}  // namespace headscope::fuzz
