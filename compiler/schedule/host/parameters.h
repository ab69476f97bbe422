// The tuning parameters of kernels for CPUs.
#pragma once

#include "compiler/schedule/problem/parameters.h"

namespace rondo::schedule {

struct HostParameters {
  int lanes = 16;    // threads of a block: the lanes of its vectors
  int vectors = 1;   // of channels a block
  int rows = 1;      // batch rows a block, of cells with matrices
  int together = 4;  // products of the step that are added up at once, and
  int tile = 4;      // batch rows for which they are
  int segments = 1;  // of time, that threads walk side by side

  static HostParameters from(const Parameters& parameters);
  int channels() const { return lanes * vectors; }
};

}  // namespace rondo::schedule
