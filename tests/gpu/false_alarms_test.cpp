// Correct kernels pass on the GPU: every shipped cell on many data, and random cells. One test is one cell,
// so that shards share them out.
#include <algorithm>

#include "compiler/step/structure.h"
#include "engine/check/verify.h"
#include "tests/gpu/gpu.h"
#include "tests/step/random_cell.h"

namespace rondo::tuner {
namespace {

using kernel::Storage;
using schedule::Pass;

constexpr Storage kStorages[] = {Storage::BF16, Storage::F16, Storage::F32};
constexpr std::uint64_t kSeeds = 50;       // of a shipped cell, at each shape
constexpr std::uint64_t kSeedsOfRows = 8;  // of one whose state is a matrix: 64 rows have more numbers each
constexpr int kRandomCells = 300;
constexpr int kRandomCellsInTest = 10;

class FalseAlarms : public rondo::testing::GpuTest {
 protected:
  // Over seeds, each with data of its own.
  void verify(const step::Cell& cell, const schedule::Problem& p, const runtime::DevicePlan& plan,
              std::uint64_t seeds) {
    engine::VerifyCase shape;
    shape.sizes = p.sizes;
    shape.layout.gap = 16 / kernel::storage_bytes(p.storage);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const auto verifier = engine::Verifier::make({cell, p, {}}, {shape}, 1000 * seed);
      if (!verifier) {  // the cell leaves the numbers on these data: nothing is compared
        ++not_finite_;
        continue;
      }
      const auto result = verifier->check(*gpu_->device, lent(plan));
      ASSERT_TRUE(result.ok()) << result.error().message;
      const bool says_something =
          std::any_of(result->checks.begin(), result->checks.end(),
                      [](const engine::TensorCheck& check) { return !check.ill_conditioned; });
      ++(says_something ? compared_ : ill_conditioned_);
      for (const engine::TensorCheck& check : result->checks)
        EXPECT_TRUE(check.passed) << cell.name << " seed " << seed << " " << schedule::pass_name(p.pass)
                                  << " " << kernel::storage_name(p.storage) << ": " << check.text();
    }
  }
  void TearDown() override {
    RecordProperty("compared", compared_);
    std::printf("%d compared, %d not finite, %d ill-conditioned\n", compared_, not_finite_, ill_conditioned_);
  }

  int compared_ = 0, not_finite_ = 0, ill_conditioned_ = 0;
};

class ShippedCells : public FalseAlarms,
                     public ::testing::WithParamInterface<std::tuple<std::string, Storage>> {};

TEST_P(ShippedCells, PassOnManyData) {
  const auto& [name, storage] = GetParam();
  const step::Cell cell = rondo::testing::library_cell(name);
  const bool many_rows = std::ranges::any_of(cell.tensors, [](const step::Tensor& tensor) {
    return tensor.kind == step::TensorKind::State && tensor.rows >= 16;
  });
  for (const step::Sizes& sizes : {step::Sizes{3, 65, 2, 40}, step::Sizes{1, 33, 1, 136}})
    for (const Pass pass : {Pass::ForwardSave, Pass::Backward}) {
      const schedule::Problem p = problem(pass, sizes, storage);
      // Without a search the model's choice may spill, which is slow, not wrong.
      if (const auto plan = load_chosen(cell, p, engine::kFullAlignment, true))
        verify(cell, p, *plan, many_rows ? kSeedsOfRows : kSeeds);
    }
  EXPECT_EQ(not_finite_, 0);
  EXPECT_LE(ill_conditioned_, (compared_ + ill_conditioned_) / 50);  // a state near a decision of relu or max
}

std::vector<std::string> cell_names() {
  std::vector<std::string> names;
  for (const engine::EmbeddedCell& cell : engine::embedded_cells())
    if (!step::has_max_plus(library_cell(cell.name))) names.push_back(cell.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cells, ShippedCells,
                         ::testing::Combine(::testing::ValuesIn(cell_names()),
                                            ::testing::ValuesIn(kStorages)),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" +
                                  kernel::storage_name(std::get<1>(test.param));
                         });

// Of consecutive seeds; cells that no strategy computes are left out.
class RandomCells : public FalseAlarms, public ::testing::WithParamInterface<int> {};

TEST_P(RandomCells, Pass) {
  int tried = 0;
  for (int i = 0; i < kRandomCellsInTest; ++i) {
    const auto seed = static_cast<std::uint64_t>(1 + GetParam() * kRandomCellsInTest + i);
    const step::Cell cell = step::testing::random_cell_of_seed(seed);
    SCOPED_TRACE("random_cell_of_seed(" + std::to_string(seed) + ")");
    const Storage storage = kStorages[seed % 3];
    for (const Pass pass : {Pass::Forward, Pass::Backward}) {
      const schedule::Problem p = problem(pass, {2, 19, 1, 40}, storage);
      if (!engine::best_candidate({cell, p, gpu_->profile})) continue;
      ++tried;
      const auto plan = load_chosen(cell, p, engine::kFullAlignment, true);
      if (plan != nullptr) verify(cell, p, *plan, 2);
    }
  }
  EXPECT_GT(tried, 0);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomCells, ::testing::Range(0, kRandomCells / kRandomCellsInTest));

}  // namespace
}  // namespace rondo::tuner
