// Sums of products in registers: what all matrix products of CPUs are made of.
#pragma once

#include <functional>

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/problem/names.h"

namespace rondo::schedule {

// acc[first + row * vectors + v] += left(k, row) * right(k, v) for k from `begin` to `end`: left values are
// the same in all lanes, right ones a vector.
struct RegisterTile {
  kernel::Array acc;
  int first = 0;
  int rows = 1, vectors = 1;
  std::function<kernel::Value(kernel::Value k, int row)> left;
  std::function<kernel::Value(kernel::Value k, int v)> right;
  std::function<void(kernel::Value k)> ahead;  // asks for what is needed later; may be empty

  void multiply(kernel::Builder& b, kernel::Value begin, kernel::Value end) const;
};

}  // namespace rondo::schedule
