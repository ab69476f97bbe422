#include "tuner/queue/queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>

#include "compiler/support/comma_list.h"
#include "tuner/queue/child.h"

namespace rondo::tuner {

namespace {

constexpr int kLookMs = 100;  // how often a stop is asked for
constexpr int kNotStarted = 127;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Queue {
 public:
  Queue(const std::string& program, const std::vector<std::vector<std::string>>& jobs,
        const std::vector<Slot>& slots, const std::function<void(const JobEnd&)>& told,
        const std::atomic<bool>& cancel, double patience_s)
      : program_(program), jobs_(jobs), slots_(slots), told_(told), cancel_(cancel), patience_s_(patience_s) {
    for (std::size_t job = 0; job < jobs.size(); ++job) ends_.push_back({job, 0, false, 0, 0});
  }

  std::vector<JobEnd> run() {
    std::vector<std::thread> threads;
    for (std::size_t slot = 0; slot < slots_.size(); ++slot)
      threads.emplace_back([this, slot] { work(slot); });
    for (std::thread& thread : threads) thread.join();
    return std::move(ends_);
  }

 private:
  void work(std::size_t slot) {
    while (!cancel_) {
      const std::size_t job = next_++;
      if (job >= jobs_.size()) return;
      JobEnd end = run_one(job, slot);
      const std::scoped_lock lock(telling_);
      ends_[job] = std::move(end);
      told_(ends_[job]);
    }
  }

  JobEnd run_one(std::size_t job, std::size_t slot) const {
    const Clock::time_point begin = Clock::now();
    std::vector<std::pair<std::string, std::string>> variables;
    if (!slots_[slot].visible.empty()) variables.emplace_back("CUDA_VISIBLE_DEVICES", slots_[slot].visible);
    Result<Child> child = Child::start(program_, jobs_[job], variables);
    if (!child) return {job, slot, true, kNotStarted, 0, "", child.error().message + "\n"};
    std::optional<Clock::time_point> asked;
    while (child->wait(kLookMs)) {
      if (!cancel_) continue;
      if (!asked) {
        child->interrupt();
        asked = Clock::now();
      } else if (seconds_since(*asked) > patience_s_) {
        child->kill();
      }
    }
    return {job, slot, true, child->status(), seconds_since(begin), child->out(), child->err()};
  }

  const std::string& program_;
  const std::vector<std::vector<std::string>>& jobs_;
  const std::vector<Slot>& slots_;
  const std::function<void(const JobEnd&)>& told_;
  const std::atomic<bool>& cancel_;
  const double patience_s_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex telling_;
  std::vector<JobEnd> ends_;
};

}  // namespace

std::vector<JobEnd> run_jobs(const std::string& program, const std::vector<std::vector<std::string>>& jobs,
                             const std::vector<Slot>& slots, const std::function<void(const JobEnd&)>& told,
                             const std::atomic<bool>& cancel, double patience_s) {
  return Queue(program, jobs, slots, told, cancel, patience_s).run();
}

Result<std::vector<std::string>> gpus_of(const std::string& text, int count, const std::string& visible_now) {
  const std::vector<std::string> named =
      visible_now.empty() ? std::vector<std::string>() : between_commas(visible_now);
  const auto name_of = [&](int gpu) {
    return gpu < static_cast<int>(named.size()) ? named[static_cast<std::size_t>(gpu)] : std::to_string(gpu);
  };
  std::vector<std::string> gpus;
  if (text == "all") {
    for (int gpu = 0; gpu < count; ++gpu) gpus.push_back(name_of(gpu));
    return gpus;
  }
  for (const std::string& part : between_commas(text)) {
    const bool digits = !part.empty() && part.size() < 6 &&
                        std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    if (!digits || std::stoi(part) >= count)
      return Error{ErrorKind::Input,
                   fmt::format("--gpus '{}': '{}' is none of the {} GPUs here", text, part, count),
                   "all, or numbers from 0 with commas: 0,2"};
    const std::string name = name_of(std::stoi(part));
    if (std::ranges::find(gpus, name) == gpus.end()) gpus.push_back(name);
  }
  return gpus;
}

}  // namespace rondo::tuner
