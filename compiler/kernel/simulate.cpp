#include "compiler/kernel/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/kernel/print.h"
#include "compiler/kernel/simulator_memory.h"
#include "compiler/kernel/simulator_program.h"
#include "compiler/kernel/simulator_warp.h"

namespace rondo::kernel {

namespace {

using namespace simulator;

// Runs the blocks of a launch one after the other; within a block, each warp as far as it gets, in turn.
class Machine {
 public:
  Machine(const Kernel& kernel, std::int64_t blocks, const std::vector<Argument>& arguments,
          std::vector<GlobalBuffer>& buffers, const SimulationOptions& options)
      : program_(compile(kernel)),
        memory_(kernel, arguments, buffers),
        log_(kernel, options),
        options_(options) {
    launch_.blocks = blocks;
    for (const Argument& argument : arguments) {
      launch_.integers.push_back(argument.integer);
      launch_.reals.push_back(argument.real);
    }
    for (int first = 0; first < kernel.threads; first += kLanes) {
      const int present = std::min(kLanes, kernel.threads - first);
      warps_.emplace_back(program_, first / kLanes, kAllLanes >> (kLanes - present));
    }
  }

  SimulationResult run() {
    for (std::int64_t block = 0; block < launch_.blocks && !log_.stopped(); ++block) run_block(block);
    return {log_.take(), steps_};
  }

 private:
  void run_block(std::int64_t block) {
    memory_.start_block();
    Clocks clocks(static_cast<int>(warps_.size()));
    Accessor accessor(*program_.kernel, memory_, clocks, log_);
    BlockContext context{program_, block, clocks, accessor, log_, steps_, options_.step_limit};
    for (Warp& warp : warps_) warp.start(launch_, block);
    do {
      for (Warp& warp : warps_) warp.run(context);
    } while (!log_.stopped() && release(block, clocks));
  }

  // Every warp waits or has finished. Ends the waits that are over; false when the block has finished or is
  // stuck.
  bool release(std::int64_t block, Clocks& clocks) {
    const auto waits = [](const Warp& w) { return std::holds_alternative<AtBarrier>(w.state()); };
    const auto waiting = std::find_if(warps_.begin(), warps_.end(), waits);
    if (waiting == warps_.end()) return false;
    const Pc pc = std::get<AtBarrier>(waiting->state()).pc;
    for (const Warp& warp : warps_) {
      const auto* at = std::get_if<AtBarrier>(&warp.state());
      if (at == nullptr || at->pc != pc) return deadlock(block, *waiting, warp, at == nullptr), false;
    }
    clocks.sync_block();
    for (Warp& warp : warps_) warp.resume();
    return true;
  }

  void deadlock(std::int64_t block, const Warp& waiting, const Warp& other, bool finished) {
    const Pc pc = std::get<AtBarrier>(waiting.state()).pc;
    log_.report(Fault::Kind::Deadlock, program_.code[static_cast<std::size_t>(pc)].source,
                fmt::format("warp {} of block {} waits at a barrier that warp {} never reaches: it {}",
                            waiting.index(), block, other.index(),
                            finished ? "has finished" : "waits at another barrier"));
    log_.stop();
  }

  Program program_;
  Memory memory_;
  FaultLog log_;
  SimulationOptions options_;
  Launch launch_;
  std::vector<Warp> warps_;
  std::int64_t steps_ = 0;
};

void check_arguments(const Kernel& kernel, const std::vector<Argument>& arguments,
                     const std::vector<GlobalBuffer>& buffers) {
  if (arguments.size() != kernel.params.size())
    throw std::logic_error(fmt::format("simulate {}: {} arguments for {} params", kernel.name,
                                       arguments.size(), kernel.params.size()));
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    if (!kernel.params[p].buffer) continue;
    const int at = arguments[p].buffer;
    if (at < 0 || static_cast<std::size_t>(at) >= buffers.size())
      throw std::logic_error(
          fmt::format("simulate {}: param {} has no buffer", kernel.name, kernel.params[p].name));
    const GlobalBuffer& buffer = buffers[static_cast<std::size_t>(at)];
    if (buffer.storage != kernel.params[p].storage)
      throw std::logic_error(fmt::format("simulate {}: param {} is {}, its buffer {}", kernel.name,
                                         kernel.params[p].name, storage_name(kernel.params[p].storage),
                                         storage_name(buffer.storage)));
    const std::size_t elements =
        buffer.storage == Storage::I32 ? buffer.integers.size() : buffer.values.size();
    if (elements != buffer.written.size())
      throw std::logic_error(fmt::format("simulate {}: the buffer of {} has {} elements, flags for {}",
                                         kernel.name, kernel.params[p].name, elements,
                                         buffer.written.size()));
  }
}

}  // namespace

SimulationResult simulate(const Kernel& kernel, std::int64_t blocks, const std::vector<Argument>& arguments,
                          std::vector<GlobalBuffer>& buffers, const SimulationOptions& options) {
  check_arguments(kernel, arguments, buffers);
  return Machine(kernel, blocks, arguments, buffers, options).run();
}

}  // namespace rondo::kernel
