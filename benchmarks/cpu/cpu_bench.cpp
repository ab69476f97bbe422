// Times a pass of a shipped cell on this machine's CPUs, beside a copy of as many bytes and the reference
// executor, and prints one line of JSON: `cpu_bench CELL B T H D fw|fws|bw fp32|bf16|fp16 RUNS`.
// benchmarks/cpu.py calls it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "compiler/step/reference/executor.h"
#include "compiler/target/target.h"
#include "runtime/commands/load_cell.h"
#include "tuner/measure/ready_plan.h"

using namespace rondo;

namespace {

template <class Body>
double milliseconds(Body body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

// Half of the bytes are read and half are written, by as many threads as kernels have.
double copy_ms(std::int64_t bytes, int threads, int runs) {
  const auto half = static_cast<std::size_t>(bytes / 2);
  std::vector<char> from(half, 1), to(half, 2);
  double best = 1e30;
  for (int run = 0; run < runs; ++run)
    best = std::min(best, milliseconds([&] {
                      std::vector<std::thread> all;
                      for (int i = 0; i < threads; ++i)
                        all.emplace_back([&, i] {
                          const std::size_t begin =
                              half * static_cast<std::size_t>(i) / static_cast<std::size_t>(threads);
                          const std::size_t end =
                              half * static_cast<std::size_t>(i + 1) / static_cast<std::size_t>(threads);
                          std::memcpy(to.data() + begin, from.data() + begin, end - begin);
                        });
                      for (std::thread& thread : all) thread.join();
                    }));
  return best;
}

// One run of a forward pass; 0 for other passes.
double reference_ms(const step::Cell& cell, const schedule::Problem& problem) {
  if (problem.pass != schedule::Pass::Forward) return 0;
  step::ForwardArguments<float> arguments;
  for (const step::Tensor& tensor : cell.tensors) {
    const auto count = static_cast<std::size_t>(step::element_count(tensor, problem.sizes));
    if (tensor.kind == step::TensorKind::Input) arguments.inputs[tensor.name].assign(count, 0.01f);
    if (tensor.kind == step::TensorKind::Param) arguments.params[tensor.name].assign(count, 0.01f);
  }
  return milliseconds([&] { (void)step::run_forward(cell, problem.sizes, arguments); });
}

int fail(const std::string& message) {
  std::fputs((message + "\n").c_str(), stderr);
  return 1;
}

int bench(char** arguments) {
  const auto file = runtime::load_cell_file(arguments[1]);
  if (!file) return fail(file.error().message);
  const auto cell = runtime::select_cell(*file, "");
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
  const int runs = std::atoi(arguments[8]);
  const auto machine = tuner::find_machine("cpu", nullptr);
  if (!machine) return fail(machine.error().message);
  problem.arch = machine->profile.arch();
  std::optional<Result<tuner::ReadyPlan>> ready;
  const double ready_ms =
      milliseconds([&] { ready.emplace(tuner::make_ready(*cell, problem, *machine, {}, {})); });
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
  const std::int64_t bytes = schedule::compulsory_bytes(*cell, problem);
  const int threads = target::usable_threads();
  fmt::print(
      "{{\"ms\": [{:.4f}], \"ready_ms\": {:.1f}, \"bytes\": {}, \"copy_ms\": {:.4f}, \"threads\": {}, "
      "\"reference_ms\": {:.3f}, \"target\": \"{}\", \"parameters\": \"{}\"}}\n",
      fmt::join(times, ", "), ready_ms, bytes, copy_ms(bytes, threads, runs), threads,
      reference_ms(*cell, problem), (*ready)->compiled.executable.images.front().target,
      schedule::print((*ready)->choice.parameters));
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 9) return bench(arguments);
  return fail("usage: cpu_bench CELL B T H D fw|fws|bw fp32|bf16|fp16 RUNS");
}
