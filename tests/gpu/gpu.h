// What the GPU tests share: the device, cells, plans by the model's choice, and what takes long to make.
// Without a GPU every test fails, saying why. RONDO_TEST_CODE names a database, made where there is none:
// what one test has compiled is there for the others, and for those of processes beside it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/frontend/frontend.h"
#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/serialise.h"
#include "compiler/schedule/rewrite/deal_rows.h"
#include "compiler/schedule/strategies.h"
#include "compiler/step/serialise.h"
#include "engine/check/verify.h"
#include "engine/choice/choose.h"
#include "engine/data/host_problem.h"
#include "engine/machine/device_profile.h"
#include "engine/plan/compile.h"
#include "engine/plan/device_tensor.h"
#include "engine/request/cell_library.h"
#include "runtime/device/gpu_device.h"
#include "tests/schedule/point_plan.h"
#include "tuner/calibrate/calibrate.h"

namespace rondo::testing {

struct Gpu {
  runtime::Context context;
  runtime::DeviceInfo info;
  target::Profile profile;
  std::shared_ptr<const runtime::Device> device;
  runtime::StreamHandle stream;      // the device's
  std::optional<db::Database> code;  // what has been compiled

  engine::Machine machine() const {
    engine::Machine machine;
    machine.profile = profile;
    machine.device = device;
    machine.platform = engine::platform_of(info);
    machine.gpu_info = info;
    return machine;
  }

  static Result<Gpu*> get() {
    static const Result<Gpu*> gpu = open();  // never destroyed: the driver may be gone when statics go
    return gpu;
  }

 private:
  static Result<Gpu*> open() {
    Result<runtime::Context> context = runtime::Context::open(0);
    if (!context) return context.error();
    Result<runtime::DeviceInfo> info = runtime::device_info(0);
    if (!info) return info.error();
    std::optional<db::Database> code;
    if (const char* path = std::getenv("RONDO_TEST_CODE")) {
      Result<db::Database> opened = db::Database::open(path);
      if (!opened) return opened.error();
      code = std::move(opened).value();
    }
    Gpu* gpu = new Gpu{
        std::move(context).value(), *info, engine::profile_of(*info), nullptr, nullptr, std::move(code)};
    auto device = runtime::gpu_device_in(gpu->context);
    if (!device) return device.error();
    gpu->device = std::move(device).value();
    gpu->stream = runtime::stream_of(*gpu->device);
    return gpu;
  }
};

// A plan that a test launches itself too, as what the device has loaded.
class LentPlan final : public runtime::LoadedPlan {
 public:
  LentPlan(const runtime::DevicePlan& plan, runtime::StreamHandle stream) : plan_(plan), stream_(stream) {}
  std::int64_t workspace_bytes(std::int64_t batch, std::int64_t time) const override {
    return plan_.workspace_bytes(batch, time);
  }
  const std::vector<executable::Tensor>& tensors() const override { return plan_.tensors(); }
  Status launch(const runtime::Bindings& bindings, std::int64_t batch, std::int64_t time) const override {
    return plan_.launch(stream_, bindings, batch, time);
  }
  Status check() const override { return plan_.check(); }

 private:
  const runtime::DevicePlan& plan_;
  runtime::StreamHandle stream_;
};

// Data and exact results for plans of a problem, as Verifier::make gives them. Tests of several plans of one
// problem follow each other and share them: the reference takes longer than all the rest. Valid until four
// others have been asked for.
inline Result<const engine::Verifier*> verifier_of(const step::Cell& cell, const schedule::Problem& p,
                                                   const std::vector<engine::VerifyCase>& cases,
                                                   std::uint64_t seed) {
  constexpr std::size_t kKept = 4;
  static std::list<std::pair<std::string, engine::Verifier>> kept;  // the newest first
  ByteWriter key;
  step::write_cell(key, cell);
  schedule::write_problem(key, p);
  for (const engine::VerifyCase& shape : cases) key.text(shape.text());
  key.u64(seed);
  for (const auto& [of, verifier] : kept)
    if (of == key.bytes()) return &verifier;
  Result<engine::Verifier> made = engine::Verifier::make({cell, p, {}}, cases, seed);
  if (!made) return made.error();
  kept.emplace_front(key.take(), std::move(made).value());
  if (kept.size() > kKept) kept.pop_back();
  return &kept.front().second;
}

// Fixture: `gpu_` is there, or the test has failed with the reason.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const Result<Gpu*> gpu = Gpu::get();
    if (!gpu) FAIL() << "this test needs an NVIDIA GPU: " << gpu.error().message << ". " << gpu.error().hint;
    gpu_ = *gpu;
    ASSERT_TRUE(gpu_->context.make_current().ok());
  }

  // The plan's results agree with the reference's, and so many runs give the same bits.
  void expect_right(const runtime::DevicePlan& plan, const step::Cell& cell, const schedule::Problem& p,
                    const std::vector<engine::VerifyCase>& cases, std::uint64_t seed, int repeats) const {
    const auto verifier = verifier_of(cell, p, cases, seed);
    ASSERT_TRUE(verifier.ok()) << verifier.error().message;
    const auto result = (*verifier)->check(*gpu_->device, lent(plan));
    ASSERT_TRUE(result.ok()) << result.error().message;
    for (const engine::TensorCheck& check : result->checks)
      EXPECT_TRUE(check.passed) << cell.name << " D=" << p.sizes.dim << ": " << check.text();
    const Status repeatable = (*verifier)->check_repeatable(*gpu_->device, lent(plan), repeats);
    EXPECT_TRUE(repeatable.ok()) << repeatable.error().message;
  }

  schedule::Problem problem(schedule::Pass pass, step::Sizes sizes, kernel::Storage storage) const {
    schedule::Problem p;
    p.sizes = sizes;
    p.storage = storage;
    p.pass = pass;
    p.math = schedule::default_math(storage);
    return p;
  }

  Result<engine::CompiledPlan> compile(const step::Cell& cell, const schedule::Problem& p,
                                       schedule::KernelPlan plan) const {
    engine::CompileOptions options;
    if (gpu_->code) options.database = &*gpu_->code;
    return engine::compile_plan(std::make_shared<const schedule::Task>(cell, p, gpu_->profile),
                                std::move(plan), options);
  }
  // Compiled and loaded; fails the test and gives nothing on an error.
  std::unique_ptr<runtime::DevicePlan> load(const step::Cell& cell, const schedule::Problem& p,
                                            const std::string& strategy,
                                            const schedule::Parameters& parameters,
                                            bool may_spill = false) const {
    return load(cell, p, strategy, parameters, gpu_->profile, may_spill);
  }
  std::unique_ptr<runtime::DevicePlan> load(const step::Cell& cell, const schedule::Problem& p,
                                            const std::string& strategy,
                                            const schedule::Parameters& parameters,
                                            const target::Profile& profile, bool may_spill) const {
    auto compiled = compile(
        cell, p, schedule::point_plan(*schedule::find_strategy(strategy), cell, p, parameters, profile));
    if (!compiled) {
      ADD_FAILURE() << cell.name << ": " << compiled.error().message;
      return nullptr;
    }
    EXPECT_TRUE(may_spill || !compiled->spills()) << cell.name << " " << schedule::print(parameters);
    auto loaded = runtime::DevicePlan::load(compiled->executable, gpu_->context);
    if (!loaded) {
      ADD_FAILURE() << cell.name << ": " << loaded.error().message;
      return nullptr;
    }
    return std::make_unique<runtime::DevicePlan>(std::move(loaded).value());
  }
  // Whether what the compiler makes of a candidate spills; of how many candidates a test asks.
  static constexpr int kTries = 20;
  bool spills(const step::Cell& cell, const schedule::Problem& p, const engine::Candidate& candidate,
              const target::Profile& profile) const {
    const auto compiled = compile(
        cell, p,
        schedule::find_strategy(candidate.strategy)->build({cell, p, profile}, candidate.parameters).value());
    return compiled.ok() && compiled->spills();
  }
  // Allocates what the plan requires, fills it with random values and binds it. `p.sizes` are the sizes.
  void bind_required(const runtime::DevicePlan& plan, const step::Cell& cell, const schedule::Problem& p,
                     double amplitude, runtime::Bindings& bindings,
                     std::vector<engine::DeviceTensor>& tensors) const {
    for (const executable::Tensor& tensor : plan.tensors()) {
      if (tensor.need != executable::Need::Required || schedule::is_internal(tensor.ref.role)) continue;
      auto made = engine::DeviceTensor::allocate(*gpu_->device, tensor.ref, {cell, p, {}}, p.sizes);
      ASSERT_TRUE(made.ok());
      const auto values = engine::random_values(p.storage, made->elements(), amplitude, 9);
      ASSERT_TRUE(made->upload(values).ok());
      bindings.set(tensor.ref, made->buffer().address());
      tensors.push_back(std::move(made).value());
    }
  }
  LentPlan lent(const runtime::DevicePlan& plan) const { return {plan, gpu_->stream}; }
  std::unique_ptr<runtime::DevicePlan> load_chosen(const step::Cell& cell, const schedule::Problem& p,
                                                   int alignment = engine::kFullAlignment,
                                                   bool may_spill = false) const {
    engine::ChooseOptions options;
    options.alignment = alignment;
    const auto choice = engine::choose({cell, p, gpu_->profile}, options);
    if (!choice) {
      ADD_FAILURE() << cell.name << ": " << choice.error().message;
      return nullptr;
    }
    return load(cell, p, choice->strategy, choice->parameters, may_spill);
  }

  Gpu* gpu_ = nullptr;
};

inline step::Cell library_cell(const std::string& name) {
  for (const engine::EmbeddedCell& cell : engine::embedded_cells())
    if (cell.name == name) return frontend::parse(cell.text, name + ".cell").cells.at(0);
  throw std::runtime_error("no cell " + name);
}

inline bool has_matrix_state(const std::string& name) {
  return schedule::outer_rows(library_cell(name)) >= schedule::kLeastRowsDealt;
}

// Names of the library's cells that a strategy computes, but for those whose state is a matrix: kernels of so
// many rows take long to compile, and have tests of their own (rows_test.cpp).
// Of all passes.
inline std::vector<std::string> cells_of(const std::string& strategy) {
  std::vector<std::string> names;
  schedule::Problem problem;
  problem.pass = schedule::Pass::Backward;
  for (const engine::EmbeddedCell& embedded : engine::embedded_cells())
    if (!has_matrix_state(embedded.name) &&
        schedule::find_strategy(strategy)->legal({library_cell(embedded.name), problem, {}}).legal)
      names.push_back(embedded.name);
  return names;
}
inline std::vector<std::string> diagonal_cells() { return cells_of("stream"); }
inline std::vector<std::string> dense_cells() { return cells_of("persistent"); }
inline std::vector<std::string> matrix_state_cells() {
  std::vector<std::string> names;
  for (const engine::EmbeddedCell& embedded : engine::embedded_cells())
    if (has_matrix_state(embedded.name)) names.push_back(embedded.name);
  return names;
}

}  // namespace rondo::testing
