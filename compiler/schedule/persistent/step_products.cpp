#include "compiler/schedule/persistent/step_products.h"

#include "compiler/schedule/persistent/all_gather.h"
#include "compiler/schedule/persistent/fragment_gather.h"
#include "compiler/schedule/persistent/reduce_scatter.h"

namespace rondo::schedule {

std::unique_ptr<StepProducts> step_products(PersistentKernel& kernel, const Problem& problem,
                                            const std::vector<ProductGroup>& groups,
                                            const std::vector<ProductSum>& sums, std::int64_t other_words) {
  if (kernel.geometry().reduces())
    return std::make_unique<ReduceScatterProducts>(kernel, problem, groups, sums, other_words);
  if (kernel.geometry().p.gather_fragments)
    return std::make_unique<FragmentGatherProducts>(kernel, problem, groups, other_words);
  return std::make_unique<AllGatherProducts>(kernel, problem, groups, other_words);
}

std::int64_t exchange_words(const PersistentGeometry& geometry, const std::vector<ProductGroup>& groups,
                            const std::vector<ProductSum>& sums, std::int64_t other_words) {
  const std::int64_t of_products = geometry.reduces()
                                       ? ReduceScatterProducts::slot_words(geometry, sums.size())
                                       : AllGatherProducts::slot_words(geometry, groups.size());
  return GridRing(of_products + other_words, geometry.p.tiles_in_turn).team_words();
}

}  // namespace rondo::schedule
