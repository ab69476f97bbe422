// The strategy host, compiled for this machine and run, against the fp64 reference.
#ifdef RONDO_BUILT_LLVM
#include "compiler/step/derive.h"
#include "compiler/step/structure.h"
#include "compiler/target/target.h"
#include "tests/runtime/host/native_run.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"

namespace rondo::schedule {
namespace {

const Strategy* const kHost = find_strategy("host");

constexpr Storage kStorages[] = {Storage::F32, Storage::BF16, Storage::F16};

Case native_case(const step::Cell& cell, const step::Sizes& sizes, Storage storage) {
  Case c{kHost, cell, {}, {}, {}, false};
  c.runner = [](const step::Cell& of, const Problem& problem, const KernelPlan& plan,
                const TensorValues& given,
                int pad) { return runtime::run_natively(of, problem, plan, given, pad); };
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.problem.arch = "cpu";
  return c;
}

TEST(HostOracle, EveryDiagonalCell) {
  int turn = 0;
  for (const step::Cell& cell : diagonal_cells())
    for (const Storage storage : kStorages)
      for (const std::int64_t dim : {1, 33, 130}) {
        ++turn;
        Case c = native_case(cell, {3, turn % 3 == 0 ? 1 : 7 + turn, turn % 2 + 1, dim}, storage);
        c.parameters = {{"lanes", 16}, {"vectors", 1 << turn % 4}, {"rows", 1}, {"together", 1}, {"tile", 1}};
        Comparison(std::move(c)).run();
        if (testing::Test::HasFailure()) return;
      }
}

TEST(HostOracle, EveryCellWithMatrices) {
  int turn = 0;
  for (const step::Cell& cell : dense_cells())
    for (const Storage storage : kStorages)
      for (const std::int64_t dim : {1, 33, 80}) {
        ++turn;
        Case c = native_case(cell, {turn % 3 * 2 + 1, turn % 4 == 0 ? 1 : 7 + turn % 9, turn % 2 + 1, dim},
                             storage);
        c.problem.save_products = turn % 5 == 0;
        c.parameters = {{"lanes", 16},
                        {"vectors", dim == 33 ? 2 : 1},
                        {"rows", turn % 2 == 0 ? 4 : 2},
                        {"together", 1 << turn % 3},
                        {"tile", turn % 4 + 1 > 2 ? 2 : turn % 2 + 1}};
        Comparison(std::move(c)).run();
        if (testing::Test::HasFailure()) return;
      }
}

}  // namespace
}  // namespace rondo::schedule
#endif
