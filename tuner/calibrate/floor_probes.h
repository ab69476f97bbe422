// The text of the kernels by which calibration measures floors (compiler/target/floors.h), and what each of
// them measures.
#pragma once

#include <string>
#include <vector>

#include "compiler/backend/interface/backend.h"
#include "compiler/target/target.h"

namespace rondo::tuner {

// An exchange through global memory, by the kernel `grid_exchange_LOADS`: each block sends `part` vectors of
// 16 bytes. Up to kExchangeThreads vectors in all, threads wait for one each; beyond, for `loads` each, of
// which none may lie past the last vector: nobody would write it.
struct GridExchangeProbe {
  int blocks, part, loads;
};
inline constexpr int kExchangeVector = 16, kExchangeThreads = 256, kMostExchangeLoads = 8;
// The largest of at most so many bytes that a team of `blocks` can exchange so.
GridExchangeProbe grid_exchange(int blocks, int bytes);

// A product of the tensor cores: kernels NAME_latency, of one warp or warpgroup, and NAME_rate.
struct ProductProbe {
  std::string name;           // "mma_m16n8k16_bf16"
  std::string by;             // as MeasuredFloor::by: "mma.m16n8k16.bf16"
  double operations;          // of one warp or warpgroup and round of NAME_latency
  double operations_of_rate;  // of NAME_rate
  unsigned threads;           // of a block of NAME_latency
  unsigned threads_of_rate;   // of a block of NAME_rate
};
std::vector<ProductProbe> product_probes(const target::Target& target);

// A scalar function: the `which` of the kernel `functions`. The first is a multiply-add alone; the others
// have one after the function, which keeps the numbers in range.
struct FunctionProbe {
  std::string by;    // as MeasuredFloor::by: "fma", "tanh fast", "tanh accurate"
  std::string text;  // of x
};
std::vector<FunctionProbe> function_probes();

// The compilation of all of them. Of compute capability 9.0 it is made for that alone: products of warpgroups
// exist nowhere else.
backend::Request floor_request(const target::Target& target);

}  // namespace rondo::tuner
