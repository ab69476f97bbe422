// What a caller hands a plan: where each tensor lies in device memory, and how it is strided.
#pragma once

#include <optional>
#include <vector>

#include "runtime/cuda/driver_memory.h"
#include "runtime/plan/tensor_layout.h"

namespace rondo::runtime {

struct Binding {
  schedule::TensorRef tensor;
  DeviceAddress pointer =
      0;  // first element; the caller owns the memory and keeps it until the launch is done
  std::optional<Strides>
      strides;  // none: dense, [B, T, ...] as in step_ir.h. Tensors without a time axis are dense.
};

// A few entries in a flat list: cheaper to build and to search than any map.
class Bindings {
 public:
  // Binding a tensor again replaces it.
  void set(schedule::TensorRef tensor, DeviceAddress pointer, std::optional<Strides> strides = std::nullopt) {
    for (Binding& entry : entries_)
      if (entry.tensor == tensor) {
        entry = {tensor, pointer, strides};
        return;
      }
    entries_.push_back({tensor, pointer, strides});
  }
  // Scratch of at least workspace_bytes(B, T), 256-byte aligned as every CUDA allocation is.
  void set_workspace(DeviceAddress pointer) { set({schedule::Role::Workspace, -1}, pointer); }

  const Binding* find(schedule::TensorRef tensor) const {
    for (const Binding& entry : entries_)
      if (entry.tensor == tensor) return &entry;
    return nullptr;
  }
  const std::vector<Binding>& entries() const { return entries_; }

 private:
  std::vector<Binding> entries_;
};

}  // namespace rondo::runtime
