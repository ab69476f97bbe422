#include "compiler/kernel/passes/features.h"

#include <algorithm>

#include "compiler/kernel/ir/visit.h"

namespace rondo::kernel {

FeatureSet features_of(const Kernel& kernel) {
  FeatureSet found;
  if (kernel.cluster > 1) found.insert(Feature::Clusters);
  if (kernel.cooperative) found.insert(Feature::GridSync);
  if (!kernel.mbarriers.empty()) found.insert(Feature::Mbarrier);
  for_each_statement(kernel.body, [&](const Stmt& stmt) {
    std::visit(Overloaded{[&](const CopyAsync&) { found.insert(Feature::AsyncCopy); },
                          [&](const LoadMatrix&) { found.insert(Feature::Mma); },
                          [&](const Mma& mma) {
                            found.insert(mma.storage == Storage::F32 ? Feature::Tf32Mma : Feature::Mma);
                          },
                          [&](const MbarrierExpect&) { found.insert(Feature::AsyncStore); },
                          [&](const StoreAsync&) { found.insert(Feature::AsyncStore); },
                          [&](const ClusterBarrier&) { found.insert(Feature::Clusters); },
                          [&](const WarpgroupMma&) { found.insert(Feature::WarpgroupMma); },
                          // A part of it, also where the products themselves are left out (ablate.h).
                          [&](const WgmmaWait&) { found.insert(Feature::WarpgroupMma); },
                          [&](const TileMma&) { found.insert(Feature::MatrixTiles); },
                          [&](const SetMaxNReg&) { found.insert(Feature::SetMaxNReg); }, [](const auto&) {}},
               stmt.node);
  });
  return found;
}

bool architecture_specific(Feature feature) {
  return feature == Feature::WarpgroupMma || feature == Feature::SetMaxNReg;
}

bool architecture_specific(const FeatureSet& features) {
  return std::ranges::any_of(features, [](Feature feature) { return architecture_specific(feature); });
}

}  // namespace rondo::kernel
