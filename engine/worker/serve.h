// The whole of a worker process: one loop that reads calls and answers them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/worker/process.h"

namespace rondo::engine {

// Makes the answer to a call's message; nothing for a message that it cannot read.
using AnswerFunction = std::function<std::optional<std::string>(std::string_view message)>;

// In a process that was started as a worker of this kind: greets, answers the calls of a WorkerConnection
// until the parent closes, and returns the exit status (0: the parent closed; 1: what it sent cannot be
// read). Elsewhere nothing. The parent kills a worker that takes too long; should the parent be gone, the
// worker's own alarm ends it.
std::optional<int> maybe_serve(int argc, char** argv, const WorkerKind& kind, const AnswerFunction& answer);

// Whether the process was started as a worker of some kind: one that this program does not serve as must not
// take the argument for a command.
bool started_as_worker(int argc, char** argv);

}  // namespace rondo::engine
