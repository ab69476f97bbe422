#include "compiler/schedule/persistent/step_products.h"

#include <algorithm>

#include "compiler/schedule/persistent/all_gather.h"
#include "compiler/schedule/persistent/early_vectors.h"
#include "compiler/schedule/persistent/fragment_gather.h"
#include "compiler/schedule/persistent/reduce_scatter.h"

namespace rondo::schedule {

std::unique_ptr<StepProducts> step_products(PersistentKernel& kernel, const Task& task,
                                            const step::StepGraph& step,
                                            const std::vector<ProductGroup>& groups,
                                            const std::vector<ProductSum>& sums, std::int64_t other_words) {
  if (kernel.geometry().reduces())
    return std::make_unique<ReduceScatterProducts>(kernel, task.problem, groups, sums, other_words);
  if (kernel.geometry().p.gather_fragments)
    return std::make_unique<FragmentGatherProducts>(kernel, task, step, groups, sums, other_words);
  return std::make_unique<AllGatherProducts>(kernel, task.problem, groups, other_words);
}

std::int64_t exchange_words(const PersistentGeometry& geometry, const Task& task, const step::StepGraph& step,
                            const std::vector<ProductGroup>& groups, const std::vector<ProductSum>& sums,
                            std::int64_t other_words) {
  const std::vector<bool> reads = read_inputs(task.cell, step.graph, groups, geometry);
  const auto sent = static_cast<std::size_t>(std::ranges::count(reads, false));
  const std::int64_t of_products = geometry.reduces()
                                       ? ReduceScatterProducts::slot_words(geometry, sums.size())
                                       : AllGatherProducts::slot_words(geometry, sent);
  return GridRing(of_products + other_words, geometry.p.tiles_in_turn).team_words();
}

}  // namespace rondo::schedule
