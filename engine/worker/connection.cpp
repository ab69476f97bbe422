#include "engine/worker/connection.h"

#include <algorithm>

#include "engine/worker/frame.h"

namespace rondo::engine {
namespace {

// A process that has not greeted by then is no worker. Loading a large program from a slow disk takes
// seconds.
constexpr std::chrono::milliseconds kStartLimit{20000};
// By how much a worker's own alarm lies behind the limit of the process that waits for it, in milliseconds.
constexpr std::uint64_t kOrphanGrace = 2000;

}  // namespace

Result<WorkerConnection> WorkerConnection::start(const std::string& executable, const WorkerKind& kind) {
  Result<WorkerProcess> process = WorkerProcess::start(executable, kind.argument);
  if (!process) return process.error();
  return WorkerConnection(std::move(process).value(), kind.greeting);
}

void WorkerConnection::begin(std::string_view message, std::chrono::milliseconds limit) {
  busy_ = true;
  limit_ = limit;
  deadline_ = Clock::now() + (greeted_ ? limit : kStartLimit);
  const auto milliseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(limit.count(), 1));
  outgoing_ += frame(encode_call({milliseconds + kOrphanGrace, std::string(message)}));
  usable_ = process_.send(outgoing_) && usable_;
}

std::optional<std::string> WorkerConnection::exchange() {
  usable_ = process_.send(outgoing_) && usable_;
  usable_ = process_.receive(incoming_) && usable_;
  bool broken = false;
  while (auto message = take_frame(incoming_, broken)) {
    if (!greeted_) {
      greeted_ = *message == greeting_;
      broken = !greeted_;
      deadline_ = Clock::now() + limit_;
    } else if (busy_) {
      return message;
    } else {
      broken = true;  // nobody asked
    }
    if (broken) break;
  }
  usable_ = usable_ && !broken;
  return std::nullopt;
}

CallOutcome WorkerConnection::finish(CallEnd end, const std::string& why) {
  busy_ = usable_ = false;
  const std::string how = process_.end();
  return {end, why.empty() ? how : why};
}

std::optional<CallOutcome> WorkerConnection::poll() {
  const bool called = busy_;
  if (auto answer = exchange()) {
    busy_ = false;
    return CallOutcome{CallEnd::Answered, std::move(*answer)};
  }
  if (!called) return std::nullopt;
  if (!usable_) return finish(greeted_ ? CallEnd::Crashed : CallEnd::NoWorker);
  if (Clock::now() < deadline_) return std::nullopt;
  return greeted_ ? finish(CallEnd::TimedOut) : finish(CallEnd::NoWorker, "it sent no greeting");
}

pollfd WorkerConnection::wanted() const {
  return {process_.socket(), static_cast<short>(POLLIN | (outgoing_.empty() ? 0 : POLLOUT)), 0};
}

std::chrono::milliseconds WorkerConnection::time_left() const {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - Clock::now());
  return std::max(left, std::chrono::milliseconds{0});
}

CallOutcome WorkerConnection::call(std::string_view message, std::chrono::milliseconds limit,
                                   const std::atomic<bool>* cancel) {
  begin(message, limit);
  while (true) {
    if (cancel != nullptr && cancel->load()) return finish(CallEnd::Cancelled, "cancelled");
    if (auto outcome = poll()) return std::move(*outcome);
    pollfd socket = wanted();
    ::poll(&socket, 1, static_cast<int>(std::min(time_left(), kSlice).count()));
  }
}

}  // namespace rondo::engine
