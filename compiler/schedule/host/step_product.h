// The products of a step on CPUs.
#pragma once

#include <vector>

#include "compiler/schedule/host/blocked_product.h"
#include "compiler/schedule/stepwise/sweep.h"

namespace rondo::schedule {

// What a block owns.
StepTile host_tile(const Problem& problem, const HostParameters& parameters);

// Brings the block's vectors to its own memory, as fp32 or for matrix tiles as bf16, once for all products,
// and leaves the sums there.
class HostStepProduct final : public StepProduct {
 public:
  // `packed`: by group of the step; `own`: those that are multiplied here. All outlive it.
  HostStepProduct(kernel::Builder& builder, const StepwiseSweep& sweep, const HostParameters& parameters,
                  const std::vector<HostPacked>& packed, std::vector<std::size_t> own);

  void declare(Signature& signature, kernel::Memory vectors) override;
  void start(const Place& place) override;
  void multiply() override;
  kernel::Value sum(std::size_t group, std::size_t product, int turn, kernel::Value unit,
                    kernel::Value row) override;

 private:
  const ProductGroup& group(std::size_t own) const { return sweep_.stages.groups[own_[own]]; }
  bool scatters(std::size_t own) const { return group(own).kind == ProductKind::Scatter; }
  std::int64_t first_vector(std::size_t own) const;
  void bring(std::size_t own);
  BlockedProduct blocked(std::size_t own) const;
  void scatter(std::size_t own);
  void scatter_row(std::size_t own, std::size_t product, kernel::Value row);
  kernel::Value sum_at(std::size_t own, std::size_t product, kernel::Value row) const;

  kernel::Builder& builder_;
  const StepwiseSweep& sweep_;
  const Problem& problem_;
  const HostParameters p_;
  const std::vector<HostPacked>& packed_;
  const std::vector<std::size_t> own_;
  std::vector<std::int64_t> first_sum_;  // by own group
  KernelTensor matrices_, chosen_;
  // By own group: in memory as fp32, or for matrix tiles as bf16.
  bool by_tiles(std::size_t own) const { return packed_[own_[own]].in_tiles; }
  std::int64_t pitch(std::size_t own) const;
  kernel::Memory vectors(std::size_t own) const { return by_tiles(own) ? pairs_ : vectors_; }
  kernel::Memory from_, vectors_, pairs_, sums_;
  Place place_;
  kernel::Value block_;
};

}  // namespace rondo::schedule
