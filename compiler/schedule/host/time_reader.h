// A vector of each step, brought to shared memory as fp32 for a product over all steps on CPUs.
#pragma once

#include <optional>

#include "compiler/schedule/gemm/time_operand.h"

namespace rondo::schedule {

class HostTimeReader {
 public:
  HostTimeReader(KernelTensors& tensors, const Problem& problem, const TimeOperand& operand);

  // to[step * pitch + i] for `steps` steps from `t` on and i below `width`: channel `first` + i. Zero past
  // the last step and the head's end. `lanes`: threads of the block.
  struct Span {
    kernel::Value row, head;  // of the batch, of the cell
    kernel::Value t, time;
    kernel::Value first;
    int steps = 1, width = 1, pitch = 1, lanes = 1;
  };
  void bring(kernel::Memory to, const Span& span) const;

 private:
  kernel::Value value(const Span& span, kernel::Value t, kernel::Value channel) const;

  const Problem& problem_;
  TimeOperand operand_;
  KernelTensor tensor_;
  std::optional<KernelTensor> first_;
};

}  // namespace rondo::schedule
