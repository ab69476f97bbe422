// What the launch of one round leaves for that of the next, where every round is a launch of its own: the
// maps of all segments, the registers of every thread, and whether anything is left to be done. Blocks of one
// launch tell each other nothing, so they need not be resident together.
//
// Words that others read have a slot for each parity of the round: a launch reads those of the round before
// and writes those of its own.
#pragma once

#include <vector>

#include "compiler/schedule/channelwise/affine_transforms.h"
#include "compiler/schedule/shoot/kernel.h"

namespace rondo::schedule {

class BetweenLaunches {
 public:
  // Declares the tensors and the launch's number. `registers`: that a thread keeps.
  BetweenLaunches(ShootKernel& kernel, const ShootParameters& parameters, const TransformPattern& pattern,
                  int registers);

  // Elements of Role::Carries that a team takes, and words of Role::Exchange: of all, and of a block.
  static std::int64_t elements(const ShootParameters& p, const TransformPattern& pattern, int registers);
  static constexpr int kWords = 4, kBlockWords = 8;

  kernel::Value round() const { return round_; }  // I32, the number of this launch

  TransformTable maps(kernel::Value round) const;
  // The number of a warp of the team, F32.
  kernel::Place count(kernel::Value round, kernel::Value warp) const;
  int all_warps() const { return parameters_.warps() * parameters_.time_split; }
  kernel::Value own_warp() const;

  // Every thread's registers, in the order in which they are given; as many as the constructor was told.
  void save(const std::vector<kernel::Value>& registers);
  void restore(const std::vector<kernel::Value>& registers);
  // What all threads of a block know, I32.
  struct Known {
    kernel::Value side_by_side, end;  // variables; the first may be invalid
  };
  void restore(const Known& known);  // of the round before
  // `open`: Pred, this block has worked in this round.
  void leave(const Known& known, kernel::Value open);
  // Writes the condition by which a launcher that looks at it ends: no block has worked in the round before.
  void conclude();

 private:
  static constexpr int kSlots = 2;
  static std::int64_t map_elements(const ShootParameters& p, const TransformPattern& pattern);
  static std::int64_t counts(const ShootParameters& p);
  kernel::Place register_of(int number) const;
  kernel::Place word(kernel::Value block, kernel::Value round, int which) const;

  enum Word { kSideBySide, kEnd, kOpen };  // of a block and a parity

  ShootKernel& kernel_;
  kernel::Builder& b_;
  ShootParameters parameters_;
  TransformPattern pattern_;
  int registers_;
  KernelTensor carries_, words_;
  kernel::Value round_;
};

}  // namespace rondo::schedule
