// Faults planted in the kernels that persistent builds: without what orders its exchange the simulator must
// say so. The kernels are rewritten by what their statements are, not by where they stand.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <variant>

#include "compiler/schedule/persistent/exchange.h"
#include "compiler/schedule/plan/tensor_layout.h"
#include "compiler/schedule/strategies.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/damage.h"
#include "tests/schedule/point_plan.h"

namespace rondo::schedule {
namespace {

using kernel::Fault;

using Matches = std::function<bool(const Stmt&)>;

// Removes the matching statements from `first` to `last`, counted through the kernel. Returns how many went.
int remove(Kernel& kernel, const Matches& matches, int first, int last) {
  int seen = 0, removed = 0;
  each_body(kernel.body, [&](Body& body) {
    removed += static_cast<int>(std::erase_if(body, [&](const Stmt& stmt) {
      const int number = matches(stmt) ? seen++ : -1;
      return number >= first && number <= last;
    }));
  });
  return removed;
}

int count(Kernel kernel, const Matches& matches) {
  return remove(kernel, matches, 0, std::numeric_limits<int>::max());
}

bool arrives(const Stmt& stmt) {
  return std::holds_alternative<kernel::MbarrierArrive>(stmt.node) ||
         std::holds_alternative<kernel::MbarrierExpect>(stmt.node);
}

bool named_barrier(const Stmt& stmt) {
  const auto* barrier = std::get_if<kernel::Barrier>(&stmt.node);
  return barrier != nullptr && barrier->id != 0;
}

// The exchanged vectors have two places each, by the parity of the step: `parity * half` in every index
// becomes 0. Returns how many indices that changed.
int share_one_place(Kernel& kernel) {
  std::vector<std::int64_t> halves;
  for (const kernel::SharedArray& array : kernel.shared)
    if (array.name.rfind("vector_", 0) == 0) halves.push_back(array.elements / 2);
  const auto constant = [&](kernel::ExprId id) {
    const auto* value = std::get_if<kernel::IntConst>(&kernel.expr(id).node);
    return value != nullptr ? value->value : -1;
  };
  const auto is_parity = [&](kernel::ExprId id) {
    const auto* mod = std::get_if<kernel::IntExpr>(&kernel.expr(id).node);
    return mod != nullptr && mod->op == kernel::IntOp::Mod && constant(mod->b) == 2;
  };
  int changed = 0;
  for (std::size_t i = 0; i < kernel.expressions.size(); ++i) {
    const auto* product = std::get_if<kernel::IntExpr>(&kernel.expressions[i].node);
    if (product == nullptr || product->op != kernel::IntOp::Mul || !is_parity(product->a)) continue;
    if (std::count(halves.begin(), halves.end(), constant(product->b)) == 0) continue;
    kernel.expressions[i].node = kernel::IntConst{0};
    ++changed;
  }
  return changed;
}

// One LSTM, forward or backward, whose sweep over time a test may damage.
class FaultySweep {
 public:
  FaultySweep(int blocks, int splits, Pass pass, const std::string& cell = "lstm", std::int64_t dim = 40)
      : cell_(cell_named(cell)) {
    problem_.sizes = {3, 15, 1, dim};  // more stages than the rings hold
    parameters_ = {{"blocks", blocks},      {"exchange", 0},     {"batch_tiles_in_flight", 1},
                   {"split_k", splits},     {"unit_blocks", 1},  {"batch_tiles", 1},
                   {"register_k_tiles", 1}, {"accumulators", 1}, {"steps", 2},
                   {"stages", 3},           {"vector", 8},       {"producer_warps", 1},
                   {"store_warps", 1},      {"poll_delay", 0}};
    draw_arguments();
    problem_.pass = Pass::ForwardSave;
    plan_ = build();
    if (pass == Pass::ForwardSave) return;
    for (const auto& [ref, values] : run().written)
      if (ref.role != Role::LastState) given_[ref] = values;
    problem_.pass = pass;
    plan_ = build();
  }

  // The kernel with the loop over time: what exchanges vectors.
  Kernel& kernel() {
    for (Launch& launch : plan_.launches)
      for (const kernel::SharedArray& array : launch.kernel.shared)
        if (array.name.rfind("vector_", 0) == 0) return launch.kernel;
    throw std::runtime_error("no kernel exchanges vectors");
  }
  // What makes per-head values before it.
  Kernel& head_values() {
    for (Launch& launch : plan_.launches)
      if (launch.kernel.name.ends_with("_numbers")) return launch.kernel;
    throw std::runtime_error("no kernel makes numbers");
  }
  SimulatedRun run() const { return simulate_plan({cell_, problem_, {}}, plan_, given_); }

 private:
  KernelPlan build() const {
    return schedule::point_plan(*find_strategy("persistent"), cell_, problem_, parameters_);
  }

  void draw_arguments() {
    std::mt19937 rng(5);
    const auto give = [&](Role role, TensorId id) {
      given_[{role, id}] = draw(rng, total_elements({role, id}, cell_, problem_.sizes), 0.5, Storage::BF16);
    };
    for (const TensorId id : cell_.of_kind(TensorKind::Input)) give(Role::Input, id);
    for (const TensorId id : cell_.of_kind(TensorKind::Param)) give(Role::Param, id);
    for (const TensorId id : cell_.of_kind(TensorKind::State)) give(Role::InitialState, id);
    for (const TensorId id : cell_.of_kind(TensorKind::Output)) give(Role::OutputGradient, id);
  }

  step::Cell cell_;
  Problem problem_;
  Parameters parameters_;
  TensorValues given_;
  KernelPlan plan_;
};

void expect_fault(const SimulatedRun& run, Fault::Kind kind, const std::string& what) {
  std::string text;
  for (const std::string& fault : run.faults) text += fault + "\n";
  EXPECT_GT(std::count(run.kinds.begin(), run.kinds.end(), kind), 0) << what << ": " << text;
}

class PersistentFaults : public ::testing::TestWithParam<std::tuple<int, int, Pass>> {
 protected:
  FaultySweep sweep_{std::get<0>(GetParam()), std::get<1>(GetParam()), std::get<2>(GetParam())};
  bool cluster() const { return std::get<0>(GetParam()) > 1; }
  bool two_roles() const { return std::get<1>(GetParam()) > 1; }

  // Runs the sweep without one of the matching statements, each in turn.
  void without_each(const Matches& matches, int at_least,
                    const std::function<void(const SimulatedRun&, const std::string&)>& check) {
    const Kernel whole = sweep_.kernel();
    const int all = count(whole, matches);
    ASSERT_GE(all, at_least);
    for (int i = 0; i < all; ++i) {
      sweep_.kernel() = whole;
      ASSERT_EQ(remove(sweep_.kernel(), matches, i, i), 1);
      check(sweep_.run(), "without number " + std::to_string(i));
    }
  }
};

TEST_P(PersistentFaults, NoneWithoutDamage) {
  const SimulatedRun run = sweep_.run();
  EXPECT_TRUE(run.faults.empty()) << run.faults.front();
}

// Each arrival of the rings and of the exchange, one after the other.
TEST_P(PersistentFaults, EveryMissingArrivalIsADeadlock) {
  without_each(arrives, cluster() ? 7 : 4, [](const SimulatedRun& run, const std::string& what) {
    expect_fault(run, Fault::Kind::Deadlock, what);
  });
}

// Where warps of two roles meet, each of the two places counts: who comes alone waits for ever, and what is
// done on the other side is a race before that.
class PersistentRoleFaults : public PersistentFaults {};
TEST_P(PersistentRoleFaults, EveryMissingMeetingIsReported) {
  without_each(named_barrier, cluster() ? 2 : 4, [](const SimulatedRun& run, const std::string& what) {
    EXPECT_FALSE(run.faults.empty()) << what;
  });
}

// In one block of two roles all meet for the sums too: they have read the vectors by then.
TEST_P(PersistentFaults, OnePlaceForTheVectorsOfTwoStepsIsARace) {
  ASSERT_GT(share_one_place(sweep_.kernel()), 1) << "no index by the parity of the step was found";
  if (cluster() || !two_roles()) return expect_fault(sweep_.run(), Fault::Kind::Race, "one place");
  const SimulatedRun run = sweep_.run();
  EXPECT_TRUE(run.faults.empty()) << run.faults.front();
}

// A cluster counts the vectors' bytes; otherwise they meet at a named barrier, as two roles do for the sums.
TEST_P(PersistentFaults, AMissingNamedBarrierIsARace) {
  const int barriers = count(sweep_.kernel(), named_barrier);
  EXPECT_EQ(barriers > 0, !cluster() || two_roles());
  if (barriers == 0) return;
  remove(sweep_.kernel(), named_barrier, 0, barriers);
  expect_fault(sweep_.run(), Fault::Kind::Race, "no named barrier");
}

bool meets_for_reductions(const Stmt& stmt) {
  const auto* barrier = std::get_if<kernel::Barrier>(&stmt.node);
  return barrier != nullptr && barrier->id == kReduceBarrier;
}

TEST(PersistentReductionFaults, EveryMissingMeetingIsARace) {
  for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
    FaultySweep sweep(1, 1, pass, "lnlstm");
    const Kernel whole = sweep.kernel();
    const int all = count(whole, meets_for_reductions);
    EXPECT_GE(all, 2);
    for (int i = 0; i < all; ++i) {
      sweep.kernel() = whole;
      ASSERT_EQ(remove(sweep.kernel(), meets_for_reductions, i, i), 1);
      expect_fault(sweep.run(), Fault::Kind::Race, "without meeting " + std::to_string(i));
    }
  }
}

// Warps of a team that makes per-head values for all steps meet once for each of them; two steps have places
// of their own.
TEST(PersistentReductionFaults, WarpsThatMakeHeadValuesMeet) {
  FaultySweep sweep(1, 1, Pass::Backward, "lngru", 136);
  EXPECT_TRUE(sweep.run().faults.empty());
  const Kernel whole = sweep.head_values();
  const auto meets = [](const Stmt& stmt) { return std::holds_alternative<kernel::Barrier>(stmt.node); };
  const int all = count(whole, meets);
  EXPECT_GE(all, 2);
  for (int i = 0; i < all; ++i) {
    sweep.head_values() = whole;
    ASSERT_EQ(remove(sweep.head_values(), meets, i, i), 1);
    expect_fault(sweep.run(), Fault::Kind::Race, "without meeting " + std::to_string(i));
  }
}

// Waits for lines that no bytes were announced for, and no waits.
TEST(PersistentReductionFaults, InAClusterPartsAreAwaited) {
  for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
    FaultySweep sweep(2, 1, pass, "lngru");
    const Kernel whole = sweep.kernel();
    const auto of_lines = [&](const kernel::MbarrierRef& barrier) {
      return whole.mbarriers.at(static_cast<std::size_t>(barrier.id)).name.rfind("lines_", 0) == 0;
    };
    const auto waits = [&](const Stmt& stmt) {
      const auto* wait = std::get_if<kernel::MbarrierWait>(&stmt.node);
      return wait != nullptr && of_lines(wait->barrier);
    };
    const auto announces = [&](const Stmt& stmt) {
      const auto* expect = std::get_if<kernel::MbarrierExpect>(&stmt.node);
      return expect != nullptr && of_lines(expect->barrier);
    };
    ASSERT_GE(remove(sweep.kernel(), waits, 0, 0), 1);
    EXPECT_FALSE(sweep.run().faults.empty());
    for (int i = 0; i < 3; ++i) {  // of each place, and of the steps after
      sweep.kernel() = whole;
      ASSERT_EQ(remove(sweep.kernel(), announces, i, i), 1);
      expect_fault(sweep.run(), Fault::Kind::Deadlock, "without announcement " + std::to_string(i));
    }
  }
}

std::string name_of_case(const ::testing::TestParamInfo<PersistentFaults::ParamType>& c) {
  return std::string(std::get<0>(c.param) == 1 ? "OneBlock" : "ClusterOf2") +
         (std::get<1>(c.param) == 1 ? "" : "_split") +
         (std::get<2>(c.param) == Pass::Backward ? "_bw" : "_fw");
}

INSTANTIATE_TEST_SUITE_P(Lstm, PersistentFaults,
                         ::testing::Combine(::testing::Values(1, 2), ::testing::Values(1, 2),
                                            ::testing::Values(Pass::ForwardSave, Pass::Backward)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Lstm, PersistentRoleFaults,
                         ::testing::Combine(::testing::Values(1, 2), ::testing::Values(2),
                                            ::testing::Values(Pass::ForwardSave, Pass::Backward)),
                         name_of_case);

}  // namespace
}  // namespace rondo::schedule
