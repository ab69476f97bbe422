// A cell of one's own over the C++ wrapper: the whole sequence at once, then step by step as a generator
// does. The program ends with status 0 if both give the same.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <rondo/rondo.hpp>
#include <vector>

namespace {

namespace api = rondo::api;

constexpr std::int64_t kBatch = 2, kTime = 12, kDim = 6;

constexpr const char* kText = R"(
cell damped(D) {        # a damped oscillator for each channel, driven by x
  input x[D]
  param stiffness[D], damping[D]
  state place[D], speed[D]
  const dt = 0.1

  next speed = speed + dt * (x - stiffness * place - damping * speed)
  next place = place + dt * next speed
  output place
}
)";

// Memory with the alignment of a workspace.
struct Memory {
  explicit Memory(std::int64_t bytes) : words(static_cast<std::size_t>(bytes) / sizeof(float) + 128) {}
  void* aligned() {
    const auto address = reinterpret_cast<std::uintptr_t>(words.data());
    return words.data() + ((256 - address % 256) % 256) / sizeof(float);
  }
  std::vector<float> words;
};

std::int64_t bytes_of(const std::vector<float>& values) {
  return static_cast<std::int64_t>(values.size() * sizeof(float));
}

int run() {
  const api::Context context = api::Context::cpu().value();
  const api::Cell cell = api::Cell::parse(kText, "damped.cell").value();
  const api::Plan plan =
      api::make_plan(context, cell, api::problem(kBatch, kTime, 1, kDim, RONDO_TYPE_F32)).value();
  std::vector<float> x(kBatch * kTime * kDim), stiffness(kDim, 2), damping(kDim, 0.5F), out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i));

  const auto set = [&](api::Arguments& arguments, const char* name, std::vector<float>& values) {
    arguments.set(plan.find(name).value(), RONDO_TYPE_F32, values.data(), bytes_of(values));
  };
  Memory whole(plan.workspace_bytes(kBatch, kTime).value());
  api::Arguments sequence(kBatch, kTime);
  set(sequence, "x", x);
  set(sequence, "stiffness", stiffness);
  set(sequence, "damping", damping);
  set(sequence, "place_out", out);
  sequence.workspace(whole.aligned(), plan.workspace_bytes(kBatch, kTime).value());
  plan.launch(sequence).value();

  std::vector<float> place(kBatch * kDim), speed(kBatch * kDim), y(kBatch * kDim);
  const std::int64_t step_bytes = plan.step_workspace_bytes(kBatch).value();
  Memory one(step_bytes);
  const std::int32_t x_index = plan.find("x").value();
  const rondo_tensor_info x_info = plan.tensor(x_index).value();
  float worst = 0;
  for (std::int64_t t = 0; t < kTime; ++t) {
    api::Arguments step(kBatch, 1);
    step.set(x_index, x_info, x.data() + t * kDim, bytes_of(x) - t * kDim * 4, kTime * kDim, kDim);
    set(step, "stiffness", stiffness);
    set(step, "damping", damping);
    set(step, "place_first", place);  // in place: the last states are not given
    set(step, "speed_first", speed);
    set(step, "place_out", y);
    step.workspace(one.aligned(), step_bytes);
    plan.step(step).value();
    for (std::int64_t i = 0; i < kBatch * kDim; ++i) {
      const std::int64_t same = (i / kDim * kTime + t) * kDim + i % kDim;
      worst = std::max(worst, std::abs(y[static_cast<std::size_t>(i)] - out[static_cast<std::size_t>(same)]));
    }
  }
  std::printf("%s: steps and the sequence differ by %g at most\n", cell.info().value().name,
              static_cast<double>(worst));
  return worst < 1e-5F ? 0 : 1;
}

}  // namespace

int main() {
  // Errors are values; value() throws where the caller does not look.
  const api::Result<api::Cell> bad = api::Cell::parse("cell bad(D) { output y }", "bad.cell");
  if (bad) return 1;
  std::printf("%s\n", bad.error().message.c_str());
  try {
    return run();
  } catch (const api::BadResult& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
