#include "runtime/worker/worker_call.h"

#include <poll.h>

#include <algorithm>
#include <cstring>

#include "runtime/worker/compile_message.h"

namespace rondo::runtime {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

std::string encode_call(const EncodedCall& call) {
  std::string bytes(sizeof call.limit_ms, '\0');
  std::memcpy(bytes.data(), &call.limit_ms, sizeof call.limit_ms);
  return bytes.append(call.message);
}

std::optional<EncodedCall> decode_call(std::string_view bytes) {
  EncodedCall call;
  if (bytes.size() < sizeof call.limit_ms) return std::nullopt;
  std::memcpy(&call.limit_ms, bytes.data(), sizeof call.limit_ms);
  call.message = bytes.substr(sizeof call.limit_ms);
  return call;
}

bool CalledWorker::take(std::optional<std::string>& answer) {
  bool alive = process_.send(outgoing_);
  alive = process_.receive(incoming_) && alive;
  bool broken = false;
  while (auto message = take_frame(incoming_, broken)) {
    if (greeted_) {
      answer = std::move(message);
      return true;
    }
    greeted_ = *message == greeting_;
    if (!greeted_) return false;
  }
  return alive && !broken;
}

CallOutcome CalledWorker::finish(CallEnd end, const std::string& why) {
  const std::string how = process_.end();
  return {end, why.empty() ? how : why};
}

CallOutcome CalledWorker::call(std::string_view message, std::chrono::milliseconds limit,
                               const std::atomic<bool>* cancel) {
  const auto milliseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(limit.count(), 1));
  outgoing_ += frame(encode_call({milliseconds + kOrphanGrace, message}));
  bool counting = greeted_;  // the limit runs from the greeting on
  auto deadline = Clock::now() + (counting ? limit : kStartLimit);
  while (true) {
    if (cancel != nullptr && cancel->load()) return finish(CallEnd::Cancelled, "cancelled");
    std::optional<std::string> answer;
    const bool alive = take(answer);
    if (answer) return {CallEnd::Answered, std::move(*answer)};
    if (!alive) return finish(greeted_ ? CallEnd::Crashed : CallEnd::NoWorker);
    if (greeted_ && !counting) {
      counting = true;
      deadline = Clock::now() + limit;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0)
      return greeted_ ? finish(CallEnd::TimedOut) : finish(CallEnd::NoWorker, "it sent no greeting");
    pollfd socket{process_.socket(), static_cast<short>(POLLIN | (outgoing_.empty() ? 0 : POLLOUT)), 0};
    ::poll(&socket, 1, static_cast<int>(std::min(left, kSlice).count()));
  }
}

}  // namespace rondo::runtime
