// Heads of which the second half walks back, on the GPU against the reference, by every strategy that has the
// cell.
#include <string>
#include <tuple>

#include "compiler/step/forms.h"
#include "engine/check/verify.h"
#include "tests/gpu/gpu.h"

namespace rondo::tuner {
namespace {

using kernel::Storage;
using schedule::Pass;

class Directions : public rondo::testing::GpuTest,
                   public ::testing::WithParamInterface<std::tuple<std::string, Storage, Pass>> {
 protected:
  static constexpr std::int64_t kHeads = 4, kDim = 64;  // two heads walk each way

  // How many strategies computed it.
  int expect_right(const step::Cell& cell, const schedule::Problem& p) const {
    const std::vector<engine::VerifyCase> cases{{{3, 37, kHeads, kDim}, {}, true},
                                                {{1, 1, kHeads, kDim}, {}, false},
                                                {{2, 150, kHeads, kDim}, {}, true}};
    const auto made = rondo::testing::verifier_of(cell, p, cases, 19);
    if (!made) return ADD_FAILURE() << made.error().message, 0;
    int computed = 0;
    for (const char* strategy : {"stream", "shoot", "persistent", "alternating"}) {
      const auto choice = engine::choose_with({cell, p, gpu_->profile}, {strategy, {}});
      if (!choice) continue;  // the cell has another structure
      const auto plan = load(cell, p, strategy, choice->parameters, true);
      if (plan == nullptr) return ADD_FAILURE() << strategy, computed;
      const auto result = (*made)->check(*gpu_->device, lent(*plan));
      if (!result) return ADD_FAILURE() << strategy << ": " << result.error().message, computed;
      for (const engine::TensorCheck& one : result->checks)
        EXPECT_TRUE(one.passed) << strategy << ", " << cell.name << ": " << one.text();
      ++computed;
    }
    return computed;
  }
};

TEST_P(Directions, BothHalvesAreRight) {
  const auto& [name, storage, pass] = GetParam();
  const schedule::Problem p = problem(pass, {2, 150, kHeads, kDim}, storage);
  step::Forms forms;
  forms.directions = true;
  for (const bool others : {false, true}) {
    forms.resets = forms.lengths = others;
    const step::Cell cell = step::with_forms(rondo::testing::library_cell(name), forms).value();
    EXPECT_GT(expect_right(cell, p), 0) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Gpu, Directions,
                         ::testing::Combine(::testing::Values("affine", "mingru", "hgrn", "paragru", "lstm",
                                                              "gru", "slstm", "lnlstm"),
                                            ::testing::Values(Storage::BF16, Storage::F32),
                                            ::testing::Values(Pass::Forward, Pass::ForwardSave,
                                                              Pass::Backward)),
                         [](const auto& test) {
                           return std::get<0>(test.param) + "_" +
                                  std::string(kernel::storage_name(std::get<1>(test.param))) + "_" +
                                  schedule::pass_name(std::get<2>(test.param));
                         });

}  // namespace
}  // namespace rondo::tuner
