// The pool's side: which worker has which job, and what becomes of it.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

#include "runtime/worker/compile_message.h"
#include "runtime/worker/compile_process.h"
#include "runtime/worker/compile_worker.h"

namespace rondo::runtime {
namespace {

constexpr std::chrono::hours kLongestWait{24};

}  // namespace

// A process and the job it has, if any.
class CompilePool::Worker {
 public:
  explicit Worker(WorkerProcess process) : process_(std::move(process)) {}

  bool idle() const { return !job_.has_value(); }
  std::uint64_t job() const { return job_.value_or(0); }
  int socket() const { return process_.socket(); }
  bool writing() const { return !outgoing_.empty(); }
  Clock::time_point deadline() const { return deadline_; }
  bool greeted() const { return greeted_; }

  void give(const CompileJob& job, std::chrono::milliseconds limit) {
    job_ = job.id;
    limit_ = limit;
    // A worker that is still starting gets its job's full time once it has started.
    deadline_ = Clock::now() + (greeted_ ? limit : kStartLimit);
    const auto milliseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(limit.count(), 1));
    outgoing_ += frame(encode_order({job, milliseconds + kOrphanGrace}));
    alive_ = process_.send(outgoing_) && alive_;
  }

  // Exchanges what can be exchanged without waiting. An answer if one is complete.
  std::optional<Result<CompiledKernel>> exchange() {
    alive_ = process_.send(outgoing_) && alive_;
    alive_ = process_.receive(incoming_) && alive_;
    bool broken = false;
    while (auto message = take_frame(incoming_, broken)) {
      if (!greeted_) {
        broken = *message != kWorkerGreeting;
        greeted_ = !broken;
        deadline_ = Clock::now() + limit_;
        if (broken) break;
        continue;
      }
      auto answer = decode_result(*message);
      if (answer && job_) {
        job_.reset();
        return answer;
      }
      broken = true;
    }
    alive_ = alive_ && !broken;
    return std::nullopt;
  }

  bool alive() const { return alive_; }
  std::string end() { return process_.end(); }
  const std::string& executable() const { return process_.executable(); }

 private:
  WorkerProcess process_;
  std::optional<std::uint64_t> job_;
  std::chrono::milliseconds limit_{0};
  Clock::time_point deadline_;
  std::string outgoing_;
  std::string incoming_;
  bool greeted_ = false;
  bool alive_ = true;
};

CompilePool::CompilePool(CompilePoolOptions options) : options_(std::move(options)) {
  options_.workers = std::max(options_.workers, 1);
}

CompilePool::CompilePool(int workers, std::chrono::milliseconds limit)
    : CompilePool(CompilePoolOptions{workers, limit, "", nullptr}) {}

CompilePool::~CompilePool() = default;

void CompilePool::finish(std::uint64_t id, CompileEnd end, Result<CompiledKernel> result) {
  finished_.push_back(CompileOutcome{id, end, std::move(result)});
}

std::size_t CompilePool::pending() const {
  const auto busy =
      std::count_if(workers_.begin(), workers_.end(), [](const auto& worker) { return !worker->idle(); });
  return waiting_.size() + finished_.size() + static_cast<std::size_t>(busy);
}

void CompilePool::submit(CompileJob job) {
  waiting_.push_back(std::move(job));
  if (!cancelled()) dispatch();
}

void CompilePool::dispatch() {
  while (!waiting_.empty()) {
    auto free =
        std::find_if(workers_.begin(), workers_.end(), [](const auto& worker) { return worker->idle(); });
    if (free == workers_.end()) {
      if (workers_.size() >= static_cast<std::size_t>(options_.workers)) return;
      auto process = WorkerProcess::start(options_.executable);
      if (!process) {
        finish(waiting_.front().id, CompileEnd::NoWorker, process.error());
        waiting_.pop_front();
        continue;
      }
      workers_.push_back(std::make_unique<Worker>(std::move(*process)));
      free = workers_.end() - 1;
    }
    (*free)->give(waiting_.front(), options_.limit);
    waiting_.pop_front();
  }
}

namespace {

Error crash_error(const std::string& how, bool greeted, const std::string& executable) {
  if (greeted)
    return Error{ErrorKind::Compile,
                 fmt::format("the compiler crashed: its worker process ended with {}", how),
                 "the same source may pass with another NVRTC version (RONDO_NVRTC)"};
  return Error{ErrorKind::Missing, fmt::format("{} does not serve as a compile worker: {}", executable, how),
               "point RONDO_WORKER at the rondo program"};
}

Error timeout_error(std::chrono::milliseconds limit) {
  return Error{ErrorKind::Cancelled,
               fmt::format("compiling was stopped at the time limit of {} ms", limit.count()),
               "give compilation more time, or leave this configuration out"};
}

}  // namespace

void CompilePool::poll_workers(std::chrono::milliseconds timeout) {
  std::vector<pollfd> sockets;
  for (const auto& worker : workers_) {
    const auto wanted = static_cast<short>(POLLIN | (worker->writing() ? POLLOUT : 0));
    sockets.push_back({worker->socket(), wanted, 0});
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(worker->deadline() - Clock::now());
    if (!worker->idle()) timeout = std::clamp(left, std::chrono::milliseconds{0}, timeout);
  }
  ::poll(sockets.data(), sockets.size(), static_cast<int>(timeout.count()));

  for (auto& worker : workers_) {
    const std::uint64_t job = worker->job();
    const bool busy = !worker->idle();
    // Answers come before the clock: one that arrived while nobody asked is not late.
    if (auto answer = worker->exchange()) {
      const CompileEnd end = *answer ? CompileEnd::Compiled : CompileEnd::Rejected;
      finish(job, end, std::move(*answer));
    } else if (!worker->alive()) {
      const Error error = crash_error(worker->end(), worker->greeted(), worker->executable());
      if (busy) finish(job, worker->greeted() ? CompileEnd::Crashed : CompileEnd::NoWorker, error);
      worker.reset();
    } else if (busy && Clock::now() >= worker->deadline()) {
      worker->end();
      if (worker->greeted())
        finish(job, CompileEnd::TimedOut, timeout_error(options_.limit));
      else
        finish(job, CompileEnd::NoWorker, crash_error("it sent no greeting", false, worker->executable()));
      worker.reset();
    }
  }
  std::erase(workers_, nullptr);
}

void CompilePool::stop_all() {
  const auto cancel = [this](std::uint64_t id) {
    finish(id, CompileEnd::Cancelled, Error{ErrorKind::Cancelled, "compiling was cancelled", ""});
  };
  for (const auto& worker : workers_)
    if (!worker->idle()) cancel(worker->job());
  for (const CompileJob& job : waiting_) cancel(job.id);
  waiting_.clear();
  workers_.clear();
}

std::optional<CompileOutcome> CompilePool::next(std::chrono::milliseconds timeout) {
  const auto until = Clock::now() + std::clamp<std::chrono::milliseconds>(timeout, kSlice * 0, kLongestWait);
  bool waited = false;
  while (true) {
    // Free workers get their next job before an outcome is handed out, so that they work while the caller
    // looks at it.
    if (cancelled())
      stop_all();
    else
      dispatch();
    if (!finished_.empty()) {
      CompileOutcome outcome = std::move(finished_.front());
      finished_.pop_front();
      return outcome;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (pending() == 0 || waited) return std::nullopt;
    waited = left.count() <= 0;
    poll_workers(std::clamp(left, kSlice * 0, kSlice));
  }
}

}  // namespace rondo::runtime
