// Small kernels whose resources the tests compare.
#pragma once

#include <string>

namespace rondo::runtime::testing {

// Four kernels: plain; static and dynamic shared memory with a launch bound; a called function and a local
// array; more live values than registers.
inline const std::string kFourKernels = R"(
extern "C" __global__ void axpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
extern "C" __global__ void __launch_bounds__(256) shared(const float* x, float* y) {
  __shared__ float fixed[256];
  extern __shared__ float sized[];
  fixed[threadIdx.x] = x[threadIdx.x];
  sized[threadIdx.x] = fixed[255 - threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = sized[threadIdx.x] + fixed[threadIdx.x ^ 1];
}
__device__ __noinline__ float pick(const float* x, int k) {
  float v[24];
  for (int i = 0; i < 24; i++) v[i] = x[i] * x[i + k];
  float sum = 0;
  for (int i = 0; i < 24; i++) sum += v[(i * k) % 24];
  return sum;
}
extern "C" __global__ void caller(const float* x, float* y, int k) { y[threadIdx.x] = pick(x, k) + pick(y, k + 1); }
extern "C" __global__ void __launch_bounds__(1024, 1) spilling(const float* x, float* y) {
  float v[96];
#pragma unroll
  for (int i = 0; i < 96; i++) v[i] = x[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 96; i++) y[i * 1024 + threadIdx.x] = v[(i * 7) % 96] * v[95 - i];
}
)";

}  // namespace rondo::runtime::testing
