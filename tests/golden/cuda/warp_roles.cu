__device__ __forceinline__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }
typedef unsigned long long mbarrier;  // opaque, in shared memory

// What is waited for comes within microseconds. After 4 seconds *status is 1 and no wait lasts a millisecond: a defect
// must not hang the GPU. The status lies in host memory: a hundred warps that look at it slow all loads of the GPU.
struct Patience {
  unsigned tries = 0;
  unsigned long long start = 0, now;
  __device__ __forceinline__ bool ends(volatile int* status) {
    if ((++tries & 15) != 0 || ((tries & 65535) != 0 && (tries & (tries - 1)) != 0)) return false;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    if (start == 0) start = now;
    if (now - start > 4000000000ull) status == nullptr ? __trap() : void(*status = 1);
    return now - start > 500000 && status != nullptr && *status != 0;
  }
};

template <int id, int count>
__device__ __forceinline__ void named_barrier() { asm volatile("bar.sync %0, %1;" :: "n"(id), "n"(count) : "memory"); }

__device__ __forceinline__ void mbarrier_init(mbarrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void mbarrier_arrive(mbarrier* barrier) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(shared_address(barrier)) : "memory");
}

// Whether the phase of this parity has completed. From sm_90 on a try sleeps for a while in hardware.
__device__ __forceinline__ bool mbarrier_try(mbarrier* barrier, int parity) {
  int done;
#if __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
#else
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
#endif
               : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
  return done;
}

__device__ __forceinline__ bool mbarrier_wait(mbarrier* barrier, int parity, int* status) {
  for (Patience patience; !mbarrier_try(barrier, parity);) if (patience.ends(status)) return true;  // in vain
  return false;
}

// y = 3 x: two warps hand rows to two others through shared memory.
extern "C" __global__ void __launch_bounds__(128, 1) warp_roles(
    const float* __restrict__ x,  // [blocks, 7, 64]
    float* __restrict__ y)        // as x
{
  extern __shared__ __align__(16) unsigned char shared_memory[];
  float* const ring = reinterpret_cast<float*>(shared_memory);               // [2, 64]
  float* const mirror = reinterpret_cast<float*>(shared_memory + 512);
  mbarrier* const full = reinterpret_cast<mbarrier*>(shared_memory + 768);   // the tile is filled
  mbarrier* const empty = reinterpret_cast<mbarrier*>(shared_memory + 784);  // the tile may be filled
  mbarrier* const done = reinterpret_cast<mbarrier*>(shared_memory + 800);
  const int thread_x = threadIdx.x, block_x = blockIdx.x;

  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) mbarrier_init(&full[i], 64);
    for (int i = 0; i < 2; ++i) mbarrier_init(&empty[i], 64);
    mbarrier_init(&done[0], 128);
  }
  __syncthreads();

  const int me = thread_x % 64;
  const int first = block_x * 448;
  if (thread_x < 64) {
    #pragma unroll 1
    for (int t = 0; t < 7; ++t) {
      const int slot = t % 2;
      mbarrier_wait(&empty[slot], t / 2 & 1 ^ 1, nullptr);
      const float v = x[first + t * 64 + me];
      ring[slot * 64 + me] = v;
      mbarrier_arrive(&full[slot]);
    }
  } else {
    #pragma unroll 1
    for (int t_2 = 0; t_2 < 7; ++t_2) {
      const int slot_2 = t_2 % 2;
      mbarrier_wait(&full[slot_2], t_2 / 2 & 1, nullptr);
      const float w = ring[slot_2 * 64 + me];
      mirror[63 - me] = w * 3.0f;
      mbarrier_arrive(&empty[slot_2]);
      named_barrier<1, 64>();
      const float m = mirror[me];
      y[first + t_2 * 64 + (63 - me)] = m;
      named_barrier<1, 64>();
    }
  }
  mbarrier_arrive(&done[0]);
  mbarrier_wait(&done[0], 0, nullptr);
}
