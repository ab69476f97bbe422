// What a schedule delivers: kernels, how each is launched, and which tensor every argument is.
//
// Element types: inputs, outputs, histories and their gradients, saved products, matrix parameters and
// scratch have the problem's storage type; vector and scalar parameters, initial and last states and the
// gradients of these and of matrices are fp32. Layouts: step_ir.h (TensorKind). Tensors with a time axis take
// a stride in B and in T (elements); everything inside a step is contiguous.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/executable/executable.h"
#include "compiler/kernel/ir/ir.h"
#include "compiler/schedule/problem/problem.h"
#include "compiler/schedule/problem/tensor_ref.h"

namespace rondo::schedule {

struct Pointer {
  TensorRef tensor;
};
struct StrideB {
  TensorRef tensor;
};  // I64, elements
struct StrideT {
  TensorRef tensor;
};                    // I64, elements
struct Batch {};      // I32
struct Time {};       // I32
struct FirstTile {};  // I32, the first batch tile of this part of the launch
struct StepCount {};  // I32, repetitions of the launch before this one
using LaunchArgument = std::variant<Pointer, StrideB, StrideT, Batch, Time, FirstTile, StepCount>;

struct Launch {
  kernel::Kernel kernel;
  std::vector<LaunchArgument> arguments;  // one for each Kernel::params entry
  // Grid = blocks_fixed + blocks_per_batch * ceil(B * batch_rows / batch_tile) * (time_tile > 0 ?
  // ceil(T / time_tile) : 1). Batch is B * batch_rows.
  std::int64_t blocks_fixed = 1;
  std::int64_t blocks_per_batch = 0;
  std::int64_t batch_tile = 1;
  std::int64_t time_tile = 0;
  std::int64_t batch_rows = 1;
  // Batch tiles that may run at once; more are launched one part after the other. 0: any number.
  std::int64_t tiles_together = 0;
  // Of Until: the condition is the first word of Role::Exchange.
  executable::Repetition repetition = {};
};

// A scratch tensor that may lie in the memory of a result, step for step: no kernel reads an element of it
// once one has written the result's element there.
struct InResult {
  TensorRef scratch, result;
};

// A tensor that a walk has in the workspace in the place of the caller's: with D channels where that one has
// an extent of its own (widen/widening.h), or by rows of a state (flatten/flattening.h).
struct WideTensor {
  TensorRef ref;  // Scratch, Packed or Carries, numbered from kWide on
  kernel::Storage storage = kernel::Storage::F32;
  executable::SizeRule size;  // elements
};

struct KernelPlan {
  std::string strategy;
  Parameters parameters;
  std::vector<Launch> launches;  // in order, on one stream
  // Rows of the batch that all sizes below are of, for each row of the call's: more than 1 where rows of a
  // state are rows of the batch (flatten/flattening.h). Wide tensors say so themselves.
  std::int64_t batch_rows = 1;
  // Workspace: fp32 elements = fixed + per batch * B.
  std::int64_t workspace_elements_fixed = 0;
  std::int64_t workspace_elements_per_batch = 0;
  std::vector<int> scratch_rows;      // rows of each Scratch tensor
  std::optional<InResult> in_result;  // it has its region of the workspace where the result may be unbound
  int shares = 0;                     // in Scratch tensor kShares, each of all rows; 0: one for each channel
  executable::SizeRule exchange;      // int32 words
  executable::SizeRule packed, vectors, carries;  // elements
  executable::SizeRule report;                    // elements
  std::vector<WideTensor> wide;
  // Alignment in bytes that every tensor with a time axis must have, base pointer and both strides, and the
  // base pointer of every matrix.
  int alignment = 2;
};

// That of a reference; null if it is none of these.
const WideTensor* find_wide(const KernelPlan& plan, TensorRef ref);
// Elements of an internal tensor of the plan, but of Status.
executable::SizeRule internal_size(const KernelPlan& plan, const Problem& problem, TensorRef ref);

// The plan's kernels as text, in order.
std::string print_kernels(const KernelPlan& plan);

// The launch's grid, as executables have it.
executable::Grid grid_of(const Launch& launch);
// Blocks of all parts.
std::int64_t grid_blocks(const Launch& launch, std::int64_t batch, std::int64_t time);

}  // namespace rondo::schedule
