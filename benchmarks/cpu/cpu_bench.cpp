// Times a pass of a shipped cell on this machine's CPUs, with the same tensors in each run, beside the
// reference executor; and again as `rondo bench` does, in turns with copies of as many bytes and with tensors
// that no cache holds. Prints one line of JSON: `cpu_bench CELL B T H D fw|fws|bw fp32|bf16|fp16 RUNS SAVE`,
// where SAVE is what `rondo --save` takes, states or products. benchmarks/cpu.py calls it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "compiler/step/reference/executor.h"
#include "compiler/target/target.h"
#include "engine/machine/machine.h"
#include "engine/request/load_cell.h"
#include "engine/trust/trusted_plan.h"
#include "tuner/bench/bench.h"

using namespace rondo;

namespace {

template <class Body>
double milliseconds(Body body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// One run of a forward pass; 0 for other passes.
double reference_ms(const schedule::Task& task) {
  if (task.problem.pass != schedule::Pass::Forward) return 0;
  step::ForwardArguments<float> arguments;
  for (const step::Tensor& tensor : task.written.tensors) {
    const auto count = static_cast<std::size_t>(step::element_count(tensor, task.problem.sizes));
    if (tensor.kind == step::TensorKind::Input) arguments.inputs[tensor.name].assign(count, 0.01f);
    if (tensor.kind == step::TensorKind::Param) arguments.params[tensor.name].assign(count, 0.01f);
  }
  return milliseconds([&] { (void)step::run_forward(task.written, task.problem.sizes, arguments); });
}

int fail(const std::string& message) {
  std::fputs((message + "\n").c_str(), stderr);
  return 1;
}

int bench(char** arguments) {
  const auto file = engine::load_cell_file(arguments[1]);
  if (!file) return fail(file.error().message);
  const auto cell = engine::select_cell(*file, "");
  if (!cell) return fail(cell.error().message);
  schedule::Problem problem;
  problem.sizes = {std::atoll(arguments[2]), std::atoll(arguments[3]), std::atoll(arguments[4]),
                   std::atoll(arguments[5])};
  const std::string pass = arguments[6], dtype = arguments[7];
  problem.pass = pass == "fw"    ? schedule::Pass::Forward
                 : pass == "fws" ? schedule::Pass::ForwardSave
                                 : schedule::Pass::Backward;
  problem.storage = dtype == "fp32"   ? kernel::Storage::F32
                    : dtype == "bf16" ? kernel::Storage::BF16
                                      : kernel::Storage::F16;
  problem.math = schedule::default_math(problem.storage);
  problem.save_products = std::string(arguments[9]) == "products";
  const int runs = std::atoi(arguments[8]);
  const auto machine = engine::find_machine("cpu", nullptr);
  if (!machine) return fail(machine.error().message);
  std::optional<Result<engine::ReadyPlan>> ready;
  const double ready_ms = milliseconds([&] {
    ready.emplace(engine::trusted_plan({*cell, problem, machine->profile}, *machine, {}, {}));
  });
  if (!*ready) return fail((*ready).error().message);
  const runtime::LoadedPlan& plan = *(*ready)->plan;
  executable::Bindings bindings;
  std::vector<std::vector<char>> memory;
  for (const executable::Tensor& tensor : plan.tensors()) {
    if (schedule::is_internal(tensor.ref.role)) continue;
    const std::int64_t count = tensor.size.at(problem.sizes.batch, problem.sizes.time);
    memory.emplace_back(static_cast<std::size_t>(count * scalar::storage_bytes(tensor.storage) + 256), 0);
    bindings.set(tensor.ref, (reinterpret_cast<executable::Address>(memory.back().data()) + 63) / 64 * 64);
  }
  std::vector<char> workspace(
      static_cast<std::size_t>(plan.workspace_bytes(problem.sizes.batch, problem.sizes.time) + 256));
  bindings.set_workspace((reinterpret_cast<executable::Address>(workspace.data()) + 255) / 256 * 256);
  std::vector<double> times;
  for (int run = 0; run < runs + 1; ++run) {
    Status launched = success();
    const double ms =
        milliseconds([&] { launched = plan.launch(bindings, problem.sizes.batch, problem.sizes.time); });
    if (!launched) return fail(launched.error().message);
    if (run > 0) times.push_back(ms);
  }
  const auto row = tuner::bench({*cell, problem, machine->profile}, *machine, **ready);
  if (!row) return fail(row.error().message);
  fmt::print(
      "{{\"ms\": [{:.4f}], \"ready_ms\": {:.1f}, \"bytes\": {}, \"share_of_copy\": {:.4f}, \"copy_ms\": "
      "{:.4f}, "
      "\"threads\": {}, \"reference_ms\": {:.3f}, \"target\": \"{}\", \"parameters\": \"{}\"}}\n",
      fmt::join(times, ", "), ready_ms, row->bytes, row->share(),
      static_cast<double>(row->bytes) / row->copy_bytes_per_s * 1e3, target::usable_threads(),
      reference_ms({*cell, problem, {}}), (*ready)->compiled.executable.images.front().target,
      schedule::print((*ready)->choice.parameters));
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 10) return bench(arguments);
  return fail("usage: cpu_bench CELL B T H D fw|fws|bw fp32|bf16|fp16 RUNS states|products");
}
