// A persistent kernel: its parts, and the three roles of warps that meet at mbarriers. What computing warps
// do in a step is the caller's.
//
//   producer warps  --full-->  computing warps  --filled--->  store warps
//                   <-empty--                   <-drained--
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/schedule/persistent/flag_window.h"
#include "compiler/schedule/persistent/result_rows.h"
#include "compiler/schedule/persistent/staged_rows.h"

namespace rondo::schedule {

class PersistentKernel {
 public:
  PersistentKernel(std::string name, std::string comment, const Task& task,
                   const PersistentParameters& parameters, TimeOrder order);

  PersistentThreads& threads() { return threads_; }
  const PersistentThreads& threads() const { return threads_; }
  const PersistentThreads::Places& here() const { return threads_.here(); }
  StagedRows& staged() { return staged_; }
  ResultRows& results() { return results_; }
  const ChipElements& elements() const { return elements_.own(); }
  kernel::Builder& builder() { return threads_.builder(); }
  Signature& signature() { return threads_.signature(); }
  const PersistentGeometry& geometry() const { return threads_.geometry(); }

  // After all tensors are declared.
  void place();

  struct Step {
    kernel::Value count;      // steps before this one, in the order of the walk
    kernel::Value tile_step;  // the same of all tiles in turn, a step each: what exchanges count
    kernel::Value time;       // t
    // Value of a flag's leaf; of any batch row where the channel's does not exist.
    std::function<kernel::Value(step::TensorId, int channel)> flag;
    // Value of a staged row in fp32; store of a row's value for every channel.
    std::function<kernel::Value(int staged, int row, int channel)> load;
    std::function<void(int written, int row, const std::vector<kernel::Value>&)> store;
    // Only if Roles::begin is given: emits `body` for the tile's step after this one, if there is one; from
    // then on `load` is that step's.
    std::function<void(const std::function<void(const Step&)>& body)> next;
  };
  // `ahead`: the step after the one under way, or, before the walk, the first one.
  Step step_at(kernel::Value count, bool ahead);
  struct Roles {
    // In the computing warps: before the walk, at each step of each tile in turn, after the walk.
    std::function<void()> prepare;
    std::function<void(const Step&)> step;
    std::function<void()> finish;
    // There, for the first step, ahead of it. None: no step is looked at ahead.
    std::function<void(const Step&)> begin;
    // All that warps do that only multiply (geometry().parts() > 1).
    std::function<void()> multiply;
  };
  void emit_roles(const Roles& roles);
  // A barrier among computing and multiplying warps. Two roles on one named barrier would need its
  // non-aligned form, which forces reconvergence and blocks load motion (kernel/passes/barrier_uses.h), so
  // where both roles exist they use an aligned arrive/sync pair: `barrier` and the number after it, one for
  // each role to wait at. `first`: the role that is released first, because it has more work before the next
  // barrier. It runs `at_once` before the other role is released.
  enum class Warps { Computing, Multiplying };
  void sync_roles(int barrier, Warps first, const std::function<void()>& at_once = {});
  // The same at one non-aligned barrier, for places where no load could move and no role has more work than
  // the other. All are released at once.
  void sync_roles(int barrier);
  Launch finish();

 private:
  bool has_head_values() const { return staged_.has_head_values() || results_.has_head_values(); }
  void helper_roles();
  void producer_role();
  void store_role();
  void compute_role(const Roles& roles);
  void compute_step(const Roles& roles, kernel::Value stage, kernel::Value s);
  void look_ahead(kernel::Value stage, kernel::Value s, kernel::Value done,
                  const std::function<void(const Step&)>& body);

  PersistentThreads threads_;
  ElementsOfTensors elements_;
  StagedRows staged_;
  ResultRows results_;
  std::unique_ptr<FlagWindow> flag_window_;  // where the step has flags
  kernel::Mbarrier full_, empty_, filled_, drained_;
  Warps emitting_ = Warps::Computing;  // whose role
  kernel::Value groups_;               // stages of the walk
};

}  // namespace rondo::schedule
