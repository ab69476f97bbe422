// Which channels of which steps the threads of an elementwise launch over all steps have.
#pragma once

#include <cstdint>

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/problem/problem.h"

namespace rondo::schedule {

// How threads reach tensors with a time axis.
struct TimeAccess {
  int vector = 1;  // neighbouring channels of a thread: one access; divides D
  // Threads are numbered through the channels of all heads and then through steps, so that few are idle
  // whatever D is. Otherwise through the channels of one head: on CPUs lanes that follow one another through
  // memory are one wide access, which a remainder would hide.
  bool folded = false;
};

class TimeThreads {
 public:
  static constexpr int kThreads = 128;

  // `steps`: of a thread.
  TimeThreads(const step::Sizes& sizes, const TimeAccess& access, int steps);

  // Steps from one of a thread's to its next; so many are worked on side by side.
  std::int64_t abreast() const { return abreast_; }
  std::int64_t span() const { return abreast_ * steps_; }  // steps that blocks share
  std::int64_t blocks() const { return tiles_ * (access_.folded ? 1 : sizes_.heads); }  // of a row and span

  // Where a thread stands; all but `exists` are I32.
  struct Place {
    kernel::Value row, head, channel;  // batch row; the first of its channels
    kernel::Value first, end;          // its first step, and where its block's steps end, be it past T
    kernel::Value exists;              // Pred: it has channels at all; invalid where every thread has
  };
  Place place(kernel::Builder& b, kernel::Value time) const;

 private:
  step::Sizes sizes_;
  TimeAccess access_;
  int steps_;
  std::int64_t columns_;  // vectors of a step, of those that threads are numbered through
  std::int64_t abreast_ = 1;
  std::int64_t tiles_;  // of kThreads, that have the vectors of `abreast_` steps
};

}  // namespace rondo::schedule
