// One forward pass over the caller's arrays: on the GPU with the best known kernel, or on the reference
// executor.
#pragma once

#include <string>

#include "compiler/target/profile.h"
#include "runtime/arrays/run_arrays.h"
#include "runtime/cuda/driver.h"
#include "tuning_db/database.h"

namespace rondo::runtime {

struct CellRun {
  step::TensorMap<double> outputs;      // by the output's name, rounded to the storage type
  step::TensorMap<double> last_states;  // by the state's name, fp32
  std::string where;  // "NVIDIA H200, stream channels=64 ... (tuned)", "CPU, reference executor in fp64"
};

// `problem` is a Forward one of the arguments' sizes. Errors: Input.
Result<CellRun> run_on_reference(const step::Cell& cell, const schedule::Problem& problem,
                                 const step::ForwardArguments<double>& arguments);

// Chooses, compiles (or takes from the database), runs once and waits. Errors: Unsupported (no strategy
// computes the cell), Missing (no compiler), Device.
Result<CellRun> run_on_device(const step::Cell& cell, const schedule::Problem& problem,
                              const step::ForwardArguments<double>& arguments, const target::Profile& profile,
                              const Context& context, db::Database* database);

}  // namespace rondo::runtime
