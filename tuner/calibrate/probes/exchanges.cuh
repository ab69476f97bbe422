// What blocks and warps wait for when they exchange words. Above this text stand the helpers that kernels use for the
// same. Each kernel gives the cycles of block 0 in out[0]. A wait that is in vain ends after some seconds with *status set.

// One exchange after the other among all blocks: each sends `part` vectors of 16 bytes, and waits for those of all, `loads`
// of them a thread. Each exchange has words of its own, which must be all ones before; so nothing is cleared here.
template <int loads>
__device__ void exchange_in_grid(u64* out, int* slots, int part, int exchanges, int* status) {
  const int vectors = part * gridDim.x;
  int words[4 * loads];
  u64 begin = 0;
  for (int i = 0; i < exchanges; ++i) {
    if (i == kWarmUp) begin = clock64();
    int* const slot = slots + (u64)i * vectors * 4;
    for (int v = threadIdx.x; v < part; v += blockDim.x) store_flagged_4(slot + (blockIdx.x * part + v) * 4, i, i, i, i);
    // Threads beyond the last vector look at that of another.
    load_flagged_together<loads>(words, slot + threadIdx.x % vectors * 4, blockDim.x * 4, status);
    __syncthreads();
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = clock64() - begin;
}
#define GRID_EXCHANGE(loads)                                                                                \
  extern "C" __global__ void __launch_bounds__(256, 1)                                                      \
      grid_exchange_##loads(u64* out, int* slots, int part, int exchanges, int* status) {                   \
    exchange_in_grid<loads>(out, slots, part, exchanges, status);                                           \
  }
GRID_EXCHANGE(1)
GRID_EXCHANGE(2)
GRID_EXCHANGE(3)
GRID_EXCHANGE(4)
GRID_EXCHANGE(5)
GRID_EXCHANGE(6)
GRID_EXCHANGE(7)
GRID_EXCHANGE(8)

// The same in a cluster: into shared memory, counted on an mbarrier of the receiver. Two buffers take turns: who has all of
// an exchange sends the next, so no block is two ahead of another.
extern "C" __global__ void __launch_bounds__(256, 1) cluster_exchange(u64* out, int part, int exchanges, int* status) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ int4 received[];
  __shared__ mbarrier come[2];
  const int blocks = gridDim.x, vectors = part * blocks, rank = blockIdx.x;
  if (threadIdx.x == 0)
    for (int b = 0; b < 2; ++b) {
      mbarrier_init(&come[b], 1);
      publish_mbarriers();
      mbarrier_expect(&come[b], vectors * 16);
    }
  cluster_barrier();
  u64 begin = 0;
  for (int i = 0; i < exchanges; ++i) {
    if (i == kWarmUp) begin = clock64();
    mbarrier* const barrier = &come[i % 2];
    int4* const mine = received + i % 2 * vectors + rank * part;
    // To one block after the other, neighbouring threads to neighbouring places, as kernels do.
    for (int v = threadIdx.x; v < vectors; v += blockDim.x) store_async_4(mine + v % part, v / part, barrier, i, i, i, i);
    mbarrier_wait_cluster(barrier, i / 2 % 2, status);
    if (threadIdx.x == 0) mbarrier_expect(barrier, vectors * 16);
    __syncthreads();
  }
  if (rank == 0 && threadIdx.x == 0) out[0] = clock64() - begin;
  cluster_barrier();
#endif
}

// A word of each warp into shared memory, a named barrier, a word of another warp out of it.
extern "C" __global__ void block_exchange(u64* out, int rounds) {
  __shared__ int lines[2][8];
  const int warp = threadIdx.x / 32;
  int word = warp;
  const u64 begin = clock64();
  for (int i = 0; i < rounds; ++i) {
    if (threadIdx.x % 32 == 0) lines[i % 2][warp] = word;
    named_barrier<1, 256>();
    word = lines[i % 2][(warp + 1) % 8];
  }
  if (threadIdx.x == 0) out[0] = clock64() - begin;
  keep(out, unsigned(word));
}

extern "C" __global__ void named_barriers(u64* out, int rounds) {
  const u64 begin = clock64();
  for (int i = 0; i < rounds; ++i) named_barrier<1, 256>();
  if (threadIdx.x == 0) out[0] = clock64() - begin;
}

// Adding up over the lanes of a warp, step after step.
extern "C" __global__ void lane_sums(u64* out, int rounds) {
  float sum = threadIdx.x;
  const u64 begin = clock64();
  for (int i = 0; i < rounds; i += 8)
    #pragma unroll
    for (int level = 0; level < 8; ++level) sum += __shfl_xor_sync(0xffffffffu, sum, 1 << level % 5);
  if (threadIdx.x == 0) out[0] = clock64() - begin;
  keep(out, sum);
}

// A chain through shared memory: each word is the address of the next.
extern "C" __global__ void shared_loads(u64* out, int rounds) {
  __shared__ unsigned next[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) next[i] = shared_address(&next[(i + 32) % 1024]);
  __syncthreads();
  unsigned at = shared_address(&next[threadIdx.x]);
  const u64 begin = clock64();
  #pragma unroll 8
  for (int i = 0; i < rounds; ++i) asm volatile("ld.shared.b32 %0, [%0];" : "+r"(at)::"memory");
  if (threadIdx.x == 0) out[0] = clock64() - begin;
  keep(out, at);
}
