#include "compiler/schedule/plan/tensor_layout.h"

#include "compiler/schedule/analysis/saved_products.h"

namespace rondo::schedule {

std::int64_t unit_elements(TensorRef ref, const step::Cell& cell, const step::Sizes& sizes) {
  const step::Tensor tensor = tensor_in_role(ref, cell);
  if (step::is_flag(tensor.kind)) return 1;
  return sizes.heads * step::block(tensor, sizes);
}

std::int64_t total_elements(TensorRef ref, const step::Cell& cell, const step::Sizes& sizes) {
  const executable::RoleInfo& role = executable::role_info(ref.role);
  return unit_elements(ref, cell, sizes) * (role.per_batch ? sizes.batch : 1) * (role.timed ? sizes.time : 1);
}

std::vector<Axis> axes_of(TensorRef ref, const step::Cell& cell, const step::Sizes& sizes) {
  const step::Tensor tensor = tensor_in_role(ref, cell);
  const executable::RoleInfo& role = executable::role_info(ref.role);
  std::vector<Axis> axes;
  if (role.per_batch) axes.push_back({"B", sizes.batch});
  if (role.timed) axes.push_back({"T", sizes.time});
  if (step::is_flag(tensor.kind)) return axes;
  axes.push_back({"H", sizes.heads});
  axes.push_back({"row", tensor.rows});
  if (tensor.tail == Tail::Matrix)
    axes.push_back({tensor.outer ? "channel" : "D", step::outputs(tensor, sizes)});
  if (tensor.tail != Tail::Scalar)
    axes.push_back({tensor.tail == Tail::Matrix ? "column"
                    : tensor.inner              ? "channel"
                                                : "D",
                    step::columns(tensor, sizes)});
  return axes;
}

}  // namespace rondo::schedule
