#include "compiler/schedule/plan/wide_tensors.h"

#include <algorithm>
#include <variant>

namespace rondo::schedule {

void each_tensor(Launch& launch, const std::function<void(TensorRef&, bool written)>& body) {
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    LaunchArgument& argument = launch.arguments[i];
    if (auto* pointer = std::get_if<Pointer>(&argument))
      body(pointer->tensor, launch.kernel.params[i].written);
    if (auto* stride = std::get_if<StrideB>(&argument)) body(stride->tensor, false);
    if (auto* stride = std::get_if<StrideT>(&argument)) body(stride->tensor, false);
  }
}

void WideTensors::name_in(Launch& launch, const Make& make) {
  each_tensor(launch, [&](TensorRef& ref, bool written) { name(ref, written, make); });
}

void WideTensors::name(TensorRef& ref, bool written, const Make& make) {
  auto known = std::ranges::find(used_, ref, &Used::of);
  if (known == used_.end()) {
    const std::optional<WideTensor> made = make(ref, kWide + static_cast<int>(plan_.wide.size()));
    if (!made) return;
    known = used_.insert(used_.end(), {ref, plan_.wide.size(), false});
    plan_.wide.push_back(*made);
  }
  known->written |= written;
  ref = tensor(*known).ref;
}

}  // namespace rondo::schedule
