// What a training step may save, as the memory that is there allows: states, products, or the states between
// parts of time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/service/service.h"

namespace rondo::engine {

// Of plans and outlines of kernels: what a step of the answer's sizes needs beside the tensors that its
// caller has anyway. Errors: those of Launcher::make().
Result<PartsMemory> training_memory(const TrainingAnswer& training);

// One way to save, by choices alone: nothing is compiled.
struct SavingWay {
  Save save = Save::States;  // or Products
  std::int64_t every = 0;    // steps of a part of time; 0: one piece
  PartsMemory memory;
  TrainingTime time;

  std::string text() const;  // as --save takes it: "states", "products", "every=64"
  std::int64_t bytes() const { return memory.saved_bytes + memory.workspace_bytes; }
};

// Those that fit into `most` bytes, saved and workspace, and which of them is the fastest (compare_saving):
// states and products in one piece, and where states do not fit so, parts of the most steps that do, of
// powers of two. Where no kernels compute both passes, whose memory could be told, there is none. Errors:
// Unsupported (none fits: how much the least takes), and those of answer().
struct FittingWays {
  std::vector<SavingWay> ways;
  std::size_t fastest = 0;
  const SavingWay* best() const { return ways.empty() ? nullptr : &ways[fastest]; }
};
Result<FittingWays> ways_within(const Request& request, const Machine& machine, std::int64_t most);

// The plans of the best of them, or those of states where there is none. Error Unsupported also where plans
// became others than were chosen (what is recorded is wrong, say), and need more.
Result<TrainingAnswer> answer_training_within(const Request& request, const Machine& machine,
                                              std::int64_t most);

}  // namespace rondo::engine
