// Cells that reduce over the head, and states with one value a head, on the GPU against the reference.
#include <tuple>

#include "compiler/frontend/frontend.h"
#include "compiler/step/forms.h"
#include "compiler/support/text_file.h"
#include "tests/gpu/gpu.h"
#include "tests/schedule/over_head_cells.h"
#include "tuner/check/verify.h"

namespace rondo::tuner {
namespace {

using kernel::Storage;
using runtime::TensorLayout;
using schedule::Pass;

class WholeHeadOnGpu : public rondo::testing::GpuTest,
                       public ::testing::WithParamInterface<std::tuple<Storage, Pass, std::int64_t>> {
 protected:
  void expect_right(const step::Cell& cell, const schedule::Problem& p, const runtime::DevicePlan& plan,
                    const std::vector<VerifyCase>& cases) const {
    const auto made = rondo::testing::verifier_of(cell, p, cases, 17);
    ASSERT_TRUE(made.ok()) << made.error().message;
    const Verifier* const verifier = *made;
    const auto result = verifier->check(*gpu_->device, lent(plan));
    ASSERT_TRUE(result.ok()) << result.error().message;
    for (const TensorCheck& one : result->checks)
      EXPECT_TRUE(one.passed) << cell.name << " D=" << p.sizes.dim << ": " << one.text();
    const Status repeatable = verifier->check_repeatable(*gpu_->device, lent(plan), 3);
    EXPECT_TRUE(repeatable.ok()) << repeatable.error().message;
  }
};

TEST_P(WholeHeadOnGpu, EveryCell) {
  const auto [storage, pass, dim] = GetParam();
  const auto text = read_text_file(std::string(RONDO_SOURCE_DIR) + "/tests/schedule/stream/cells/heads.cell");
  ASSERT_TRUE(text.ok());
  const frontend::Parsed parsed = frontend::parse(*text, "heads.cell");
  ASSERT_TRUE(parsed.ok());
  constexpr std::int64_t heads = 3;
  const std::int64_t gap = 16 / kernel::storage_bytes(storage);
  const std::vector<VerifyCase> cases = {{{3, 1, heads, dim}, {}, true},
                                         {{3, 65, heads, dim}, {TensorLayout::Order::TimeMajor, gap}, true},
                                         {{1, 200, heads, dim}, {}, false}};
  for (const step::Cell& plain : parsed.cells)
    for (const step::Forms& forms : {step::Forms{}, {true, true, false}}) {
      const step::Cell cell = step::with_forms(plain, forms).value();
      const schedule::Problem p = problem(pass, cases.back().sizes, storage);
      const auto plan = load_chosen(cell, p, runtime::kFullAlignment, dim >= 4096);
      ASSERT_NE(plan, nullptr);
      expect_right(cell, p, *plan, cases);
    }
}

// Beside a matrix, in every form of a team that has room.
class BesideAMatrixOnGpu : public WholeHeadOnGpu {};

TEST_P(BesideAMatrixOnGpu, EveryCellAndForm) {
  const auto [storage, pass, dim] = GetParam();
  constexpr std::int64_t heads = 2;
  const std::int64_t gap = 16 / kernel::storage_bytes(storage);
  const std::vector<VerifyCase> cases = {{{5, 2, heads, dim}, {TensorLayout::Order::TimeMajor, gap}, false},
                                         {{17, 41, heads, dim}, {}, true}};
  const schedule::Problem p = problem(pass, cases.back().sizes, storage);
  const schedule::Parameters forms[] = {
      {{"blocks", 1}}, {{"exchange", 0}, {"blocks", 2}}, {{"exchange", 0}, {"blocks", 4}}, {{"exchange", 1}}};
  for (const step::Cell& plain : schedule::reducing_cells_with_matrices())
    for (const step::Forms& sequence : {step::Forms{}, {true, true, false}}) {
      const step::Cell cell = step::with_forms(plain, sequence).value();
      int teams = 0;
      for (const schedule::Parameters& form : forms) {
        const auto choice = runtime::choose_with(cell, p, gpu_->profile, {"persistent", form});
        if (!choice) continue;  // the head does not fit, or is too small
        const auto plan = load(cell, p, "persistent", choice->parameters, true);
        ASSERT_NE(plan, nullptr);
        expect_right(cell, p, *plan, cases);
        ++teams;
      }
      EXPECT_GT(teams, 0) << cell.name;
    }
}

INSTANTIATE_TEST_SUITE_P(Gpu, BesideAMatrixOnGpu,
                         ::testing::Combine(::testing::Values(Storage::BF16, Storage::F16, Storage::F32),
                                            ::testing::Values(Pass::ForwardSave, Pass::Backward),
                                            ::testing::Values(33, 64, 130)));

INSTANTIATE_TEST_SUITE_P(Gpu, WholeHeadOnGpu,
                         ::testing::Combine(::testing::Values(Storage::BF16, Storage::F16, Storage::F32),
                                            ::testing::Values(Pass::ForwardSave, Pass::Backward),
                                            ::testing::Values(1, 8, 33, 130, 1000, 4096, 5001, 16384)));

}  // namespace
}  // namespace rondo::tuner
