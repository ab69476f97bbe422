// A worker process and the call it has to answer. Callers differ in how they wait: trials wait for one
// worker, compile pools for several at once.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "engine/worker/process.h"

namespace rondo::engine {

// How long a wait goes without looking at a cancel flag.
inline constexpr std::chrono::milliseconds kSlice{50};

enum class CallEnd {
  Answered,
  TimedOut,   // killed at the time limit
  Crashed,    // the process ended without an answer, or sent what is none
  NoWorker,   // it never greeted: the program does not serve as such a worker
  Cancelled,  // the flag was set; killed
};

struct CallOutcome {
  CallEnd end = CallEnd::NoWorker;
  std::string text;  // the answer, or how the process ended
};

// One call at a time. After every end but Answered the process is gone, and the connection is of no more use.
class WorkerConnection {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts `executable` ("": see WorkerProcess::start) as a worker of this kind.
  static Result<WorkerConnection> start(const std::string& executable, const WorkerKind& kind);

  // Begins a call; the one before must have ended. The limit counts from now on, or from the greeting of a
  // worker that is still starting.
  void begin(std::string_view message, std::chrono::milliseconds limit);

  // Exchanges what can be exchanged without waiting, and looks at the clock. An outcome once the call has
  // ended. Answers come before the clock: one that arrived while nobody asked is not late.
  std::optional<CallOutcome> poll();

  // begin(), and waiting for the outcome. `cancel` may be null; when it turns true the worker is killed.
  CallOutcome call(std::string_view message, std::chrono::milliseconds limit,
                   const std::atomic<bool>* cancel);

  // Kills the worker: what it answered cannot be read.
  void give_up() { finish(CallEnd::Crashed); }

  bool idle() const { return !busy_; }
  bool usable() const {
    return usable_;
  }  // of an idle one: its process has not ended meanwhile, as far as is known
  const std::string& executable() const { return process_.executable(); }

  pollfd wanted() const;                        // for ::poll
  std::chrono::milliseconds time_left() const;  // of the call, at least 0

 private:
  explicit WorkerConnection(WorkerProcess process, std::string_view greeting)
      : process_(std::move(process)), greeting_(greeting) {}
  std::optional<std::string> exchange();  // the answer, if it is there
  CallOutcome finish(CallEnd end, const std::string& why = "");

  WorkerProcess process_;
  std::string_view greeting_;
  std::string outgoing_, incoming_;
  std::chrono::milliseconds limit_{0};
  Clock::time_point deadline_;
  bool greeted_ = false;
  bool busy_ = false;
  bool usable_ = true;
};

}  // namespace rondo::engine
