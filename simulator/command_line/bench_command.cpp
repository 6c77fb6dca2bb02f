// headscope bench: training steps a second, beside what the machine can multiply at most.
#include "core/benchmark.h"
#include "simulator/command_line/commands.h"
#include "simulator/terminal/text_layout.h"

#include <cstdint>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace headscope::simulator {
namespace {

struct Measured {
  core::BenchmarkSize size;
  int n_threads;
  core::BenchmarkRun run;
  double watching;  // share of the time that a viewer costs
};

std::string digits(double number, int decimals) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(decimals) << number;
  return text.str();
}

/// What was trained: its keys are optional for who reads this.
std::string config_json(const core::BenchmarkSize& size) {
  const std::pair<const char*, std::int64_t> members[] = {
      {"d_model", size.d_model},   {"n_heads", size.n_heads},   {"d_ff", size.d_ff},
      {"n_layers", size.n_layers}, {"n_tokens", size.n_tokens}, {"n_batch", size.n_batch},
      {"n_vocab", size.n_vocab}};
  std::string text;
  for (const auto& [key, value] : members)
    text += (text.empty() ? "{\"" : ", \"") + std::string(key) + "\": " + std::to_string(value);
  return text + "}";
}

std::string json(double peak, const std::vector<Measured>& all) {
  std::string text = "{\"fma_peak_gflops\": " + digits(peak, 1) + ", \"runs\": [";
  for (std::size_t place = 0; place < all.size(); ++place) {
    const Measured& measured = all[place];
    text += (place > 0 ? ", " : "") + ("{\"size\": \"" + std::string(measured.size.name)) +
            "\", \"threads\": " + std::to_string(measured.n_threads) +
            ", \"ms_per_step\": " + digits(measured.run.ms_per_step, 4) +
            ", \"gflops\": " + digits(measured.run.gflops, 2) +
            ", \"peak_share\": " + digits(measured.run.gflops / peak, 4) +
            ", \"steps\": " + std::to_string(measured.run.n_steps) +
            ", \"watching_share\": " + digits(measured.watching, 4) +
            ", \"config\": " + config_json(measured.size) + "}";
  }
  return text + "]}\n";
}

void print_table(double peak, const std::vector<Measured>& all, const CommandContext& context) {
  const auto say = [&](const std::string& key) { return context.text.text("command.bench." + key); };
  using terminal::Align;
  terminal::Table table{.columns = {Align::left, Align::right, Align::right, Align::right, Align::right,
                                    Align::right, Align::right},
                        .rows = {{say("size"), say("threads"), say("steps_per_second"), say("ms_per_step"),
                                  say("gflops"), say("peak_share"), say("watching")}}};
  for (const Measured& measured : all)
    table.rows.push_back({std::string(measured.size.name), std::to_string(measured.n_threads),
                          digits(1e3 / measured.run.ms_per_step, 1), digits(measured.run.ms_per_step, 3),
                          digits(measured.run.gflops, 1), digits(100 * measured.run.gflops / peak, 1) + " %",
                          digits(100 * measured.watching, 1) + " %"});
  context.out << context.text.text("command.bench.peak", {{"gflops", digits(peak, 1)}}) << "\n";
  for (const std::string& line : terminal::table_lines(table)) context.out << line << "\n";
}

}  // namespace

core::Result<void> run(const BenchCommand& command, const CommandContext& context) {
  const double peak = core::measure_fma_peak();
  const std::span<const core::BenchmarkSize> sizes = core::benchmark_sizes();
  std::vector<Measured> all;
  for (std::size_t place = 0; place < sizes.size(); ++place) {
    if (command.size && static_cast<std::size_t>(*command.size) != place) continue;
    const std::vector<int> counts = command.n_threads ? std::vector{*command.n_threads} : std::vector{1, 2};
    for (const int n_threads : counts) {
      if (command.format == OutputFormat::text)
        context.errors << context.text.text("command.bench.running",
                                            {{"size", std::string(sizes[place].name)},
                                             {"threads", std::to_string(n_threads)}})
                       << std::endl;
      all.push_back({sizes[place], n_threads, core::run_benchmark(sizes[place], n_threads, command.seconds),
                     core::measure_watching(sizes[place], n_threads, command.seconds)});
    }
  }
  if (command.format == OutputFormat::json)
    context.out << json(peak, all);
  else
    print_table(peak, all, context);
  return {};
}

}  // namespace headscope::simulator
