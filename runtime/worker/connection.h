// A worker process that is asked one thing at a time and killed when it takes too long. Compile pools, which
// keep several workers busy at once, have their own loop (compile_pool.cpp); the process, its socket and the
// frames on it are the same.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/worker/compile_process.h"

namespace rondo::runtime {

enum class CallEnd {
  Answered,
  TimedOut,   // killed at the time limit
  Crashed,    // the process ended without an answer
  NoWorker,   // it never greeted: the program does not serve as such a worker
  Cancelled,  // the flag was set; killed
};

struct CallOutcome {
  CallEnd end = CallEnd::NoWorker;
  std::string text;  // the answer, or how the process ended
};

class CalledWorker {
 public:
  // `greeting`: the first frame that a worker of this kind sends.
  CalledWorker(WorkerProcess process, std::string greeting)
      : process_(std::move(process)), greeting_(std::move(greeting)) {}

  // Sends the message and waits for the answer, at most so long from the moment that the worker has greeted.
  // After every end but Answered the process is gone, and so are all calls to come.
  CallOutcome call(std::string_view message, std::chrono::milliseconds limit,
                   const std::atomic<bool>* cancel);

  const std::string& executable() const { return process_.executable(); }

 private:
  // Takes what has arrived: an answer if one is complete. False when the connection is of no more use.
  bool take(std::optional<std::string>& answer);
  CallOutcome finish(CallEnd end, const std::string& why = "");

  WorkerProcess process_;
  std::string greeting_;
  std::string outgoing_, incoming_;
  bool greeted_ = false;
};

// What a call is on the wire: the message, and the time after which the worker ends itself should the caller
// be gone.
struct EncodedCall {
  std::uint64_t limit_ms = 0;
  std::string_view message;
};
std::string encode_call(const EncodedCall& call);
std::optional<EncodedCall> decode_call(std::string_view bytes);

}  // namespace rondo::runtime
