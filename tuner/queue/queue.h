// Jobs that processes work off side by side, a number of them on each GPU.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "compiler/support/result.h"

namespace rondo::tuner {

// Where one job runs at a time.
struct Slot {
  std::string visible;  // what CUDA_VISIBLE_DEVICES says there; "": as it is
};

struct JobEnd {
  std::size_t job = 0, slot = 0;
  bool begun = true;  // false: the queue was stopped before
  int status = 0;     // of the process; 128 + n where signal n ended it
  double seconds = 0;
  std::string out = {}, err = {};  // what it printed
};

// Runs `program` once for each job's words, in their order, as many at a time as there are slots, and calls
// `told` after each, never twice at a time. Once `cancel` is set no job is begun, and those that run are
// asked to stop, and killed after `patience_s` seconds. The ends by job. A process that cannot be started
// ends with status 127 and says why in `err`.
std::vector<JobEnd> run_jobs(const std::string& program, const std::vector<std::vector<std::string>>& jobs,
                             const std::vector<Slot>& slots, const std::function<void(const JobEnd&)>& told,
                             const std::atomic<bool>& cancel, double patience_s = 20);

// The GPUs that `text` names ("all", "0,2", a number is one GPU) of `count` visible ones, as each one's
// CUDA_VISIBLE_DEVICES; `visible_now`: what that variable says now, "" for nothing. Error Input.
Result<std::vector<std::string>> gpus_of(const std::string& text, int count, const std::string& visible_now);

}  // namespace rondo::tuner
