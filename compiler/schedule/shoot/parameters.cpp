#include "compiler/schedule/shoot/parameters.h"

#include <fmt/format.h>

#include <stdexcept>

namespace rondo::schedule {

ShootParameters ShootParameters::from(const Parameters& parameters) {
  const auto within = [&](const char* name, int least, int most) {
    const auto found = parameters.find(name);
    if (found == parameters.end())
      throw std::logic_error(fmt::format("shoot: parameter {} is missing", name));
    if (found->second < least || found->second > most)
      throw std::logic_error(fmt::format("shoot: {} is {}, not {} to {}", name, found->second, least, most));
    return static_cast<int>(found->second);
  };
  ShootParameters p;
  p.channels = within("channels", 32, 1024);
  p.per_thread = within("per_thread", 1, 2);
  p.segments = within("segments", 1, 32);
  p.time_split = within("time_split", 1, 32);
  p.exchange = static_cast<Exchange>(within("exchange", 0, 2));
  p.steps = within("steps", 1, 256);
  p.stages = within("stages", 2, 16);
  p.unroll = within("unroll", 1, 64);
  p.vector = within("vector", 1, 8);
  p.warmup = within("warmup", 0, 1 << 20);
  p.newton = within("newton", 0, 1) != 0;
  p.sweeps = within("sweeps", 1, 64);
  p.rewrite = static_cast<Rewrite>(within("rewrite", 0, 2));
  p.keep_inputs = static_cast<KeptInputs>(within("keep_inputs", 0, 2));
  p.stream_stores = within("stream_stores", 0, 1) != 0;
  return p;
}

}  // namespace rondo::schedule
