// Timing on a device: by CUDA events on a GPU, by a steady clock on CPUs (Device::seconds_of).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "compiler/schedule/problem/task.h"
#include "compiler/target/profile.h"
#include "engine/data/given_data.h"
#include "engine/measure/samples.h"
#include "engine/plan/device_tensor.h"

namespace rondo::engine {

// Work to be timed.
struct TimedWork {
  // Submits it to the device; `set` numbers the input set to use, from 0.
  using Run = std::function<Status(int set)>;
  // Does what the first runs of a set would do beyond the others, such as recording a graph: called before a
  // sample for each set it uses, of the `sets` that samples take turns with.
  using Prepare = std::function<void(int set, int sets)>;

  template <class Submit>
  requires std::is_invocable_r_v<Status, Submit&, int> TimedWork(
      Submit submit, Prepare before = {})  // NOLINT: implicit by design
      : run(std::move(submit)), prepare(std::move(before)) {}

  Run run;
  Prepare prepare;
};

// One sample: prepares the sets it uses, and hands `timed` what submits `repetitions` runs that take turns
// with `sets` sets, the next of which is `next_set`. Gives what `timed` does.
using TimeOnce = std::function<Result<double>(const std::function<Status()>& submit)>;
Result<double> take_sample(const TimedWork& work, int repetitions, int sets, int& next_set,
                           const TimeOnce& timed);

struct TimingPlan {
  int warm_up = 1;  // runs before the first sample
  int samples = 7;
  double sample_s =
      500e-6;  // a sample repeats the work until it lasts this long, and is divided by the repetitions
  int most_repetitions = 200;
  int sets = 1;  // input sets that the runs take turns with
  // How often a sample is taken again during which the threads waited for a core: of them that with the
  // shortest waits counts. Of CPUs alone.
  int retries = 0;
};

// Times work on a device, which outlives it.
class Timer {
 public:
  explicit Timer(const runtime::Device& device) : device_(&device) {}
  const runtime::Device& device() const { return *device_; }

  // Seconds of one run, one entry a sample. `expected_s` (0: unknown, found by one run) sets the repetitions.
  Result<std::vector<double>> time(const TimedWork& work, const TimingPlan& plan, double expected_s = 0);
  // Seconds from start to end of `repetitions` runs, divided by them, of work that has run before. A GPU
  // begins when all runs are submitted: a kernel of 4 microseconds is shorter than its launch takes on a busy
  // machine.
  Result<double> sample(const TimedWork& work, int repetitions, int sets);
  // The set that the next sample begins with; without it, the one behind the last that was used. What is
  // compared begins with the same.
  void begin_with(int set) { next_set_ = set; }

 private:
  enum class Begin { WhenSubmitted, AtOnce };
  Result<double> sample(const TimedWork& work, int repetitions, int sets, Begin begin);
  Result<double> calm_sample(const TimedWork& work, int repetitions, const TimingPlan& plan);

  const runtime::Device* device_;
  int next_set_ = 0;
};

// Bytes of the cache in which a run should not find its inputs: a GPU's L2; of CPUs the outermost one, as far
// as it is not larger than the data that a program works on meanwhile.
std::int64_t cache_to_leave(const target::Profile& profile);

// Device memory for timing one problem at its full sizes: as many sets of tensors as it takes that one run
// does not find its inputs in a cache of `cache_bytes` (twice as much in all), filled with random values.
// Where a kernel may iterate there are at least 8 sets; those beyond the first ones have parameters and
// initial states of their own, and share the tensors with steps. Shared by all plans of the problem.
class RunData {
 public:
  // Inputs are uniform in [-1, 1], initial states in [-1/2, 1/2]; `weights`: the standard deviation of
  // parameters, uniform too. What is given is the same in all sets. Error Device when not even one set fits
  // in memory.
  static Result<RunData> make(const schedule::Task& task, std::int64_t cache_bytes,
                              const runtime::Device& device, std::uint64_t seed, double weights = kWeights,
                              const Given& given = nullptr);
  static constexpr double kWeights = 0.28867513459481287;  // of uniform numbers in [-1/2, 1/2]

  int sets() const { return static_cast<int>(sets_.size() + draws_.size()); }
  std::int64_t bytes_per_set() const { return bytes_per_set_; }
  // Grows the workspace if the plan needs more than any before.
  Status reserve(const runtime::LoadedPlan& plan);
  // One run of the plan; graphs are recorded before a sample, and those of all sets are kept. reserve() it
  // first.
  TimedWork work(const runtime::LoadedPlan& plan) const;
  // LoadedPlan::convergence() of the last run.
  Result<std::optional<executable::Convergence>> convergence(const runtime::LoadedPlan& plan) const {
    return plan.convergence(workspace_, sizes_.batch, sizes_.time);
  }

 private:
  step::Sizes sizes_;
  std::vector<std::vector<DeviceTensor>> sets_, draws_;
  const runtime::Device* device_ = nullptr;
  runtime::Memory workspace_;
  std::int64_t bytes_per_set_ = 0;
};

// Gives a tensor values that repeat from its first element on, gaps included, rounded to its storage type: by
// copies on the device that double, so that gigabytes take milliseconds. Waits.
Status fill_repeated(const runtime::Device& device, const DeviceTensor& tensor,
                     std::span<const double> values);

// The tensors that a pass of the cell reads and writes at every call, each once: all but the workspace.
std::vector<schedule::TensorRef> tensors_of_pass(const schedule::Task& task);

}  // namespace rondo::engine
