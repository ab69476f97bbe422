#include "compiler/schedule/persistent/step_products.h"

#include "compiler/schedule/persistent/products.h"
#include "compiler/schedule/persistent/sums.h"

namespace rondo::schedule {

std::unique_ptr<StepProducts> step_products(PersistentKernel& kernel, const Problem& problem,
                                            const std::vector<ProductGroup>& groups,
                                            const std::vector<ProductSum>& sums) {
  if (kernel.geometry().reduces())
    return std::make_unique<ReduceScatterProducts>(kernel, problem, groups, sums);
  return std::make_unique<AllGatherProducts>(kernel, problem, groups);
}

std::int64_t exchange_words(const PersistentGeometry& geometry, const std::vector<ProductGroup>& groups,
                            const std::vector<ProductSum>& sums) {
  return GridRing::team_words(geometry.reduces() ? ReduceScatterProducts::slot_words(geometry, sums.size())
                                                 : AllGatherProducts::slot_words(geometry, groups.size()));
}

}  // namespace rondo::schedule
