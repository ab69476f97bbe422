// Sums of products in registers, or what else becomes of terms: what all matrix products of CPUs are made of.
#pragma once

#include <functional>

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/analysis/product_groups.h"
#include "compiler/schedule/problem/names.h"

namespace rondo::schedule {

// acc[first + row * vectors + v] += left(k, row) * right(k, v) for k from `begin` to `end`: left values are
// the same in all lanes, right ones a vector. By `kind` the largest left + right; and beside it in `channels`
// the first k that gives it; or the sum of the left values whose `chosen` is the right one.
struct RegisterTile {
  ProductKind kind = ProductKind::Sum;
  kernel::Array acc, channels = {};
  int first = 0;
  int rows = 1, vectors = 1;
  std::function<kernel::Value(kernel::Value k, int row)> left;
  std::function<kernel::Value(kernel::Value k, int v)> right;
  std::function<kernel::Value(kernel::Value k, int row)> chosen = {};  // of a Scatter; as left values
  std::function<void(kernel::Value k)> ahead = {};  // asks for what is needed later; may be empty

  void multiply(kernel::Builder& b, kernel::Value begin, kernel::Value end) const;

 private:
  struct Term {
    kernel::Value k, of_row, chosen;  // of a row of the tile
  };
  void add(kernel::Builder& b, kernel::Value place, const Term& term, kernel::Value column) const;
};

}  // namespace rondo::schedule
