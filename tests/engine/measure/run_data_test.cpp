// The tensors that a pass is timed with.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "compiler/scalar/storage.h"
#include "engine/measure/measure.h"
#include "tests/engine/plan/cells.h"
#include "tests/runtime/device/guarded_device.h"

namespace rondo::engine {
namespace {

using schedule::Pass;
using schedule::Role;

// A plan that keeps what it is launched with.
class Kept final : public runtime::LoadedPlan {
 public:
  std::int64_t workspace_bytes(std::int64_t, std::int64_t) const override { return 0; }
  const std::vector<executable::Tensor>& tensors() const override { return none_; }
  Status launch(const runtime::Bindings& bindings, std::int64_t, std::int64_t) const override {
    launches.push_back(bindings);
    return success();
  }
  mutable std::vector<runtime::Bindings> launches;

 private:
  std::vector<executable::Tensor> none_;
};

class RunSets : public ::testing::Test {
 protected:
  // Of all sets: by role, the addresses of the first tensor of that role, in the order of the sets.
  std::map<Role, std::vector<executable::Address>> addresses(const char* name, Pass pass,
                                                             std::int64_t cache_bytes) {
    const step::Cell cell = rondo::testing::library_cell(name);
    schedule::Problem problem = rondo::testing::problem_of(pass, 16, kernel::Storage::BF16);
    problem.sizes = {2, 8, 1, 16};
    data_ = RunData::make({cell, problem, {}}, cache_bytes, device_, 1).value();
    const Kept plan;
    const TimedWork work = data_.work(plan);
    for (int set = 0; set < data_.sets(); ++set) EXPECT_TRUE(work.run(set).ok());
    std::map<Role, std::vector<executable::Address>> found;
    for (const runtime::Bindings& launch : plan.launches) {
      std::set<Role> seen;
      for (const executable::Binding& binding : launch.entries())
        if (seen.insert(binding.tensor.role).second) found[binding.tensor.role].push_back(binding.pointer);
    }
    return found;
  }

  static std::size_t different(const std::vector<executable::Address>& all) {
    return std::set<executable::Address>(all.begin(), all.end()).size();
  }

  std::vector<std::byte> bytes_at(executable::Address address, std::size_t count) const {
    std::vector<std::byte> bytes(count);
    EXPECT_TRUE(device_.download(address, bytes).ok());
    return bytes;
  }

  const rondo::testing::GuardedDevice device_{rondo::testing::Guard::Behind};
  RunData data_;
};

// One set would say how often shoot sweeps for one draw of the weights.
TEST_F(RunSets, HaveOtherWeightsWhereAKernelMayIterate) {
  const auto found = addresses("paragru", Pass::Forward, 0);
  EXPECT_EQ(data_.sets(), 8);
  EXPECT_EQ(different(found.at(Role::Param)), 8);
  EXPECT_EQ(different(found.at(Role::InitialState)), 8);
  EXPECT_EQ(different(found.at(Role::Input)), 1) << "the steps are most of the bytes";
  EXPECT_EQ(different(found.at(Role::Output)), 1);
  std::set<std::vector<std::byte>> values;
  for (const executable::Address address : found.at(Role::Param)) values.insert(bytes_at(address, 32));
  EXPECT_EQ(values.size(), 8) << "of 16 numbers";
}

// bench_capi, which may use the C interface alone, draws the same ones: tests/benchmarks/capi_test.py has
// these numbers too. The times of shoot depend on them, so those of the records hold for them.
TEST_F(RunSets, AreTheNumbersOfTheRecords) {
  const auto found = addresses("paralstm", Pass::Forward, 0);
  const auto equal = [&](Role role, kernel::Storage storage, const std::vector<float>& wanted) {
    const auto size = static_cast<std::size_t>(kernel::storage_bytes(storage));
    const std::vector<std::byte> bytes = bytes_at(found.at(role).at(7), wanted.size() * size);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_FLOAT_EQ(static_cast<float>(scalar::decode(storage, &bytes[i * size])), wanted[i]) << i;
  };
  equal(Role::Input, kernel::Storage::BF16, {0.1328125F, 0.4921875F, 0.94140625F});
  equal(Role::Param, kernel::Storage::F32, {0.42544505F, 0.0801572427F, -0.349145681F});
  equal(Role::InitialState, kernel::Storage::F32, {0.112149797F, -0.369487852F, -0.373865008F});
}

TEST_F(RunSets, AreAsManyAsTheCacheAsksFor) {
  const auto of_one = addresses("paragru", Pass::Forward, 0);
  const std::int64_t bytes = data_.bytes_per_set();
  const auto found = addresses("paragru", Pass::Forward, 5 * bytes);
  EXPECT_EQ(data_.sets(), 10);
  EXPECT_EQ(different(found.at(Role::Input)), 10) << "none is found in the cache";
}

TEST_F(RunSets, AreOneWhereTheNumbersDoNotMatter) {
  addresses("paragru", Pass::Backward, 0);
  EXPECT_EQ(data_.sets(), 1) << "an affine pass";
  addresses("gru", Pass::Forward, 0);
  EXPECT_EQ(data_.sets(), 1) << "no strategy for matrices iterates";
}

}  // namespace
}  // namespace rondo::engine
