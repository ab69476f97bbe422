typedef long long i64;
typedef unsigned short bf16;  // the bits of a bfloat16
__device__ __forceinline__ float bf16_to_float(bf16 x) { return __uint_as_float(unsigned(x) << 16); }

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
__device__ __forceinline__ float low_bf16(int pair) { return __uint_as_float(unsigned(pair) << 16); }
__device__ __forceinline__ float high_bf16(int pair) { return __uint_as_float(unsigned(pair) & 0xffff0000u); }

// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x1_transposed(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(into[0]) : "r"(shared_address(row)) : "memory");
}

// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x2_transposed(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(into[0]), "=r"(into[1]) : "r"(shared_address(row)) : "memory");
}

// Each lane gives the place of one row of eight elements.
__device__ __forceinline__ void load_matrix_x4_transposed(int* into, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(into[0]), "=r"(into[1]), "=r"(into[2]), "=r"(into[3]) : "r"(shared_address(row)) : "memory");
}

// acc (16 x 8) += a (16 x 16) * b (16 x 8), spread over the lanes of the warp.
__device__ __forceinline__ void mma_bf16(float* acc, const int* a, const int* b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

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

__device__ __forceinline__ void mbarrier_arrive(mbarrier* barrier) {
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(shared_address(barrier)) : "memory");
}

// Arrives, and makes the phase wait for `bytes` of asynchronous stores too.
__device__ __forceinline__ void mbarrier_expect(mbarrier* barrier, int bytes) {
  asm volatile("{ .reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1; }"
               :: "r"(shared_address(barrier)), "r"(bytes) : "memory");
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

// Stores to block `rank` of the cluster, where the mbarrier counts the bytes.
__device__ __forceinline__ void store_async_4(void* to, int rank, mbarrier* barrier, int a, int b, int c, int d) {
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];"
               :: "r"(in_block(to, rank)), "r"(a), "r"(b), "r"(c), "r"(d), "r"(in_block(barrier, rank)) : "memory");
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

__device__ __forceinline__ void load_fp32x4(const float* from, float& v0, float& v1, float& v2, float& v3) {
  const float4 packed = *reinterpret_cast<const float4*>(from);
  v0 = packed.x;
  v1 = packed.y;
  v2 = packed.z;
  v3 = packed.w;
}

__device__ __forceinline__ void store_pair(void* to, int v0) { *reinterpret_cast<int*>(to) = v0; }

__device__ __forceinline__ void load_pairs_x4(const void* from, int& v0, int& v1, int& v2, int& v3) {
  const int4 packed = *reinterpret_cast<const int4*>(from);
  v0 = packed.x;
  v1 = packed.y;
  v2 = packed.z;
  v3 = packed.w;
}

__device__ __forceinline__ void store_pairs_x4(void* to, int v0, int v1, int v2, int v3) {
  *reinterpret_cast<int4*>(to) = make_int4(v0, v1, v2, v3);
}

// lngru: persistent forward, bf16 in memory
extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(160, 1) lngru_persistent_fw(
    const bf16* __restrict__ x,              // [B, T, H, 3, D]
    i64 x_stride_b, i64 x_stride_t,
    const bf16* __restrict__ R,              // [H, 3, D, D]
    const float* __restrict__ b,             // [H, 3, D]
    const float* __restrict__ gamma,         // [H, 3, D]
    const float* __restrict__ h_first,       // [B, H, 1, D]
    bf16* h_out,                             // [B, T, H, 1, D]
    i64 h_out_stride_b, i64 h_out_stride_t,
    float* h_last,                           // [B, H, 1, D]
    int batch,                               // B
    int time,                                // T
    int* status)                             // set to 1 by who has waited in vain
{
  constexpr int kUnits = 24;              // channels a block
  constexpr int kSteps = 2;               // time steps a stage
  constexpr int kMultiplying = 96;        // threads that compute or multiply
  constexpr int kDim = 40;                // channels a head
  constexpr int kFirstProducer = 96;      // first staging thread
  constexpr int kFirstStoreThread = 128;
  extern __shared__ __align__(16) unsigned char shared_memory[];
  bf16* const x_staged = reinterpret_cast<bf16*>(shared_memory);                 // [stages 3, steps 2, rows 3, batch 8, units 24 + 8]
  bf16* const vector_0 = reinterpret_cast<bf16*>(shared_memory + 9216);          // [2, batch tiles 1, channels 48, 8]
  bf16* const matrix_0 = reinterpret_cast<bf16*>(shared_memory + 10752);         // [warps 3, row tiles 2, k-tiles 3, lanes 32, 8]
  float* const reduced_0 = reinterpret_cast<float*>(shared_memory + 19968);      // [2, batch tiles 1, lines 6, quarters 4, words 2, 2]
  bf16* const h_out_ring = reinterpret_cast<bf16*>(shared_memory + 20736);       // [2, steps 2, rows 1, batch tiles 1, units 24, 8]
  mbarrier* const ready_0 = reinterpret_cast<mbarrier*>(shared_memory + 22272);  // vectors have come from all blocks
  mbarrier* const lines_0 = reinterpret_cast<mbarrier*>(shared_memory + 22288);  // parts of reductions have come
  mbarrier* const full = reinterpret_cast<mbarrier*>(shared_memory + 22304);     // a stage of inputs has landed
  mbarrier* const empty = reinterpret_cast<mbarrier*>(shared_memory + 22328);    // it has been read
  mbarrier* const filled = reinterpret_cast<mbarrier*>(shared_memory + 22352);   // a stage of results is complete
  mbarrier* const drained = reinterpret_cast<mbarrier*>(shared_memory + 22368);  // it has been stored
  const int thread_x = threadIdx.x, block_x = blockIdx.x, cluster_rank = blockIdx.x % 2;

  bool in_vain = false;

  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; ++i) mbarrier_init(&ready_0[i], 1);
    for (int i = 0; i < 2; ++i) mbarrier_init(&lines_0[i], 1);
    for (int i = 0; i < 3; ++i) mbarrier_init(&full[i], 32);
    for (int i = 0; i < 3; ++i) mbarrier_init(&empty[i], 96);
    for (int i = 0; i < 2; ++i) mbarrier_init(&filled[i], 96);
    for (int i = 0; i < 2; ++i) mbarrier_init(&drained[i], 32);
    publish_mbarriers();
  }
  cluster_barrier();

  // this block's head, batch rows and units; this thread's unit and batch rows
  const int rank = cluster_rank;
  const int team = block_x / 2;
  const int first_row = team * 8;
  const int first_unit = rank * kUnits;
  const int warp = thread_x / 32;
  const int lane = thread_x % 32;
  const int group = lane / 4;
  const int quarter = lane % 4;
  const int unit = warp * 8 + group;
  const int groups = (time + 1) / kSteps;
  // zeros where no input lies
  #pragma unroll 1
  for (int i = thread_x; i < 576; i += 160) store_pairs_x4(&x_staged[i * 8], 0, 0, 0, 0);
  __syncthreads();
  if (thread_x < kMultiplying) {
    int x_now[3];
    // parameters and first carries into registers
    float b_0 = 0.0f;
    if (first_unit + unit < kDim) {
      b_0 = b[first_unit + unit];
    }
    float b_1 = 0.0f;
    if (first_unit + unit < kDim) {
      b_1 = b[first_unit + unit + 40];
    }
    float b_2 = 0.0f;
    if (first_unit + unit < kDim) {
      b_2 = b[first_unit + unit + 80];
    }
    float gamma_0 = 0.0f;
    if (first_unit + unit < kDim) {
      gamma_0 = gamma[first_unit + unit];
    }
    float gamma_1 = 0.0f;
    if (first_unit + unit < kDim) {
      gamma_1 = gamma[first_unit + unit + 40];
    }
    float gamma_2 = 0.0f;
    if (first_unit + unit < kDim) {
      gamma_2 = gamma[first_unit + unit + 80];
    }
    float h = 0.0f, h_2 = 0.0f;
    if (first_unit + unit < kDim && first_row + quarter * 2 < batch) {
      h = h_first[i64(first_row + quarter * 2) * 40 + (first_unit + unit)];
    }
    if (first_unit + unit < kDim && first_row + (quarter * 2 + 1) < batch) {
      h_2 = h_first[i64(first_row + (quarter * 2 + 1)) * 40 + (first_unit + unit)];
    }
    // the matrices, for all of time
    #pragma unroll 1
    for (int k = 0; k < 3; ++k) {
      float entry = 0.0f;
      if (first_unit + unit < 40 && k * 16 + quarter * 2 + 1 < 40) {
        entry = bf16_to_float(R[i64((first_unit + unit) * 40 + (k * 16 + quarter * 2 + 1))]);
      }
      float entry_2 = 0.0f;
      if (first_unit + unit < 40 && k * 16 + quarter * 2 < 40) {
        entry_2 = bf16_to_float(R[i64((first_unit + unit) * 40 + (k * 16 + quarter * 2))]);
      }
      const int pair = int(pack_bf16(entry_2, entry));
      float entry_3 = 0.0f;
      if (first_unit + unit < 40 && k * 16 + quarter * 2 + 1 < 40) {
        entry_3 = bf16_to_float(R[1600 + i64((first_unit + unit) * 40 + (k * 16 + quarter * 2 + 1))]);
      }
      float entry_4 = 0.0f;
      if (first_unit + unit < 40 && k * 16 + quarter * 2 < 40) {
        entry_4 = bf16_to_float(R[1600 + i64((first_unit + unit) * 40 + (k * 16 + quarter * 2))]);
      }
      const int pair_2 = int(pack_bf16(entry_4, entry_3));
      float entry_5 = 0.0f;
      if (first_unit + unit < 40 && k * 16 + (quarter * 2 + 8) + 1 < 40) {
        entry_5 = bf16_to_float(R[i64((first_unit + unit) * 40 + (k * 16 + (quarter * 2 + 8) + 1))]);
      }
      float entry_6 = 0.0f;
      if (first_unit + unit < 40 && k * 16 + (quarter * 2 + 8) < 40) {
        entry_6 = bf16_to_float(R[i64((first_unit + unit) * 40 + (k * 16 + (quarter * 2 + 8)))]);
      }
      const int pair_3 = int(pack_bf16(entry_6, entry_5));
      float entry_7 = 0.0f;
      if (first_unit + unit < 40 && k * 16 + (quarter * 2 + 8) + 1 < 40) {
        entry_7 = bf16_to_float(R[1600 + i64((first_unit + unit) * 40 + (k * 16 + (quarter * 2 + 8) + 1))]);
      }
      float entry_8 = 0.0f;
      if (first_unit + unit < 40 && k * 16 + (quarter * 2 + 8) < 40) {
        entry_8 = bf16_to_float(R[1600 + i64((first_unit + unit) * 40 + (k * 16 + (quarter * 2 + 8)))]);
      }
      const int pair_4 = int(pack_bf16(entry_8, entry_7));
      store_pairs_x4(&matrix_0[((warp * 2 * 3 + k) * 32 + lane) * 8], pair, pair_2, pair_3, pair_4);
      float entry_9 = 0.0f;
      if (first_unit + unit < 40 && k * 16 + quarter * 2 + 1 < 40) {
        entry_9 = bf16_to_float(R[3200 + i64((first_unit + unit) * 40 + (k * 16 + quarter * 2 + 1))]);
      }
      float entry_10 = 0.0f;
      if (first_unit + unit < 40 && k * 16 + quarter * 2 < 40) {
        entry_10 = bf16_to_float(R[3200 + i64((first_unit + unit) * 40 + (k * 16 + quarter * 2))]);
      }
      const int pair_5 = int(pack_bf16(entry_10, entry_9));
      float entry_11 = 0.0f;
      if (first_unit + unit < 40 && k * 16 + (quarter * 2 + 8) + 1 < 40) {
        entry_11 = bf16_to_float(R[3200 + i64((first_unit + unit) * 40 + (k * 16 + (quarter * 2 + 8) + 1))]);
      }
      float entry_12 = 0.0f;
      if (first_unit + unit < 40 && k * 16 + (quarter * 2 + 8) < 40) {
        entry_12 = bf16_to_float(R[3200 + i64((first_unit + unit) * 40 + (k * 16 + (quarter * 2 + 8)))]);
      }
      const int pair_6 = int(pack_bf16(entry_12, entry_11));
      store_pairs_x4(&matrix_0[(((warp * 2 + 1) * 3 + k) * 32 + lane) * 8], pair_5, 0, pair_6, 0);
    }
    float sum_0[8];
    int matrix_piece[4];
    int vector_now[4];
    // what the first two steps will bring
    if (thread_x == 0) {
      if (!in_vain) mbarrier_expect(&ready_0[0], 768);
      if (!in_vain) mbarrier_expect(&ready_0[1], 768);
    }
    const int warp_channels = min(40 - (first_unit + warp * 8), 8);
    const float warp_share = warp_channels < 1 ? 0.0f : fast_div(1.0f, float(warp_channels));
    // parts of reductions of the first two steps
    if (thread_x == 0) {
      if (!in_vain) mbarrier_expect(&lines_0[0], 384);
      if (!in_vain) mbarrier_expect(&lines_0[1], 384);
    }
    const int packed = int(pack_bf16(first_unit + unit < kDim ? h : 0.0f, first_unit + unit < kDim ? h_2 : 0.0f));
    store_async_1(&vector_0[(first_unit + unit) * 8 + quarter * 2], 0, &ready_0[0], packed);
    store_async_1(&vector_0[(first_unit + unit) * 8 + quarter * 2], 1, &ready_0[0], packed);
    #pragma unroll 1
    for (int stage = 0; stage < groups; ++stage) {
      const int slot = stage % 3;
      const int turn = stage % 2;
      in_vain |= mbarrier_wait(&full[slot], stage / 3 % 2, status);
      if (stage >= 2) in_vain |= mbarrier_wait(&drained[turn], (stage / 2 + 1) % 2, status);
      const int count = min(kSteps, time - stage * kSteps);
      #pragma unroll 1
      for (int s = 0; s < count; ++s) {
        const int done = stage * 2 + s;
        const int line = stage % 3 * 2 + s;
        const int x_at = (line * 24 + (lane / 8 % 2 * 8 + lane % 8)) * 32 + warp * 8;
        load_matrix_x2_transposed(&x_now[0], &x_staged[x_at]);
        const int x_at_2 = (line * 24 + (16 + lane % 8)) * 32 + warp * 8;
        load_matrix_x1_transposed(&x_now[2], &x_staged[x_at_2]);
        const float v = 0.5f * h;
        const float v_2 = 0.5f * h_2;
        in_vain |= mbarrier_wait_cluster(&ready_0[done % 2], done / 2 % 2, status);
        const int from_slot = done % 2 * 384 + lane * 8;
        #pragma unroll
        for (int i_2 = 0; i_2 < 8; ++i_2) sum_0[i_2] = 0.0f;
        load_matrix_x4_transposed(&vector_now[0], &vector_0[from_slot]);
        int piece_0, piece_1, piece_2, piece_3;
        load_pairs_x4(&matrix_0[(warp * 2 * 3 * 32 + lane) * 8], piece_0, piece_1, piece_2, piece_3);
        matrix_piece[0] = piece_0;
        matrix_piece[1] = piece_1;
        matrix_piece[2] = piece_2;
        matrix_piece[3] = piece_3;
        mma_bf16(&sum_0[0], &matrix_piece[0], &vector_now[0]);
        int piece_0_2, piece_1_2, piece_2_2, piece_3_2;
        load_pairs_x4(&matrix_0[((warp * 2 + 1) * 3 * 32 + lane) * 8], piece_0_2, piece_1_2, piece_2_2, piece_3_2);
        matrix_piece[0] = piece_0_2;
        matrix_piece[1] = piece_1_2;
        matrix_piece[2] = piece_2_2;
        matrix_piece[3] = piece_3_2;
        mma_bf16(&sum_0[4], &matrix_piece[0], &vector_now[0]);
        int piece_0_3, piece_1_3, piece_2_3, piece_3_3;
        load_pairs_x4(&matrix_0[((warp * 2 * 3 + 1) * 32 + lane) * 8], piece_0_3, piece_1_3, piece_2_3, piece_3_3);
        matrix_piece[0] = piece_0_3;
        matrix_piece[1] = piece_1_3;
        matrix_piece[2] = piece_2_3;
        matrix_piece[3] = piece_3_3;
        mma_bf16(&sum_0[0], &matrix_piece[0], &vector_now[2]);
        int piece_0_4, piece_1_4, piece_2_4, piece_3_4;
        load_pairs_x4(&matrix_0[(((warp * 2 + 1) * 3 + 1) * 32 + lane) * 8], piece_0_4, piece_1_4, piece_2_4, piece_3_4);
        matrix_piece[0] = piece_0_4;
        matrix_piece[1] = piece_1_4;
        matrix_piece[2] = piece_2_4;
        matrix_piece[3] = piece_3_4;
        mma_bf16(&sum_0[4], &matrix_piece[0], &vector_now[2]);
        load_matrix_x2_transposed(&vector_now[0], &vector_0[from_slot + 256]);
        int piece_0_5, piece_1_5, piece_2_5, piece_3_5;
        load_pairs_x4(&matrix_0[((warp * 2 * 3 + 2) * 32 + lane) * 8], piece_0_5, piece_1_5, piece_2_5, piece_3_5);
        matrix_piece[0] = piece_0_5;
        matrix_piece[1] = piece_1_5;
        matrix_piece[2] = piece_2_5;
        matrix_piece[3] = piece_3_5;
        mma_bf16(&sum_0[0], &matrix_piece[0], &vector_now[0]);
        int piece_0_6, piece_1_6, piece_2_6, piece_3_6;
        load_pairs_x4(&matrix_0[(((warp * 2 + 1) * 3 + 2) * 32 + lane) * 8], piece_0_6, piece_1_6, piece_2_6, piece_3_6);
        matrix_piece[0] = piece_0_6;
        matrix_piece[1] = piece_1_6;
        matrix_piece[2] = piece_2_6;
        matrix_piece[3] = piece_3_6;
        mma_bf16(&sum_0[4], &matrix_piece[0], &vector_now[0]);
        const float product_0 = sum_0[0];
        const float product_0_2 = sum_0[1];
        const float product_1 = sum_0[2];
        const float product_1_2 = sum_0[3];
        const float product_2 = sum_0[4];
        const float product_2_2 = sum_0[5];
        const float part = first_unit + unit < kDim ? product_1 + product_2 + product_0 : 0.0f;
        const float part_2 = first_unit + unit < kDim ? product_1_2 + product_2_2 + product_0_2 : 0.0f;
        const float other = __shfl_xor_sync(0xffffffffu, part, 4);
        const float part_3 = part + other;
        const float other_2 = __shfl_xor_sync(0xffffffffu, part_2, 4);
        const float part_4 = part_2 + other_2;
        const float other_3 = __shfl_xor_sync(0xffffffffu, part_3, 8);
        const float part_5 = part_3 + other_3;
        const float other_4 = __shfl_xor_sync(0xffffffffu, part_4, 8);
        const float part_6 = part_4 + other_4;
        const float other_5 = __shfl_xor_sync(0xffffffffu, part_5, 16);
        const float part_7 = part_5 + other_5;
        const float other_6 = __shfl_xor_sync(0xffffffffu, part_6, 16);
        const float part_8 = part_6 + other_6;
        const float mean = part_7 * (warp_share * 0.33333334f);
        const float distance = first_unit + unit < kDim ? product_0 - mean : 0.0f;
        const float distance_2 = first_unit + unit < kDim ? product_1 - mean : 0.0f;
        const float distance_3 = first_unit + unit < kDim ? product_2 - mean : 0.0f;
        const float spread = fmaf(distance_3, distance_3, fmaf(distance_2, distance_2, square(distance)));
        const float mean_2 = part_8 * (warp_share * 0.33333334f);
        const float distance_4 = first_unit + unit < kDim ? product_0_2 - mean_2 : 0.0f;
        const float distance_5 = first_unit + unit < kDim ? product_1_2 - mean_2 : 0.0f;
        const float distance_6 = first_unit + unit < kDim ? product_2_2 - mean_2 : 0.0f;
        const float spread_2 = fmaf(distance_6, distance_6, fmaf(distance_5, distance_5, square(distance_4)));
        const float other_7 = __shfl_xor_sync(0xffffffffu, spread, 4);
        const float part_9 = spread + other_7;
        const float other_8 = __shfl_xor_sync(0xffffffffu, spread_2, 4);
        const float part_10 = spread_2 + other_8;
        const float other_9 = __shfl_xor_sync(0xffffffffu, part_9, 8);
        const float part_11 = part_9 + other_9;
        const float other_10 = __shfl_xor_sync(0xffffffffu, part_10, 8);
        const float part_12 = part_10 + other_10;
        const float other_11 = __shfl_xor_sync(0xffffffffu, part_11, 16);
        const float part_13 = part_11 + other_11;
        const float other_12 = __shfl_xor_sync(0xffffffffu, part_12, 16);
        const float part_14 = part_12 + other_12;
        const int line_2 = ((rank * 3 + warp) * 4 + quarter) * 4 + done % 2 * 96;
        if (group < 2)
          store_async_4(&reduced_0[line_2], group, &lines_0[done % 2], __float_as_int(part_7), __float_as_int(part_13), __float_as_int(part_8), __float_as_int(part_14));
        in_vain |= mbarrier_wait_cluster(&lines_0[done % 2], done / 2 % 2, status);
        float of_line_0, of_line_1, of_line_2, of_line_3;
        load_fp32x4(&reduced_0[(min(group, 5) * 4 + quarter) * 4 + done % 2 * 96], of_line_0, of_line_1, of_line_2, of_line_3);
        const float of_line = group < 6 ? of_line_0 : 0.0f;
        const float of_line_4 = group < 6 ? of_line_1 : 0.0f;
        const float of_line_5 = group < 6 ? of_line_2 : 0.0f;
        const float of_line_6 = group < 6 ? of_line_3 : 0.0f;
        const float part_15 = of_line;
        const float part_16 = of_line_5;
        const float other_13 = __shfl_xor_sync(0xffffffffu, part_15, 4);
        const float part_17 = part_15 + other_13;
        const float other_14 = __shfl_xor_sync(0xffffffffu, part_16, 4);
        const float part_18 = part_16 + other_14;
        const float other_15 = __shfl_xor_sync(0xffffffffu, part_17, 8);
        const float part_19 = part_17 + other_15;
        const float other_16 = __shfl_xor_sync(0xffffffffu, part_18, 8);
        const float part_20 = part_18 + other_16;
        const float other_17 = __shfl_xor_sync(0xffffffffu, part_19, 16);
        const float part_21 = part_19 + other_17;
        const float other_18 = __shfl_xor_sync(0xffffffffu, part_20, 16);
        const float part_22 = part_20 + other_18;
        const float mean_3 = part_21 * 0.008333334f;
        const float numbers = float(min(40 - group * 8 < 0 ? 0 : 40 - group * 8, 8)) * 3.0f;
        const float off = fast_div(of_line, fmaxf(numbers, 1.0f)) - mean_3;
        const float spread_3 = of_line_4 + square(off) * numbers;
        const float mean_4 = part_22 * 0.008333334f;
        const float numbers_2 = float(min(40 - group * 8 < 0 ? 0 : 40 - group * 8, 8)) * 3.0f;
        const float off_2 = fast_div(of_line_5, fmaxf(numbers_2, 1.0f)) - mean_4;
        const float spread_4 = of_line_6 + square(off_2) * numbers_2;
        const float other_19 = __shfl_xor_sync(0xffffffffu, spread_3, 4);
        const float part_23 = spread_3 + other_19;
        const float other_20 = __shfl_xor_sync(0xffffffffu, spread_4, 4);
        const float part_24 = spread_4 + other_20;
        const float other_21 = __shfl_xor_sync(0xffffffffu, part_23, 8);
        const float part_25 = part_23 + other_21;
        const float other_22 = __shfl_xor_sync(0xffffffffu, part_24, 8);
        const float part_26 = part_24 + other_22;
        const float other_23 = __shfl_xor_sync(0xffffffffu, part_25, 16);
        const float part_27 = part_25 + other_23;
        const float other_24 = __shfl_xor_sync(0xffffffffu, part_26, 16);
        const float part_28 = part_26 + other_24;
        if (thread_x == 0) if (!in_vain) mbarrier_expect(&lines_0[done % 2], 384);
        const float reduced = part_21;
        const float reduced_2 = part_22;
        const float reduced_3 = part_27;
        const float reduced_4 = part_28;
        const float v_3 = fast_div(fast_div(reduced, 40.0f), 3.0f);
        const float v_4 = 1e-05f + fast_div(fast_div(reduced_3, 40.0f), 3.0f);
        const float v_5 = rsqrt_approx(v_4);
        const float g_2 = fmaf(fmaf(-gamma_2, v_3, product_2 * gamma_2), v_5, b_2);
        const float v_6 = fmaf(-gamma_0, v_3, product_0 * gamma_0) * 0.5f;
        const float v_7 = fmaf(v_6, v_5, (b_0 + low_bf16(x_now[0])) * 0.5f);
        const float v_8 = fmaf(-gamma_1, v_3, product_1 * gamma_1) * 0.5f;
        const float v_9 = fmaf(v_8, v_5, (b_1 + low_bf16(x_now[1])) * 0.5f);
        const float v_10 = tanh_approx(v_9);
        const float n = tanh_approx(fmaf(0.5f * g_2, tanh_approx(v_7), fmaf(0.5f, g_2, low_bf16(x_now[2]))));
        const float next_h = fmaf(fmaf(-0.5f, v_10, 0.5f), n, fmaf(v, v_10, v));
        const float v_11 = fast_div(fast_div(reduced_2, 40.0f), 3.0f);
        const float v_12 = 1e-05f + fast_div(fast_div(reduced_4, 40.0f), 3.0f);
        const float v_13 = rsqrt_approx(v_12);
        const float g_2_2 = fmaf(fmaf(-gamma_2, v_11, product_2_2 * gamma_2), v_13, b_2);
        const float v_14 = fmaf(-gamma_0, v_11, product_0_2 * gamma_0) * 0.5f;
        const float v_15 = fmaf(v_14, v_13, (b_0 + high_bf16(x_now[0])) * 0.5f);
        const float v_16 = fmaf(-gamma_1, v_11, product_1_2 * gamma_1) * 0.5f;
        const float v_17 = fmaf(v_16, v_13, (b_1 + high_bf16(x_now[1])) * 0.5f);
        const float v_18 = tanh_approx(v_17);
        const float n_2 = tanh_approx(fmaf(0.5f * g_2_2, tanh_approx(v_15), fmaf(0.5f, g_2_2, high_bf16(x_now[2]))));
        const float next_h_2 = fmaf(fmaf(-0.5f, v_18, 0.5f), n_2, fmaf(v_2, v_18, v_2));
        if (done + 1 < time) {
          const int packed_2 = int(pack_bf16(first_unit + unit < kDim ? next_h : 0.0f, first_unit + unit < kDim ? next_h_2 : 0.0f));
          store_async_1(&vector_0[(first_unit + unit) * 8 + (done + 1) % 2 * 384 + quarter * 2], 0, &ready_0[(done + 1) % 2], packed_2);
          store_async_1(&vector_0[(first_unit + unit) * 8 + (done + 1) % 2 * 384 + quarter * 2], 1, &ready_0[(done + 1) % 2], packed_2);
        }
        store_pair(&h_out_ring[(stage % 2 * 2 + s) * 192 + unit * 8 + quarter * 2], int(pack_bf16(next_h, next_h_2)));
        if (thread_x == 0) if (!in_vain) mbarrier_expect(&ready_0[done % 2], 768);
        h = next_h;
        h_2 = next_h_2;
      }
      mbarrier_arrive(&empty[slot]);
      mbarrier_arrive(&filled[turn]);
    }
    // last states
    if (first_unit + unit < kDim && first_row + quarter * 2 < batch)
      h_last[i64(first_row + quarter * 2) * 40 + (first_unit + unit)] = h;
    if (first_unit + unit < kDim && first_row + (quarter * 2 + 1) < batch)
      h_last[i64(first_row + (quarter * 2 + 1)) * 40 + (first_unit + unit)] = h_2;
  } else if (thread_x < 128) {
    #pragma unroll 1
    for (int stage_2 = 0; stage_2 < groups + 1; ++stage_2) {
      if (stage_2 < groups) {
        const int slot_2 = stage_2 % 3;
        if (stage_2 >= 3) in_vain |= mbarrier_wait(&empty[slot_2], (stage_2 / 3 + 1) % 2, status);
        const int first_3 = stage_2 * kSteps;
        const int count_2 = min(kSteps, time - first_3);
        // stage x
        #pragma unroll 1
        for (int place = thread_x - kFirstProducer; place < 72; place += 32) {
          const int column = place % 3 * 8;
          const int batch_place = place / 3 % 8;
          const int row = place / 24;
          if (first_row + batch_place < batch && first_unit + column < kDim) {
            i64 from = i64(first_row + batch_place) * x_stride_b + first_unit + i64(first_3) * x_stride_t + (row * 40 + column);
            int to = slot_2 * 1536 + (row * 8 + batch_place) * 32 + column;
            #pragma unroll 2
            for (int s_2 = 0; s_2 < count_2; ++s_2) {
              copy_async_16(&x_staged[to], &x[from]);
              from = from + x_stride_t;
              to = to + 768;
            }
          }
        }
      }
      commit_copies();
      if (stage_2 >= 1) {
        wait_copies<1>();
        mbarrier_arrive(&full[(stage_2 - 1) % 3]);
      }
    }
  } else {
    #pragma unroll 1
    for (int stage_3 = 0; stage_3 < groups; ++stage_3) {
      const int turn_2 = stage_3 % 2;
      in_vain |= mbarrier_wait(&filled[turn_2], stage_3 / 2 % 2, status);
      const int first_4 = stage_3 * kSteps;
      const int count_3 = min(kSteps, time - first_4);
      // store h_out
      int pieces[4];
      #pragma unroll 1
      for (int place_2 = (thread_x - kFirstStoreThread) / 32; place_2 < 1; ++place_2) {
        const int held_unit = min(lane % 8 / 2 * 8 + lane / 8 * 2 + lane % 2, 23);
        const int unit_2 = quarter * 8;
        const int row_2 = place_2;
        const int batch_row = first_row + group;
        int from_2 = turn_2 * 384 + (row_2 * 24 + held_unit) * 8;
        i64 to_2 = i64(batch_row) * h_out_stride_b + first_unit + i64(first_4) * h_out_stride_t + (row_2 * 40 + unit_2);
        #pragma unroll 1
        for (int s_3 = 0; s_3 < count_3; ++s_3) {
          load_matrix_x4_transposed(&pieces[0], &h_out_ring[from_2]);
          if (batch_row < batch && unit_2 < 24) {
            if (unit_2 < kDim - first_unit) store_pairs_x4(&h_out[to_2], pieces[0], pieces[1], pieces[2], pieces[3]);
          }
          from_2 = from_2 + 192;
          to_2 = to_2 + h_out_stride_t;
        }
      }
      mbarrier_arrive(&drained[turn_2]);
    }
  }
  // no block leaves while others may still send to it
  cluster_barrier();
}
