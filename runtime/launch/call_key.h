// What tells one call of a plan from another: the key of its CUDA graph.
#pragma once

#include <cstdint>

#include "compiler/executable/bindings.h"
#include "runtime/launch/graph_cache.h"

namespace rondo::runtime {

// Everything that the launches of a call depend on, and the checks of its bindings: a call whose key is known
// is replayed without either. It keeps its memory, so that a call allocates none for it: each thread has one,
// which holds until the thread's next call.
const GraphCache::Key& key_of_call(const executable::Bindings& bindings, std::int64_t batch,
                                   std::int64_t time);

}  // namespace rondo::runtime
