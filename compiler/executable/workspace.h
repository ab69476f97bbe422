// Where the tensors that no caller binds lie: one region each, one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "compiler/executable/bindings.h"
#include "compiler/executable/executable.h"

namespace rondo::executable {

inline constexpr std::int64_t kRegionAlignment = 256;  // bytes, as of every CUDA allocation

// Byte offsets into the workspace, and its size.
struct Workspace {
  std::array<std::int64_t, kMaxTensors> offsets;  // by tensor, of those that have a region of their own
  std::int64_t zero = 0, zero_bytes = 0;          // stands for tensors that are read and were not bound
  std::int64_t discard = 0;                       // takes results that were not bound
  std::int64_t bytes = 0;                         // all of it
};

// Bytes of a tensor that stands for itself in the workspace: of an internal one all of it, of another one
// what is needed while it is not bound. A tensor with a time axis that is not bound gets one step, walked
// with strides of 0.
std::int64_t region_bytes(const Tensor& tensor, std::int64_t batch, std::int64_t time);

// Whether a tensor that may be left unbound has a region of its own then: it is read as a number other than
// 0.
inline bool has_region(const Tensor& tensor) { return tensor.need == Need::Zero && tensor.first != 0; }

class WorkspaceRule {
 public:
  WorkspaceRule() = default;
  explicit WorkspaceRule(const std::vector<Tensor>& tensors);

  // The regions for B batch rows of T steps: internal tensors in the order of their roles, but for those that
  // lie in results, states that begin
  // with a number of their own, then the zeroed region, then the one for unwanted results.
  Workspace at(const std::vector<Tensor>& tensors, std::int64_t batch, std::int64_t time) const;

 private:
  std::vector<std::size_t> order_;  // of internal tensors
};

// Bytes from its begin that a call uses which binds what `bindings` has, and all that it must bind: what
// stands for other tensors lies at its end.
std::int64_t used_workspace_bytes(const std::vector<Tensor>& tensors, const Bindings& bindings,
                                  std::int64_t batch, std::int64_t time);

}  // namespace rondo::executable
