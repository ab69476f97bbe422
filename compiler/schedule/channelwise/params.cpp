#include "compiler/schedule/channelwise/params.h"

#include <fmt/format.h>

#include "compiler/support/index.h"

namespace rondo::schedule {

void ChannelParams::declare(ChannelThreads& threads, const step::Cell& cell, const GraphLowering& lowering) {
  for (const step::TensorId id : cell.of_kind(step::TensorKind::Param))
    for (int row = 0; row < cell.tensor(id).rows; ++row)
      if (lowering.uses(id, row) && tensors_.count(id) == 0)
        tensors_[id] = threads.signature().reads({Role::Param, id});
}

void ChannelParams::make_registers(ChannelThreads& threads, const step::Cell& cell,
                                   const GraphLowering& lowering, int per_thread) {
  auto& b = threads.builder();
  for (const auto& [id, kernel_tensor] : tensors_)
    for (int row = 0; row < cell.tensor(id).rows; ++row)
      if (lowering.uses(id, row) && values_.count({id, row}) == 0)
        for (int channel = 0; channel < per_thread; ++channel)
          values_[{id, row}].push_back(
              b.variable(fmt::format("{}_{}", cell.tensor(id).name, row), b.real(0)));
}

void ChannelParams::load(ChannelThreads& threads) {
  auto& b = threads.builder();
  for (const auto& [key, values] : values_)
    for (std::size_t c = 0; c < values.size(); ++c) {
      const KernelTensor& tensor = tensors_.at(key.first);
      const kernel::Value place = threads.param_index(tensor, key.second, static_cast<int>(c));
      b.assign(values[c], b.load("param", tensor.memory[place]));
    }
}

}  // namespace rondo::schedule
