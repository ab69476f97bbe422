// Turns on a GPU among the programs of one machine. Two programs that tune or bench at the same time share
// the GPU in slices, and each would measure the other's work as its own.
#pragma once

#include <chrono>
#include <memory>
#include <string>

namespace rondo::runtime {

// The turns of one GPU. Programs find each other by two empty files in the directory of temporary files,
// which they lock (flock(2)): a lock ends with its program, however that ends. Not to be used from several
// threads at once.
class GpuTurns {
 public:
  using Patience = std::chrono::milliseconds;

  // `gpu`: its UUID. `directory`: "" takes that of temporary files. `patience`: how long take() waits at
  // most. Eight programs that compare large results, some seconds each, have all had their turn by then.
  explicit GpuTurns(const std::string& gpu, const std::string& directory = "",
                    Patience patience = Patience(30000));

  // Waits until no other program has its turn, and has it until the last handle is gone; further handles
  // meanwhile come at once. Null where there is no turn to have: the files cannot be opened, or a program
  // kept its turn longer than `patience` (it is stopped, or works for very long). Nobody is waited for again
  // then: a disturbed figure is better than none.
  std::shared_ptr<void> take();

 private:
  std::string queue_, turn_;  // paths
  Patience patience_;
  std::weak_ptr<void> held_;
};

}  // namespace rondo::runtime
