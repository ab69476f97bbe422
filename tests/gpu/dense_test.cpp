// Every cell with matrices, storage type, pass, and strategy or variant of team on the GPU against the
// reference.
#include <iostream>
#include <optional>
#include <tuple>

#include "compiler/step/clip.h"
#include "engine/check/verify.h"
#include "tests/engine/choice/team_variants.h"
#include "tests/gpu/gpu.h"

namespace rondo::tuner {
namespace {

using engine::TensorLayout;
using kernel::Storage;
using rondo::testing::library_cell;
using rondo::testing::Variant;
using rondo::testing::VariantCandidates;
using schedule::Pass;

class DenseCell : public rondo::testing::GpuTest,
                  public ::testing::WithParamInterface<std::tuple<std::string, Storage, Pass, Variant>> {
 protected:
  // Candidates of this variant, of the problem or of a smaller head; fails the test where there are none.
  VariantCandidates candidates(const step::Cell& cell, const schedule::Problem& p) const {
    auto found = rondo::testing::variant_candidates(cell, p, gpu_->profile, std::get<3>(GetParam()));
    if (!found) {
      ADD_FAILURE() << cell.name << ": " << found.error().message;
      return {};
    }
    if (found->list.empty() && std::get<3>(GetParam()) != Variant::Fragments)
      ADD_FAILURE() << cell.name << ": no candidate of this variant";
    if (found->dim != p.sizes.dim)
      std::cout << cell.name << ": one block has no room for D=" << p.sizes.dim << "; D=" << found->dim
                << " is tested\n";
    return std::move(found).value();
  }

  // Of the largest kernels there are: each compilation takes seconds.
  static constexpr int kTriesOfVariant = 4;

  // The model's best of them, with products split among `splits` warps or more. Nothing, and no failure,
  // where products cannot be split.
  std::unique_ptr<runtime::DevicePlan> plan_for(const step::Cell& cell, const schedule::Problem& p,
                                                const std::vector<engine::Candidate>& candidates,
                                                int splits) const {
    int tries = 0;
    const engine::Candidate* first = nullptr;
    for (const engine::Candidate& candidate : candidates) {
      if (splits > 1 && candidate.parameters.at("split_k") < splits) continue;
      if (first == nullptr) first = &candidate;
      // As the tuner does: what spills is passed over.
      if (!spills(cell, p, candidate, gpu_->profile))
        return load(cell, p, candidate.strategy, candidate.parameters);
      if (++tries == kTriesOfVariant) break;
    }
    // A variant of which nothing is without spills is none that users get (ShippedKernels compiles those);
    // what it computes must be right all the same.
    if (first != nullptr) return load(cell, p, first->strategy, first->parameters, true);
    return nullptr;
  }

  void verify(std::vector<engine::VerifyCase> cases, int repeats = 3, const step::Clip& clip = {},
              bool save_products = false, std::optional<kernel::Math> math = {}, int splits = 1) {
    const step::Cell cell = step::clipped(library_cell(std::get<0>(GetParam())), clip).value();
    schedule::Problem p = problem(std::get<2>(GetParam()), cases.back().sizes, std::get<1>(GetParam()));
    p.save_products = save_products;
    p.math = math.value_or(p.math);
    const VariantCandidates found = candidates(cell, p);
    if (found.list.empty() && std::get<3>(GetParam()) == Variant::Fragments)
      GTEST_SKIP() << "a lane's fragments of such a head are no whole vectors, or too many";
    if (found.list.empty()) return;
    p.sizes.dim = found.dim;
    for (engine::VerifyCase& shape : cases) shape.sizes.dim = found.dim;
    const auto plan = plan_for(cell, p, found.list, splits);
    if (plan == nullptr && splits > 1) GTEST_SKIP() << "products of this size are not split in this variant";
    if (plan == nullptr) return;
    const auto made = rondo::testing::verifier_of(cell, p, cases, 23);
    ASSERT_TRUE(made.ok()) << made.error().message;
    const engine::Verifier* const verifier = *made;
    const auto result = verifier->check(*gpu_->device, lent(*plan));
    ASSERT_TRUE(result.ok()) << result.error().message;
    for (const engine::TensorCheck& check : result->checks)
      EXPECT_TRUE(check.passed) << cell.name << " D=" << found.dim << ": " << check.text();
    const Status repeatable = verifier->check_repeatable(*gpu_->device, lent(*plan), repeats);
    EXPECT_TRUE(repeatable.ok()) << repeatable.error().message;
  }
};

// Batch and channels that leave tails, gaps between rows, one step.
TEST_P(DenseCell, Tails) {
  verify({{{1, 1, 2, 72}, {}, true},
          {{5, 2, 2, 72}, {engine::TensorLayout::Order::TimeMajor, 8}, false},
          {{17, 41, 2, 72}, {engine::TensorLayout::Order::BatchMajor, 8}, true}});
}
TEST_P(DenseCell, OddChannels) { verify({{{3, 19, 1, 33}, {}, true}}); }
// Small heads are not split by choice: warps that only multiply beside those that compute.
TEST_P(DenseCell, Splits) {
  if (std::get<3>(GetParam()) == Variant::Alternating)
    GTEST_SKIP() << "the other strategy has no warps of roles";
  verify({{{3, 19, 1, 33}, {}, true}}, 3, {}, false, {}, 2);
}
// A spectral norm of about 6; few steps, for rounding errors grow with each of them.
TEST_P(DenseCell, LargeMatrices) { verify({{{5, 6, 2, 72}, {}, true, 5}}); }
TEST_P(DenseCell, ClippedRecurrence) { verify({{{5, 19, 1, 72}, {}, true}}, 3, {0.25, 0.25}); }
TEST_P(DenseCell, RepeatsBitByBit) {
  // What one block holds is smaller than what a team does.
  const std::int64_t dim = std::get<3>(GetParam()) == Variant::Block ? 64 : 256;
  verify({{{16, 150, 1, dim}, {}, true}}, 200);
}

// The forward pass stores the products of every step, the backward pass reads them.
class SavedProducts : public DenseCell {};
TEST_P(SavedProducts, Tails) {
  verify({{{5, 2, 2, 72}, {engine::TensorLayout::Order::TimeMajor, 8}, false},
          {{17, 41, 2, 72}, {engine::TensorLayout::Order::BatchMajor, 8}, true}},
         20, {}, true);
}

// Heads whose products over all steps are made by warpgroups on sm_90: with tails in every direction, and
// whole. The sanitizers run this, so no blocks wait for each other: racecheck makes them so slow that they
// give up.
class Warpgroups : public DenseCell {};
TEST_P(Warpgroups, Tails) { verify({{{2, 70, 1, 136}, {engine::TensorLayout::Order::BatchMajor, 8}, true}}); }
TEST_P(Warpgroups, WholeTiles) { verify({{{1, 128, 1, 256}, {}, false}}); }

// Products in tf32, against a loop that rounds their operands as well.
class Tf32Products : public DenseCell {};
TEST_P(Tf32Products, Tails) {
  verify({{{5, 2, 2, 72}, {engine::TensorLayout::Order::TimeMajor, 8}, false},
          {{17, 41, 2, 72}, {engine::TensorLayout::Order::BatchMajor, 8}, true}},
         20, {}, false, kernel::Math::Tf32);
}
TEST_P(Tf32Products, OddChannels) { verify({{{3, 19, 1, 33}, {}, true}}, 3, {}, false, kernel::Math::Tf32); }

std::string name_of_case(const ::testing::TestParamInfo<DenseCell::ParamType>& info) {
  const char* variants[] = {"block", "cluster", "grid", "fragments", "alternating"};
  return std::get<0>(info.param) + "_" + kernel::storage_name(std::get<1>(info.param)) + "_" +
         schedule::pass_name(std::get<2>(info.param)) + "_" +
         variants[static_cast<int>(std::get<3>(info.param))];
}

INSTANTIATE_TEST_SUITE_P(Cells, DenseCell,
                         ::testing::Combine(::testing::ValuesIn(rondo::testing::dense_cells()),
                                            ::testing::Values(Storage::BF16, Storage::F16, Storage::F32),
                                            ::testing::Values(Pass::Forward, Pass::ForwardSave,
                                                              Pass::Backward),
                                            ::testing::Values(Variant::Block, Variant::Cluster, Variant::Grid,
                                                              Variant::Fragments, Variant::Alternating)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Cells, Tf32Products,
                         ::testing::Combine(::testing::ValuesIn(rondo::testing::dense_cells()),
                                            ::testing::Values(Storage::F32),
                                            ::testing::Values(Pass::ForwardSave, Pass::Backward),
                                            ::testing::Values(Variant::Block, Variant::Cluster, Variant::Grid,
                                                              Variant::Fragments, Variant::Alternating)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Cells, Warpgroups,
                         ::testing::Combine(::testing::ValuesIn(rondo::testing::dense_cells()),
                                            ::testing::Values(Storage::BF16, Storage::F16),
                                            ::testing::Values(Pass::Backward),
                                            ::testing::Values(Variant::Alternating)),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(Cells, SavedProducts,
                         ::testing::Combine(::testing::ValuesIn(rondo::testing::dense_cells()),
                                            ::testing::Values(Storage::BF16, Storage::F32),
                                            ::testing::Values(Pass::ForwardSave, Pass::Backward),
                                            ::testing::Values(Variant::Block, Variant::Grid,
                                                              Variant::Alternating)),
                         name_of_case);

}  // namespace
}  // namespace rondo::tuner
