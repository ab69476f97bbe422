// Shared by the two programs that make a whole step of an LSTM by hand (team_step.cu, cluster_step.cu): its functions, moments,
// and products.
#pragma once

#include "floor.cuh"

#include <cstring>
#include <cuda_bf16.h>

enum Form { kPlain, kGates, kApart, kMerged };

struct Sums {
  float x, xx;
};
struct Scale {
  float mean, factor;
};

__device__ inline float fast_tanh(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline float fast_sigmoid(float x) { return fmaf(fast_tanh(0.5f * x), 0.5f, 0.5f); }

__device__ inline unsigned packed(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  unsigned bits;
  memcpy(&bits, &pair, sizeof(bits));
  return bits;
}

__device__ inline void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ inline Scale scale_of(Sums sums, float numbers) {
  const float share = 1 / numbers, mean = sums.x * share;
  return {mean, rsqrtf(fmaxf(sums.xx * share - mean * mean, 0) + 1e-5f)};
}

// Numbers to multiply by, two a word, other ones for each thread of the grid.
struct Weights {
  unsigned seed = blockIdx.x * 7919 + threadIdx.x * 104729 + 12345;
  __device__ unsigned next() {
    seed = seed * 1664525u + 1013904223u;
    return packed((int(seed >> 8) % 2001 - 1000) * 6e-5f, (int(seed >> 16) % 2001 - 1000) * 6e-5f);
  }
};
