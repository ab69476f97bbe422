// Tensors of PyTorch by the stable interface of libtorch, whose C functions are all that is used of it: one
// library serves PyTorch 2.10 and newer.
#ifndef RONDO_PYTHON_SHIM_TENSORS_H
#define RONDO_PYTHON_SHIM_TENSORS_H

#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <torch/csrc/stable/c/shim.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "sites.h"

namespace rondo::torch_shim {

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
  // Takes it even where there is no room for it. A null handle is none.
  bool add(AtenTensorHandle handle) {
    if (handle == nullptr) return false;
    if (size_ == kMostTensors) {
      aoti_torch_delete_tensor_object(handle);
      return false;
    }
    handles_[size_++] = handle;
    return true;
  }
  // Takes all of `others`.
  bool add_all(Tensors& others) {
    bool whole = true;
    for (const AtenTensorHandle handle : others.all()) whole = add(handle) && whole;
    others.release();
    return whole;
  }
  void drop_first() {
    aoti_torch_delete_tensor_object(handles_[0]);
    std::copy(handles_.begin() + 1, handles_.begin() + static_cast<std::ptrdiff_t>(size_), handles_.begin());
    --size_;
  }
  // Takes it as the tensor of this number, before those from there on.
  bool insert(std::size_t number, AtenTensorHandle handle) {
    if (!add(handle)) return false;
    const auto last = handles_.begin() + static_cast<std::ptrdiff_t>(size_);
    std::rotate(handles_.begin() + static_cast<std::ptrdiff_t>(number), last - 1, last);
    return true;
  }
  // Puts another tensor in the place of one.
  void replace(std::size_t number, AtenTensorHandle handle) {
    aoti_torch_delete_tensor_object(handles_[number]);
    handles_[number] = handle;
  }
  void release() { size_ = 0; }

 private:
  std::array<AtenTensorHandle, kMostTensors> handles_;
  std::size_t size_ = 0;
};

// A tensor that is owned here, or none.
class Owned {
 public:
  explicit Owned(AtenTensorHandle handle = nullptr) : handle_(handle) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_ != nullptr) aoti_torch_delete_tensor_object(handle_);
  }
  AtenTensorHandle get() const { return handle_; }
  AtenTensorHandle release() { return std::exchange(handle_, nullptr); }
  void take(AtenTensorHandle handle) {
    if (handle_ != nullptr) aoti_torch_delete_tensor_object(handle_);
    handle_ = handle;
  }

 private:
  AtenTensorHandle handle_;
};

template <typename Value>
StableIValue stable(Value value) {
  StableIValue made = 0;
  std::memcpy(&made, &value, sizeof value);
  return made;
}

template <typename Value>
Value value_of(StableIValue stable) {
  Value value{};
  std::memcpy(&value, &stable, sizeof value);
  return value;
}

// Takes the list and what is in it. Whether that is all tensors, and no more than there is room for.
bool take_list(StableIValue value, Tensors& tensors);
// A list of them, which owns them then.
StableIValue list_of(Tensors& tensors);

// PyTorch's number of a RONDO_TYPE_.
std::int32_t torch_type_of(std::int32_t type);

// What is read of a tensor. False where it is no tensor that a launch could take.
bool see(AtenTensorHandle handle, Seen& seen);

// A tensor of PyTorch's allocator; null if there is no memory.
AtenTensorHandle empty_of(bool on_cuda, std::int32_t ordinal, std::int32_t type, std::int32_t rank,
                          const std::int64_t* sizes, const std::int64_t* strides);

// A tensor on the memory of another, from this element of it on; null where there is none.
AtenTensorHandle view(AtenTensorHandle of, std::span<const std::int64_t> sizes,
                      std::span<const std::int64_t> strides, std::int64_t first = 0);

std::int64_t elements_of(std::int32_t rank, const std::int64_t* sizes);
bool is_dense(std::int32_t rank, const std::int64_t* sizes, const std::int64_t* strides);

}  // namespace rondo::torch_shim

#endif
