// An index in two parts, so that accesses whose places differ by what is known when they are compiled share
// the other part: a compiler that sees the same expression again need not work out that it is the same. Of a
// kernel that loads a large matrix into registers, by hundreds of places, it is a quarter of the time to
// compile (0.79 to 0.59 s, lstm backward, D=768).
#pragma once

#include "compiler/kernel/builder/builder.h"

namespace rondo::kernel {

// base + step is the index.
struct SplitIndex {
  Value base;  // what is known when the kernel runs
  Value step;  // what constants and the variables of fully unrolled loops add to it
};

// `index` is I32. It is taken apart along sums, differences and products with constants; neither part
// overflows where the index does not and each of its terms is small beside 2^31.
SplitIndex split_index(Value index);

}  // namespace rondo::kernel
