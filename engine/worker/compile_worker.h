// Compiling in worker processes: a compiler that hangs or crashes costs one job, not the program.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "compiler/backend/backends.h"
#include "compiler/support/result.h"
#include "engine/worker/connection.h"

namespace rondo::engine {

struct CompileJob {
  std::uint64_t id = 0;  // the caller's, returned with the outcome
  backend::Request request;
};

enum class CompileEnd {
  Compiled,
  Rejected,   // the compiler answered with an error
  TimedOut,   // stopped at the time limit
  Crashed,    // the worker process ended without an answer
  Cancelled,  // the cancel flag was set
  NoWorker,   // no worker process could be started
};

struct CompileOutcome {
  std::uint64_t id = 0;
  CompileEnd end = CompileEnd::NoWorker;
  // An error for every end but Compiled; of kind Cancelled for the limit and the flag.
  Result<backend::Compiled> result;
};

inline constexpr WorkerKind kCompileWorker{"--rondo-compile-worker", "rondo compile worker 4"};

// What a worker does with a request.
using CompileFunction = Result<backend::Compiled> (*)(const backend::Request& request);

// To be called first in main(). In a process that a pool started as a worker it serves requests until the
// pool closes and returns the exit status; in a worker of another kind, which this program would not serve
// as, status 2; elsewhere nothing.
std::optional<int> maybe_run_worker(int argc, char** argv, CompileFunction compile = &backend::compile);

struct CompilePoolOptions {
  int workers = 1;                         // processes at most, at least 1
  std::chrono::milliseconds limit{30000};  // for each job, from the moment its worker has it
  // The program started as a worker: its main() calls maybe_run_worker first. "" takes the environment
  // variable RONDO_WORKER, else this program.
  std::string executable;
  const std::atomic<bool>* cancel = nullptr;  // when it turns true all work stops; must outlive the pool
};

// Worker processes, started as jobs need them and kept for later jobs; they are started anew (posix_spawn),
// not forked, so threads, a CUDA context and open databases of this process do not reach them. Used by one
// thread. The pool makes progress only inside submit() and next().
class CompilePool {
 public:
  explicit CompilePool(CompilePoolOptions options);
  CompilePool(int workers, std::chrono::milliseconds limit);
  ~CompilePool();  // kills and reaps what still runs
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  // Queues the job and starts it if a worker is free. Never blocks.
  void submit(CompileJob job);

  // The next finished job, in the order of finishing, waiting for it up to `timeout`. Nothing when the time
  // is over or no job is left. Every submitted job comes back exactly once, whatever happens to its worker;
  // after a cancel all that have not finished come back as Cancelled, within some 50 ms.
  std::optional<CompileOutcome> next(std::chrono::milliseconds timeout);

  std::size_t pending() const;  // jobs submitted whose outcome next() has not returned yet

 private:
  // A worker and the job it has, if it is not idle.
  struct Worker {
    WorkerConnection connection;
    std::uint64_t job = 0;
  };
  using Clock = WorkerConnection::Clock;

  bool cancelled() const { return options_.cancel != nullptr && options_.cancel->load(); }
  void dispatch();
  Worker* free_worker();
  void take(Worker& worker, CallOutcome outcome);
  void poll_workers(std::chrono::milliseconds timeout);
  void stop_all();
  void finish(std::uint64_t id, CompileEnd end, Result<backend::Compiled> result);

  CompilePoolOptions options_;
  std::vector<Worker> workers_;
  std::deque<CompileJob> waiting_;
  std::deque<CompileOutcome> finished_;
};

}  // namespace rondo::engine
