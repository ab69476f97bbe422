#include "compiler/schedule/lower/exchange_clear.h"

#include <fmt/format.h>

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

constexpr int kClearThreads = 256;

}  // namespace

// 4 words a thread.
Launch clear_exchange(const Task& task, const KernelPlan& plan) {
  kernel::Builder b(fmt::format("{}_clear_exchange", task.cell.name), kClearThreads, task.problem.math,
                    "no word of the exchange is there yet");
  Signature signature(b, task);
  const KernelTensor exchange = signature.writes({Role::Exchange, -1});
  const std::int64_t vectors = plan.exchange.each / 4;
  const std::int64_t blocks = ceil_div(vectors, kClearThreads);
  const kernel::Value vector = b.let("vector", b.block() % blocks * kClearThreads + b.thread());
  b.if_(vector < vectors, [&] {
    const kernel::Value first = b.wide(b.block() / blocks) * plan.exchange.each + b.wide(vector * 4);
    b.store_vector(exchange.memory[first], std::vector<kernel::Value>(4, b.constant(kernel::kEmpty)));
  });
  Launch launch{b.kernel(), signature.arguments(), 0, blocks};
  launch.batch_tile = plan.exchange.batch_tile;
  launch.time_tile = plan.exchange.time_tile;
  return launch;
}

}  // namespace rondo::schedule
