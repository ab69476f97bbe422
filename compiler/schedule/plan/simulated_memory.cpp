#include "compiler/schedule/plan/simulated_memory.h"

#include <algorithm>
#include <utility>

namespace rondo::schedule {

using executable::Address;

int SimulatedMemory::find(std::size_t tensor, Address address) const {
  for (std::size_t i = 0; i < regions_.size(); ++i)
    if (regions_[i].tensor == tensor && regions_[i].begin == address) return static_cast<int>(i);
  return -1;
}

const kernel::GlobalBuffer* SimulatedMemory::at(Address address) const {
  for (std::size_t i = 0; i < regions_.size(); ++i)
    if (regions_[i].begin == address) return &buffers_[i];
  return nullptr;
}

std::string SimulatedMemory::add(std::size_t tensor, std::string name, Address address, std::int64_t bytes,
                                 kernel::GlobalBuffer buffer) {
  const Address end = address + static_cast<Address>(std::max<std::int64_t>(bytes, 1));
  const auto meets = [&](const Region& other) { return address < other.end && other.begin < end; };
  const auto found = std::ranges::find_if(regions_, meets);
  std::string other = found == regions_.end() ? "" : found->name;
  regions_.push_back({tensor, std::move(name), address, end});
  buffers_.push_back(std::move(buffer));
  return other;
}

}  // namespace rondo::schedule
