// Products over all steps and gradients of matrices, in the simulator against plain loops. Small integers:
// every sum is exact in fp32, so results must agree to the bit.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "compiler/schedule/plan/simulate_plan.h"
#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/plan/tensor_layout.h"
#include "tests/schedule/gemm/time_gemm_cell.h"
#include "tests/support/turns.h"
#include "tests/target/board.h"

namespace rondo::schedule {
namespace {

using namespace testing;
using kernel::Storage;

struct TimeGemmCase {
  int dim, batch, time, heads;
  Storage storage;
  int pad;
  std::optional<GemmParameters> product = {}, gradient = {};  // else the usual ones
};

void PrintTo(const TimeGemmCase& c, std::ostream* out) {
  *out << "D=" << c.dim << " B=" << c.batch << " T=" << c.time << " H=" << c.heads << " "
       << kernel::storage_name(c.storage) << " pad=" << c.pad;
}

class TimeGemm : public ::testing::TestWithParam<TimeGemmCase> {
 protected:
  void SetUp() override {
    const TimeGemmCase& c = GetParam();
    problem_.sizes = {.batch = c.batch, .time = c.time, .heads = c.heads, .dim = c.dim};
    problem_.storage = c.storage;
    for (const TensorRef ref : {TensorRef{Role::Input, kX},
                                {Role::Param, kR},
                                {Role::Param, kQ},
                                {Role::History, kH},
                                {Role::InitialState, kH},
                                {Role::Scratch, 0}})
      given_[ref] = draw(ref);
  }

  std::int64_t count(TensorRef ref) const {
    const step::Sizes& s = problem_.sizes;
    if (ref.role == Role::Scratch) return s.batch * s.time * s.heads * kScratchRows * s.dim;
    return total_elements(ref, cell_, s);
  }

  // Initial states lie between numbers of the storage type, so that their rounding shows.
  std::vector<double> draw(TensorRef ref) {
    std::uniform_int_distribution<int> integer(-3, 3);
    std::vector<double> values(static_cast<std::size_t>(count(ref)));
    for (double& v : values) v = integer(rng_) + (ref.role == Role::InitialState ? std::exp2(-10) : 0);
    return values;
  }

  double element(TensorRef ref, std::int64_t index) const {
    return given_.at(ref)[static_cast<std::size_t>(index)];
  }

  // The operand's value at batch row n and step t, head h, channel d.
  double value(const TimeOperand& operand, std::int64_t n, std::int64_t t, std::int64_t h,
               std::int64_t d) const {
    const step::Sizes& s = problem_.sizes;
    const auto rows_of = [&](TensorRef ref) {
      return ref.role == Role::Scratch ? kScratchRows
                                       : cell_.tensors[static_cast<std::size_t>(ref.tensor)].rows;
    };
    if (operand.shifted && t == 0) {
      if (!operand.first) return 0;
      const std::int64_t row = (n * s.heads + h) * rows_of(*operand.first) + operand.first_row;
      return static_cast<double>(
          scalar::round_to(problem_.storage, static_cast<float>(element(*operand.first, row * s.dim + d))));
    }
    const TensorRef ref = operand.row.tensor;
    const std::int64_t step = n * s.time + t - (operand.shifted ? 1 : 0);
    return element(ref, ((step * s.heads + h) * rows_of(ref) + operand.row.row) * s.dim + d);
  }

  // Values of an operand at every step of a head, [B * T][D].
  std::vector<double> values(const TimeOperand& operand, std::int64_t h) const {
    const step::Sizes& s = problem_.sizes;
    std::vector<double> result;
    for (std::int64_t n = 0; n < s.batch; ++n)
      for (std::int64_t t = 0; t < s.time; ++t)
        for (std::int64_t d = 0; d < s.dim; ++d) result.push_back(value(operand, n, t, h, d));
    return result;
  }

  SimulatedRun run(std::vector<Launch> launches, std::int64_t workspace) {
    KernelPlan plan;
    plan.launches = std::move(launches);
    plan.scratch_rows = {kScratchRows};
    plan.workspace_elements_fixed = workspace;
    simplify_kernels({cell_, problem_, {}}, plan);
    SimulatedRun result = simulate_plan({cell_, problem_, {}}, plan, given_, GetParam().pad);
    for (const std::string& fault : result.faults) ADD_FAILURE() << fault;
    return result;
  }

  void check_products(const TimeOperand& vector);
  void check_gradients(int split_k);

  step::Cell cell_ = matrices_and_vectors();
  Problem problem_;
  TensorValues given_;
  std::mt19937 rng_{20240607};
};

void TimeGemm::check_products(const TimeOperand& vector) {
  const step::Sizes& s = problem_.sizes;
  const std::vector<TimeProduct> all = products(vector);
  const GemmParameters parameters =
      GetParam().product.value_or(gemm_parameters(problem_, target::board(), GemmUse::TimeProduct, 4));
  const SimulatedRun result = run({time_product({cell_, problem_, {}}, all, {kScratchRows}, parameters)}, 0);
  const TensorRef out{Role::InputGradient, kG};
  ASSERT_EQ(result.written.count(out), 1u);
  const std::int64_t out_rows = cell_.tensors[kG].rows;
  for (const TimeProduct& p : all)
    for (std::int64_t h = 0; h < s.heads; ++h) {
      const std::vector<double> v = values(vector, h);
      const std::int64_t rows = cell_.tensors[static_cast<std::size_t>(p.matrix)].rows;
      for (std::int64_t step = 0; step < s.batch * s.time; ++step)
        for (std::int64_t i = 0; i < s.dim; ++i) {
          double sum = 0;
          for (std::int64_t j = 0; j < s.dim; ++j)
            sum += element({Role::Param, p.matrix}, ((h * rows + p.row) * s.dim + i) * s.dim + j) *
                   v[static_cast<std::size_t>(step * s.dim + j)];
          const std::int64_t at = ((step * s.heads + h) * out_rows + p.out.row) * s.dim + i;
          ASSERT_EQ(result.written.at(out)[static_cast<std::size_t>(at)],
                    static_cast<double>(scalar::round_to(problem_.storage, static_cast<float>(sum))))
              << "row " << p.out.row << " head " << h << " step " << step << " channel " << i;
        }
    }
}

void TimeGemm::check_gradients(int split_k) {
  const step::Sizes& s = problem_.sizes;
  GemmParameters parameters =
      GetParam().gradient.value_or(gemm_parameters(problem_, target::board(), GemmUse::MatrixGradient, 2));
  parameters.split_k = split_k;
  const std::int64_t workspace = matrix_gradient_workspace({cell_, problem_, {}}, terms(), parameters);
  EXPECT_EQ(workspace, split_k == 1 ? 0 : split_k * s.heads * 6 * s.dim * s.dim);
  const SimulatedRun result =
      run(matrix_gradients({cell_, problem_, {}}, terms(), {kScratchRows}, parameters), workspace);
  EXPECT_EQ(result.unwritten, std::vector<std::string>{});
  for (const step::TensorId matrix : {kR, kQ}) {
    const std::int64_t rows = cell_.tensors[static_cast<std::size_t>(matrix)].rows;
    std::vector<double> want(static_cast<std::size_t>(s.heads * rows * s.dim * s.dim), 0);
    for (const MatrixTerm& term : terms())
      for (std::int64_t h = 0; h < s.heads && term.matrix == matrix; ++h) {
        const std::vector<double> left = values(term.left, h), right = values(term.right, h);
        const auto first = static_cast<std::size_t>((h * rows + term.row) * s.dim * s.dim);
        const auto dim = static_cast<std::size_t>(s.dim);
        for (std::size_t step = 0; step < left.size() / dim; ++step)
          for (std::size_t i = 0; i < dim; ++i)
            for (std::size_t j = 0; j < dim; ++j)
              want[first + i * dim + j] += left[step * dim + i] * right[step * dim + j];
      }
    ASSERT_EQ(result.written.at({Role::ParamGradient, matrix}), want) << "split_k " << split_k;
  }
}

TEST_P(TimeGemm, ProductsAgreeToTheBit) {
  check_products(previous_state(1));
  if (GetParam().time < 100) check_products(scratch_row(1));
}

TEST_P(TimeGemm, MatrixGradientsAgreeToTheBit) {
  if (GetParam().time < 100) check_gradients(1);
  check_gradients(3);
}

// Tiles that no head gets by itself: one k-step, deep stages, narrow copies.
constexpr GemmParameters kSmall{32, 64, 16, 2, 1, 2, 4, 1}, kDeep{64, 32, 64, 3, 2, 1, 2, 1},
    kLarge{128, 128, 64, 3, 2, 2, 8, 1};
// By warpgroups: one group and two, one panel of columns and all there can be.
constexpr GemmParameters kOneGroup{64, 64, 64, 3, 4, 1, 8, 1, true},
    kGroups{128, 128, 64, 3, 8, 1, 8, 1, true}, kWide{128, 256, 64, 4, 8, 1, 8, 1, true};

const std::vector<TimeGemmCase> kShapes = {TimeGemmCase{1, 3, 130, 2, Storage::BF16, 0},
                                           TimeGemmCase{5, 3, 9, 2, Storage::F16, 3},
                                           TimeGemmCase{33, 1, 130, 1, Storage::BF16, 1},
                                           TimeGemmCase{40, 3, 2, 1, Storage::BF16, 8},
                                           TimeGemmCase{64, 3, 9, 2, Storage::F16, 16},
                                           TimeGemmCase{64, 1, 1, 1, Storage::BF16, 0},
                                           TimeGemmCase{72, 1, 130, 1, Storage::F16, 8},
                                           TimeGemmCase{136, 1, 130, 1, Storage::BF16, 0},
                                           TimeGemmCase{136, 1, 2, 1, Storage::F16, 8, kLarge, kLarge},
                                           TimeGemmCase{40, 3, 70, 2, Storage::F16, 4, kSmall, kSmall},
                                           TimeGemmCase{40, 1, 130, 1, Storage::BF16, 2, kDeep, kDeep},
                                           TimeGemmCase{136, 1, 130, 1, Storage::BF16, 8, kGroups, kGroups},
                                           TimeGemmCase{72, 2, 70, 2, Storage::F16, 0, kOneGroup, kOneGroup},
                                           TimeGemmCase{264, 1, 66, 1, Storage::BF16, 0, kWide, kWide},
                                           TimeGemmCase{136, 3, 9, 1, Storage::F16, 16, kWide, kWide},
                                           TimeGemmCase{5, 3, 9, 2, Storage::F32, 3},
                                           TimeGemmCase{40, 3, 70, 2, Storage::F32, 4},
                                           TimeGemmCase{72, 1, 130, 1, Storage::F32, 8},
                                           TimeGemmCase{136, 1, 2, 1, Storage::F32, 4}};

INSTANTIATE_TEST_SUITE_P(Shapes, TimeGemm, ::testing::ValuesIn(rondo::testing::with_turns(kShapes)));

TEST(TimeGemmParameters, WrongOnesAreRefused) {
  Problem problem;
  problem.sizes = {.batch = 1, .time = 8, .heads = 1, .dim = 40};
  GemmParameters wide = gemm_parameters(problem, target::board(), GemmUse::TimeProduct, 4);
  wide.vector = 16;
  EXPECT_THROW(time_product({matrices_and_vectors(), problem, {}}, products(input_row(0)), {}, wide),
               std::logic_error);
  GemmParameters uneven = gemm_parameters(problem, target::board(), GemmUse::TimeProduct, 4);
  uneven.tile_n = 72;
  EXPECT_THROW(time_product({matrices_and_vectors(), problem, {}}, products(input_row(0)), {}, uneven),
               std::logic_error);
}

// Products by warpgroups: where the architecture has them, the type and the copies fit, and heads fill a
// tile.
TEST(TimeGemmParameters, WarpgroupsMultiplyLargeHeads) {
  const auto by_warpgroups = [](const char* arch, Storage storage, int dim, int vector) {
    Problem problem;
    problem.storage = storage;
    problem.sizes = {.batch = 16, .time = 1024, .heads = 1, .dim = dim};
    const GemmParameters product =
        gemm_parameters(problem, target::board(arch), GemmUse::TimeProduct, 4, vector);
    const GemmParameters gradient =
        gemm_parameters(problem, target::board(arch), GemmUse::MatrixGradient, 4, vector);
    EXPECT_EQ(product.warpgroups, gradient.warpgroups);
    return product.warpgroups;
  };
  EXPECT_TRUE(by_warpgroups("sm_90", Storage::BF16, 768, 8));
  EXPECT_TRUE(by_warpgroups("sm_90", Storage::F16, 136, 8));
  EXPECT_FALSE(by_warpgroups("sm_80", Storage::BF16, 768, 8));
  for (const char* later : {"sm_100", "sm_103", "sm_110", "sm_120", "sm_121"})
    EXPECT_FALSE(by_warpgroups(later, Storage::BF16, 768, 8)) << later;
  EXPECT_FALSE(by_warpgroups("sm_90", Storage::F32, 768, 8));
  EXPECT_FALSE(by_warpgroups("sm_90", Storage::BF16, 64, 8));
  EXPECT_FALSE(by_warpgroups("sm_90", Storage::BF16, 768, 4));  // tensors aligned to no more
  EXPECT_FALSE(by_warpgroups("sm_90", Storage::BF16, 772, 8));  // rows are not
}

TEST(TimeGemmParameters, WarpgroupsNeedWhatTheyNeed) {
  Problem problem;
  problem.sizes = {.batch = 1, .time = 128, .heads = 1, .dim = 136};
  const auto refused = [&](auto change) {
    GemmParameters wrong = kGroups;
    change(wrong);
    EXPECT_THROW(time_product({matrices_and_vectors(), problem, {}}, products(input_row(0)), {}, wrong),
                 std::logic_error);
  };
  EXPECT_NO_THROW(time_product({matrices_and_vectors(), problem, {}}, products(input_row(0)), {}, kGroups));
  refused([](GemmParameters& p) { p.stages = 2; });
  refused([](GemmParameters& p) { p.tile_k = 32; });
  refused([](GemmParameters& p) { p.vector = 4; });
  refused([](GemmParameters& p) { p.warps_m = 4, p.warps_n = 2; });
}

TEST(TimeGemmParameters, PartsFillTheGpuOnlyWhereTilesAreFew) {
  Problem problem;
  problem.sizes = {.batch = 16, .time = 1024, .heads = 12, .dim = 64};
  EXPECT_GT(gemm_parameters(problem, target::board(), GemmUse::MatrixGradient, 4).split_k, 8);
  problem.sizes = {.batch = 1, .time = 16, .heads = 12, .dim = 64};
  EXPECT_EQ(gemm_parameters(problem, target::board(), GemmUse::MatrixGradient, 4).split_k, 1);
}

}  // namespace
}  // namespace rondo::schedule
