// Whether a compiler may make one multiply-add of a product and a sum.
#pragma once

#include "compiler/schedule/problem/task.h"

namespace rondo::schedule {

// No where the pass asks which values attain the maximum of a head, as derivatives of max_over_head do.
// Values and maximum may be computed in two kernels, and in either a compiler contracts as it likes: a value
// that differs from its maximum by one rounding attains it nowhere, and its gradient is lost.
bool may_contract(const Task& task);

}  // namespace rondo::schedule
