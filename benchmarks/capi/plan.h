// Plans for the benchmark of the C interface, and device memory to launch them over.
#pragma once

#ifdef BENCH_PACKAGES_ONLY
#include <rondo/package.hpp>
#else
#include <rondo/rondo.hpp>
#endif

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/capi/cuda.h"

namespace bench {

namespace api = rondo::api;

struct Wanted {
  std::string cell = "lstm", type = "bf16", pass = "fw", save = "states";
  std::int64_t batch = 1, time = 1, heads = 1, dim = 1;
  std::string package;               // a file: its kernels, and nothing is compiled
  std::string database;              // "": none
  std::string strategy, parameters;  // "": the database's or the model's
  double tune_s = 0;                 // of tuning through the interface; 0: it is not tuned
  int samples = 21;
};

// The value, or the program ends with status 1 (77 where there is no driver or no GPU) and says why.
template <class T>
T need(api::Result<T> result) {
  if (result) return std::move(result).value();
  (void)need(api::Status(result.error()));
  throw 1;  // not reached
}
template <>
void need(api::Result<void> result);

// A plan for what is wanted. With a package: its own, and `open_s` are the seconds that opening it took.
api::Plan make_plan(const api::Context& context, const Wanted& wanted, double* open_s = nullptr);

// One set of a plan's tensors. In a forward pass it holds the very numbers that `rondo bench` draws for the
// set of that number (engine/measure/run_data.cpp): how often shoot iterates depends on them.
class Memory {
 public:
  Memory(const api::Plan& plan, const Wanted& wanted, int number, void* stream);
  // The set of that number, if it has parameters and initial states of its own and shares the rest with this.
  Memory draw(int number, void* stream) const;
  api::Arguments arguments(const Buffer& workspace, void* stream) const;
  std::int64_t bytes() const;
  void clear_results(void* stream) const;
  // All that the plan writes, one tensor after the other.
  std::vector<unsigned char> results(void* stream) const;
  // The first numbers of each tensor, as JSON: {"x": [0.5, ...], ...}.
  std::string first_numbers(void* stream) const;

 private:
  Memory() = default;

  std::int64_t batch_ = 0, time_ = 0;
  std::vector<rondo_tensor_info> infos_;
  std::vector<std::shared_ptr<Buffer>> buffers_;
};

Buffer workspace_for(const api::Plan& plan, const Wanted& wanted);

}  // namespace bench
