// stream in clusters of blocks: what the exchange of maps rests on, piece by piece. A kernel as built is
// damaged in one place, and the simulator must say so.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "compiler/kernel/simulate.h"
#include "compiler/kernel/visit.h"
#include "compiler/schedule/stream.h"
#include "compiler/schedule/stream_cluster.h"
#include "tests/schedule/cell_files.h"

namespace rondo::schedule {
namespace {

using kernel::Body;
using kernel::ExprId;
using kernel::Fault;
using kernel::Kernel;
using kernel::Stmt;

constexpr std::int64_t kTime = 100, kDim = 8;

// h' = a * h + b in a cluster of two blocks, 16 steps a round.
Launch affine_launch() {
  Problem problem;
  problem.sizes = {1, kTime, 1, kDim};
  problem.storage = kernel::Storage::F32;
  problem.math = kernel::Math::Accurate;
  const KernelPlan plan =
      find_strategy("stream")->build(cell_named("affine"), problem, stream_in_cluster_of_two(8, true));
  return plan.launches.front();
}

kernel::SimulationResult run(const Launch& launch, const Kernel& damaged) {
  std::vector<kernel::GlobalBuffer> buffers;
  std::vector<kernel::Argument> arguments;
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    kernel::Argument argument;
    argument.integer = std::holds_alternative<StrideB>(launch.arguments[i])   ? kTime * kDim
                       : std::holds_alternative<StrideT>(launch.arguments[i]) ? kDim
                       : std::holds_alternative<Time>(launch.arguments[i])    ? kTime
                                                                              : 1;
    if (std::holds_alternative<Pointer>(launch.arguments[i])) {
      argument.buffer = static_cast<int>(buffers.size());
      buffers.push_back(
          static_cast<kernel::ParamId>(i) == damaged.status ? kernel::input_buffer(kernel::Storage::I32, {0})
          : damaged.params[i].written
              ? kernel::output_buffer(kernel::Storage::F32, kTime * kDim)
              : kernel::input_buffer(kernel::Storage::F32, std::vector<double>(kTime * kDim, 0.5)));
    }
    arguments.push_back(argument);
  }
  return kernel::simulate(damaged, grid_blocks(launch, 1, kTime), arguments, buffers);
}

// Calls `change` on every body, the innermost first.
void each_body(Body& body, const std::function<void(Body&)>& change) {
  for (Stmt& stmt : body) {
    if (auto* loop = std::get_if<kernel::For>(&stmt.node)) each_body(loop->body, change);
    if (auto* branch = std::get_if<kernel::If>(&stmt.node)) {
      each_body(branch->then_body, change);
      each_body(branch->else_body, change);
    }
  }
  change(body);
}

template <class Node>
void each(Kernel& kernel, const std::function<void(Node&)>& change) {
  each_body(kernel.body, [&](Body& body) {
    for (Stmt& stmt : body)
      if (auto* node = std::get_if<Node>(&stmt.node)) change(*node);
  });
}

template <class Node>
void drop(Kernel& kernel) {
  each_body(kernel.body, [](Body& body) {
    std::erase_if(body, [](const Stmt& stmt) { return std::holds_alternative<Node>(stmt.node); });
  });
}

ExprId constant(Kernel& kernel, std::int64_t value) {
  kernel.expressions.push_back({kernel::Type::I32, kernel::IntConst{value}});
  return static_cast<ExprId>(kernel.expressions.size()) - 1;
}

// The expression with every remainder by the number of slots taken for zero.
ExprId without_turns(Kernel& kernel, ExprId id) {
  kernel::Expr copy = kernel.expr(id);
  if (const auto* rest = std::get_if<kernel::IntExpr>(&copy.node); rest && rest->op == kernel::IntOp::Mod)
    if (const auto* slots = std::get_if<kernel::IntConst>(&kernel.expr(rest->b).node);
        slots && slots->value == ClusterMaps::kSlots)
      return constant(kernel, 0);
  kernel::for_each_operand(copy, [&](ExprId& operand) { operand = without_turns(kernel, operand); });
  kernel.expressions.push_back(std::move(copy));
  return static_cast<ExprId>(kernel.expressions.size()) - 1;
}

void expect_reported(const std::function<void(Kernel&)>& damage, Fault::Kind kind, const std::string& words) {
  const Launch launch = affine_launch();
  Kernel damaged = launch.kernel;
  damage(damaged);
  const kernel::SimulationResult result = run(launch, damaged);
  std::string all;
  for (const Fault& fault : result.faults) all += fault.message + "\n";
  EXPECT_TRUE(std::any_of(result.faults.begin(), result.faults.end(), [&](const Fault& fault) {
    return fault.kind == kind && fault.message.find(words) != std::string::npos;
  })) << all;
}

TEST(StreamCluster, IsCleanAsBuilt) {
  const Launch launch = affine_launch();
  EXPECT_EQ(launch.kernel.cluster, 2);
  const auto faults = run(launch, launch.kernel).faults;
  EXPECT_TRUE(faults.empty()) << faults.front().message;
}

TEST(StreamCluster, AMapThatIsNotSentIsADeadlock) {
  expect_reported([](Kernel& k) { drop<kernel::StoreAsync>(k); }, Fault::Kind::Deadlock,
                  "128 bytes are still expected");
}

TEST(StreamCluster, AMapSentToOneBlockOnlyIsADeadlock) {
  expect_reported(
      [](Kernel& k) { each<kernel::StoreAsync>(k, [&](auto& send) { send.rank = constant(k, 0); }); },
      Fault::Kind::Deadlock, "bytes are still expected");
}

TEST(StreamCluster, BytesThatNobodyExpectsAreADeadlock) {
  expect_reported([](Kernel& k) { drop<kernel::MbarrierExpect>(k); }, Fault::Kind::Deadlock,
                  "bytes came that nobody expects");
}

TEST(StreamCluster, MapsReadWithoutWaitingAreARace) {
  expect_reported([](Kernel& k) { drop<kernel::MbarrierWait>(k); }, Fault::Kind::Race,
                  "with no wait for its mbarrier between");
}

TEST(StreamCluster, AWaitForTheOtherParityIsADeadlock) {
  expect_reported(
      [](Kernel& k) { each<kernel::MbarrierWait>(k, [&](auto& wait) { wait.parity = constant(k, 1); }); },
      Fault::Kind::Deadlock, "waits for phase parity 1 of mbarrier maps_ready");
}

TEST(StreamCluster, OneSlotIsARace) {
  expect_reported(
      [](Kernel& k) {
        int maps = -1;
        each<kernel::StoreAsync>(k, [&](auto& send) {
          maps = send.to.id;
          send.to.index = without_turns(k, send.to.index);
        });
        each<kernel::Load>(k, [&](auto& load) {
          if (load.from.space == kernel::Space::Shared && load.from.id == maps)
            load.from.index = without_turns(k, load.from.index);
        });
      },
      Fault::Kind::Race, "sends to shared cluster_maps[");
}

TEST(StreamCluster, WithoutTheBarrierInTheMiddleMapsAreARace) {
  expect_reported(
      [](Kernel& k) {
        each_body(k.body, [](Body& body) {
          const auto last = std::find_if(body.rbegin(), body.rend(), [](const Stmt& stmt) {
            return std::holds_alternative<kernel::Barrier>(stmt.node);
          });
          if (last != body.rend()) body.erase(std::next(last).base());
        });
      },
      Fault::Kind::Race, "segment_maps[");
}

// A sweep adds the output's gradient to the carry before anything else: what follows are multiples of the
// sum.
TEST(StreamSegments, BackwardSweepsKeepTheSumsTermAndAFactorAResult) {
  Problem problem;
  problem.pass = Pass::Backward;
  // a and its gradient's factor h, and the output's gradient; b's is the sum itself, by the constant 1.
  EXPECT_EQ(segment_parts(cell_named("affine"), problem), 4);
  // f, two factors of x's gradients, that of low's, and the output's gradient.
  EXPECT_EQ(segment_parts(cell_named("hgrn"), problem), 5);
}

TEST(StreamCluster, ParameterGradientsHaveARowABlock) {
  Problem problem;
  problem.sizes = {3, 40, 2, 8};
  problem.pass = Pass::Backward;
  Parameters parameters = {{"channels", 8}, {"per_thread", 1}, {"steps", 8},         {"stages", 2},
                           {"unroll", 4},   {"vector", 8},     {"loaders", 0},       {"shorten", 0},
                           {"segments", 2}, {"cluster", 1},    {"stream_stores", 0}, {"pieces", 0},
                           {"behind", 0},
                           {"grid", 0}};
  const KernelPlan alone = find_strategy("stream")->build(cell_named("paralstm"), problem, parameters);
  parameters["cluster"] = 4;
  const KernelPlan shared = find_strategy("stream")->build(cell_named("paralstm"), problem, parameters);
  EXPECT_GT(alone.workspace_elements_per_batch, 0);
  EXPECT_EQ(shared.workspace_elements_per_batch, 4 * alone.workspace_elements_per_batch);
  EXPECT_EQ(grid_blocks(shared.launches[0], 3, 40), 4 * grid_blocks(alone.launches[0], 3, 40));
}

}  // namespace
}  // namespace rondo::schedule
