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

__device__ __forceinline__ void store_flagged_2(int* to, int w0, int w1) {
  asm volatile("st.relaxed.gpu.global.v2.b32 [%0], {%1, %2};"
               :: "l"(__cvta_generic_to_global(to)), "r"(w0), "r"(w1) : "memory");
}

__device__ __forceinline__ void store_flagged_4(int* to, int w0, int w1, int w2, int w3) {
  asm volatile("st.relaxed.gpu.global.v4.b32 [%0], {%1, %2, %3, %4};"
               :: "l"(__cvta_generic_to_global(to)), "r"(w0), "r"(w1), "r"(w2), "r"(w3) : "memory");
}

// Words that are all ones have not come yet. All vectors are in flight at once. (To load them before the first
// look, or one again as soon as it is missing, is 2 to 5% slower among the blocks of a grid.)
template <int vectors>
__device__ __forceinline__ void load_flagged(int* into, const int* from, int stride, int* status) {
  Patience patience;
  #pragma unroll
  for (int i = 0; i < 4 * vectors; ++i) into[i] = -1;
  for (;;) {
    bool all = true;
    #pragma unroll
    for (int i = 0; i < vectors; ++i)
      if (into[4 * i] == -1 || into[4 * i + 1] == -1 || into[4 * i + 2] == -1 || into[4 * i + 3] == -1)
        asm volatile("ld.relaxed.gpu.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(into[4 * i]), "=r"(into[4 * i + 1]), "=r"(into[4 * i + 2]), "=r"(into[4 * i + 3])
                     : "l"(__cvta_generic_to_global(from + i * stride)) : "memory");
    #pragma unroll
    for (int i = 0; i < 4 * vectors; ++i) all = all && into[i] != -1;
    if (all || patience.ends(status)) return;
  }
}

// Waits about so many cycles, before the first look for words that take longer to come.
__device__ __forceinline__ void rest_cycles(unsigned cycles) {
  const unsigned begin = clock();
  while (unsigned(clock()) - begin < cycles) {}
}

// The bits of a float, but for one NaN, which would say that nothing has come: it gives way to another.
__device__ __forceinline__ int flagged_word(float x) { return int(min(__float_as_uint(x), 0xfffffffeu)); }

template <int vectors>
__device__ __forceinline__ void load_flagged_fp32(float* into, const int* from, int stride, int* status) {
  int words[4 * vectors];
  load_flagged<vectors>(words, from, stride, status);
  #pragma unroll
  for (int i = 0; i < 4 * vectors; ++i) into[i] = __int_as_float(words[i]);
}

__device__ __forceinline__ void load_fp32x4(const float* from, float& v0, float& v1, float& v2, float& v3) {
  const float4 packed = *reinterpret_cast<const float4*>(from);
  v0 = packed.x;
  v1 = packed.y;
  v2 = packed.z;
  v3 = packed.w;
}

__device__ __forceinline__ void store_fp32x4(float* to, float v0, float v1, float v2, float v3) {
  *reinterpret_cast<float4*>(to) = make_float4(v0, v1, v2, v3);
}

// y = x of the other block.
extern "C" __global__ void __launch_bounds__(32, 1) flagged_reals(
    const float* __restrict__ x,  // [2, 256]
    float* y,                     // as x
    int* sent)                    // [2, 256], all ones
{
  const int thread_x = threadIdx.x, block_x = blockIdx.x;

  const int place = block_x * 256 + thread_x * 4;
  const int other = (1 - block_x) * 256 + thread_x * 4;
  float v_0, v_1, v_2, v_3;
  load_fp32x4(&x[place], v_0, v_1, v_2, v_3);
  float v_0_2, v_1_2, v_2_2, v_3_2;
  load_fp32x4(&x[place + 128], v_0_2, v_1_2, v_2_2, v_3_2);
  store_flagged_4(&sent[place], flagged_word(v_0), flagged_word(v_1), flagged_word(v_2), flagged_word(v_3));
  store_flagged_2(&sent[place + 128], flagged_word(v_0_2), flagged_word(v_1_2));
  store_flagged_2(&sent[place + 130], flagged_word(v_2_2), flagged_word(v_3_2));
  float got[8];
  rest_cycles(100);
  load_flagged_fp32<2>(&got[0], &sent[other], 128, nullptr);
  store_fp32x4(&y[place], got[0], got[1], got[2], got[3]);
  store_fp32x4(&y[place + 128], got[4], got[5], got[6], got[7]);
}
