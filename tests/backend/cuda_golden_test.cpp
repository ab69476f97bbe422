// The emitted text of the sample kernels, character for character. RONDO_UPDATE_GOLDEN=1 writes the files
// anew.
#include <gtest/gtest.h>

#include "compiler/backend/cuda/emit.h"
#include "compiler/frontend/frontend.h"
#include "compiler/schedule/strategies.h"
#include "compiler/support/text_file.h"
#include "tests/backend/cuda/kernels.h"
#include "tests/backend/golden_text.h"
#include "tests/target/board.h"

namespace rondo::backend::cuda {
namespace {

class Golden : public ::testing::TestWithParam<testing::Sample> {};

TEST_P(Golden, TextIsAsRecorded) {
  compare_golden("cuda/" + GetParam().name + ".cu", emit({&GetParam().kernel}));
}

INSTANTIATE_TEST_SUITE_P(Cuda, Golden, ::testing::ValuesIn(testing::samples()),
                         [](const auto& test) { return test.param.name; });

// Kernels of a strategy: a step that reduces over the head, which a block or a cluster of two holds.
TEST(GoldenOfStrategies, WholeHead) {
  const std::string path = std::string(RONDO_SOURCE_DIR) + "/tests/schedule/stream/cells/heads.cell";
  const Result<std::string> text = read_text_file(path);
  ASSERT_TRUE(text.ok());
  const frontend::Parsed parsed = frontend::parse(*text, path);
  ASSERT_TRUE(parsed.ok());
  schedule::Problem problem;
  problem.sizes = {2, 64, 2, 72};
  schedule::Parameters point = {
      {"channels", 128}, {"per_thread", 2},     {"steps", 4},          {"stages", 2},
      {"unroll", 1},     {"vector", 8},         {"producer_warps", 0}, {"rewrite", 0},
      {"segments", 1},   {"time_split", 1},     {"stream_stores", 0},  {"interleaved_copies", 0},
      {"exchange", 0},   {"pipeline_depth", 1}, {"heads", 1},          {"head_split", 1}};
  const schedule::Strategy& stream = *schedule::find_strategy("stream");
  for (const int blocks : {1, 2}) {
    point["head_split"] = blocks;
    point["channels"] = 128 / blocks;
    const auto plan = stream.build({parsed.cells.front(), problem, target::board()}, point);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    compare_golden(blocks == 1 ? "cuda/whole_head.cu" : "cuda/head_in_cluster.cu",
                   emit({&plan->launches.front().kernel}));
  }
}

}  // namespace
}  // namespace rondo::backend::cuda
