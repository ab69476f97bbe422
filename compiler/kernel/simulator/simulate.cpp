#include "compiler/kernel/simulator/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/kernel/simulator/group.h"
#include "compiler/kernel/simulator/memory.h"
#include "compiler/kernel/simulator/program.h"
#include "compiler/kernel/simulator/warp.h"

namespace rondo::kernel {

namespace {

using namespace simulator;

// Runs the groups of blocks of a launch one after the other.
class Machine {
 public:
  Machine(const Kernel& kernel, std::int64_t blocks, const std::vector<Argument>& arguments,
          std::vector<GlobalBuffer>& buffers, const SimulationOptions& options)
      : program_(compile(kernel)),
        memory_(kernel, arguments, buffers, options.fp64),
        log_(kernel, options),
        options_(options) {
    launch_.blocks = blocks;
    for (const Argument& argument : arguments) {
      launch_.integers.push_back(argument.integer);
      launch_.reals.push_back(argument.real);
    }
    shape_.cluster = kernel.cluster;
    shape_.blocks = kernel.cooperative ? static_cast<int>(blocks) : kernel.cluster;
    shape_.warps = (kernel.threads + kLanes - 1) / kLanes;
    shape_.mbarriers = mbarriers_per_block(kernel);
    for (int a = 0; a < shape_.agents(); ++a) {
      const int index = a % shape_.warps, present = std::min(kLanes, kernel.threads - index * kLanes);
      warps_.emplace_back(program_, index, kAllLanes >> (kLanes - present), options.fp64);
    }
  }

  SimulationResult run() {
    bool gave_up = false;
    for (; shape_.first_block < launch_.blocks && !log_.stopped(); shape_.first_block += shape_.blocks) {
      Group group(program_, shape_, launch_, warps_, memory_, log_, steps_, options_.step_limit);
      group.run(options_.give_up);
      gave_up |= group.gave_up();
    }
    return {log_.take(), steps_, gave_up};
  }

 private:
  Program program_;
  Memory memory_;
  FaultLog log_;
  SimulationOptions options_;
  Launch launch_;
  GroupShape shape_;
  std::vector<Warp> warps_;  // of one group
  std::int64_t steps_ = 0;
};

void check_arguments(const Kernel& kernel, const std::vector<Argument>& arguments,
                     const std::vector<GlobalBuffer>& buffers, bool fp64) {
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
    const std::size_t elements = is_integer(buffer.storage)               ? buffer.integers.size()
                                 : fp64 || buffer.storage == Storage::F64 ? buffer.doubles.size()
                                                                          : buffer.values.size();
    if (elements != buffer.written.size())
      throw std::logic_error(fmt::format("simulate {}: the buffer of {} has {} elements, flags for {}",
                                         kernel.name, kernel.params[p].name, elements,
                                         buffer.written.size()));
  }
}

}  // namespace

SimulationResult simulate(const Kernel& kernel, std::int64_t blocks, const std::vector<Argument>& arguments,
                          std::vector<GlobalBuffer>& buffers, const SimulationOptions& options) {
  SimulationOptions own = options;
  own.fp64 |= is_in_double(kernel);
  check_arguments(kernel, arguments, buffers, own.fp64);
  if (blocks % kernel.cluster != 0)
    throw std::logic_error(fmt::format("simulate {}: {} blocks are no multiple of its clusters of {}",
                                       kernel.name, blocks, kernel.cluster));
  return Machine(kernel, blocks, arguments, buffers, own).run();
}

}  // namespace rondo::kernel
