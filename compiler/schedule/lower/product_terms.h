// What becomes of the terms of a product, by its kind: what register tiles of all backends are made of.
#pragma once

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/analysis/product_groups.h"
#include "compiler/schedule/problem/names.h"

namespace rondo::schedule {

// What a product of no terms is, and what stands for a term that is none.
double neutral(ProductKind kind);
// `before` with the term of two factors (Sum) or of two summands (Max).
Value with_term(kernel::Builder& b, ProductKind kind, Value before, Value left, Value right);
// The same of two such results.
Value joined(kernel::Builder& b, ProductKind kind, Value a, Value other);
// A Channel: `largest` has the largest sum yet, and `channels` the first k that gave it, as a number.
void choose(kernel::Builder& b, kernel::Array largest, kernel::Array channels, Value place, Value sum,
            Value k);
// A Scatter: `before` with the value of a channel that has chosen `chosen`, as far as channel `own` goes.
Value with_chosen(kernel::Builder& b, Value before, Value chosen, Value own, Value value);

}  // namespace rondo::schedule
