#include "engine/plan/memory.h"

#include "engine/choice/choose.h"
#include "engine/emit/emit_stages.h"
#include "engine/plan/ready_plan.h"
#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

using schedule::Pass;

PlanMemory memory_of(const std::string& name, Pass pass, bool save_products = false) {
  const step::Cell cell = testing::library_cell(name);
  schedule::Problem problem = testing::problem_of(pass);
  problem.save_products = save_products;
  const auto choice = choose({cell, problem, target::board()});
  const schedule::KernelPlan plan = build_choice({cell, problem, target::board()}, choice.value()).value();
  const PlanMemory memory = plan_memory({cell, problem, {}}, plan).value();
  EXPECT_EQ(
      memory.workspace_bytes,
      testing::launcher_of(cell, problem, plan).workspace_bytes(problem.sizes.batch, problem.sizes.time));
  return memory;
}

// B = 4, T = 128, H = 2, D = 64 in bf16: one history.
constexpr std::int64_t kHistory = 4 * 128 * 2 * 64 * 2;

TEST(PlanMemory, SavedAreTheStatesThatNoOutputCarries) {
  EXPECT_EQ(memory_of("lstm", Pass::Forward).saved_bytes, 0) << "nothing is kept for a backward pass";
  EXPECT_EQ(memory_of("lstm", Pass::ForwardSave).saved_bytes, kHistory) << "c, and not h";
  EXPECT_EQ(memory_of("lstm", Pass::Backward).saved_bytes, kHistory);
  EXPECT_EQ(memory_of("slstm", Pass::ForwardSave).saved_bytes, 3 * kHistory);
  EXPECT_EQ(memory_of("gru", Pass::ForwardSave).saved_bytes, 0) << "its output is its state";
  EXPECT_EQ(memory_of("mingru", Pass::ForwardSave).saved_bytes, 0);
}

// The products of all steps are computed again before the sweep, four vectors a step: in the memory of the
// gradient of x, or in the workspace where that need not be bound.
TEST(PlanMemory, TheBackwardPassOfADenseCellHoldsItsProducts) {
  EXPECT_LT(memory_of("lstm", Pass::Backward).workspace_bytes, 4 * kHistory);
  EXPECT_GE(memory_of("lnlstm", Pass::Backward).workspace_bytes, 4 * kHistory);
  EXPECT_LT(memory_of("lstm", Pass::ForwardSave).workspace_bytes, kHistory);
}

// Saved, they are held between the passes, and the workspace has none.
TEST(PlanMemory, SavedProductsAreHeldAndNotMadeAgain) {
  EXPECT_EQ(memory_of("lstm", Pass::ForwardSave, true).saved_bytes, (1 + 4) * kHistory);
  EXPECT_EQ(memory_of("lstm", Pass::Backward, true).saved_bytes, (1 + 4) * kHistory);
  EXPECT_EQ(memory_of("gru", Pass::ForwardSave, true).saved_bytes, 3 * kHistory);
  EXPECT_EQ(memory_of("lstm", Pass::Forward, true).saved_bytes, 0);
  EXPECT_EQ(memory_of("lstm", Pass::Backward).workspace_bytes,
            memory_of("lstm", Pass::Backward, true).workspace_bytes);
  EXPECT_EQ(memory_of("lnlstm", Pass::Backward).workspace_bytes -
                memory_of("lnlstm", Pass::Backward, true).workspace_bytes,
            4 * kHistory);
}

}  // namespace
}  // namespace rondo::engine
