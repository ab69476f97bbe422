// The strategy host by matrix tiles, compiled for this machine and run between pages that are not mapped,
// against the fp64 reference.
#ifdef RONDO_BUILT_LLVM
#include "compiler/step/extents.h"
#include "compiler/step/forms.h"
#include "compiler/target/target.h"
#include "tests/runtime/host/native_run.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/text_cells.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

class NativeTiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!target::host_target()->has_matrix_tiles()) GTEST_SKIP() << "these CPUs have no matrix tiles";
  }

  static void compare(const step::Cell& cell, const step::Sizes& sizes, int turn) {
    Case c{find_strategy("host"), cell, {}, {}, {}, true};
    c.runner = [](const Task& task, const KernelPlan& plan, const TensorValues& given, int pad) {
      return runtime::run_natively(task, plan, given, pad);
    };
    c.problem.sizes = sizes;
    c.problem.storage = Storage::BF16;
    c.problem.math = default_math(Storage::BF16);
    c.cpus = *target::host_target();
    c.parameters = {{"lanes", 16},
                    {"vectors", 1 + turn % 4},
                    {"rows", std::int64_t{1} << turn % 6},
                    {"together", 1 << turn % 3},
                    {"tile", 1},
                    {"matrix_tiles", 1}};
    SCOPED_TRACE(c.name());
    Comparison(std::move(c)).run();
  }
};

// Rows of a block that the batch does not fill, blocks of one to four vectors, and more steps than a block of
// products or of a gradient has.
TEST_F(NativeTiles, CellsOfEveryKindOfBlock) {
  int turn = 0;
  for (const char* name : {"lstm", "gru", "slstm", "m2rnn", "elman", "alif", "lnlstm", "blockgru"})
    for (const std::int64_t dim : {32, 64, 96, 160}) {
      if (!rondo::testing::has_turn(++turn, 6)) continue;
      const std::int64_t batch = (std::int64_t{1} << turn % 6) + turn % 3;
      compare(cell_named(name), {batch, turn % 5 == 0 ? 70 : 5, turn % 2 + 1, dim}, turn);
      ASSERT_FALSE(HasFailure()) << name << " " << dim;
    }
}

TEST_F(NativeTiles, FormsAndExtents) {
  const step::Cell layer = cell_of_text(R"(
cell layer(D, E = 64) {
  input u[E]
  param W[2, D, E], R[D, D]
  state h[D]
  a = W @ u
  next h = tanh(R @ h - transpose(R) @ (0.5 * h) + a[0]) + 0.1 * a[1]
  output h
})");
  int turn = 0;
  for (const step::Forms forms : {step::Forms{true, true, false}, step::Forms{true, true, true},
                                  step::Forms{true, true, false, false, true}})
    for (const double extent : {64.0, 40.0, 33.0}) {
      if (!rondo::testing::has_turn(++turn, 3)) continue;
      compare(step::with_extents(step::with_forms(layer, forms).value(), {{"E", extent}}), {5, 37, 2, 64},
              turn);
      ASSERT_FALSE(HasFailure()) << extent;
    }
}

}  // namespace
}  // namespace rondo::schedule
#endif
