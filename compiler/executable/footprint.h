// The bytes in which a bound tensor's elements lie, and whether two tensors share some of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "compiler/executable/bindings.h"

namespace rondo::executable {

// `bytes` in a row, repeated along at most two axes. Axes of one turn or of stride 0 have count 1; strides
// are positive, because a walk downwards covers what the same walk upwards covers from the other end.
struct Footprint {
  struct Axis {
    std::int64_t stride = 0;  // bytes
    std::int64_t count = 1;
  };
  Address begin = 0, end = 0;  // all its bytes lie in [begin, end)
  std::int64_t bytes = 0;
  std::array<Axis, 2> axes;  // B, T
};

// Of a tensor whose first element lies at `pointer`. None where it would reach further than kMostReach bytes
// or past either end of the address space.
inline constexpr std::int64_t kMostReach = 8 * SizeRule::kMost;  // more than any device addresses
std::optional<Footprint> footprint_of(const Tensor& tensor, Address pointer, const Strides& strides,
                                      std::int64_t batch, std::int64_t time);

// Whether two steps of one tensor share a byte, and whether two tensors do. Both are exact where strides are
// equal or nested, which views of one buffer are. Where it would take long to tell, the answer is yes.
bool meets_itself(const Footprint& footprint);
bool meet(const Footprint& a, const Footprint& b);

}  // namespace rondo::executable
