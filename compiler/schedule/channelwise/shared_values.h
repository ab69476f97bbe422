// Values of a step that all channels of a kernel's threads share: flags of the sequence, and rows of tensors
// with one value a head. What a step loaded itself would be waited for there, so resets and per-head values
// are loaded into registers while the stage before is computed, and then put into shared memory, two stages
// in turn. Lengths are the same at all steps, and are read where they are asked for.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/schedule/channelwise/threads.h"

namespace rondo::schedule {

class SharedValues {
 public:
  static constexpr int kStages = 2;  // one is read while the next is written
  // Where the values of a stage lie, and who loads them.
  struct Layout {
    std::string shape;       // of a row's places, without the last bracket: "[stages 2, steps"
    std::int64_t lines = 0;  // places of a row of a tensor
    int turns = 1;           // steps of a stage that a thread loads
    int heads = 1;           // of a block: all of them have a value
    // How resets lie there: F32 as their leaves have them, or I32 as loaded.
    kernel::Storage resets = kernel::Storage::I32;
  };
  explicit SharedValues(ChannelThreads& threads) : threads_(threads) {}

  // Declares a tensor with one value a head. `shifted`: at step t it has what it holds at t - 1.
  int add(TensorRef ref, bool shifted = false);
  // After all flags and tensors are declared: their places in shared memory.
  void declare(const Layout& layout);
  // The registers of what is loaded, before a walk.
  void begin();
  bool any_staged() const { return !resets_.empty() || !inputs_.empty(); }
  bool any_inputs() const { return !inputs_.empty(); }
  bool any_shifted() const;
  void each_input(const std::function<void(const KernelTensor&)>& body) const {
    for (const Staged& staged : inputs_) body(staged.tensor);
  }

  // An element of a tensor declared, row `row` of the heads' rows, at step t: by id.
  using PlaceOf = std::function<kernel::Value(const KernelTensor&, int input, int row, kernel::Value t)>;
  // Loads what the stage to come has at step t, the thread's turn `turn`.
  void load(std::size_t turn, kernel::Value t, const PlaceOf& place);
  // Puts it into line `line`.
  void store(std::size_t turn, kernel::Value line);
  // Reads what a step has that lies in line `line`. `head`: which of the block's heads; invalid if it has
  // one.
  struct Step {
    FlagReader::Values flags;
    std::map<std::pair<int, int>, kernel::Value> inputs;  // by id and row
  };
  Step read(kernel::Value line, kernel::Value t, kernel::Value head = {});
  // Loads what a step has from global memory, by the thread that reads it: for walks that stage nothing.
  Step load_step(kernel::Value t, const PlaceOf& place) const;
  // From here on flag() and value() are those of this step.
  void set(Step step) { now_ = std::move(step); }
  kernel::Value flag(step::TensorId tensor) const { return now_.flags.at(tensor); }
  kernel::Value value(int input, int row) const { return now_.inputs.at({input, row}); }

 private:
  struct Staged {
    step::TensorId reset = -1;  // or else an input
    int input = -1;             // its id
    KernelTensor tensor = {};   // of an input
    bool shifted = false;
    kernel::Memory shared = {};              // [layout.lines, rows of all heads]
    std::vector<kernel::Value> coming = {};  // variables, [turn][row]
  };
  int rows(const Staged& staged) const { return staged.input < 0 ? 1 : layout_.heads * staged.tensor.rows; }
  // Resets lie first where they lie as their leaves have them.
  void each(const std::function<void(Staged&)>& body);

  ChannelThreads& threads_;
  Layout layout_;
  std::vector<Staged> resets_, inputs_;
  Step now_;
};

}  // namespace rondo::schedule
