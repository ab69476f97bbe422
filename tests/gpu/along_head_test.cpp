// Shifts, rotations and running sums along the channels of a head, on the GPU against the reference: in a
// block, in clusters, and launch by launch beside a matrix.
#include <tuple>

#include "compiler/step/forms.h"
#include "engine/check/verify.h"
#include "engine/choice/overrides.h"
#include "tests/gpu/each.h"
#include "tests/gpu/gpu.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/over_head_cells.h"

namespace rondo::tuner {
namespace {

using engine::TensorLayout;
using kernel::Storage;
using schedule::Pass;

class AlongHeadOnGpu : public rondo::testing::GpuTest,
                       public ::testing::WithParamInterface<std::tuple<Storage, Pass, std::int64_t>> {
 protected:
  static constexpr std::int64_t kHeads = 3;

  std::vector<engine::VerifyCase> cases() const {
    const auto [storage, pass, dim] = GetParam();
    const std::int64_t gap = 16 / kernel::storage_bytes(storage);
    const bool large = dim >= 4096;
    return {{{2, 1, kHeads, dim}, {}, true},
            {{large ? 1 : 3, large ? 9 : 41, kHeads, dim}, {TensorLayout::Order::TimeMajor, gap}, true}};
  }

  // By every point of `points` that the space has; one at least. Each cell plain, and with resets and
  // lengths.
  void expect_right(const std::vector<step::Cell>& cells, const std::string& strategy,
                    const std::vector<schedule::Parameters>& points) const {
    const auto [storage, pass, dim] = GetParam();
    const std::vector<engine::VerifyCase> sizes = cases();
    const schedule::Problem p = problem(pass, sizes.back().sizes, storage);
    for (const step::Cell& plain : cells)
      for (const step::Forms& forms : {step::Forms{}, step::Forms{true, true, false}}) {
        const step::Cell cell = step::with_forms(plain, forms).value();
        int there = 0;
        for (const schedule::Parameters& point : points) {
          const auto choice = engine::choose_with({cell, p, gpu_->profile}, {strategy, point});
          if (!choice) continue;  // too many blocks for the head, or too few
          const auto plan = load(cell, p, strategy, choice->parameters, true);
          ASSERT_NE(plan, nullptr);
          check(cell, p, *plan, sizes);
          ++there;
        }
        EXPECT_GT(there, 0) << cell.name;
      }
  }

 private:
  void check(const step::Cell& cell, const schedule::Problem& p, const runtime::DevicePlan& plan,
             const std::vector<engine::VerifyCase>& sizes) const {
    const auto verifier = rondo::testing::verifier_of(cell, p, sizes, 17);
    ASSERT_TRUE(verifier.ok()) << verifier.error().message;
    const auto result = (*verifier)->check(*gpu_->device, lent(plan));
    ASSERT_TRUE(result.ok()) << result.error().message;
    for (const engine::TensorCheck& one : result->checks)
      EXPECT_TRUE(one.passed) << cell.name << " D=" << p.sizes.dim << ": " << one.text();
    const Status repeatable = (*verifier)->check_repeatable(*gpu_->device, lent(plan), 3);
    EXPECT_TRUE(repeatable.ok()) << repeatable.error().message;
  }
};

class AlongHeads : public AlongHeadOnGpu {};
TEST_P(AlongHeads, InABlockAndInClusters) {
  expect_right(schedule::along_cells(), "stream",
               {{{"head_split", 1}}, {{"head_split", 2}}, {{"head_split", 8}}});
}
class AlongHeadsBesideAMatrix : public AlongHeadOnGpu {};
TEST_P(AlongHeadsBesideAMatrix, LaunchByLaunch) {
  std::vector<step::Cell> cells = schedule::along_cells_with_matrices();
  cells.push_back(schedule::cell_named("onlstm"));
  expect_right(cells, "alternating", {{{"units", 16}}, {{"units", 64}}});
}

using rondo::testing::kBothPasses;
using rondo::testing::kEachStorage;

INSTANTIATE_TEST_SUITE_P(Gpu, AlongHeads,
                         ::testing::Combine(kEachStorage, kBothPasses,
                                            ::testing::Values(1, 8, 33, 130, 1000, 5001)));
INSTANTIATE_TEST_SUITE_P(Gpu, AlongHeadsBesideAMatrix,
                         ::testing::Combine(kEachStorage, kBothPasses, ::testing::Values(33, 64, 130)));

}  // namespace
}  // namespace rondo::tuner
