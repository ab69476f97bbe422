// The memory of a simulated device. Internal to the simulation of plans.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/executable/bindings.h"
#include "compiler/kernel/simulator/simulate.h"

namespace rondo::schedule {

// Buffers by the tensor that lies in them and the address at which kernels are told that it lies. Two tensors
// never share a buffer, so that a plan whose places overlap can be simulated to its end, and be told so.
class SimulatedMemory {
 public:
  // The number of the tensor's buffer at an address; -1: it has none there.
  int find(std::size_t tensor, executable::Address address) const;
  // The buffer of whatever tensor begins at an address; null: none does.
  const kernel::GlobalBuffer* at(executable::Address address) const;
  // Gives the tensor a buffer that takes `bytes` from an address on. Says which tensor lies in some of them
  // already, by its name; "" where none does.
  std::string add(std::size_t tensor, std::string name, executable::Address address, std::int64_t bytes,
                  kernel::GlobalBuffer buffer);

  std::vector<kernel::GlobalBuffer>& buffers() { return buffers_; }

 private:
  struct Region {
    std::size_t tensor;
    std::string name;
    executable::Address begin, end;
  };
  std::vector<Region> regions_;  // by buffer
  std::vector<kernel::GlobalBuffer> buffers_;
};

}  // namespace rondo::schedule
