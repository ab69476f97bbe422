// One problem for one target: what strategies, models, checks and trials are given. It is made once, where a
// request is read, and handed down as it is.
#pragma once

#include <vector>

#include "compiler/pipeline/watch.h"
#include "compiler/schedule/problem/problem.h"
#include "compiler/schedule/problem/step_facts.h"
#include "compiler/step/step_ir.h"
#include "compiler/step/structure.h"
#include "compiler/target/profile.h"

namespace rondo::schedule {

// Each batch row of the caller is `count` rows of the walk's batch, one for each row of a state
// (flatten/flattening.h).
struct BatchRows {
  int count = 1;
  // By tensor: each of them has its own part of it. Of other tensors all read the same, and what they write
  // is added up.
  std::vector<bool> own = {};

  bool has_own(step::TensorId tensor) const { return own[static_cast<std::size_t>(tensor)]; }
};

struct Task {
  Task() = default;
  Task(step::Cell as_written, Problem of, target::Profile on, pipeline::PassWatcher* by = nullptr);

  // As its text says, of the extents that the problem gives: what hashes and records name, and what the
  // reference computes.
  step::Cell written;
  step::Cell cell;  // the same, simplified: what kernels are made of
  step::Structure structure;
  // By tensor: states of which fp16 may not hold the history, since nothing keeps them in its range. One that
  // a matrix multiplies is not among them: the product rounds it.
  std::vector<bool> beyond_half;
  Problem problem;
  BatchRows batch_rows;  // of the problem's batch, which has them all
  target::Profile profile;
  // Is told of every pass that makes the task's kernels. It outlives the task. Null: nobody watches.
  pipeline::PassWatcher* watcher = nullptr;

  // The same cell and profile for another problem.
  Task with(Problem other) const;
  // The same problem of another simplified cell, such as what a thread has of this one.
  Task of(step::Cell other) const;
  // The type in which the history of a state is kept: fp32 where that of the problem cannot hold it.
  kernel::Storage history_storage(step::TensorId state) const;

  // A fact of the cell's step (StepFacts). Where somebody watches passes it is made anew, so that all are
  // seen.
  template <class T>
  std::shared_ptr<const T> fact(const std::string& name, const std::function<T()>& make) const {
    return watcher == nullptr ? facts_->remember<T>(name, make) : std::make_shared<const T>(make());
  }

 private:
  std::shared_ptr<StepFacts> facts_ = std::make_shared<StepFacts>();  // of all tasks with the same cell
};

}  // namespace rondo::schedule
