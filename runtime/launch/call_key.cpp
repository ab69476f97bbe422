#include "runtime/launch/call_key.h"

namespace rondo::runtime {

using executable::Strides;

const GraphCache::Key& key_of_call(const executable::Bindings& bindings, std::int64_t batch,
                                   std::int64_t time) {
  thread_local GraphCache::Key key;
  key.assign({batch, time});
  for (const executable::Binding& binding : bindings.entries()) {
    const Strides strides = binding.strides.value_or(Strides{});
    key.insert(key.end(), {static_cast<std::int64_t>(binding.tensor.role), binding.tensor.tensor,
                           static_cast<std::int64_t>(binding.pointer), binding.strides.has_value(), strides.b,
                           strides.t, binding.bytes.value_or(-1)});
  }
  return key;
}

}  // namespace rondo::runtime
