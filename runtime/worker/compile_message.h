// What a compile pool and its workers write to each other: frames of a 32-bit length and that many bytes.
// Internal to runtime/; all kinds of workers use the frames.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/worker/compile_worker.h"

namespace rondo::runtime {

// The first frame of a worker: tells it from a program that knows nothing of workers, and from an older one.
inline constexpr std::string_view kWorkerGreeting = "rondo compile worker 1";

// A job, and the time after which its worker ends itself should the pool be gone.
struct WorkOrder {
  CompileJob job;
  std::uint64_t limit_ms = 0;
};

std::string encode_order(const WorkOrder& order);
std::optional<WorkOrder> decode_order(std::string_view bytes);  // nothing for bytes that are no order

// The resources of the kernels are not sent: the receiver reads them again from cubin and log.
std::string encode_result(const Result<CompiledKernel>& result);
std::optional<Result<CompiledKernel>> decode_result(std::string_view bytes);

// The frame around a message, and its removal: takes the first complete frame off the front of `stream`.
// `broken` is set when what arrived cannot be a frame.
std::string frame(std::string_view message);
std::optional<std::string> take_frame(std::string& stream, bool& broken);

}  // namespace rondo::runtime
