// Many numbers at once between the storage types and fp32, in loops that the compiler makes vector
// instructions of: what storage.h says of one number, for arrays of gigabytes.
#pragma once

#include <cstddef>
#include <span>

#include "compiler/scalar/storage.h"

namespace rondo::scalar {

// `values.size()` elements of a floating-point type (F32, BF16, F16) at `source`, which needs no alignment.
void decode_block(Storage storage, const std::byte* source, std::span<float> values);
// Rounds as encode() does; of numbers that are none, only that they are none is kept.
void encode_block(Storage storage, std::span<const float> values, std::byte* target);
// The same of numbers in double, as encode() does each.
void encode_block(Storage storage, std::span<const double> values, std::byte* target);
// How many of `count` elements of any type hold the poison (is_poison()).
std::size_t poisoned_in_block(Storage storage, const std::byte* source, std::size_t count);
// Whether all of them are finite when they are rounded to the storage type.
bool finite_block(Storage storage, std::span<const float> values);
bool finite_block(Storage storage, std::span<const double> values);

}  // namespace rondo::scalar
