// The worker's side of compiling.
#include "engine/worker/compile_worker.h"

#include "engine/worker/compile_message.h"
#include "engine/worker/serve.h"

namespace rondo::engine {

std::optional<int> maybe_run_worker(int argc, char** argv, CompileFunction compile) {
  const auto answer = [&](std::string_view message) -> std::optional<std::string> {
    const auto request = decode_request(message);
    if (!request) return std::nullopt;
    return encode_answer(compile(*request));
  };
  if (const auto status = maybe_serve(argc, argv, kCompileWorker, answer)) return status;
  return started_as_worker(argc, argv) ? std::optional(2) : std::nullopt;
}

}  // namespace rondo::engine
