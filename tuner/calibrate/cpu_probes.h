// Loops of a CPU's vector units, for calibration: each runs on the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compiler/target/target.h"

namespace rondo::tuner {

// `rounds` additions, each of which waits for the one before: a cycle each, on any CPU of today. Gives a
// value, so that they are not left out.
std::uint64_t chain_of_additions(std::uint64_t rounds);

// `rounds` times as many independent fused multiply-adds of vectors of fp32 as hide their latency, for CPUs
// of a target. Gives how many numbers that were in all; 0 where the level has no such
// instruction.
double multiply_adds(const target::Target& target, std::uint64_t rounds, float* keep);

// The sum of `count` numbers, a multiple of 64, read by vectors as wide as the level's.
float sum_of(const target::Target& target, const float* numbers, std::size_t count);

}  // namespace rondo::tuner
