// Small kernels that together hold every statement, expression, storage type and scalar op: what the golden
// files and the compile tests of the CUDA backend run over.
#pragma once

#include <string>
#include <vector>

#include "compiler/kernel/builder/builder.h"

namespace rondo::backend::cuda::testing {

kernel::Kernel axpy();                       // bf16, one element a thread
kernel::Kernel staged_sum();                 // fp16 vectors through a ring of asynchronous copies
kernel::Kernel asked_ahead();                // the next element is asked for before this one is read
kernel::Kernel votes();                      // a vote of the warp, of which each thread takes a bit
kernel::Kernel block_total();                // fp32, shuffles and shared memory, 64-bit indices
kernel::Kernel cold_branch();                // what it reads it reads anew
kernel::Kernel bytes_and_lengths();          // a byte and an integer that decide which number is stored
kernel::Kernel every_access();               // each storage type at each width, plain and streaming
kernel::Kernel every_expression();           // integer, comparison, logic, casts, selects, constants
kernel::Kernel every_op(kernel::Math math);  // each scalar op once
kernel::Kernel draws();                      // of two names and of neighbouring places
kernel::Kernel one_op(scalar::Op op, kernel::Math math);

// unit_kernels.cpp
kernel::Kernel packed_pairs();                           // each width, packing and unpacking
kernel::Kernel matrix_product(kernel::Storage storage);  // ldmatrix of each kind, mma
// c = a * b, 128 x 128 x 128, by two warpgroups; both operands stand along the result, or along the sum.
kernel::Kernel warpgroup_product(kernel::Storage storage, bool mn_major);
kernel::Kernel real_product();                          // fp32 in three terms and in tf32
kernel::Kernel flagged_reals();                         // fp32 words that are their own flags
kernel::Kernel warp_roles();                            // mbarriers of a block, named barriers
kernel::Kernel meeting_roles();                         // signals at named barriers
std::vector<int> heard_in_turns(int block, int turns);  // what meeting_roles gives for a block
kernel::Kernel cluster_sum();                           // stores to other blocks, mbarriers of a cluster
kernel::Kernel grid_ring();                             // grid flags

struct Sample {
  std::string name;  // of its golden file
  kernel::Kernel kernel;
  int from = 75;  // least architecture, ten times the compute capability
};
std::vector<Sample> samples();

}  // namespace rondo::backend::cuda::testing
