// A vector of each step, brought to shared memory as fp32, or for matrix tiles as bf16, for a product over
// all steps on CPUs.
#pragma once

#include <optional>

#include "compiler/schedule/gemm/time_operand.h"

namespace rondo::schedule {

class HostTimeReader {
 public:
  HostTimeReader(KernelTensors& tensors, const Problem& problem, const TimeOperand& operand);

  // to[place + step * pitch + i] for `steps` steps from `t` on, all within the sequence, and i below `width`:
  // channel `first` + i. Zero past the row's end. `lanes`: threads of the block; `width` is a multiple.
  struct Span {
    kernel::Value row, head;  // of the batch, of the cell
    kernel::Value t, steps;
    kernel::Value first, place;
    int width = 1, pitch = 1, lanes = 1;
    bool whole = false;        // no span ends past the row's end
    bool pairs = false;        // `to` is of bf16; `first` and `width` are even, and so is the row's end
    kernel::Value below = {};  // rows below the operand's that are brought; without it 0
  };
  void bring(kernel::Memory to, const Span& span) const;

 private:
  void copy_as_they_are(kernel::Memory to, const Span& span, kernel::Value place, kernel::Value from_place,
                        kernel::Value ahead) const;
  void copy(kernel::Memory to, const Span& span, kernel::Value place, kernel::Memory from,
            kernel::Value from_place, kernel::Value ahead = {}) const;

  const Problem& problem_;
  TimeOperand operand_;
  KernelTensor tensor_;
  std::optional<KernelTensor> first_;
};

}  // namespace rondo::schedule
