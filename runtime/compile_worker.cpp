// The worker's side: one loop that reads an order, compiles and answers.
#include "runtime/compile_worker.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

#include "runtime/compile_message.h"
#include "runtime/compile_process.h"

namespace rondo::runtime {
namespace {

bool send_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(kWorkerSocket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// The next frame from the pool; nothing when the pool closed or the stream is broken.
std::optional<std::string> receive(std::string& stream) {
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

// The pool kills a worker that takes too long. Should the pool be gone, the worker's own alarm ends it.
void set_alarm(std::uint64_t milliseconds) {
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(milliseconds / 1000);
  timer.it_value.tv_usec = static_cast<suseconds_t>(milliseconds % 1000 * 1000);
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

void prepare_process() {
  // Whatever the parent left open without close-on-exec (databases, devices) is none of the worker's
  // business.
  ::syscall(SYS_close_range, static_cast<unsigned>(kWorkerSocket + 1), ~0U, 0U);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::signal(SIGALRM, SIG_DFL);
  ::signal(SIGINT, SIG_IGN);  // the pool decides; Ctrl-C reaches it too
}

}  // namespace

Result<CompiledKernel> compile_with_nvrtc(const CompileJob& job) {
  auto nvrtc = Nvrtc::get();
  if (!nvrtc) return nvrtc.error();
  return (*nvrtc)->compile(job.source, job.name, job.arch, job.flags);
}

std::optional<int> maybe_run_worker(int argc, char** argv, CompileFunction compile) {
  if (argc < 2 || kWorkerArgument != argv[1]) return std::nullopt;
  prepare_process();
  if (!send_all(frame(kWorkerGreeting))) return 1;
  std::string stream;
  while (const auto message = receive(stream)) {
    const auto order = decode_order(*message);
    if (!order) return 1;
    set_alarm(order->limit_ms);
    const std::string answer = encode_result(compile(order->job));
    set_alarm(0);
    if (!send_all(frame(answer))) return 0;
  }
  return 0;
}

}  // namespace rondo::runtime
