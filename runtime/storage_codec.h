// Numbers as they lie in device memory: fp32, bf16 and fp16 bit patterns on the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "compiler/kernel/ir.h"

namespace rondo::runtime {

// IEEE 754 binary16 and bfloat16, rounded to nearest even; values too large become infinity, NaN stays NaN.
std::uint16_t to_bf16(float value);
std::uint16_t to_fp16(float value);
float from_bf16(std::uint16_t bits);
float from_fp16(std::uint16_t bits);

// The value after a trip through the storage type (F32, BF16 or F16).
float round_to_storage(kernel::Storage storage, float value);
// The same as a plain function, for step::RunOptions::round_state; null for F32, where nothing is lost.
using RoundState = float (*)(float);
RoundState round_state_of(kernel::Storage storage);
// Half the distance between 1 and the next number: 2^-24, 2^-8, 2^-11.
double unit_roundoff(kernel::Storage storage);

// One element at `target` or `source`, which need no alignment.
void encode(kernel::Storage storage, double value, std::byte* target);
double decode(kernel::Storage storage, const std::byte* source);
// All bits set: the pattern that outputs are filled with before a run, and a NaN in every storage type. No
// kernel produces it: hardware conversions yield other NaNs (PTX ISA, cvt).
bool is_poison(kernel::Storage storage, const std::byte* source);
inline constexpr std::uint8_t kPoisonByte = 0xFF;

}  // namespace rondo::runtime
