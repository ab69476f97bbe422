// A storage type of no kernel: numbers of 64 bits, which the reference computes in and can hand over
// unrounded.
#pragma once

#include "compiler/scalar/storage.h"

namespace rondo::scalar {

// No enumerator, so that strategies and backends, which make kernels, need no case for it. storage_bytes(),
// storage_name(), encode() and decode() know it.
inline constexpr Storage kDouble = static_cast<Storage>(5);

}  // namespace rondo::scalar
