// The operator rondo::launch_known(Tensor[] tensors, int family) -> (Tensor[] results, bool known), by the
// stable interface of libtorch, whose C functions are all that is used of it: one library serves PyTorch 2.10
// and newer.
//
// It runs the site of its family for such tensors: makes the results, takes a workspace from PyTorch's
// allocator, and launches on the current stream. What is not plainly right is not known: Python goes its own
// way then, and says what is wrong.
#include <dlfcn.h>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/c/shim.h>

#include <array>
#include <cstring>
#include <span>

#include "sites.h"

namespace rondo::torch_shim {
namespace {

constexpr std::int64_t kWorkspaceAlignment = 256;

// PyTorch's numbers of types, in the order of RONDO_TYPE_.
const std::array<std::int32_t, 6>& torch_types() {
  static const std::array<std::int32_t, 6> types = {aoti_torch_dtype_float32(), aoti_torch_dtype_bfloat16(),
                                                    aoti_torch_dtype_float16(), aoti_torch_dtype_int32(),
                                                    aoti_torch_dtype_uint8(),   aoti_torch_dtype_float64()};
  return types;
}

std::int32_t type_of(std::int32_t torch_type) {
  const std::array<std::int32_t, 6>& types = torch_types();
  for (std::size_t type = 0; type < types.size(); ++type)
    if (types[type] == torch_type) return static_cast<std::int32_t>(type);
  return -1;
}

// Tensors that are owned here. Those that are released are their taker's.
class Tensors {
 public:
  Tensors() = default;
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;
  ~Tensors() {
    for (const AtenTensorHandle handle : all()) aoti_torch_delete_tensor_object(handle);
  }
  std::size_t size() const { return size_; }
  std::span<const AtenTensorHandle> all() const { return {handles_.data(), size_}; }
  // Takes it even where there is no room for it.
  bool add(AtenTensorHandle handle) {
    if (size_ == kMostTensors) {
      aoti_torch_delete_tensor_object(handle);
      return false;
    }
    handles_[size_++] = handle;
    return true;
  }
  void release() { size_ = 0; }

 private:
  std::array<AtenTensorHandle, kMostTensors> handles_;
  std::size_t size_ = 0;
};

// Takes the list and what is in it.
bool take_list(StableIValue value, Tensors& tensors) {
  StableListHandle list = nullptr;
  std::memcpy(&list, &value, sizeof list);
  std::size_t size = 0;
  bool whole = torch_list_size(list, &size) == AOTI_TORCH_SUCCESS;
  for (std::size_t number = 0; number < size; ++number) {
    StableIValue element = 0;
    AtenTensorHandle handle = nullptr;
    if (torch_list_get_item(list, number, &element) != AOTI_TORCH_SUCCESS) {
      whole = false;
      continue;
    }
    std::memcpy(&handle, &element, sizeof handle);
    whole = tensors.add(handle) && whole;
  }
  torch_delete_list(list);
  return whole;
}

StableIValue list_of(Tensors& tensors) {
  StableListHandle list = nullptr;
  torch_new_list_reserve_size(tensors.size(), &list);
  for (const AtenTensorHandle handle : tensors.all()) {
    StableIValue element = 0;
    std::memcpy(&element, &handle, sizeof handle);
    torch_list_push_back(list, element);
  }
  tensors.release();
  StableIValue value = 0;
  std::memcpy(&value, &list, sizeof list);
  return value;
}

bool see(AtenTensorHandle handle, Seen& seen) {
  std::int64_t rank = 0;
  std::int32_t type = 0, device = 0;
  std::int64_t *sizes = nullptr, *strides = nullptr;
  if (aoti_torch_get_dim(handle, &rank) != AOTI_TORCH_SUCCESS || rank > RONDO_MOST_AXES ||
      aoti_torch_get_sizes(handle, &sizes) != AOTI_TORCH_SUCCESS ||
      aoti_torch_get_strides(handle, &strides) != AOTI_TORCH_SUCCESS ||
      aoti_torch_get_dtype(handle, &type) != AOTI_TORCH_SUCCESS ||
      aoti_torch_get_device_type(handle, &device) != AOTI_TORCH_SUCCESS ||
      aoti_torch_get_device_index(handle, &seen.ordinal) != AOTI_TORCH_SUCCESS ||
      aoti_torch_get_data_ptr(handle, &seen.data) != AOTI_TORCH_SUCCESS)
    return false;
  seen.type = type_of(type), seen.rank = static_cast<std::int32_t>(rank);
  seen.sizes = sizes, seen.strides = strides;
  seen.on_cuda = device == aoti_torch_device_type_cuda() ? 1 : 0;
  return seen.type >= 0 && (seen.on_cuda == 1 || device == aoti_torch_device_type_cpu());
}

// A tensor of the allocator of PyTorch, on the site's device; null if there is no memory.
AtenTensorHandle made_of(const Site& site, std::int32_t type, std::int32_t rank, const std::int64_t* sizes,
                         const std::int64_t* strides) {
  const bool on_cuda = site.head.on_cuda != 0;
  AtenTensorHandle made = nullptr;
  const AOTITorchError failed =
      aoti_torch_empty_strided(rank, sizes, strides, torch_types()[static_cast<std::size_t>(type)],
                               on_cuda ? aoti_torch_device_type_cuda() : aoti_torch_device_type_cpu(),
                               on_cuda ? site.head.ordinal : 0, &made);
  return failed == AOTI_TORCH_SUCCESS ? made : nullptr;
}

// PyTorch's current stream of the device. The function is in libtorch_cuda, which not every process has.
bool current_stream(std::int32_t ordinal, void** stream) {
  using Function = AOTITorchError (*)(std::int32_t, void**);
  static const Function function = [] {
    void* const library = dlopen("libtorch_cuda.so", RTLD_LAZY | RTLD_NOLOAD);
    return library == nullptr
               ? nullptr
               : reinterpret_cast<Function>(dlsym(library, "aoti_torch_get_current_cuda_stream"));
  }();
  return function != nullptr && function(ordinal, stream) == AOTI_TORCH_SUCCESS;
}

// Makes what the launch writes. The first tensors of `made` are results, those of `others` are for the plan
// alone.
bool make_tensors(const Site& site, std::span<rondo_tensor> tensors, Tensors& made, Tensors& others) {
  for (const rondo_torch_made& one : site.made) {
    const AtenTensorHandle handle =
        made_of(site, one.layout.type, one.layout.rank, one.layout.sizes, one.layout.strides);
    if (handle == nullptr || !(one.is_result != 0 ? made : others).add(handle)) return false;
    if (aoti_torch_get_data_ptr(handle, &tensors[static_cast<std::size_t>(one.place)].data) !=
        AOTI_TORCH_SUCCESS)
      return false;
  }
  return true;
}

bool make_workspace(const Site& site, rondo_launch_args& args, Tensors& others) {
  if (site.head.workspace_bytes == 0) return true;
  // The allocator of GPUs aligns by itself.
  const std::int64_t room = site.head.on_cuda != 0 ? 0 : kWorkspaceAlignment;
  const std::int64_t size = site.head.workspace_bytes + room, stride = 1;
  void* data = nullptr;
  const AtenTensorHandle handle = made_of(site, RONDO_TYPE_U8, 1, &size, &stride);
  if (handle == nullptr || !others.add(handle) ||
      aoti_torch_get_data_ptr(handle, &data) != AOTI_TORCH_SUCCESS)
    return false;
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(data);
  args.workspace = static_cast<char*>(data) + (room == 0 ? 0 : -address % kWorkspaceAlignment);
  args.workspace_bytes = site.head.workspace_bytes;
  return true;
}

bool is_aligned(const void* data, std::int32_t bytes) {
  return reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(bytes) == 0;
}

bool launch(std::int64_t family, const Tensors& given, Tensors& results) {
  std::array<Seen, kMostTensors> all;
  const std::span<Seen> seen(all.data(), given.size());
  for (std::size_t number = 0; number < seen.size(); ++number)
    if (!see(given.all()[number], seen[number])) return false;
  const std::shared_ptr<const Site> site = find_site(family, seen);
  if (site == nullptr) return false;

  std::array<rondo_tensor, kMostTensors> bound;
  const std::span<rondo_tensor> tensors(bound.data(), site->tensors.size());
  std::memcpy(tensors.data(), site->tensors.data(), tensors.size_bytes());
  for (std::size_t number = 0; number < seen.size(); ++number) {
    const rondo_torch_given& wanted = site->given[number];
    if (wanted.place < 0) continue;
    if (!is_aligned(seen[number].data, wanted.alignment)) return false;
    tensors[static_cast<std::size_t>(wanted.place)].data = seen[number].data;
  }
  rondo_launch_args args{};
  args.struct_size = sizeof args, args.tensor_size = sizeof(rondo_tensor);
  args.tensors = tensors.data(), args.tensor_count = tensors.size();
  args.batch = site->head.batch, args.time = site->head.time;
  Tensors others;
  if (!make_tensors(*site, tensors, results, others) || !make_workspace(*site, args, others)) return false;
  if (site->head.on_cuda != 0 && !current_stream(site->head.ordinal, &args.stream)) return false;
  if (site->head.launch(site->head.plan, &args) != RONDO_OK) return false;
  count_launch();
  return true;
}

void launch_known(StableIValue* stack, std::uint64_t, std::uint64_t) {
  Tensors given, results;
  const bool whole = take_list(stack[0], given);
  std::int64_t family = 0;
  std::memcpy(&family, &stack[1], sizeof family);
  const bool known = whole && launch(family, given, results);
  Tensors none;
  stack[0] = list_of(known ? results : none);
  stack[1] = known ? 1 : 0;
}

// Defines the operator while PyTorch loads the library. The handles live as long as the process: what they
// hold would be undefined with them.
[[maybe_unused]] const bool registered = [] {
  TorchLibraryHandle schema = nullptr;
  bool done = aoti_torch_library_init_fragment("rondo", __FILE__, __LINE__, &schema) == AOTI_TORCH_SUCCESS &&
              aoti_torch_library_def(
                  schema, "launch_known(Tensor[] tensors, int family) -> (Tensor[] results, bool known)") ==
                  AOTI_TORCH_SUCCESS;
  for (const char* const device : {"CPU", "CUDA"}) {
    TorchLibraryHandle kernels = nullptr;
    done =
        done &&
        aoti_torch_library_init_impl("rondo", device, __FILE__, __LINE__, &kernels) == AOTI_TORCH_SUCCESS &&
        torch_library_impl(kernels, "launch_known", &launch_known, TORCH_ABI_VERSION) == AOTI_TORCH_SUCCESS;
  }
  return done;
}();

}  // namespace
}  // namespace rondo::torch_shim
