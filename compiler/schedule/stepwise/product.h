// The products of a stage of a step, as the elementwise part around them sees them.
#pragma once

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/plan/signature.h"

namespace rondo::schedule {

struct StepTile;

// Where a row of Role::Vectors, [B, H, groups, 2, padded], begins: the vector of a group at steps of
// `parity`.
kernel::Value vector_row(const Problem& problem, const StepTile& tile, std::size_t groups,
                         kernel::Value batch_row, kernel::Value head, std::size_t group,
                         kernel::Value parity);

class StepProduct {
 public:
  virtual ~StepProduct() = default;
  virtual void declare(Signature& signature, kernel::Memory vectors) = 0;

  struct Place {
    kernel::Value tile, head;        // of the block
    kernel::Value first_row, batch;  // its batch rows, and how many there are in all
    kernel::Value parity;            // of the step
    kernel::Value any;  // Pred: a row is not past its end; if none is, no sum is read. Invalid: always
    kernel::Value count = {}, time = {};  // steps walked before this one, and how many there are
  };
  // Starts to bring operands.
  virtual void start(const Place& place) = 0;
  // Multiplies and leaves the sums to all threads of the block.
  virtual void multiply() = 0;
  // A product's value for unit `unit` and batch row `row` of the block, which are those of the thread's turn.
  virtual kernel::Value sum(std::size_t group, std::size_t product, int turn, kernel::Value unit,
                            kernel::Value row) = 0;
};

}  // namespace rondo::schedule
