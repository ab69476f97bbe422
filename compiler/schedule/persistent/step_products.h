// The products of a step with the head's matrices, as the body of a persistent kernel sees them: it hands
// over vectors, waits, and reads the products of its own channels.
#pragma once

#include <memory>
#include <stdexcept>
#include <vector>

#include "compiler/schedule/analysis/product_groups.h"
#include "compiler/schedule/persistent/exchange.h"
#include "compiler/schedule/persistent/kernel.h"

namespace rondo::schedule {

class StepProducts {
 public:
  virtual ~StepProducts() = default;

  // Declares matrices and exchange buffers. Before PersistentKernel::place.
  virtual void declare() = 0;
  // Loads the matrices; in the computing warps, before the walk.
  virtual void load_matrices() = 0;
  // Readies the exchange for the first two steps; in the computing warps, before the first publish().
  virtual void expect_first() = 0;
  // Whether the vector of a group is read where it lies in memory, and not handed over.
  virtual bool reads(std::size_t) const { return false; }
  // Hands over the vector of a group, one value a channel of the thread, at the `count`-th step.
  virtual void publish(std::size_t group, kernel::Value count, const std::vector<kernel::Value>& values) = 0;
  // Of a product of a group of ProductKind::Scatter: the channels that the step has chosen, in the same way.
  virtual void publish_chosen(std::size_t, int, kernel::Value, const std::vector<kernel::Value>&) {
    throw std::logic_error("persistent: products by chosen channels are made by reduce-scatter");
  }
  // The part that waits for no other block. The caller does its own work between this and finish().
  virtual void start(int level, kernel::Value count) = 0;
  // Waits for the other warps and blocks. Afterwards value() gives each product's value in this thread's
  // channels.
  virtual void finish(int level, kernel::Value count) = 0;
  // Prepares the level for the vectors of the step after next. Any time between finish() and the next
  // start().
  virtual void rearm(int level, kernel::Value count) = 0;
  // Whether rearm() passes a fence of the grid wherever clear_slots() does.
  virtual bool rearming_fences() const { return false; }
  // The whole role of a warp that only multiplies.
  virtual void multiply_role() = 0;
  virtual kernel::Value value(std::size_t group, int product, int channel) const = 0;
  // Where blocks meet through global memory: the ring, whose slots end with `other_words`.
  virtual const GridRing& ring() const = 0;
};

// `step`, `groups` and `sums` must outlive the result. `other_words`: of a slot of a grid's ring, for what is
// no product.
std::unique_ptr<StepProducts> step_products(PersistentKernel& kernel, const Task& task,
                                            const step::StepGraph& step,
                                            const std::vector<ProductGroup>& groups,
                                            const std::vector<ProductSum>& sums, std::int64_t other_words);

// Words that a team whose blocks meet through global memory exchanges there.
std::int64_t exchange_words(const PersistentGeometry& geometry, const Task& task, const step::StepGraph& step,
                            const std::vector<ProductGroup>& groups, const std::vector<ProductSum>& sums,
                            std::int64_t other_words);

}  // namespace rondo::schedule
