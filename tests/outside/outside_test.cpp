// A strategy, a backend and a target that the libraries know nothing of, brought by a program: a cell runs
// through all three, and no file of the product names them.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/backend/backends.h"
#include "compiler/executable/serialise.h"
#include "compiler/kernel/builder/builder.h"
#include "compiler/kernel/ir/print.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/simulate_plan.h"
#include "compiler/schedule/strategies.h"
#include "engine/choice/choose.h"
#include "engine/emit/emit_stages.h"
#include "engine/plan/compile.h"
#include "engine/plan/ready_plan.h"
#include "tests/engine/plan/cells.h"

namespace rondo {
namespace {

using schedule::KernelPlan;
using schedule::Legality;
using schedule::Parameters;
using schedule::Problem;
using schedule::Role;
using schedule::Task;

// Doubles the first row of the only input at every step, for cells that say so: one thread a channel.
class Doubling final : public schedule::Strategy {
 public:
  std::string name() const override { return "doubling"; }
  Legality serves(const target::Profile&) const override { return {}; }
  Legality legal(const Task& task) const override {
    if (task.cell.name == "doubler" && task.problem.pass == schedule::Pass::Forward) return {};
    return {false, "it doubles, and nothing else"};
  }
  constraint::System space(const Task&) const override {
    constraint::System s;
    s.var("threads", constraint::values({32, 64}), "threads a block");
    return s;
  }
  schedule::CostModel cost_model(const Task&) const override {
    return [](const Parameters& parameters) {
      schedule::Estimate estimate;
      estimate.seconds = 1e-6 / static_cast<double>(parameters.at("threads"));
      return estimate;
    };
  }
  int alignment(const Problem& problem, const Parameters&) const override {
    return kernel::storage_bytes(problem.storage);
  }
  KernelPlan build_kernels(const Task& task, const Parameters& parameters) const override {
    const step::Cell& cell = task.cell;
    const Problem& problem = task.problem;
    const auto threads = static_cast<int>(parameters.at("threads"));
    kernel::Builder b("doubler_fw", threads, problem.math, "twice the input");
    schedule::Signature signature(b, task);
    const auto x = signature.reads({Role::Input, *cell.find("x")});
    const auto y = signature.writes({Role::Output, cell.of_kind(step::TensorKind::Output).at(0)});
    const kernel::Value time = signature.time();
    const std::int64_t channels = problem.sizes.heads * problem.sizes.dim;
    const std::int64_t blocks = (channels + threads - 1) / threads;
    const kernel::Value row = b.let("row", b.wide(b.block() / blocks));
    const kernel::Value channel = b.let("channel", b.wide(b.block() % blocks * threads + b.thread()));
    b.if_(channel < channels, [&] {
      b.for_("t", b.constant(0), time, b.constant(1), 1, [&](kernel::Value t) {
        const kernel::Value in = row * x.stride_b + b.wide(t) * x.stride_t + channel;
        const kernel::Value out = row * y.stride_b + b.wide(t) * y.stride_t + channel;
        const kernel::Value value = b.load("value", x.memory[in]);
        b.store(y.memory[out], value + value);
      });
    });
    KernelPlan plan;
    plan.strategy = name();
    plan.parameters = parameters;
    plan.alignment = alignment(problem, parameters);
    plan.launches.push_back({b.finish(), signature.arguments(), 0, blocks});
    return plan;
  }
};

// "Compiles" to the text of KernelIR.
class Printing final : public backend::Backend {
 public:
  std::string name() const override { return "printing"; }
  std::string title() const override { return "the printer"; }
  backend::Language language() const override { return backend::Language::CudaCxx; }
  backend::Source lower(const std::vector<const kernel::Kernel*>& kernels,
                        const target::Target&) const override {
    backend::Source source;
    for (const kernel::Kernel* kernel : kernels) source.text += kernel::print(*kernel);
    return source;
  }
  const std::vector<std::string>& flags() const override {
    static const std::vector<std::string> none;
    return none;
  }
  Status available() const override { return success(); }
  Result<std::string> version() const override { return std::string("1"); }
  Result<std::string> path() const override { return std::string("here"); }
  Result<std::vector<int>> capabilities() const override { return std::vector<int>{99}; }
  Result<backend::Compiled> compile(const backend::Request& request) const override {
    backend::Compiled compiled;
    compiled.image.target = request.target.name();
    compiled.image.kind = executable::ImageKind::Object;
    compiled.image.compiler = "printing 1";
    compiled.image.bytes = request.text;
    compiled.image.resources.resize(1);
    compiled.image.resources.front().name = "doubler_fw";
    return compiled;
  }
};

target::Profile toy_target() {
  target::Profile profile = target::find_profile("h200").value();
  profile.key = profile.name = "toy";
  profile.target = target::Target::gpu(99);
  return profile;
}

constexpr const char* kDoubler = R"(cell doubler(D) {
  input x[D]
  state h[D]
  next h = x + x
  output h
}
)";

TEST(Outside, AStrategyABackendAndATargetRunACell) {
  const Doubling doubling;
  const Printing printing;
  const step::Cell cell = rondo::testing::cell_from(kDoubler);
  EXPECT_EQ(schedule::find_strategy("doubling"), nullptr);
  EXPECT_FALSE(target::find_profile("toy").ok());
  {
    const Registration<const schedule::Strategy*> strategy(schedule::strategy_registry(), &doubling);
    const Registration<const backend::Backend*> backend(backend::backend_registry(), &printing);
    const Registration<target::Profile> target(target::profile_registry(), toy_target());

    const target::Profile profile = target::find_profile("toy").value();
    Problem problem = rondo::testing::problem_of(schedule::Pass::Forward, 40, kernel::Storage::F32);
    problem.sizes = {3, 7, 2, 40};
    const auto choice = engine::choose_with({cell, problem, profile}, {"doubling", {}});
    ASSERT_TRUE(choice.ok()) << choice.error().message;
    EXPECT_EQ(choice->parameters.at("threads"), 64) << "the cheaper one";
    const auto plan = engine::build_choice({cell, problem, profile}, *choice);
    ASSERT_TRUE(plan.ok());
    engine::CompileOptions options;
    options.backend = backend::find_backend("printing");
    const auto compiled =
        engine::compile_plan(std::make_shared<const Task>(cell, problem, profile), *plan, options);
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    const executable::Executable executable =
        executable::from_bytes(executable::to_bytes(compiled->executable), "a test").value();
    EXPECT_EQ(executable.images.front().target, "sm_99");
    EXPECT_NE(executable.images.front().bytes.find("doubler_fw"), std::string::npos);

    schedule::TensorValues given;
    std::vector<double>& x = given[{Role::Input, *cell.find("x")}];
    for (int i = 0; i < 3 * 7 * 2 * 40; ++i) x.push_back(std::sin(i));
    const auto run = schedule::simulate_executable(executable, *plan, problem.sizes, given, 4);
    EXPECT_TRUE(run.faults.empty()) << run.faults.front();
    EXPECT_TRUE(run.unwritten.empty());
    const std::vector<double>& y = run.written.begin()->second;
    ASSERT_EQ(y.size(), x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], static_cast<double>(2 * static_cast<float>(x[i]))) << i;
  }
  EXPECT_EQ(schedule::find_strategy("doubling"), nullptr) << "gone with its registration";
  EXPECT_FALSE(target::find_profile("toy").ok());
}

}  // namespace
}  // namespace rondo
