// The limits of a verification: how far a result may be from the exact one (docs/tuning.md, Verifying).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/kernel/ir/ir.h"

namespace rondo::tuner {

// One tensor of one run. Errors are relative: ||out - ref|| / ||ref|| (of the difference alone where ref is
// zero), and max |out - ref| / max |ref| for the worst element, which a norm over many elements would hide.
struct TensorCheck {
  std::string name;   // "h_out", "grad_x"
  std::string where;  // sizes and layout of the run
  double error = 0;
  double loop_error = 0;  // of a plain loop in the storage type
  double limit = 0;       // 1.5 * loop_error + a few units of roundoff of the storage type
  double worst = 0;
  double worst_limit = 0;
  std::int64_t unwritten = 0;  // elements still poisoned
  std::int64_t not_finite = 0;
  std::int64_t gap_writes = 0;  // elements written between the tensor's rows
  bool passed = false;

  std::string text() const;  // one line; says what failed
};

// `storage` is the problem's: it bounds what a tensor of fp32 computed from rounded inputs can promise. All
// three of one length; `exact` is finite.
TensorCheck compare(std::string name, kernel::Storage storage, std::span<const double> out,
                    std::span<const double> exact, std::span<const float> loop);

}  // namespace rondo::tuner
