// host, forward and backward, in the simulator against the fp64 reference: what a machine without LLVM can
// say of it.
#include <gtest/gtest.h>

#include "compiler/schedule/strategies.h"
#include "compiler/schedule/strategies_for.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/over_head_cells.h"

namespace rondo::schedule {
namespace {

const Strategy* const kHost = find_strategy("host");

Case host_case(const step::Cell& cell, const step::Sizes& sizes, Storage storage,
               const Parameters& parameters) {
  Case c{kHost, cell, {}, {}, {}, false};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  c.problem.arch = "x86-64-v3";
  c.parameters = parameters;
  return c;
}

TEST(HostSimulated, DiagonalCells) {
  int turn = 0;
  for (const step::Cell& cell : diagonal_cells()) {
    const Storage storage = ++turn % 2 == 0 ? Storage::BF16 : Storage::F32;
    Comparison(
        host_case(cell, {2, 5, 2, turn % 3 == 0 ? 1 : 33}, storage,
                  {{"lanes", 16}, {"vectors", 1 << turn % 3}, {"rows", 1}, {"together", 1}, {"tile", 1}}))
        .run();
  }
}

TEST(HostSimulated, CellsWithMatrices) {
  int turn = 0;
  for (const step::Cell& cell : dense_cells()) {
    const Storage storage = ++turn % 2 == 0 ? Storage::F16 : Storage::F32;
    Comparison(
        host_case(
            cell, {3, 4, 2, 20}, storage,
            {{"lanes", 16}, {"vectors", 1 + turn % 2}, {"rows", 2}, {"together", 2}, {"tile", 1 + turn % 2}}))
        .run();
  }
}

TEST(HostSimulated, ReductionsAndNumbersWithoutMatrices) {
  int turn = 0;
  for (const step::Cell& cell : reducing_cells())
    for (const std::int64_t dim : {1, 33, 130}) {
      const Storage storage = ++turn % 2 == 0 ? Storage::BF16 : Storage::F32;
      Comparison(host_case(cell, {3, turn % 3 == 0 ? 1 : 5, 2, dim}, storage,
                           {{"lanes", 16}, {"vectors", 1}, {"rows", 1}, {"together", 1}, {"tile", 1}}))
          .run();
      ASSERT_FALSE(HasFailure()) << cell.name;
    }
}

TEST(HostSimulated, ReductionsAndNumbersWithMatrices) {
  int turn = 0;
  std::vector<step::Cell> cells = reducing_cells_with_matrices();
  for (const char* name : {"lngru", "lnlstm", "rmslstm"}) cells.push_back(cell_named(name));
  for (const step::Cell& cell : cells)
    for (const std::int64_t dim : {1, 15, 70}) {
      const Storage storage = ++turn % 2 == 0 ? Storage::F16 : Storage::F32;
      Case c = host_case(
          cell, {3, turn % 4 == 0 ? 1 : 4, 2, dim}, storage,
          {{"lanes", 16}, {"vectors", 1 + turn % 2}, {"rows", 2}, {"together", 2}, {"tile", 1 + turn % 2}});
      c.problem.save_products = turn % 3 == 0;
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << cell.name;
    }
}

TEST(HostSimulated, Maxima) {
  for (const std::int64_t dim : {1, 70})
    Comparison(host_case(cell_of_maxima(), {3, 5, 2, dim}, Storage::F32,
                         {{"lanes", 16}, {"vectors", 2}, {"rows", 2}, {"together", 1}, {"tile", 1}}))
        .run();
}

TEST(HostOffered, ByTheKindOfMachine) {
  const target::Profile cpu = target::host_profile(3);
  EXPECT_EQ(cpu.arch(), "x86-64-v3");
  const auto for_cpus = strategies_for(cpu);
  ASSERT_EQ(for_cpus.size(), 1u);
  EXPECT_EQ(for_cpus[0], kHost);
  const auto for_gpus = strategies_for(target::board());
  EXPECT_EQ(for_gpus.size() + 1, strategies().size());
  EXPECT_EQ(std::count(for_gpus.begin(), for_gpus.end(), kHost), 0);
  Problem problem;  // of a GPU
  for (const step::Cell& cell : all_cells()) EXPECT_FALSE(kHost->legal(cell, problem).legal) << cell.name;
  problem.arch = "x86-64-v3";
  const auto built = find_strategy("stream")->build(cell_named("mingru"), problem, {}, cpu);
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().kind, ErrorKind::Unsupported);
}

}  // namespace
}  // namespace rondo::schedule
