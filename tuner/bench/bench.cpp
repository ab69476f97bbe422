#include "tuner/bench/bench.h"

#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "engine/measure/copies.h"

namespace rondo::tuner {

namespace {

class Bench {
 public:
  Bench(const schedule::Task& task, const engine::Machine& machine, const engine::ReadyPlan& ready,
        const BenchOptions& options)
      : task_(task), machine_(machine), ready_(ready), options_(options) {}

  Result<BenchRow> run() {
    if (Status status = machine_.profile.is_cpu() ? in_turns() : after_copy(); !status) return status.error();
    if (Status status = ready_.plan->check(); !status) return status.error();
    auto convergence = data_.convergence(*ready_.plan);
    if (!convergence) return convergence.error();
    return BenchRow{task_.written.name,
                    task_.written.clip,
                    task_.problem,
                    ready_.choice,
                    engine::timing_of(seconds_),
                    bytes_,
                    copy_bytes_per_s_,
                    ready_.ready_s,
                    ready_.compiled.from_cache,
                    *convergence};
  }

 private:
  Status make_data() {
    Result<engine::RunData> made =
        engine::RunData::make(task_, engine::cache_to_leave(machine_.profile), *machine_.device, 1,
                              options_.weights, options_.given);
    if (!made) return made.error();
    data_ = std::move(*made);
    return data_.reserve(*ready_.plan);
  }

  // A GPU's bandwidth is its own, and the same from one minute to the next.
  Status after_copy() {
    engine::Timer timer(*machine_.device);
    copy_bytes_per_s_ = options_.copy_bytes_per_s;
    if (copy_bytes_per_s_ <= 0) {
      const Result<double> copy = engine::copy_bandwidth(timer);
      if (!copy) return copy.error();
      copy_bytes_per_s_ = *copy;
    }
    if (Status status = make_data(); !status) return status;
    engine::TimingPlan timing;
    timing.warm_up = 3;
    timing.samples = options_.samples;
    timing.sample_s = 2e-3;
    timing.sets = data_.sets();
    Result<std::vector<double>> seconds = timer.time(data_.work(*ready_.plan), timing);
    if (!seconds) return seconds.error();
    seconds_ = std::move(*seconds);
    return success();
  }

  Status in_turns() {
    constexpr int kFresh = 3;  // times that all memory is allocated anew
    engine::BesideCopies beside(*machine_.device, bytes_, engine::cache_to_leave(machine_.profile));
    for (int turn = 0; turn < kFresh; ++turn) {
      data_ = engine::RunData();
      if (Status status = make_data(); !status) return status;
      const int samples = options_.samples * (turn + 1) / kFresh - options_.samples * turn / kFresh;
      if (Status status = beside.add(data_.work(*ready_.plan), data_.sets(), samples); !status) return status;
    }
    seconds_ = beside.times().kernel;
    // What makes BenchRow::share() that of the pairs.
    copy_bytes_per_s_ = static_cast<double>(bytes_) / (engine::median(seconds_) * beside.times().share());
    return success();
  }

  const schedule::Task& task_;
  const engine::Machine& machine_;
  const engine::ReadyPlan& ready_;
  const BenchOptions& options_;
  const std::int64_t bytes_ = schedule::compulsory_bytes(task_);
  engine::RunData data_;
  std::vector<double> seconds_;
  double copy_bytes_per_s_ = 0;
};

}  // namespace

Result<BenchRow> bench(const schedule::Task& task, const engine::Machine& machine,
                       const engine::ReadyPlan& ready, const BenchOptions& options) {
  if (Status status = machine.need_device(); !status) return status.error();
  return Bench(task, machine, ready, options).run();
}

}  // namespace rondo::tuner
