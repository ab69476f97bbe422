// The products of a step on CPUs.
#pragma once

#include <vector>

#include "compiler/schedule/host/packed.h"
#include "compiler/schedule/stepwise/sweep.h"

namespace rondo::schedule {

// What a block owns.
StepTile host_tile(const Problem& problem, const HostParameters& parameters);

// Sums in registers: of `together` products and `tile` batch rows at once, over all columns. Matrices are
// packed; vectors are read one number at a time, for all lanes, as fp32 (16-bit ones are widened first, once
// for all products).
class HostStepProduct final : public StepProduct {
 public:
  // `packed`: by group of the step; `own`: those that are multiplied here.
  HostStepProduct(kernel::Builder& builder, const Problem& problem, const HostParameters& parameters,
                  const std::vector<HostPacked>& packed, std::vector<std::size_t> own);

  void declare(Signature& signature, kernel::Memory vectors) override;
  void start(const Place& place) override;
  void multiply() override;
  kernel::Value sum(std::size_t group, std::size_t product, int turn, kernel::Value unit,
                    kernel::Value row) override;

 private:
  // Registers of a chunk of products for some batch rows: [product][row][vector].
  struct Part {
    std::size_t group;
    int chunk, first_row, rows;
    kernel::Array sums;
  };
  bool widens() const { return problem_.storage != kernel::Storage::F32; }
  void widen(std::size_t own);
  void multiply(std::size_t own, int chunk, int first_row);

  kernel::Builder& builder_;
  const Problem& problem_;
  const HostParameters p_;
  const std::vector<HostPacked>& packed_;
  const std::vector<std::size_t> own_;
  KernelTensor matrices_;
  kernel::Memory vectors_, wide_;
  Place place_;
  kernel::Value block_;
  std::vector<std::vector<kernel::Value>> rows_;  // by own group and row: where the vector begins
  std::vector<Part> parts_;
};

}  // namespace rondo::schedule
