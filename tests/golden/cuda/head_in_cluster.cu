typedef long long i64;
typedef unsigned short bf16;  // the bits of a bfloat16

__device__ __forceinline__ void unpack_bf16(unsigned pair, float& low, float& high) {
  low = __uint_as_float(pair << 16);
  high = __uint_as_float(pair & 0xffff0000u);
}

__device__ __forceinline__ unsigned pack_bf16(float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

__device__ __forceinline__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

// .cg: past the L1 cache, which would only hold a second copy of what goes to shared memory.
__device__ __forceinline__ void copy_async_16(void* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
               :: "r"(shared_address(shared)), "l"(__cvta_generic_to_global(global)) : "memory");
}

__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending>
__device__ __forceinline__ void wait_copies() { asm volatile("cp.async.wait_group %0;" :: "n"(pending) : "memory"); }
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

__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The shared memory address that `place` of this block has in block `rank` of the cluster.
__device__ __forceinline__ unsigned in_block(const void* place, int rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(place)), "r"(rank));
  return there;
}

__device__ __forceinline__ void mbarrier_init(mbarrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

// Makes initialised mbarriers visible to the other blocks of the cluster, with the cluster barrier that follows.
__device__ __forceinline__ void publish_mbarriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrives, and makes the phase wait for `bytes` of asynchronous stores too.
__device__ __forceinline__ void mbarrier_expect(mbarrier* barrier, int bytes) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }"
               :: "r"(shared_address(barrier)), "r"(bytes) : "memory");
}

// Whether the phase of this parity has completed; sees what other blocks of the cluster did before they arrived.
__device__ __forceinline__ bool mbarrier_try_cluster(mbarrier* barrier, int parity) {
  int done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
               : "=r"(done) : "r"(shared_address(barrier)), "r"(parity) : "memory");
  return done;
}

__device__ __forceinline__ bool mbarrier_wait_cluster(mbarrier* barrier, int parity, int* status) {
  for (Patience patience; !mbarrier_try_cluster(barrier, parity);) if (patience.ends(status)) return true;  // in vain
  return false;
}

// Stores to block `rank` of the cluster, where the mbarrier counts the bytes.
__device__ __forceinline__ void store_async_1(void* to, int rank, mbarrier* barrier, int a) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
               :: "r"(in_block(to, rank)), "r"(a), "r"(in_block(barrier, rank)) : "memory");
}

__device__ __forceinline__ float rcp_approx(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float rsqrt_approx(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ float tanh_approx(float x) {
  asm("tanh.approx.f32 %0, %0;" : "+f"(x));
  return x;
}

__device__ __forceinline__ float square(float x) { return x * x; }
__device__ __forceinline__ float fast_div(float x, float y) { return x * rcp_approx(y); }

// (1 + tanh(x / 2)) / 2: one special-function instruction.
__device__ __forceinline__ float fast_sigmoid(float x) { return fmaf(0.5f, tanh_approx(0.5f * x), 0.5f); }

__device__ __forceinline__ void load_fp32x2(const float* from, float& v0, float& v1) {
  const float2 packed = *reinterpret_cast<const float2*>(from);
  v0 = packed.x;
  v1 = packed.y;
}

__device__ __forceinline__ void load_bf16x2(const bf16* from, float& v0, float& v1) {
  const unsigned packed = *reinterpret_cast<const unsigned*>(from);
  unpack_bf16(packed, v0, v1);
}

__device__ __forceinline__ void store_bf16x2(bf16* to, float v0, float v1) {
  *reinterpret_cast<unsigned*>(to) = pack_bf16(v0, v1);
}

// rmsgate: stream forward, bf16 in memory
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(32, 1) rmsgate_stream_fw(
    const bf16* __restrict__ x,              // [B, T, H, 2, D]
    i64 x_stride_b, int x_stride_t,
    const float* __restrict__ g,             // [H, 1, D]
    const float* __restrict__ s,             // [H, 1]
    const float* __restrict__ h_first,       // [B, H, 1, D]
    bf16* h_out,                             // [B, T, H, 1, D]
    i64 h_out_stride_b, int h_out_stride_t,
    float* h_last,                           // [B, H, 1, D]
    int batch,                               // B
    int time,                                // T
    int* status)                             // set to 1 by who has waited in vain
{
  constexpr int kDim = 72;       // channels a head
  constexpr int kChannels = 64;  // channels that the threads of a block take
  constexpr int kSteps = 4;      // time steps a stage
  constexpr int kStages = 2;     // stages in flight
  extern __shared__ __align__(16) unsigned char shared_memory[];
  bf16* const x_staged = reinterpret_cast<bf16*>(shared_memory);                      // [stages 2, steps 4, rows 2, channels 64]
  float* const head_words = reinterpret_cast<float*>(shared_memory + 2048);           // [words 2, heads 1, warps 4]
  mbarrier* const words_arrived = reinterpret_cast<mbarrier*>(shared_memory + 2080);  // the words of all blocks have come
  const int thread_x = threadIdx.x, block_x = blockIdx.x, cluster_rank = blockIdx.x % 2;

  bool in_vain = false;

  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) mbarrier_init(&words_arrived[i], 1);
    publish_mbarriers();
  }
  cluster_barrier();

  // this block's batch row and heads; this thread's head and first channel
  const int rank = cluster_rank;
  const int first_channel = rank * 64;
  const int cluster = block_x / 2;
  const int row = cluster / 2;
  const int first_head = cluster % 2;
  const int own_channel = thread_x * 2;
  const bool owns = first_channel + own_channel < kDim;
  const int lane_channel = first_channel + own_channel < kDim ? own_channel : 0;
  const int channel = first_channel + lane_channel;
  const int blocks = (time + 3) / kSteps;
  const i64 x_base = i64(row) * x_stride_b + (first_head * 2 * kDim + first_channel);
  const i64 h_out_own = i64(row) * h_out_stride_b + (first_head * kDim + channel);
  // what this thread stages of x
  const int begin = thread_x / 16;
  const int row_2 = thread_x % 16 / 8;
  const int column = thread_x % 16 % 8 * 8;
  const i64 from = x_base + i64(begin) * x_stride_t + (row_2 * kDim + column);
  const int to = (begin * 2 + row_2) * kChannels + column;
  float h = 0.0f, h_2 = 0.0f;
  // parameters and first carries into registers
  float g_0 = 0.0f, g_0_2 = 0.0f, s_0 = 0.0f, s_0_2 = 0.0f;
  g_0 = g[first_head * 72 + channel];
  g_0_2 = g[first_head * 72 + (channel + 1)];
  s_0 = s[first_head];
  s_0_2 = s[first_head];
  h = h_first[(i64(row) * 2 + first_head) * 72 + channel];
  h_2 = h_first[(i64(row) * 2 + first_head) * 72 + (channel + 1)];
  // what the first exchanges will bring
  if (thread_x == 0) {
    if (!in_vain) mbarrier_expect(&words_arrived[0], 8);
    if (!in_vain) mbarrier_expect(&words_arrived[1], 8);
  }
  // the thread's warp among those of its head
  const int warp = rank + thread_x / 32;
  // fill the ring
  if (0 < blocks) {
    const int ahead_slot = 0 % kStages;
    // stage x
    if (first_channel + column < kDim) {
      const int to_2 = to + ahead_slot * 512;
      i64 from_2 = from;
      #pragma unroll 2
      for (int turn = 0; turn < 2; ++turn) {
        const int s_2 = begin + turn * 2;
        if (s_2 < time) copy_async_16(&x_staged[to_2 + turn * 256], &x[from_2]);
        from_2 = from_2 + i64(x_stride_t) * 2;
      }
    }
  }
  commit_copies();
  #pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    wait_copies<0>();
    __syncthreads();
    if (block + (kStages - 1) < blocks) {
      const int ahead_step_2 = (block + (kStages - 1)) * kSteps;
      const int ahead_slot_2 = (block + (kStages - 1)) % kStages;
      // stage x
      if (first_channel + column < kDim) {
        const int to_3 = to + ahead_slot_2 * 512;
        i64 from_3 = from + i64(ahead_step_2) * x_stride_t;
        #pragma unroll 2
        for (int turn_2 = 0; turn_2 < 2; ++turn_2) {
          const int s_3 = begin + turn_2 * 2;
          if (ahead_step_2 + s_3 < time) copy_async_16(&x_staged[to_3 + turn_2 * 256], &x[from_3]);
          from_3 = from_3 + i64(x_stride_t) * 2;
        }
      }
    }
    commit_copies();
    const int slot = block % kStages;
    const int first_step = block * kSteps;
    const int count = min(kSteps, time - first_step);
    i64 h_out_at = h_out_own + i64(first_step) * h_out_stride_t;
    const int groups = count;
    #pragma unroll 1
    for (int group = 0; group < groups; ++group) {
      const int step = group;
      const int slot_step = slot * kSteps + step;
      float x_0_0, x_0_1;
      load_bf16x2(&x_staged[slot_step * 2 * kChannels + lane_channel], x_0_0, x_0_1);
      float x_1_0, x_1_1;
      load_bf16x2(&x_staged[(slot_step * 2 + 1) * kChannels + lane_channel], x_1_0, x_1_1);
      const float z = fast_sigmoid(x_0_0 + g_0 * h);
      const float v = z * h + (1.0f - z) * tanh_approx(x_1_0);
      const float z_2 = fast_sigmoid(x_0_1 + g_0_2 * h_2);
      const float v_2 = z_2 * h_2 + (1.0f - z_2) * tanh_approx(x_1_1);
      const float part = owns ? square(v) + square(v_2) : 0.0f;
      const float other = __shfl_xor_sync(0xffffffffu, part, 16);
      const float sum = part + other;
      const float other_2 = __shfl_xor_sync(0xffffffffu, sum, 8);
      const float sum_2 = sum + other_2;
      const float other_3 = __shfl_xor_sync(0xffffffffu, sum_2, 4);
      const float sum_3 = sum_2 + other_3;
      const float other_4 = __shfl_xor_sync(0xffffffffu, sum_3, 2);
      const float sum_4 = sum_3 + other_4;
      const float other_5 = __shfl_xor_sync(0xffffffffu, sum_4, 1);
      const float sum_5 = sum_4 + other_5;
      const int line = (first_step + step) % 2 * 4;
      const int slot_of_words = (first_step + step) % 2;
      if (thread_x % 32 < 2)
        store_async_1(&head_words[line + warp], thread_x % 32, &words_arrived[slot_of_words], __float_as_int(sum_5));
      in_vain |= mbarrier_wait_cluster(&words_arrived[slot_of_words], (first_step + step) / 2 % 2, status);
      if (thread_x == 0) if (!in_vain) mbarrier_expect(&words_arrived[slot_of_words], 8);
      float word_0, word_1;
      load_fp32x2(&head_words[line], word_0, word_1);
      const float total = word_0 + word_1;
      const float v_3 = rsqrt_approx(fast_div(total, 72.0f) + 0.001f);
      const float next_h = s_0 * v * v_3;
      const float v_4 = rsqrt_approx(fast_div(total, 72.0f) + 0.001f);
      const float next_h_2 = s_0_2 * v_2 * v_4;
      if (owns) store_bf16x2(&h_out[h_out_at], next_h, next_h_2);
      h = next_h;
      h_2 = next_h_2;
      h_out_at = h_out_at + h_out_stride_t;
    }
  }
  cluster_barrier();
  if (owns) {
    // last states
    h_last[(i64(row) * 2 + first_head) * 72 + channel] = h;
    h_last[(i64(row) * 2 + first_head) * 72 + (channel + 1)] = h_2;
  }
}
