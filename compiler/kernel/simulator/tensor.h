// The matrix units, on the slots of a warp: register r of an operand is slot r of its values.
#pragma once

#include "compiler/kernel/ir/ir.h"
#include "compiler/kernel/simulator/lanes.h"

namespace rondo::kernel::simulator {

inline constexpr int kMatrixRows = 8;  // of ldmatrix; as many columns

// acc += a * b (PTX ISA, mma.m16n8k16 with 16-bit types, two mma.m16n8k8 a term with tf32). Products and
// their sum with the accumulator are taken in double and rounded to float once; a GPU rounds or truncates in
// between, in an order of its own. So sums that float represents exactly agree in every bit, others to a few
// units in the last place.
void multiply_add(const Mma& mma, Lanes* acc, const Lanes* a, const Lanes* b);

// Gives each lane its pair of an 8 x 8 matrix of bits (PTX ISA, ldmatrix).
void distribute(const std::uint16_t (&matrix)[kMatrixRows][kMatrixRows], bool transposed, Lanes& into);

}  // namespace rondo::kernel::simulator
