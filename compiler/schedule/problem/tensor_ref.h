// The tensors of a pass: which tensor of the cell (step::TensorId), in which role.
#pragma once

#include "compiler/executable/tensor.h"

namespace rondo::schedule {

using executable::has_time_axis;
using executable::is_internal;
using executable::is_kept;
using executable::Role;
using executable::TensorRef;

}  // namespace rondo::schedule
