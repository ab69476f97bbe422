// Forms of helpers for GPUs before compute capability 8.0, in the place of the sections of the same names. What those
// need sm_80 for (PTX ISA 8.x): cvt to bf16 and to pairs, mma of other types than fp16 or of depth 16, mbarrier, max.NaN.
// tests/backend/cuda/turing_test.cpp compiles this text for the CPU.

//: float_to_bf16 needs bf16
// To nearest even, by the number that the bits are; of NaN the one that cvt gives.
__device__ __forceinline__ bf16 float_to_bf16(float x) {
  const unsigned bits = __float_as_uint(x);
  return bf16(x != x ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

//: pack_bf16 needs float_to_bf16
__device__ __forceinline__ unsigned pack_bf16(float low, float high) {
  return float_to_bf16(low) | unsigned(float_to_bf16(high)) << 16;
}

//: mma_bf16 needs low_bf16 high_bf16
// acc (16 x 8) += a (16 x 16) * b (16 x 8), spread over the lanes of the warp as for mma (PTX ISA, m16n8k16), by
// multiply-adds: the tensor cores know no bf16. Lane 4g + q adds up rows g and g + 8 of columns 2q and 2q + 1, whose
// factors the lanes 4g to 4g + 3 and 8q to 8q + 7 have.
__device__ __forceinline__ void mma_bf16(float* acc, const int* a, const int* b) {
  const int column = threadIdx.x % 4 * 8;
  #pragma unroll
  for (int half = 0; half < 2; ++half)
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      int left[2], right[2];
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        left[i] = __shfl_sync(0xffffffffu, a[2 * half + i], k, 4);
        right[i] = __shfl_sync(0xffffffffu, b[half], column + 4 * i + k);
      }
      #pragma unroll
      for (int i = 0; i < 4; ++i) {
        acc[i] = fmaf(low_bf16(left[i / 2]), low_bf16(right[i % 2]), acc[i]);
        acc[i] = fmaf(high_bf16(left[i / 2]), high_bf16(right[i % 2]), acc[i]);
      }
    }
}

//: mbarrier
// In shared memory. The last thread that arrives in a phase sets `arrived` back and turns the top bit of `state`, which
// is the parity of the phase; the other bits are how many arrive.
struct mbarrier {
  unsigned arrived, state;
};

//: mbarrier_init needs mbarrier
__device__ __forceinline__ void mbarrier_init(mbarrier* barrier, int arrivals) {
  barrier->arrived = 0;
  barrier->state = arrivals;
}

//: mbarrier_arrive needs mbarrier
// What this thread has done comes before its arrival, and what all have before the turn of the phase: release, and
// acquire by the last one (PTX ISA, memory consistency model, fence patterns).
__device__ __forceinline__ void mbarrier_arrive(mbarrier* barrier) {
  const unsigned last = (*(volatile unsigned*)&barrier->state & 0x7fffffffu) - 1;
  __threadfence_block();
  if (atomicInc(&barrier->arrived, last) != last) return;
  __threadfence_block();
  atomicAdd(&barrier->state, 0x80000000u);
}

//: mbarrier_try needs mbarrier
// Whether the phase of this parity has completed.
__device__ __forceinline__ bool mbarrier_try(mbarrier* barrier, int parity) {
  const unsigned now = *(volatile unsigned*)&barrier->state >> 31;
  __threadfence_block();
  return now != unsigned(parity);
}

//: held
// x, but no further from 0 than the bound. NaN stays.
__device__ __forceinline__ float held(float x, float bound) { return x < -bound ? -bound : x > bound ? bound : x; }
