// What a caller hands an executable: where each tensor lies in device memory, and how it is strided.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/executable/tensor.h"

namespace rondo::executable {

using Address = std::uint64_t;  // in device memory

// Distances in elements between neighbouring batch rows and time steps.
struct Strides {
  std::int64_t b = 0;
  std::int64_t t = 0;
  friend bool operator==(const Strides&, const Strides&) = default;
};

struct Binding {
  TensorRef tensor;
  // The first element. The caller owns the memory and keeps it until the launch is done.
  Address pointer = 0;
  // None: dense, [B, T, ...] as in step_ir.h. Tensors without a time axis are dense.
  std::optional<Strides> strides;
  // How much memory there is from `pointer` on: a launch that would touch anything outside is refused, which
  // includes what lies below `pointer` by a negative stride. None: not checked.
  std::optional<std::int64_t> bytes;
};

// A few entries in a flat list: cheaper to build and to search than any map.
class Bindings {
 public:
  // Binding a tensor again replaces it.
  void set(const Binding& binding) {
    for (Binding& entry : entries_)
      if (entry.tensor == binding.tensor) {
        entry = binding;
        return;
      }
    entries_.push_back(binding);
  }
  void set(TensorRef tensor, Address pointer, std::optional<Strides> strides = std::nullopt,
           std::optional<std::int64_t> bytes = std::nullopt) {
    set({tensor, pointer, strides, bytes});
  }
  // Scratch of at least workspace_bytes(B, T), 256-byte aligned as every CUDA allocation is.
  void set_workspace(Address pointer, std::optional<std::int64_t> bytes = std::nullopt) {
    set({Role::Workspace, -1}, pointer, std::nullopt, bytes);
  }

  const Binding* find(TensorRef tensor) const {
    for (const Binding& entry : entries_)
      if (entry.tensor == tensor) return &entry;
    return nullptr;
  }
  const std::vector<Binding>& entries() const { return entries_; }
  void clear() { entries_.clear(); }  // keeps its memory: who binds anew allocates nothing

 private:
  std::vector<Binding> entries_;
};

}  // namespace rondo::executable
