// One worker process as who started it sees it. Internal to runtime/ and to the tuner's trials.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstdint>

#include <string>
#include <string_view>

#include "compiler/support/result.h"

namespace rondo::runtime {

// A process that has not greeted by then is no worker. Loading a large program from a slow disk takes
// seconds.
inline constexpr std::chrono::milliseconds kStartLimit{20000};
// How long a wait goes without looking at the cancel flag.
inline constexpr std::chrono::milliseconds kSlice{50};
// By how much a worker's own alarm lies behind the limit of the process that waits for it, in milliseconds.
inline constexpr std::uint64_t kOrphanGrace = 2000;

inline constexpr std::string_view kWorkerArgument = "--rondo-compile-worker";
// Of all kinds of workers: a program that does not know its kind must not take it for a command.
inline constexpr std::string_view kWorkerPrefix = "--rondo-";
inline constexpr int kWorkerSocket =
    3;  // the worker's end of the connection; not 1, which libraries print to

// Owns a started process and this side's end of its socket (non-blocking). Killed and reaped when destroyed.
class WorkerProcess {
 public:
  // Starts `executable` as a worker of the kind that `argument` names. "" takes the environment variable
  // RONDO_WORKER, else this program.
  static Result<WorkerProcess> start(const std::string& executable,
                                     std::string_view argument = kWorkerArgument);

  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  ~WorkerProcess();

  int socket() const { return socket_; }
  const std::string& executable() const { return executable_; }

  // Kills the process if it runs, waits for it, and says how it ended: "exit status 2", "signal 11 (...)".
  std::string end();

  // Reads all that has arrived onto `stream`; false when the other side closed.
  bool receive(std::string& stream) const;

  // Writes as much of `bytes` as fits now and removes it from there; false when the other side closed.
  bool send(std::string& bytes) const;

 private:
  WorkerProcess() = default;
  pid_t process_ = -1;
  int socket_ = -1;
  std::string executable_;
};

}  // namespace rondo::runtime
