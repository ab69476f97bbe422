// Cells that reduce over the head, or that have states and outputs with one value a head, in the simulator
// against the fp64 reference.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "compiler/schedule/strategies.h"
#include "compiler/step/forms.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

const Strategy& stream_of_heads() { return *find_strategy("stream"); }

std::vector<step::Cell> head_cells() {
  const std::string path = std::string(RONDO_SOURCE_DIR) + "/tests/schedule/stream/cells/heads.cell";
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const frontend::Parsed parsed = frontend::parse(text.str(), path);
  EXPECT_TRUE(parsed.ok()) << frontend::render_all(parsed, text.str(), path);
  return parsed.cells;
}

// A point of the whole head, with as many channels a thread as rows allow, up to `each`.
Parameters head_point(const Problem& problem, int each, int steps, int stages, int unroll, int heads = 1) {
  int vector = static_cast<int>(16 / kernel::storage_bytes(problem.storage));
  while (problem.sizes.dim % vector != 0) vector /= 2;
  each = std::min(each, vector);
  const std::int64_t warps = (problem.sizes.dim + 32 * each - 1) / (32 * each);
  return {{"channels", warps * 32 * each},
          {"per_thread", each},
          {"steps", steps},
          {"stages", stages},
          {"unroll", unroll},
          {"vector", vector},
          {"producer_warps", 0},
          {"rewrite", 0},
          {"segments", 1},
          {"time_split", 1},
          {"stream_stores", 0},
          {"interleaved_copies", 0},
          {"pipeline_depth", 1},
          {"exchange", 0},
          {"heads", heads}};
}

Case case_of_head(const step::Cell& cell, Storage storage, const step::Sizes& sizes) {
  Case c{&stream_of_heads(), cell, {}, {}, {}, true};
  c.problem.sizes = sizes;
  c.problem.storage = storage;
  c.problem.math = default_math(storage);
  return c;
}

void run_head_sizes(Storage storage) {
  int turn = 0;
  for (const step::Cell& cell : head_cells())
    for (const std::int64_t dim : {1, 33, 130, 1000})
      for (const std::int64_t time : {1, 2, 19}) {
        Case c = case_of_head(cell, storage,
                              {turn % 3 + 1, dim == 1000 ? (time + 3) / 4 : time, ++turn % 2 + 1, dim});
        c.parameters = head_point(c.problem, 1 << turn % 4, 1 << turn % 3, 2 + turn % 3, 1 << turn % 2);
        if (c.parameters["unroll"] > c.parameters["steps"]) c.parameters["unroll"] = 1;
        Comparison(std::move(c)).run();
        ASSERT_FALSE(::testing::Test::HasFailure()) << cell.name << " D=" << dim << " T=" << time;
      }
}

TEST(WholeHead, AwkwardSizesBf16) { run_head_sizes(Storage::BF16); }
TEST(WholeHead, AwkwardSizesFp16) { run_head_sizes(Storage::F16); }
TEST(WholeHead, AwkwardSizesFp32) { run_head_sizes(Storage::F32); }

TEST(WholeHead, ResetsLengthsAndReversedTime) {
  int turn = 0;
  for (const step::Cell& plain : head_cells())
    for (const step::Forms& forms :
         {step::Forms{true, false, false}, {false, true, false}, {true, true, true, true}})
      for (const std::int64_t dim : {33, 130}) {
        const step::Cell cell = step::with_forms(plain, forms).value();
        const Storage storage = ++turn % 2 == 0 ? Storage::BF16 : Storage::F32;
        Case c = case_of_head(cell, storage, {5, 9, turn % 2 + 1, dim});
        c.parameters = head_point(c.problem, 2, 4, 2, 2);
        Comparison(std::move(c)).run();
        ASSERT_FALSE(HasFailure()) << cell.name << " D=" << dim;
      }
}

}  // namespace
}  // namespace rondo::schedule
