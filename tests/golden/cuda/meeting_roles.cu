template <int id, int count>
__device__ __forceinline__ void named_barrier() { asm volatile("bar.sync %0, %1;" :: "n"(id), "n"(count) : "memory"); }

// Who waits is in named_barrier of the same numbers.
template <int id, int count>
__device__ __forceinline__ void named_barrier_arrive() { asm volatile("bar.arrive %0, %1;" :: "n"(id), "n"(count) : "memory"); }

// y = what two warps have heard after each turn from four others, whom they asked.
extern "C" __global__ void __launch_bounds__(192, 1) meeting_roles(
    int* __restrict__ y,  // [blocks, turns, 64]
    int turns)
{
  extern __shared__ __align__(16) unsigned char shared_memory[];
  int* const asked = reinterpret_cast<int*>(shared_memory);
  int* const answers = reinterpret_cast<int*>(shared_memory + 256);
  const int thread_x = threadIdx.x, block_x = blockIdx.x;

  const int warp = thread_x / 32;
  if (thread_x < 64) {
    int heard = block_x + thread_x;
    #pragma unroll 1
    for (int t = 0; t < turns; ++t) {
      const int pieces = (t * 7 + warp * 5) % 11;
      #pragma unroll 1
      for (int i = 0; i < pieces; ++i) heard = heard * 5 + 1 & 4095;
      asked[thread_x] = heard;
      named_barrier_arrive<1, 192>();
      named_barrier<2, 192>();
      named_barrier<3, 192>();
      named_barrier_arrive<4, 192>();
      const int left = answers[63 - thread_x];
      const int right = answers[127 - thread_x];
      heard = left + right & 4095;
      y[(block_x * turns + t) * 64 + thread_x] = heard;
    }
  } else {
    const int me = thread_x - 64;
    #pragma unroll 1
    for (int t_2 = 0; t_2 < turns; ++t_2) {
      named_barrier<1, 192>();
      named_barrier_arrive<2, 192>();
      const int question = asked[(me + t_2) % 64];
      int answer = question;
      const int pieces_2 = (t_2 * 7 + warp * 5) % 11;
      #pragma unroll 1
      for (int i_2 = 0; i_2 < pieces_2; ++i_2) answer = answer * 5 + 1 & 4095;
      answers[me] = answer + me;
      named_barrier_arrive<3, 192>();
      named_barrier<4, 192>();
    }
  }
}
