#include "compiler/schedule/persistent.h"

#include <fmt/format.h>

#include "compiler/schedule/dense.h"
#include "compiler/schedule/persistent_plan.h"
#include "compiler/schedule/step_products.h"
#include "compiler/step/simplify.h"

namespace rondo::schedule {

Legality Persistent::legal(const step::Cell& cell, const Problem&) const { return dense_legal(cell); }

namespace {

constexpr int kClearThreads = 256;

// Marks every word of the exchange as not there yet (kernel::kAbsent), 4 words a thread.
Launch clear_exchange(const step::Cell& cell, const Problem& problem, const KernelPlan& plan) {
  kernel::Builder b(fmt::format("{}_clear_exchange", cell.name), kClearThreads, problem.math,
                    "no word of the exchange is there yet");
  Signature signature(b, cell, problem);
  const KernelTensor exchange = signature.writes({Role::Exchange, -1});
  const std::int64_t vectors = plan.exchange_words / 4;
  const std::int64_t blocks = (vectors + kClearThreads - 1) / kClearThreads;
  const kernel::Value vector = b.let("vector", b.block() % blocks * kClearThreads + b.thread());
  b.if_(vector < vectors, [&] {
    const kernel::Value first = b.wide(b.block() / blocks) * plan.exchange_words + b.wide(vector * 4);
    b.store_vector(exchange.memory[first], std::vector<kernel::Value>(4, b.constant(kernel::kAbsent)));
  });
  Launch launch{b.finish(), signature.arguments(), 0, blocks};
  launch.batch_tile = plan.exchange_batch_tile;
  return launch;
}

}  // namespace

// What records of before the reduce-scatter lack.
Parameters Persistent::completed(Parameters recorded) const {
  recorded.try_emplace("reduce_scatter", 0);
  recorded.try_emplace("share", 1);
  recorded.try_emplace("lend", 0);
  return recorded;
}

KernelPlan Persistent::build(const step::Cell& cell, const Problem& problem, const Parameters& chosen) const {
  const Parameters parameters = completed(chosen);
  const step::Cell simple = step::simplify(cell);
  KernelPlan plan;
  plan.strategy = name();
  plan.parameters = parameters;
  plan.alignment = PersistentParameters::from(parameters).vector * kernel::storage_bytes(problem.storage);
  const PersistentGeometry geometry(problem.sizes.dim, problem.storage,
                                    PersistentParameters::from(parameters));
  if (geometry.in_grid()) {
    const StepGraph sweep = sweep_graph(simple, problem);
    const std::vector<ProductGroup> groups = product_groups(sweep.graph, sweep.roots);
    plan.exchange_words = problem.sizes.heads *
                          exchange_words(geometry, groups, product_sums(sweep.graph, sweep.roots, groups));
    plan.exchange_batch_tile = geometry.batch;
    plan.launches.push_back(clear_exchange(simple, problem, plan));
  }
  if (problem.pass == Pass::Backward)
    persistent_backward(simple, problem, parameters, plan);
  else
    plan.launches.push_back(persistent_forward(simple, problem, parameters));
  return plan;
}

}  // namespace rondo::schedule
