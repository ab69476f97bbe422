// The least times that a run of a pass could take on a machine, each as if nothing else held it up.
#pragma once

#include <string>
#include <vector>

#include "compiler/schedule/plan/strategy.h"
#include "compiler/schedule/problem/task.h"
#include "engine/choice/choose.h"

namespace rondo::tuner {

struct Floor {
  std::string name;  // "bytes", "products", "chain"
  double seconds = 0;
  double amount = 0;        // bytes, operations, steps
  std::string by;           // what the products are computed by: "mma.sync", "mma.m16n8k16.bf16"; else ""
  bool calibrated = false;  // stands on floors that calibration measured
  std::string source{};     // of a chain, who says what it is made of: "measured by calibrate"

  double rate() const { return amount / seconds; }  // a second
};

// Multiplications of a matrix of the head by a vector that a step of the pass needs: those of the forward
// step; backward the transposed ones and outer products, and again those of the forward step that are not
// saved.
int products_of_step(const schedule::Task& task);

// Every tensor with a time axis moved once, at `copy_bytes_per_s`.
Floor bytes_floor(const schedule::Task& task, double copy_bytes_per_s);
// The products of all steps, at the highest measured rate of these instructions of the tensor cores
// (MeasuredFloor::by). Where none was measured: at the rate of the machine's mma.sync, or of its
// multiply-adds. No time where there are no products.
Floor products_floor(const schedule::Task& task, const std::vector<std::string>& instructions = {});
// What the steps of these parts wait for, one after the other. No time where nothing of them waits.
Floor chain_floor(const schedule::Task& task, const std::vector<schedule::EstimatePart>& parts);

// What a plan multiplies by, each once: mma of the storage type, and wgmma by its tile.
std::vector<std::string> product_instructions(const schedule::KernelPlan& plan);

// All that take time, the one that binds first.
std::vector<Floor> floors(const schedule::Task& task, const std::vector<schedule::EstimatePart>& parts,
                          double copy_bytes_per_s, const std::vector<std::string>& instructions = {});

// What a floor is made of: "126 MB, each once, at 4.32 TB/s". That of a chain ends with its source.
std::string made_of(const Floor& floor);

}  // namespace rondo::tuner
