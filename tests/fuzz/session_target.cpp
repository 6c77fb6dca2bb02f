// Session files: one that is accepted is whole, and is written so that it is read as the same.
#include "core/workspace.h"
#include "simulator/session_file.h"
#include "tests/fuzz/targets.h"

namespace headscope::fuzz {

void try_session(std::string_view bytes) {
  const core::Result<simulator::SessionFile> file = simulator::parse_session(bytes, "bytes");
  if (!file) return;
  promise(file->model != nullptr, "a session has a model");
  promise(file->view.text_scale >= 0.75 && file->view.text_scale <= 3, "the text has a size within limits");
  promise(!file->setup.trained || file->setup.trained->parameters.size() == file->model->parameters.size(),
          "a trained state is of its model");
  const std::string written = simulator::format_session(*file);
  const core::Result<simulator::SessionFile> again = simulator::parse_session(written, "bytes");
  promise(again.has_value(), "what was written is read");
  promise(simulator::format_session(*again) == written, "a session is read as it was written");

  // what a session makes of a setup that nobody checked: small ones only, since activations are no part of a
  // file
  constexpr double kSmall = 100'000;
  const core::Result<core::Graph> graph = core::build_graph(file->model->config, "bytes");
  const auto longest = static_cast<std::int64_t>(file->setup.text.size()) + 16;
  if (longest > 64 || core::count_reals(*graph, {1, longest, longest}, core::Role::activation) > kSmall)
    return;
  core::Result<core::Session> session =
      core::Session::make(file->model, core::Setup{.text = file->setup.text});
  if (!session) return;
  if (session->set(file->setup)) session->move_to(session->n_steps());
}

}  // namespace headscope::fuzz
