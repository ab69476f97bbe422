#include "tensors.h"

namespace rondo::torch_shim {
namespace {

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

}  // namespace

std::int32_t torch_type_of(std::int32_t type) { return torch_types()[static_cast<std::size_t>(type)]; }

bool take_list(StableIValue value, Tensors& tensors) {
  const StableListHandle list = value_of<StableListHandle>(value);
  std::size_t size = 0;
  bool whole = torch_list_size(list, &size) == AOTI_TORCH_SUCCESS;
  for (std::size_t number = 0; number < size; ++number) {
    StableIValue element = 0;
    if (torch_list_get_item(list, number, &element) != AOTI_TORCH_SUCCESS) {
      whole = false;
      continue;
    }
    whole = tensors.add(value_of<AtenTensorHandle>(element)) && whole;
  }
  torch_delete_list(list);
  return whole;
}

StableIValue list_of(Tensors& tensors) {
  StableListHandle list = nullptr;
  torch_new_list_reserve_size(tensors.size(), &list);
  for (const AtenTensorHandle handle : tensors.all()) torch_list_push_back(list, stable(handle));
  tensors.release();
  return stable(list);
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

AtenTensorHandle empty_of(bool on_cuda, std::int32_t ordinal, std::int32_t type, std::int32_t rank,
                          const std::int64_t* sizes, const std::int64_t* strides) {
  AtenTensorHandle made = nullptr;
  const AOTITorchError failed = aoti_torch_empty_strided(
      rank, sizes, strides, torch_type_of(type),
      on_cuda ? aoti_torch_device_type_cuda() : aoti_torch_device_type_cpu(), on_cuda ? ordinal : 0, &made);
  return failed == AOTI_TORCH_SUCCESS ? made : nullptr;
}

AtenTensorHandle view(AtenTensorHandle of, std::span<const std::int64_t> sizes,
                      std::span<const std::int64_t> strides, std::int64_t first) {
  AtenTensorHandle made = nullptr;
  const AOTITorchError failed = aoti_torch__reinterpret_tensor(of, static_cast<std::int64_t>(sizes.size()),
                                                               sizes.data(), strides.data(), first, &made);
  return failed == AOTI_TORCH_SUCCESS ? made : nullptr;
}

std::int64_t elements_of(std::int32_t rank, const std::int64_t* sizes) {
  std::int64_t count = 1;
  for (std::int32_t axis = 0; axis < rank; ++axis) count *= sizes[axis];
  return count;
}

bool is_dense(std::int32_t rank, const std::int64_t* sizes, const std::int64_t* strides) {
  std::int64_t step = 1;
  for (std::int32_t axis = rank - 1; axis >= 0; --axis) {
    if (sizes[axis] != 1 && strides[axis] != step) return false;
    step *= sizes[axis];
  }
  return true;
}

}  // namespace rondo::torch_shim
