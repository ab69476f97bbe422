// Timing on the GPU, with CUDA events.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "compiler/target/profile.h"
#include "runtime/launch/device_plan.h"
#include "runtime/plan/device_tensor.h"
#include "tuner/measure/samples.h"

namespace rondo::tuner {

// Work to be timed.
struct TimedWork {
  // Submits it to the stream; `set` numbers the input set to use, from 0.
  using Run = std::function<Status(runtime::StreamHandle stream, int set)>;
  // Does what the first runs of a set would do beyond the others, such as recording a graph: called before a
  // sample for each set it uses, of the `sets` that samples take turns with.
  using Prepare = std::function<void(int set, int sets)>;

  template <class Submit>
  requires std::is_invocable_r_v<Status, Submit&, runtime::StreamHandle, int> TimedWork(
      Submit submit, Prepare before = {})  // NOLINT: implicit by design
      : run(std::move(submit)), prepare(std::move(before)) {}

  Run run;
  Prepare prepare;
};

// One sample: prepares the sets it uses, calls `begin`, and submits `repetitions` runs that take turns with
// `sets` sets, the next of which is `next_set`.
Status submit_sample(const TimedWork& work, runtime::StreamHandle stream, int repetitions, int sets,
                     int& next_set, const std::function<Status()>& begin);

struct TimingPlan {
  int warm_up = 1;  // runs before the first sample
  int samples = 7;
  double sample_s =
      500e-6;  // a sample repeats the work until it lasts this long, and is divided by the repetitions
  int most_repetitions = 200;
  int sets = 1;  // input sets that the runs take turns with
};

// Times work on one stream of its own.
class EventTimer {
 public:
  static Result<EventTimer> make();
  runtime::StreamHandle stream() const { return stream_.handle(); }

  // Seconds of one run, one entry a sample. `expected_s` (0: unknown, found by one run) sets the repetitions.
  Result<std::vector<double>> time(const TimedWork& work, const TimingPlan& plan, double expected_s = 0);
  // Seconds from start to end of `repetitions` runs, divided by them.
  Result<double> sample(const TimedWork& work, int repetitions, int sets);

 private:
  EventTimer(runtime::Stream stream, runtime::Event start, runtime::Event end)
      : stream_(std::move(stream)), start_(std::move(start)), end_(std::move(end)) {}
  runtime::Stream stream_;
  runtime::Event start_, end_;
  int next_set_ = 0;
};

// Bytes per second, read + written, of device-to-device copies of `bytes` (halved while memory is short).
Result<double> copy_bandwidth(EventTimer& timer, std::size_t bytes = std::size_t{1} << 30, int samples = 9);

// Device memory for timing one problem at its full sizes: as many sets of tensors as it takes that one run
// does not find its inputs in L2 (2 x L2 bytes in all), filled with random values. Shared by all plans of the
// problem.
class RunData {
 public:
  // Inputs are uniform in [-1, 1], initial states in [-1/2, 1/2]; `weights`: the standard deviation of
  // parameters, uniform too. Error Device when not even one set fits in memory.
  static Result<RunData> make(const step::Cell& cell, const schedule::Problem& problem, std::int64_t l2_bytes,
                              runtime::StreamHandle stream, std::uint64_t seed, double weights = kWeights);
  static constexpr double kWeights = 0.28867513459481287;  // of uniform numbers in [-1/2, 1/2]

  int sets() const { return static_cast<int>(sets_.size()); }
  std::int64_t bytes_per_set() const { return bytes_per_set_; }
  // Grows the workspace if the plan needs more than any before.
  Status reserve(const runtime::DevicePlan& plan);
  // One run of the plan; graphs are recorded before a sample, and those of all sets are kept. reserve() it
  // first.
  TimedWork work(const runtime::DevicePlan& plan) const;
  // DevicePlan::convergence() of the last run.
  Result<std::optional<executable::Convergence>> convergence(const runtime::DevicePlan& plan,
                                                             runtime::StreamHandle stream) const {
    return plan.convergence(workspace_, sizes_.batch, sizes_.time, stream);
  }

 private:
  step::Sizes sizes_;
  std::vector<std::vector<runtime::DeviceTensor>> sets_;
  runtime::DeviceBuffer workspace_;
  std::int64_t bytes_per_set_ = 0;
};

// Gives a tensor values that repeat from its first element on, gaps included, rounded to its storage type: by
// copies on the device that double, so that gigabytes take milliseconds. Waits.
Status fill_repeated(const runtime::DeviceTensor& tensor, std::span<const double> values,
                     runtime::StreamHandle stream);

// The tensors that a pass of the cell reads and writes at every call, each once: all but the workspace.
std::vector<schedule::TensorRef> tensors_of_pass(const step::Cell& cell, const schedule::Problem& problem);

}  // namespace rondo::tuner
