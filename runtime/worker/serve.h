// A worker process's own end of the connection to who started it (compile_process.h). Internal to runtime/
// and to the tuner's trials.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace rondo::runtime {

// Closes what the parent left open, and leaves Ctrl-C to it.
void prepare_worker();

bool send_to_parent(std::string_view bytes);
// The next frame from the parent; nothing when it closed or the stream is broken.
std::optional<std::string> receive_from_parent(std::string& stream);

// The parent kills a worker that takes too long. Should the parent be gone, the worker's own alarm ends it.
// 0: off.
void set_worker_alarm(std::uint64_t milliseconds);

// A whole worker: greets, then answers the calls of a CalledWorker (worker_call.h) until the parent closes.
// Returns the exit status.
int serve_calls(std::string_view greeting, const std::function<std::string(std::string_view)>& answer);

}  // namespace rondo::runtime
