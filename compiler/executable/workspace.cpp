#include "compiler/executable/workspace.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "compiler/support/integers.h"

namespace rondo::executable {

namespace {

std::int64_t align_up(std::int64_t bytes) { return round_up(bytes, kRegionAlignment); }

}  // namespace

std::int64_t region_bytes(const Tensor& tensor, std::int64_t batch, std::int64_t time) {
  const int element = scalar::storage_bytes(tensor.storage);
  if (is_internal(tensor.ref.role)) return tensor.size.at(batch, time) * element;
  const RoleInfo& role = role_info(tensor.ref.role);
  return SizeRule{0, tensor.unit}.at(role.timed || !role.per_batch ? 1 : batch, time) * element;
}

WorkspaceRule::WorkspaceRule(const std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (is_internal(tensors[i].ref.role) && tensors[i].ref.role != Role::Status && tensors[i].lies_in < 0)
      order_.push_back(i);
  std::ranges::sort(order_, [&](std::size_t a, std::size_t b) {
    const TensorRef &x = tensors[a].ref, &y = tensors[b].ref;
    return std::tuple(x.role, x.tensor) < std::tuple(y.role, y.tensor);
  });
}

Workspace WorkspaceRule::at(const std::vector<Tensor>& tensors, std::int64_t batch, std::int64_t time) const {
  Workspace result;
  result.offsets.fill(0);
  std::int64_t next = 0;
  for (const std::size_t i : order_) {
    result.offsets[i] = next;
    next += align_up(region_bytes(tensors[i], batch, time));
  }
  std::int64_t discard_bytes = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (is_internal(tensor.ref.role) || tensor.need == Need::Required) continue;
    if (has_region(tensor)) {
      result.offsets[i] = std::exchange(next, next + align_up(region_bytes(tensor, batch, time)));
      continue;
    }
    std::int64_t& region = tensor.need == Need::Zero ? result.zero_bytes : discard_bytes;
    region = std::max(region, region_bytes(tensor, batch, time));
  }
  result.zero = next;
  result.discard = next + align_up(result.zero_bytes);
  result.bytes = result.discard + align_up(discard_bytes);
  return result;
}

std::int64_t used_workspace_bytes(const std::vector<Tensor>& tensors, const Bindings& bindings,
                                  std::int64_t batch, std::int64_t time) {
  const Workspace all = WorkspaceRule(tensors).at(tensors, batch, time);
  bool zeros = false;
  std::int64_t discarded = 0;
  for (const Tensor& tensor : tensors) {
    if (is_internal(tensor.ref.role) || tensor.need == Need::Required || has_region(tensor) ||
        bindings.find(tensor.ref) != nullptr)
      continue;
    if (tensor.need == Need::Zero)
      zeros = true;
    else
      discarded = std::max(discarded, region_bytes(tensor, batch, time));
  }
  if (discarded > 0) return all.discard + align_up(discarded);
  return zeros ? all.discard : all.zero;
}

}  // namespace rondo::executable
