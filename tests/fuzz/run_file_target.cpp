// run.json: what is accepted is written so that it is read as the same.
#include "core/formats/run_file.h"
#include "tests/fuzz/small_decoder.h"
#include "tests/fuzz/targets.h"

namespace headscope::fuzz {

void try_run_file(std::string_view bytes) {
  const core::ModelConfig model = small_decoder();
  const core::Result<core::RunFile> file = core::parse_run_file(std::string(bytes), model, "bytes");
  if (!file) return;
  promise(core::validate(file->config, "bytes").has_value(), "what is accepted is valid");
  const core::Result<core::RunFile> again =
      core::parse_run_file(core::format_run_file(*file), model, "bytes");
  promise(again.has_value() && *again == *file, "a run is read as it was written");
}

}  // namespace headscope::fuzz
