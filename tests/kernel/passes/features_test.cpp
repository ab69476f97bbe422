#include "compiler/kernel/passes/features.h"

#include <gtest/gtest.h>

#include <functional>

#include "compiler/kernel/builder/builder.h"

namespace rondo::kernel {
namespace {

FeatureSet features(const std::function<void(Builder&)>& build) {
  Builder builder("kernel", 256, Math::Fast);
  build(builder);
  return features_of(builder.finish());
}

TEST(Features, PlainKernelsHaveNone) {
  const FeatureSet found = features([](Builder& b) {
    const Memory out = b.output("out", Storage::F32);
    b.store(out[b.thread()], b.real(1));
    b.barrier();
  });
  EXPECT_EQ(found, FeatureSet{});
  EXPECT_FALSE(architecture_specific(found));
}

// Nested in conditions too, where roles of warps stand.
TEST(Features, RegistersThatChangeHandsAreFound) {
  const FeatureSet found = features([](Builder& b) {
    const Memory out = b.output("out", Storage::F32);
    b.if_(
        b.thread() < 128,
        [&] {
          b.set_max_nreg(208, true);
          b.store(out[b.thread()], b.real(1));
        },
        [&] { b.set_max_nreg(40, false); });
  });
  EXPECT_EQ(found, FeatureSet{Feature::SetMaxNReg});
  EXPECT_TRUE(architecture_specific(found));
}

// What a statement stands for, each by itself: built without a verifier, for its place in a kernel does not
// matter.
TEST(Features, EachStatementHasItsOwn) {
  const auto of = [](Stmt stmt) {
    Kernel kernel;
    kernel.body.push_back(std::move(stmt));
    return features_of(kernel);
  };
  EXPECT_EQ(of({CopyAsync{{}, {}, 4}}), FeatureSet{Feature::AsyncCopy});
  EXPECT_EQ(of({LoadMatrix{{}, 4, false, {}}}), FeatureSet{Feature::Mma});
  EXPECT_EQ(of({Mma{Storage::BF16, {}, {}, {}, false}}), FeatureSet{Feature::Mma});
  EXPECT_EQ(of({Mma{Storage::F32, {}, {}, {}, true}}), FeatureSet{Feature::Tf32Mma});
  EXPECT_EQ(of({WarpgroupMma{Storage::F16, 64, 4, {}, {}, {}}}), FeatureSet{Feature::WarpgroupMma});
  EXPECT_EQ(of({WgmmaWait{0}}), FeatureSet{Feature::WarpgroupMma});
  EXPECT_EQ(of({StoreAsync{{}, {}, 0, {}}}), FeatureSet{Feature::AsyncStore});
  EXPECT_EQ(of({MbarrierExpect{{}, 0}}), FeatureSet{Feature::AsyncStore});
  EXPECT_EQ(of({ClusterBarrier{}}), FeatureSet{Feature::Clusters});
  EXPECT_EQ(of({ProxyFence{}}), FeatureSet{});
  EXPECT_EQ(of({TileMma{}}), FeatureSet{Feature::MatrixTiles});
  EXPECT_EQ(of({PackTile{}}), FeatureSet{});
  EXPECT_EQ(of({GridFence{}}), FeatureSet{});
}

TEST(Features, OfTheWholeKernel) {
  Kernel kernel;
  kernel.cluster = 2;
  kernel.cooperative = true;
  kernel.mbarriers.emplace_back();
  EXPECT_EQ(features_of(kernel), (FeatureSet{Feature::Clusters, Feature::GridSync, Feature::Mbarrier}));
}

TEST(Features, OnlySomeExistUnderOneNameAlone) {
  for (const Feature feature : {Feature::AsyncCopy, Feature::Mma, Feature::Tf32Mma, Feature::Mbarrier,
                                Feature::AsyncStore, Feature::Clusters, Feature::GridSync})
    EXPECT_FALSE(architecture_specific(feature)) << static_cast<int>(feature);
  EXPECT_TRUE(architecture_specific(Feature::WarpgroupMma));
  EXPECT_TRUE(architecture_specific(Feature::SetMaxNReg));
}

}  // namespace
}  // namespace rondo::kernel
