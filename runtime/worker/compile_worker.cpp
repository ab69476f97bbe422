// The worker's side: one loop that reads an order, compiles and answers.
#include "runtime/worker/compile_worker.h"

#include <string_view>

#include "runtime/worker/compile_message.h"
#include "runtime/worker/compile_process.h"
#include "runtime/worker/worker_end.h"

namespace rondo::runtime {

Result<CompiledKernel> compile_with_nvrtc(const CompileJob& job) {
  auto nvrtc = Nvrtc::get();
  if (!nvrtc) return nvrtc.error();
  return (*nvrtc)->compile(job.source, job.name, job.arch, job.flags);
}

std::optional<int> maybe_run_worker(int argc, char** argv, CompileFunction compile) {
  if (argc < 2) return std::nullopt;
  const std::string_view argument = argv[1];
  if (argument != kWorkerArgument)
    return argument.starts_with(kWorkerPrefix) ? std::optional(2) : std::nullopt;
  prepare_worker();
  if (!send_to_parent(frame(kWorkerGreeting))) return 1;
  std::string stream;
  while (const auto message = receive_from_parent(stream)) {
    const auto order = decode_order(*message);
    if (!order) return 1;
    set_worker_alarm(order->limit_ms);
    const std::string answer = encode_result(compile(order->job));
    set_worker_alarm(0);
    if (!send_to_parent(frame(answer))) return 0;
  }
  return 0;
}

}  // namespace rondo::runtime
