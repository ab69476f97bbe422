// The pool's side: which worker has which job, and what becomes of it.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

#include "engine/worker/compile_message.h"
#include "engine/worker/compile_worker.h"

namespace rondo::engine {
namespace {

constexpr std::chrono::hours kLongestWait{24};

}  // namespace

CompilePool::CompilePool(CompilePoolOptions options) : options_(std::move(options)) {
  options_.workers = std::max(options_.workers, 1);
}

CompilePool::CompilePool(int workers, std::chrono::milliseconds limit)
    : CompilePool(CompilePoolOptions{workers, limit, "", nullptr}) {}

CompilePool::~CompilePool() = default;

void CompilePool::finish(std::uint64_t id, CompileEnd end, Result<backend::Compiled> result) {
  finished_.push_back(CompileOutcome{id, end, std::move(result)});
}

std::size_t CompilePool::pending() const {
  const auto busy =
      std::ranges::count_if(workers_, [](const Worker& worker) { return !worker.connection.idle(); });
  return waiting_.size() + finished_.size() + static_cast<std::size_t>(busy);
}

void CompilePool::submit(CompileJob job) {
  job.request.threads = 1;  // it is the jobs that run side by side
  waiting_.push_back(std::move(job));
  if (!cancelled()) dispatch();
}

// An idle worker, started if there may be one more; null while all are busy.
CompilePool::Worker* CompilePool::free_worker() {
  for (Worker& worker : workers_)
    if (worker.connection.idle()) return &worker;
  if (workers_.size() >= static_cast<std::size_t>(options_.workers)) return nullptr;
  while (!waiting_.empty()) {
    auto connection = WorkerConnection::start(options_.executable, kCompileWorker);
    if (connection) {
      workers_.push_back({std::move(connection).value(), 0});
      return &workers_.back();
    }
    finish(waiting_.front().id, CompileEnd::NoWorker, connection.error());
    waiting_.pop_front();
  }
  return nullptr;
}

void CompilePool::dispatch() {
  while (!waiting_.empty()) {
    Worker* worker = free_worker();
    if (worker == nullptr) return;
    worker->job = waiting_.front().id;
    worker->connection.begin(encode_request(waiting_.front().request), options_.limit);
    waiting_.pop_front();
  }
}

namespace {

Error crash_error(const std::string& how) {
  return {
      ErrorKind::Compile, fmt::format("the compiler crashed: its worker process ended with {}", how),
      "the same source may pass with another version of the compiler; `rondo doctor` names the one in use"};
}

Error no_worker_error(const std::string& executable, const std::string& how) {
  return {ErrorKind::Missing, fmt::format("{} does not serve as a compile worker: {}", executable, how),
          "point RONDO_WORKER at the rondo program"};
}

Error timeout_error(std::chrono::milliseconds limit) {
  return Error{ErrorKind::Cancelled,
               fmt::format("compiling was stopped at the time limit of {} ms", limit.count()),
               "give compilation more time, or leave this configuration out"};
}

}  // namespace

void CompilePool::take(Worker& worker, CallOutcome outcome) {
  switch (outcome.end) {
    case CallEnd::Answered:
      if (auto answer = decode_answer(outcome.text)) {
        const CompileEnd end = *answer ? CompileEnd::Compiled : CompileEnd::Rejected;
        return finish(worker.job, end, std::move(*answer));
      }
      worker.connection.give_up();
      return finish(worker.job, CompileEnd::Crashed, crash_error("an answer that cannot be read"));
    case CallEnd::TimedOut: return finish(worker.job, CompileEnd::TimedOut, timeout_error(options_.limit));
    case CallEnd::Crashed: return finish(worker.job, CompileEnd::Crashed, crash_error(outcome.text));
    case CallEnd::NoWorker:
    case CallEnd::Cancelled:
      return finish(worker.job, CompileEnd::NoWorker,
                    no_worker_error(worker.connection.executable(), outcome.text));
  }
}

void CompilePool::poll_workers(std::chrono::milliseconds timeout) {
  std::vector<pollfd> sockets;
  for (const Worker& worker : workers_) {
    sockets.push_back(worker.connection.wanted());
    if (!worker.connection.idle()) timeout = std::min(timeout, worker.connection.time_left());
  }
  ::poll(sockets.data(), sockets.size(), static_cast<int>(timeout.count()));
  for (Worker& worker : workers_)
    if (auto outcome = worker.connection.poll()) take(worker, std::move(*outcome));
  std::erase_if(workers_, [](const Worker& worker) { return !worker.connection.usable(); });
}

void CompilePool::stop_all() {
  const auto cancel = [this](std::uint64_t id) {
    finish(id, CompileEnd::Cancelled, Error{ErrorKind::Cancelled, "compiling was cancelled"});
  };
  for (const Worker& worker : workers_)
    if (!worker.connection.idle()) cancel(worker.job);
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

}  // namespace rondo::engine
