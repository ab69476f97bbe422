#include "engine/worker/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "compiler/support/environment.h"

namespace rondo::engine {
namespace {

std::string worker_executable(const std::string& given) {
  if (!given.empty()) return given;
  std::string named = environment("RONDO_WORKER");
  return named.empty() ? "/proc/self/exe" : named;
}

// Starts the program with `socket` as its kWorkerSocket; 0 or an errno.
int spawn(const std::string& executable, std::string_view kind, int socket, pid_t& process) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, socket, kWorkerSocket);
  // A process group of its own: Ctrl-C at the terminal goes to the pool's program, which decides. Signals
  // start out unblocked, whatever the calling thread blocks.
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  std::string name = executable;
  std::string argument(kind);
  const std::array<char*, 3> arguments{name.data(), argument.data(), nullptr};
  const int failed =
      posix_spawn(&process, executable.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failed;
}

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const std::string& executable, std::string_view argument) {
  WorkerProcess worker;
  worker.executable_ = worker_executable(executable);
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return Error{ErrorKind::Internal, fmt::format("cannot connect a worker: {}", std::strerror(errno))};
  worker.socket_ = ends[0];
  ::fcntl(worker.socket_, F_SETFL, O_NONBLOCK);
  const int failed = spawn(worker.executable_, argument, ends[1], worker.process_);
  ::close(ends[1]);
  if (failed != 0) {
    worker.process_ = -1;
    return Error{ErrorKind::Missing,
                 fmt::format("cannot start the worker {}: {}", worker.executable_, std::strerror(failed)),
                 "point RONDO_WORKER at the rondo program"};
  }
  return worker;
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      socket_(std::exchange(other.socket_, -1)),
      executable_(std::move(other.executable_)) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(socket_, other.socket_);
  std::swap(executable_, other.executable_);
  return *this;
}

WorkerProcess::~WorkerProcess() {
  end();
  if (socket_ >= 0) ::close(socket_);
}

std::string WorkerProcess::end() {
  if (process_ <= 0) return "not running";
  const pid_t process = std::exchange(process_, -1);
  int status = 0;
  // Killing a process that has ended already but is not reaped does not change how it ended.
  ::kill(process, SIGKILL);
  pid_t reaped = -1;
  do reaped = ::waitpid(process, &status, 0);
  while (reaped < 0 && errno == EINTR);
  if (reaped != process) return "ended unobserved";
  if (WIFEXITED(status)) return fmt::format("exit status {}", WEXITSTATUS(status));
  return fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
}

bool WorkerProcess::receive(std::string& stream) const {
  while (true) {
    std::array<char, 65536> chunk;
    const ssize_t got = ::recv(socket_, chunk.data(), chunk.size(), 0);
    if (got > 0) {
      stream.append(chunk.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
  }
}

bool WorkerProcess::send(std::string& bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.erase(0, static_cast<std::size_t>(sent));
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK;
    }
  }
  return true;
}

}  // namespace rondo::engine
