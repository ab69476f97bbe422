// How numbers lie in memory: the storage types, their rounding and their bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rondo::scalar {

enum class Storage { F32, BF16, F16, I32, U8, F64 };
int storage_bytes(Storage storage);
const char* storage_name(Storage storage);  // "fp32", "bf16", "fp16", "int32", "uint8", "fp64"
// Whether elements are integers, in kernels of type I32.
inline bool is_integer(Storage storage) { return storage == Storage::I32 || storage == Storage::U8; }

inline bool is_half(Storage storage) { return storage == Storage::BF16 || storage == Storage::F16; }

// What a pass with this storage computes in, and keeps unrounded: fp32, or fp64.
inline Storage computed_in(Storage storage) { return storage == Storage::F64 ? Storage::F64 : Storage::F32; }

// Half the distance between 1 and the next number: 2^-24, 2^-8, 2^-11, 2^-53.
double unit_roundoff(Storage storage);

// Rounds to the storage type and back. bf16 and fp16 round to nearest even; what is too large becomes
// infinity; NaN stays NaN.
float round_to(Storage storage, float value);
// The same of a number in double: what F64 holds is itself, and what fp32 does not hold is rounded to it
// first.
double nearest(Storage storage, double value);
// The same as a plain function, for step::RunOptions::round_state; null for F32, F64 and integers, where
// nothing is lost.
using RoundState = float (*)(float);
RoundState round_state_of(Storage storage);

// A value of 16-bit storage (BF16 or F16) as bits, rounded as above, and back.
std::uint16_t half_bits(Storage storage, float value);
float half_value(Storage storage, std::uint16_t bits);

// One element at `target` or `source`, which need no alignment. Of integers, `value` is one that the type
// has.
void encode(Storage storage, double value, std::byte* target);
double decode(Storage storage, const std::byte* source);

// All bits set: the pattern that outputs are filled with before a run, and a NaN in every storage type. No
// kernel produces it: hardware conversions yield other NaNs (PTX ISA, cvt).
inline constexpr std::uint8_t kPoisonByte = 0xFF;
bool is_poison(Storage storage, const std::byte* source);

// fp32 rounded to tf32, to nearest, ties away from zero (PTX ISA, cvt.rna.tf32.f32); what would be larger
// than the largest number is infinite.
float round_tf32(float value);
bool is_tf32(float value);
// The two numbers of tf32 that a product of three terms makes of an operand. `big` is the value rounded. The
// rest has at most 12 significant bits, of which tf32 has 11: `small` lacks the last one.
struct Tf32Parts {
  float big, small;
};
Tf32Parts split_tf32(float value);

}  // namespace rondo::scalar
