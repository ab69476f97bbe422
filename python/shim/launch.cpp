#include "launch.h"

#include <dlfcn.h>

namespace rondo::torch_shim {
namespace {

constexpr std::int64_t kWorkspaceAlignment = 256;
constexpr std::int64_t kJoinedElements = 16;  // where results that are joined begin: at 64 bytes

// A tensor on the site's device; null if there is no memory.
AtenTensorHandle made_of(const Site& site, std::int32_t type, std::int32_t rank, const std::int64_t* sizes,
                         const std::int64_t* strides) {
  return empty_of(site.head.on_cuda != 0, site.head.ordinal, type, rank, sizes, strides);
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

// The memory of the results that are to be joined, if they can be: they are dense and of fp32, and each
// begins where an allocation of its own might.
bool make_joined(const Site& site, Joined& joined) {
  std::size_t number = 0;
  std::int64_t size = 0;
  for (const rondo_torch_made& one : site.made) {
    if (one.is_result == 0 || number++ - joined.first >= joined.count) continue;
    const rondo_torch_layout& layout = one.layout;
    if (layout.type != RONDO_TYPE_F32 || size % kJoinedElements != 0 ||
        !is_dense(layout.rank, layout.sizes, layout.strides))
      return true;
    size += elements_of(layout.rank, layout.sizes);
  }
  if (number < joined.first + joined.count) return true;
  const std::int64_t stride = 1;
  joined.memory.take(made_of(site, RONDO_TYPE_F32, 1, &size, &stride));
  return joined.memory.get() != nullptr;
}

// Makes what the launch writes. The first tensors of `made` are results, those of `others` are for the plan
// alone.
bool make_tensors(const Site& site, std::span<rondo_tensor> tensors, Tensors& made, Tensors& others,
                  Joined& joined) {
  if (joined.count > 1 && !make_joined(site, joined)) return false;
  std::int64_t next = 0;
  for (const rondo_torch_made& one : site.made) {
    const rondo_torch_layout& layout = one.layout;
    AtenTensorHandle handle = nullptr;
    if (joined.memory.get() != nullptr && one.is_result != 0 && made.size() - joined.first < joined.count) {
      const auto rank = static_cast<std::size_t>(layout.rank);
      handle = view(joined.memory.get(), {layout.sizes, rank}, {layout.strides, rank}, next);
      next += elements_of(layout.rank, layout.sizes);
    } else {
      handle = made_of(site, layout.type, layout.rank, layout.sizes, layout.strides);
    }
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

}  // namespace

bool run(const Site& site, std::span<const Seen> given, Tensors& results, Joined& joined) {
  std::array<rondo_tensor, kMostTensors> bound;
  const std::span<rondo_tensor> tensors(bound.data(), site.tensors.size());
  std::memcpy(tensors.data(), site.tensors.data(), tensors.size_bytes());
  for (std::size_t number = 0; number < given.size(); ++number) {
    const rondo_torch_given& wanted = site.given[number];
    if (wanted.place < 0) continue;
    if (!is_aligned(given[number].data, wanted.alignment)) return false;
    tensors[static_cast<std::size_t>(wanted.place)].data = given[number].data;
  }
  rondo_launch_args args{};
  args.struct_size = sizeof args, args.tensor_size = sizeof(rondo_tensor);
  args.tensors = tensors.data(), args.tensor_count = tensors.size();
  args.batch = site.head.batch, args.time = site.head.time;
  Tensors others;
  if (!make_tensors(site, tensors, results, others, joined) || !make_workspace(site, args, others))
    return false;
  if (site.head.on_cuda != 0 && !current_stream(site.head.ordinal, &args.stream)) return false;
  if (site.head.launch(site.head.plan, &args) != RONDO_OK) return false;
  count_launch();
  return true;
}

bool launch(std::int64_t family, std::span<const AtenTensorHandle> given, Tensors& results, Joined& joined) {
  std::array<Seen, kMostTensors> all;
  if (given.size() > all.size()) return false;
  const std::span<Seen> seen(all.data(), given.size());
  for (std::size_t number = 0; number < seen.size(); ++number)
    if (!see(given[number], seen[number])) return false;
  const std::shared_ptr<const Site> site = find_site(family, seen);
  return site != nullptr && run(*site, seen, results, joined);
}

}  // namespace rondo::torch_shim
