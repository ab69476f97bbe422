// One worker process as the program that started it sees it.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "compiler/support/result.h"

namespace rondo::engine {

// A kind of worker: how its process is started, and the first frame that it sends. The greeting tells it from
// a program that knows nothing of workers, and from an older one.
struct WorkerKind {
  std::string_view argument;  // the program's first argument; begins with kWorkerPrefix
  std::string_view greeting;
};

// A program that does not know a kind of worker must not take its argument for a command.
inline constexpr std::string_view kWorkerPrefix = "--rondo-";
// The worker's end of the connection; not 1, which libraries print to.
inline constexpr int kWorkerSocket = 3;

// Owns a started process and this side's end of its socket (non-blocking). Killed and reaped when destroyed.
class WorkerProcess {
 public:
  // Starts `executable` with `argument` as its only one. "" takes the environment variable RONDO_WORKER, else
  // this program. Error Missing where it cannot be started.
  static Result<WorkerProcess> start(const std::string& executable, std::string_view argument);

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

}  // namespace rondo::engine
