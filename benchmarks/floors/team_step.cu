// What a step of an LSTM with one head of 768 channels costs a kernel by hand that does only what must be done, if 48 blocks
// exchange through the L2: bf16, 16 batch rows in two teams. Prints nanoseconds as JSON. Build and run it on a machine with a
// GPU and nvcc:
//
//   nvcc -O3 -std=c++17 -arch=sm_90 benchmarks/floors/team_step.cu -o team_step && ./team_step
//
// All of R lies in registers, inputs are constants, nothing is stored, tanh is the hardware's, and moments are plain sums of
// x and x * x, which lose digits: a real kernel has all of that to do besides. Eight warps multiply; each then has one batch
// row of the block's 16 channels. What is sent are self-flagging words, of which each step has its own, so none is cleared.
//   plain_ns    the LSTM: one exchange, of h
//   gates_ns    R h is normalised: its moments are exchanged, then h
//   apart_ns    and so is c before the output gate, as in a layer-normalised LSTM: an exchange more
//   merged_ns   the same in two exchanges: blocks send c and the output gate, and each makes all of h, and c's moments, itself
// A first look for words that is too early costs more than waiting, so each form is timed with delays of 0 to 300 cycles before
// the looks for moments and for the vector; what the best pair takes when it is timed again is printed. A wait gives up after
// some seconds and says so.
#include "step.cuh"

namespace {

constexpr int kTeams = 2, kBlocks = 48, kWarps = 8, kThreads = 32 * kWarps;
constexpr int kRows = 8, kGateRows = 4, kTiles = 6;  // batch rows; products of a channel; k-tiles of a warp
constexpr int kMostSteps = 96;
// Floats from batch row to batch row of a warp's sums, and from warp to warp: lanes meet different banks.
constexpr int kSumRow = 20, kSums = kGateRows * kRows * kSumRow + 16;
// Words of a step of a team: two elements each of all channels and batch rows, h or c and the gate; sum and square of each
// block and batch row, for R h and for c.
constexpr int kVector = kBlocks * 16 * kRows, kLines = kRows * kBlocks * 2, kSlot = kVector + 2 * kLines;

struct Delays {
  int sums, vector;  // cycles before the first look
};

__device__ float low(unsigned pair) { return __uint_as_float(pair << 16); }
__device__ float high(unsigned pair) { return __uint_as_float(pair & 0xffff0000u); }

__device__ void store(int* to, int word) {
  asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(to), "r"(word) : "memory");
}
__device__ void store(int* to, const Sums& sums) {
  asm volatile("st.relaxed.gpu.global.v2.b32 [%0], {%1, %2};" ::"l"(to), "r"(__float_as_int(sums.x)), "r"(__float_as_int(sums.xx))
               : "memory");
}

// n loads of 16 bytes a lane, `stride` words apart, until a warp has all of them. False if they do not come.
template <int n>
__device__ bool wait_for(int (&words)[4 * n], const int* from, int stride, int delay) {
  const unsigned begin = clock();
  while (delay > 0 && unsigned(clock()) - begin < unsigned(delay)) {}
#pragma unroll
  for (int i = 0; i < 4 * n; ++i) words[i] = -1;
  for (int tries = 0; tries < kTries; ++tries) {
    bool all = true;
#pragma unroll
    for (int i = 0; i < n; ++i) load_unless_come(words + 4 * i, from + i * stride);
#pragma unroll
    for (int i = 0; i < n; ++i) all = all && have_come(words + 4 * i);
    if (__all_sync(~0u, all)) return true;
  }
  return false;
}

// Of the lanes that differ in the bits of `first` to `last`.
template <int first, int last>
__device__ Sums across(Sums sums) {
#pragma unroll
  for (int distance = first; distance <= last; distance *= 2) {
    const float x = __shfl_xor_sync(~0u, sums.x, distance), xx = __shfl_xor_sync(~0u, sums.xx, distance);
    sums.x += x;
    sums.xx += xx;
  }
  return sums;
}
// A thread of a step: its block's place, and where it stands in the elementwise part, lane 2 * channel + half.
struct Thread {
  int team = blockIdx.x / kBlocks, rank = blockIdx.x % kBlocks, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  int channel = lane / 2, half = lane % 2, row = warp;
};

// Sums of a batch row over all blocks, of those that the channels of this block have.
__device__ Sums over_team(Sums own, int* lines, const Thread& t, int delay, bool& come) {
  own = across<2, 16>(own);
  int* const of_row = lines + t.row * kBlocks * 2;
  if (t.lane == 0) store(of_row + t.rank * 2, own);
  int words[4];
  come = wait_for<1>(words, of_row + (t.lane < 24 ? t.lane : t.lane - 8) * 4, 0, delay) && come;
  Sums all{};
  if (t.lane < 24)
    all = {__int_as_float(words[0]) + __int_as_float(words[2]), __int_as_float(words[1]) + __int_as_float(words[3])};
  return across<1, 16>(all);
}

// The fragments of h for this warp's k-tiles: of the words that blocks sent, or made of c and the output gate.
template <Form form>
__device__ void receive(unsigned (&b)[kTiles][2], const int* slot, const Thread& t, int parity, int delay, bool& come) {
  if constexpr (form != kMerged) {
    int words[2 * kTiles];
    come = wait_for<kTiles / 2>(words, slot + (t.warp * (kTiles / 2) * 32 + t.lane) * 4, 128, delay) && come;
    for (int k = 0; k < kTiles; ++k) b[k][0] = words[2 * k], b[k][1] = words[2 * k + 1];
  } else {
    __shared__ float4 of_warps[2][kRows][kWarps / 2];  // sum and square of two warps
    int words[4 * kTiles];
    come = wait_for<kTiles>(words, slot + (t.warp * kTiles * 32 + t.lane) * 4, 128, delay) && come;
    Sums sums{};
    for (int i = 0; i < 4 * kTiles; ++i) sums.x += low(words[i]), sums.xx = fmaf(low(words[i]), low(words[i]), sums.xx);
    sums = across<1, 2>(sums);
    float2* const line = reinterpret_cast<float2*>(of_warps[parity][t.lane / 4]);
    if (t.lane % 4 == 0) line[t.warp] = {sums.x, sums.xx};
    __syncthreads();
    sums = {};
    for (int i = 0; i < kWarps / 2; ++i) {
      const float4 two = of_warps[parity][t.lane / 4][i];
      sums.x += two.x + two.z, sums.xx += two.y + two.w;
    }
    const Scale scale = scale_of(sums, 768);
    const auto h = [&](unsigned pair) { return high(pair) * fast_tanh((low(pair) - scale.mean) * scale.factor); };
#pragma unroll
    for (int k = 0; k < kTiles; ++k)
      for (int i = 0; i < 2; ++i) b[k][i] = packed(h(words[4 * k + 2 * i]), h(words[4 * k + 2 * i + 1]));
  }
}

template <Form form>
__device__ void send(int* slot, const Thread& t, float c, float out, float h) {
  const int quarter = t.channel % 8 / 2, group = t.channel / 8, odd = t.channel % 2;
  if constexpr (form == kMerged) {
    if (t.half == 0) store(slot + (t.rank * 32 + t.row * 4 + quarter) * 4 + group * 2 + odd, packed(c, out));
  } else {
    const float next = __shfl_down_sync(~0u, h, 2);
    if (t.half == 0 && odd == 0) store(slot + (t.rank / 2 * 32 + t.row * 4 + quarter) * 4 + t.rank % 2 * 2 + group, packed(h, next));
  }
}

// Adds up what the warps' products give a channel and batch row.
__device__ void sums_of_warps(float (&y)[kGateRows], const float (&d)[kGateRows][4], float* sums, const Thread& t) {
  float* const own = sums + t.warp * kSums;
#pragma unroll
  for (int gate = 0; gate < kGateRows; ++gate)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      own[(gate * kRows + t.lane % 4 * 2 + i % 2) * kSumRow + t.lane / 4 + i / 2 * 8] = d[gate][i];
  __syncthreads();
#pragma unroll
  for (int gate = 0; gate < kGateRows; ++gate) {
    y[gate] = 0;
#pragma unroll
    for (int i = 0; i < kWarps / 2; ++i) y[gate] += sums[(2 * i + t.half) * kSums + (gate * kRows + t.row) * kSumRow + t.channel];
    y[gate] += __shfl_xor_sync(~0u, y[gate], 1);
  }
}

template <Form form>
__global__ void __launch_bounds__(kThreads, 1) steps(int* slots, float* results, int* gave_up, int count, Delays delays) {
  __shared__ float sums[2][kWarps * kSums];
  const Thread t;
  unsigned a[kGateRows][kTiles][4];
  Weights weights;
  for (int i = 0; i < kGateRows * kTiles * 4; ++i) a[i / (kTiles * 4)][i / 4 % kTiles][i % 4] = weights.next();
  float c = 0, h = 0;
  bool come = true;
  for (int step = 0; step < count && come; ++step) {
    int* const slot = slots + (step * kTeams + t.team) * kSlot;
    unsigned b[kTiles][2] = {};
    if (step > 0) receive<form>(b, slot - kTeams * kSlot, t, step % 2, delays.vector, come);
    float d[kGateRows][4] = {}, y[kGateRows];
#pragma unroll
    for (int k = 0; k < kTiles; ++k)
#pragma unroll
      for (int gate = 0; gate < kGateRows; ++gate) multiply(d[gate], a[gate][k], b[k][0], b[k][1]);
    sums_of_warps(y, d, sums[step % 2], t);
    if constexpr (form != kPlain) {
      Sums own{};
      for (float of_gate : y) own.x += of_gate, own.xx = fmaf(of_gate, of_gate, own.xx);
      const Scale scale = scale_of(over_team(own, slot + kVector, t, delays.sums, come), 4 * 768);
      for (float& of_gate : y) of_gate = (of_gate - scale.mean) * scale.factor;
    }
    const float out = fast_sigmoid(y[3] + 0.1f * t.row);
    c = fmaf(fast_sigmoid(y[1] + 0.3f), c, fast_sigmoid(y[0] + 0.2f) * fast_tanh(y[2] + 0.01f * t.channel));
    Scale scale{0, 1};
    if constexpr (form == kApart) scale = scale_of(over_team({c, c * c}, slot + kVector + kLines, t, delays.sums, come), 768);
    if constexpr (form != kMerged) h = out * fast_tanh((c - scale.mean) * scale.factor);
    send<form>(slot, t, c, out, h);
  }
  if (!come) *gave_up = 1;
  results[blockIdx.x * kThreads + threadIdx.x] = h + c;
}

int *slots, *gave_up;
float* results;

// Without what a launch costs: the difference of two numbers of steps.
template <Form form>
double step_ns(Delays delays) {
  const auto run_ns = [&](int count) {
    return least_nanoseconds([&] { cudaMemsetAsync(slots, 0xff, sizeof(int) * kSlot * kTeams * kMostSteps); }, [&] {
      void* arguments[] = {&slots, &results, &gave_up, &count, &delays};
      cudaLaunchCooperativeKernel((const void*)steps<form>, dim3(kTeams * kBlocks), dim3(kThreads), arguments, 0, nullptr);
    });
  };
  constexpr int kFewer = 32;
  return (run_ns(kMostSteps) - run_ns(kFewer)) / (kMostSteps - kFewer);
}

template <Form form>
double least_step_ns() {
  double least = 1e30;
  Delays best{};
  for (int of_sums = 0; of_sums <= (form == kPlain ? 0 : 300); of_sums += 75)
    for (int of_vector = 0; of_vector <= 300; of_vector += 75)
      if (const double ns = step_ns<form>({of_sums, of_vector}); ns < least) least = ns, best = {of_sums, of_vector};
  return step_ns<form>(best);
}

}  // namespace

int main() {
  cudaDeviceProp device;
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess ||
      cudaMalloc(&slots, sizeof(int) * kSlot * kTeams * kMostSteps) != cudaSuccess ||
      cudaMalloc(&results, kTeams * kBlocks * kThreads * sizeof(float)) != cudaSuccess ||
      cudaMallocManaged(&gave_up, sizeof(int)) != cudaSuccess) {
    std::fprintf(stderr, "team_step: no GPU\n");
    return 4;
  }
  *gave_up = 0;
  const double plain = least_step_ns<kPlain>(), gates = least_step_ns<kGates>(), apart = least_step_ns<kApart>(),
               merged = least_step_ns<kMerged>();
  if (const int status = status_of_kernels("team_step", gave_up); status != 0) return status;
  std::printf("{\"device\": \"%s\", \"plain_ns\": %.1f, \"gates_ns\": %.1f, \"apart_ns\": %.1f, \"merged_ns\": %.1f}\n", device.name, plain,
              gates, apart, merged);
  return 0;
}
