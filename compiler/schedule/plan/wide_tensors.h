// Tensors that a walk has in the workspace, in the place of those that the caller gives (KernelPlan::wide):
// who wraps a walk names them in its launches, and adds launches that fill them and take results out.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compiler/schedule/plan/kernel_plan.h"

namespace rondo::schedule {

// Every tensor that the arguments of a launch name; `written`: by its kernel.
void each_tensor(Launch& launch, const std::function<void(TensorRef&, bool written)>& body);

class WideTensors {
 public:
  // A tensor of the walk, and its place in KernelPlan::wide.
  struct Used {
    TensorRef of;
    std::size_t place;
    bool written;  // by some kernel: it is a result
  };
  // The tensor in the place of one of the walk's, and what it is called; none: the walk has the caller's.
  using Make = std::function<std::optional<WideTensor>(TensorRef, int number)>;

  // `plan` must outlive this.
  explicit WideTensors(KernelPlan& plan) : plan_(plan) {}
  void name_in(Launch& launch, const Make& make);
  const std::vector<Used>& used() const { return used_; }
  // Valid until the next tensor is named.
  const WideTensor& tensor(const Used& used) const { return plan_.wide[used.place]; }

 private:
  void name(TensorRef& ref, bool written, const Make& make);

  KernelPlan& plan_;
  std::vector<Used> used_;
};

}  // namespace rondo::schedule
