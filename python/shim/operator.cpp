// The operators of librondo_torch, each (Tensor[] tensors, int family, ...) -> (Tensor[] results, bool
// known). What is not plainly right is not known: Python goes its own way then, and says what is wrong.
#include "launch.h"
#include "layer.h"
#include "tensors.h"

namespace rondo::torch_shim {
namespace {

void answer(StableIValue* stack, bool known, Tensors& results) {
  Tensors none;
  stack[0] = list_of(known ? results : none);
  stack[1] = known ? 1 : 0;
}

void launch_known(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Tensors given, results;
  Joined none;
  const bool whole = take_list(stack[0], given);
  answer(stack, whole && launch(value_of<std::int64_t>(stack[1]), given.all(), results, none), results);
}

using Layer = bool (*)(std::int64_t family, std::int64_t form, const Tensors& given, Tensors& results);

template <Layer pass>
void layer_known(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Tensors given, results;
  const bool whole = take_list(stack[0], given);
  const std::int64_t family = value_of<std::int64_t>(stack[1]), form = value_of<std::int64_t>(stack[2]);
  answer(stack, whole && pass(family, form, given, results), results);
}

struct Operator {
  const char* name;
  const char* schema;
  void (*kernel)(StableIValue*, std::uint64_t, std::uint64_t);
};

constexpr Operator kOperators[] = {
    {"launch_known", "launch_known(Tensor[] tensors, int family) -> (Tensor[] results, bool known)",
     &launch_known},
    {"layer_forward",
     "layer_forward(Tensor[] tensors, int family, int form) -> (Tensor[] results, bool known)",
     &layer_known<forward>},
    {"layer_backward",
     "layer_backward(Tensor[] tensors, int family, int form) -> (Tensor[] results, bool known)",
     &layer_known<backward>},
};

// Defines the operators while PyTorch loads the library. The handles live as long as the process: what they
// hold would be undefined with them.
[[maybe_unused]] const bool registered = [] {
  TorchLibraryHandle schema = nullptr;
  bool done = aoti_torch_library_init_fragment("rondo", __FILE__, __LINE__, &schema) == AOTI_TORCH_SUCCESS;
  for (const Operator& one : kOperators)
    done = done && aoti_torch_library_def(schema, one.schema) == AOTI_TORCH_SUCCESS;
  for (const char* const device : {"CPU", "CUDA"}) {
    TorchLibraryHandle kernels = nullptr;
    done = done &&
           aoti_torch_library_init_impl("rondo", device, __FILE__, __LINE__, &kernels) == AOTI_TORCH_SUCCESS;
    for (const Operator& one : kOperators)
      done =
          done && torch_library_impl(kernels, one.name, one.kernel, TORCH_ABI_VERSION) == AOTI_TORCH_SUCCESS;
  }
  return done;
}();

}  // namespace
}  // namespace rondo::torch_shim
