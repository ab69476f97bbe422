#include "engine/worker/serve.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "engine/worker/frame.h"

namespace rondo::engine {
namespace {

// Closes what the parent left open, and leaves Ctrl-C to it.
void prepare_worker() {
  // Whatever the parent left open without close-on-exec (databases, devices) is none of the worker's
  // business.
  ::syscall(SYS_close_range, static_cast<unsigned>(kWorkerSocket + 1), ~0U, 0U);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(SIGALRM, SIG_DFL);
  ::signal(SIGINT, SIG_IGN);  // the parent decides; Ctrl-C reaches it too
}

bool send_to_parent(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(kWorkerSocket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// The next frame; nothing when the parent closed or the stream is broken.
std::optional<std::string> receive_from_parent(std::string& stream) {
  bool broken = false;
  while (!broken) {
    if (auto message = take_frame(stream, broken)) return message;
    char chunk[65536];
    const ssize_t got = ::recv(kWorkerSocket, chunk, sizeof chunk, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    stream.append(chunk, static_cast<std::size_t>(got));
  }
  return std::nullopt;
}

// 0: off.
void set_worker_alarm(std::uint64_t milliseconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(milliseconds / 1000);
  timer.it_value.tv_usec = static_cast<suseconds_t>(milliseconds % 1000 * 1000);
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

int serve(std::string_view greeting, const AnswerFunction& answer) {
  prepare_worker();
  if (!send_to_parent(frame(greeting))) return 1;
  std::string stream;
  while (const auto message = receive_from_parent(stream)) {
    const auto call = decode_call(*message);
    if (!call) return 1;
    set_worker_alarm(call->limit_ms);
    const std::optional<std::string> reply = answer(call->message);
    set_worker_alarm(0);
    if (!reply) return 1;
    if (!send_to_parent(frame(*reply))) return 0;
  }
  return 0;
}

}  // namespace

std::optional<int> maybe_serve(int argc, char** argv, const WorkerKind& kind, const AnswerFunction& answer) {
  if (argc < 2 || kind.argument != argv[1]) return std::nullopt;
  return serve(kind.greeting, answer);
}

bool started_as_worker(int argc, char** argv) {
  return argc >= 2 && std::string_view(argv[1]).starts_with(kWorkerPrefix);
}

}  // namespace rondo::engine
