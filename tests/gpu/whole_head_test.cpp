// Cells that reduce over the head, and states with one value a head, on the GPU against the reference.
#include <tuple>

#include "compiler/frontend/frontend.h"
#include "compiler/step/forms.h"
#include "compiler/support/text_file.h"
#include "engine/check/verify.h"
#include "engine/choice/overrides.h"
#include "tests/gpu/each.h"
#include "tests/gpu/gpu.h"
#include "tests/schedule/over_head_cells.h"

namespace rondo::tuner {
namespace {

using engine::TensorLayout;
using kernel::Storage;
using schedule::Pass;

// What is computed, and which of the cells and forms: a test of the sanitizers has one, for a launch takes
// seconds under them, and others have all.
struct Asked {
  Storage storage;
  Pass pass;
  std::int64_t dim;
  int only = -1;

  bool takes(int index) const { return only < 0 || only == index; }
};

class WholeHeadOnGpu : public rondo::testing::GpuTest {
 protected:
  static constexpr step::Forms kForms[] = {{}, {true, true, false}};

  void expect_right(const step::Cell& cell, const schedule::Problem& p, const runtime::DevicePlan& plan,
                    const std::vector<engine::VerifyCase>& cases) const {
    const auto made = rondo::testing::verifier_of(cell, p, cases, 17);
    ASSERT_TRUE(made.ok()) << made.error().message;
    const engine::Verifier* const verifier = *made;
    const auto result = verifier->check(*gpu_->device, lent(plan));
    ASSERT_TRUE(result.ok()) << result.error().message;
    for (const engine::TensorCheck& one : result->checks)
      EXPECT_TRUE(one.passed) << cell.name << " D=" << p.sizes.dim << ": " << one.text();
    const Status repeatable = verifier->check_repeatable(*gpu_->device, lent(plan), 3);
    EXPECT_TRUE(repeatable.ok()) << repeatable.error().message;
  }
};

class StreamOnGpu : public WholeHeadOnGpu {
 protected:
  static constexpr std::int64_t kHeads = 3;
  // From so many channels on there are fewer steps: the reference takes two minutes for 400 of them.
  static constexpr std::int64_t kLarge = 4096;

  // Each cell plain, and with resets and lengths.
  void every_cell(const Asked& asked, const std::vector<engine::VerifyCase>& cases) const {
    const auto text =
        read_text_file(std::string(RONDO_SOURCE_DIR) + "/tests/schedule/stream/cells/heads.cell");
    ASSERT_TRUE(text.ok());
    const frontend::Parsed parsed = frontend::parse(*text, "heads.cell");
    ASSERT_TRUE(parsed.ok());
    const schedule::Problem p = problem(asked.pass, cases.back().sizes, asked.storage);
    int index = 0;
    for (const step::Cell& plain : parsed.cells)
      for (const step::Forms& forms : kForms) {
        if (!asked.takes(index++)) continue;
        const step::Cell cell = step::with_forms(plain, forms).value();
        const auto plan = load_chosen(cell, p, engine::kFullAlignment, asked.dim >= 4096);
        ASSERT_NE(plan, nullptr);
        expect_right(cell, p, *plan, cases);
      }
  }
};

class StreamCells : public StreamOnGpu,
                    public ::testing::WithParamInterface<std::tuple<Storage, Pass, std::int64_t>> {};
TEST_P(StreamCells, EveryCell) {
  const auto [storage, pass, dim] = GetParam();
  const std::int64_t gap = 16 / kernel::storage_bytes(storage);
  const bool large = dim >= kLarge;
  every_cell(
      {storage, pass, dim},
      {{{3, 1, kHeads, dim}, {}, true},
       {{large ? 2 : 3, large ? 17 : 65, kHeads, dim}, {engine::TensorLayout::Order::TimeMajor, gap}, true},
       {{1, large ? 40 : 200, kHeads, dim}, {}, false}});
}
class StreamCell : public StreamOnGpu,
                   public ::testing::WithParamInterface<std::tuple<Storage, Pass, std::int64_t, int>> {};
TEST_P(StreamCell, FewSteps) {
  const auto [storage, pass, dim, which] = GetParam();
  const bool large = dim >= kLarge;
  every_cell({storage, pass, dim, which}, {{{large ? 1 : 2, large ? 7 : 9, kHeads, dim}, {}, true}});
}

// Beside a matrix, in every form of a team that has room.
class BesideAMatrixOnGpu : public WholeHeadOnGpu {
 protected:
  static constexpr std::int64_t kHeads = 2;

  void every_cell_and_form(const Asked& asked, const std::vector<engine::VerifyCase>& cases) const {
    const schedule::Problem p = problem(asked.pass, cases.back().sizes, asked.storage);
    int index = 0;
    const schedule::Parameters teams[] = {{{"blocks", 1}},
                                          {{"exchange", 0}, {"blocks", 2}},
                                          {{"exchange", 0}, {"blocks", 4}},
                                          {{"exchange", 1}}};
    for (const step::Cell& plain : schedule::reducing_cells_with_matrices())
      for (const step::Forms& forms : kForms) {
        if (!asked.takes(index++)) continue;
        const step::Cell cell = step::with_forms(plain, forms).value();
        int there = 0;
        for (const schedule::Parameters& team : teams) {
          const auto choice = engine::choose_with({cell, p, gpu_->profile}, {"persistent", team});
          if (!choice) continue;  // the head does not fit, or is too small
          const auto plan = load(cell, p, "persistent", choice->parameters, true);
          ASSERT_NE(plan, nullptr);
          expect_right(cell, p, *plan, cases);
          ++there;
        }
        EXPECT_GT(there, 0) << cell.name;
      }
  }
};

class MatrixCells : public BesideAMatrixOnGpu,
                    public ::testing::WithParamInterface<std::tuple<Storage, Pass, std::int64_t>> {};
TEST_P(MatrixCells, EveryCellAndForm) {
  const auto [storage, pass, dim] = GetParam();
  const std::int64_t gap = 16 / kernel::storage_bytes(storage);
  every_cell_and_form({storage, pass, dim},
                      {{{5, 2, kHeads, dim}, {engine::TensorLayout::Order::TimeMajor, gap}, false},
                       {{17, 41, kHeads, dim}, {}, true}});
}
class MatrixCell : public BesideAMatrixOnGpu,
                   public ::testing::WithParamInterface<std::tuple<Storage, Pass, std::int64_t, int>> {};
TEST_P(MatrixCell, FewSteps) {
  const auto [storage, pass, dim, which] = GetParam();
  every_cell_and_form({storage, pass, dim, which}, {{{3, 9, kHeads, dim}, {}, true}});
}

constexpr int kStreamCells = 2 * 3, kMatrixCells = 2 * 5;  // each in two forms
TEST(WholeHeadCells, EachHasATest) {
  const auto text = read_text_file(std::string(RONDO_SOURCE_DIR) + "/tests/schedule/stream/cells/heads.cell");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(frontend::parse(*text, "heads.cell").cells.size() * 2, kStreamCells);
  EXPECT_EQ(schedule::reducing_cells_with_matrices().size() * 2, kMatrixCells);
}

using rondo::testing::kBothPasses;
using rondo::testing::kEachStorage;
const auto kHeadsBesideAMatrix = ::testing::Values(33, 64, 130);
const auto kWholeHeads = ::testing::Values(1, 8, 33, 130, 1000, 4096, 5001, 16384);

INSTANTIATE_TEST_SUITE_P(Gpu, MatrixCells,
                         ::testing::Combine(kEachStorage, kBothPasses, kHeadsBesideAMatrix));
INSTANTIATE_TEST_SUITE_P(Gpu, MatrixCell,
                         ::testing::Combine(kEachStorage, kBothPasses, kHeadsBesideAMatrix,
                                            ::testing::Range(0, kMatrixCells)));
INSTANTIATE_TEST_SUITE_P(Gpu, StreamCells, ::testing::Combine(kEachStorage, kBothPasses, kWholeHeads));
INSTANTIATE_TEST_SUITE_P(Gpu, StreamCell,
                         ::testing::Combine(kEachStorage, kBothPasses, kWholeHeads,
                                            ::testing::Range(0, kStreamCells)));

}  // namespace
}  // namespace rondo::tuner
