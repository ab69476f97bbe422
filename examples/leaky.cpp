// The C++ library in one program: parses a cell, runs it on the CPU reference, and, where there is a GPU,
// chooses a kernel, compiles, loads and launches it. Both results are compared with the closed form of this
// recurrence; the exit status is 1 if one of them is wrong.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <vector>

#include "compiler/frontend/frontend.h"
#include "compiler/step/reference/executor.h"
#include "engine/machine/machine.h"
#include "engine/trust/trusted_plan.h"

namespace {

using namespace rondo;

constexpr const char* kText = R"(cell leaky(D) {
  input x[D]
  param a[D]
  state h[D]
  r = sigmoid(a)
  next h = r * h + (1 - r) * tanh(x)
  output h
}
)";

constexpr step::Sizes kSizes{.batch = 4, .time = 64, .heads = 1, .dim = 1536};
constexpr std::size_t kRows = kSizes.batch * kSizes.time;   // of x and h, laid out as [B, T, H, D]
constexpr double kExactLimit = 1e-12, kSingleLimit = 1e-5;  // of the absolute error

// Every channel has its own x and a, the same at all steps.
double x_of(std::int64_t channel) { return 0.5 + static_cast<double>(channel % 7) / 8; }
double a_of(std::int64_t channel) { return 2.0 + static_cast<double>(channel % 5) / 4; }

// With a constant x and h = 0 at the start the state after t steps is tanh(x) * (1 - r^t).
template <class Element>
double worst_error(const std::vector<Element>& h) {
  double worst = 0;
  for (std::size_t i = 0; i < h.size(); ++i) {
    const auto channel = static_cast<std::int64_t>(i) % kSizes.dim;
    const auto steps = static_cast<std::int64_t>(i) / kSizes.dim % kSizes.time + 1;
    const double r = 1 / (1 + std::exp(-a_of(channel)));
    const double wanted = std::tanh(x_of(channel)) * (1 - std::pow(r, static_cast<double>(steps)));
    const double error = std::abs(static_cast<double>(h[i]) - wanted);
    worst = error <= worst ? worst : error;  // a NaN becomes the worst
  }
  return worst;
}

template <class Element>
std::vector<Element> by_channel(std::size_t rows, double (*value)(std::int64_t)) {
  std::vector<Element> all(rows * kSizes.dim);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<Element>(value(static_cast<std::int64_t>(i) % kSizes.dim));
  return all;
}

// The CPU reference, in double, takes and returns dense row-major tensors by name.
std::vector<double> on_cpu(const step::Cell& cell) {
  step::ForwardArguments<double> arguments;
  arguments.inputs["x"] = by_channel<double>(kRows, x_of);
  arguments.params["a"] = by_channel<double>(1, a_of);
  return step::run_forward<double>(cell, kSizes, arguments).value().outputs.at("h");
}

// Every call returns a Result; value() throws rondo::BadResult with the message if it holds an error.
std::vector<float> on_machine(const std::shared_ptr<const step::Cell>& cell, const engine::Machine& machine) {
  schedule::Problem problem;
  problem.sizes = kSizes;
  problem.storage = kernel::Storage::F32;
  problem.math = schedule::default_math(problem.storage);
  // With TrustOptions::database set it takes what was tuned; a record from elsewhere is verified first.
  const engine::ReadyPlan ready =
      engine::trusted_plan({*cell, problem, machine.profile}, machine, {}, {}).value();
  std::printf("%s: %s\n", machine.profile.name.c_str(), ready.choice.note.c_str());
  const runtime::LoadedPlan& plan = *ready.plan;
  const runtime::Device& device = *machine.device;

  const auto x = by_channel<float>(kRows, x_of), a = by_channel<float>(1, a_of);
  std::vector<float> h(x.size());
  const auto allocate = [&](std::size_t bytes) { return device.allocate(bytes).value(); };
  const auto x_there = allocate(x.size() * sizeof(float)), a_there = allocate(a.size() * sizeof(float));
  const auto h_there = allocate(h.size() * sizeof(float));
  const auto workspace = allocate(static_cast<std::size_t>(plan.workspace_bytes(kSizes.batch, kSizes.time)));
  device.upload(x_there.address(), std::as_bytes(std::span(x))).value();
  device.upload(a_there.address(), std::as_bytes(std::span(a))).value();

  // The initial state is not bound, so it is zero.
  runtime::Bindings bindings;
  bindings.set({schedule::Role::Input, *cell->find("x")}, x_there.address());
  bindings.set({schedule::Role::Param, *cell->find("a")}, a_there.address());
  bindings.set({schedule::Role::Output, cell->outputs.front().tensor}, h_there.address());
  bindings.set_workspace(workspace.address());
  plan.launch(bindings, kSizes.batch, kSizes.time).value();
  device.download(h_there.address(), std::as_writable_bytes(std::span(h))).value();
  device.wait().value();
  return h;
}

bool report(const char* where, double error, double limit) {
  const bool right = error <= limit;
  std::printf("%s: largest error %.3g, %s\n", where, error, right ? "right" : "WRONG");
  return right;
}

}  // namespace

int main() try {
  const frontend::Parsed parsed = frontend::parse(kText, "leaky.cell");
  if (!parsed.ok()) {
    std::fputs(frontend::render_all(parsed, kText, "leaky.cell").c_str(), stderr);
    return 2;
  }
  const auto cell = std::make_shared<const step::Cell>(parsed.cells.front());
  bool right = report("CPU reference", worst_error(on_cpu(*cell)), kExactLimit);

  // Pass a db::Database* instead of nullptr to use what was measured on this machine.
  const engine::Machine machine = engine::find_machine("auto", nullptr).value();
  if (machine.device != nullptr)
    right = report("GPU", worst_error(on_machine(cell, machine)), kSingleLimit) && right;
  else
    std::printf("no GPU: %s\n", machine.why_no_device.c_str());
  return right ? 0 : 1;
} catch (const rondo::BadResult& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}
