// The tuning parameters of kernels for CPUs.
#pragma once

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/problem/parameters.h"

namespace rondo::schedule {

struct HostParameters {
  int lanes = 16;              // threads of a block: the lanes of its vectors
  int vectors = 1;             // of channels a block
  int rows = 1;                // batch rows a block, of cells with matrices
  int together = 4;            // products of the step that are added up at once, and
  int tile = 4;                // batch rows for which they are
  int segments = 1;            // of time, that threads walk side by side
  int ahead = 0;               // steps before its inputs are loaded that a step asks for them; 0: it does not
  bool stream_stores = false;  // what each step writes goes past the caches

  static HostParameters from(const Parameters& parameters);
  kernel::CacheHint writing() const {
    return stream_stores ? kernel::CacheHint::Streaming : kernel::CacheHint::Default;
  }
  int channels() const { return lanes * vectors; }
  // More vectors than that are walked by a rolled loop, one a turn.
  static constexpr int kMostInRegisters = 16;
  bool rolled() const { return vectors > kMostInRegisters; }
  int vectors_a_turn() const { return rolled() ? 1 : vectors; }
};

}  // namespace rondo::schedule
