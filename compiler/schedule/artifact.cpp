#include "compiler/schedule/artifact.h"

#include <algorithm>
#include <set>

#include "compiler/schedule/history.h"
#include "compiler/schedule/saved_products.h"
#include "compiler/step/derive.h"

namespace rondo::schedule {

using step::TensorKind;

bool has_time_axis(Role role) {
  return role == Role::Input || role == Role::Output || role == Role::History || role == Role::Products ||
         role == Role::OutputGradient || role == Role::InputGradient || role == Role::Scratch;
}

bool is_kept(Role role) { return role == Role::Packed || role == Role::Vectors || role == Role::Carries; }

bool is_internal(Role role) {
  return role == Role::Workspace || role == Role::Exchange || role == Role::Status || role == Role::Scratch ||
         is_kept(role);
}

step::Tensor tensor_in_role(TensorRef ref, const step::Cell& cell) {
  const step::Tensor& declared = cell.tensors.at(static_cast<std::size_t>(ref.tensor));
  if (ref.role != Role::Products) return declared;
  const int rows = product_rows(cell, ref.tensor);
  return {TensorKind::Output, product_output(declared), step::Tail::Vector, {rows}, rows, declared.span};
}

std::int64_t TiledExtent::elements(std::int64_t batch, std::int64_t time) const {
  const std::int64_t spans = time_tile > 0 ? (time + time_tile - 1) / time_tile : 1;
  return each * ((batch + batch_tile - 1) / batch_tile) * spans;
}

const Extent& kept_extent(const KernelPlan& plan, Role role) {
  return role == Role::Packed ? plan.packed : role == Role::Vectors ? plan.vectors : plan.carries;
}

std::int64_t grid_blocks(const Launch& launch, std::int64_t batch, std::int64_t time) {
  const std::int64_t rows = (batch + launch.batch_tile - 1) / launch.batch_tile;
  const std::int64_t spans = launch.time_tile > 0 ? (time + launch.time_tile - 1) / launch.time_tile : 1;
  return launch.blocks_fixed + launch.blocks_per_batch * rows * spans;
}

std::vector<LaunchPart> launch_parts(const Launch& launch, std::int64_t batch, std::int64_t time) {
  if (launch.tiles_together == 0) return {{0, grid_blocks(launch, batch, time)}};
  std::vector<LaunchPart> parts;
  const std::int64_t tiles = (batch + launch.batch_tile - 1) / launch.batch_tile;
  for (std::int64_t first = 0; first < tiles; first += launch.tiles_together) {
    const std::int64_t rows = std::min(launch.tiles_together, tiles - first) * launch.batch_tile;
    parts.push_back({first, grid_blocks(launch, rows, time)});
  }
  return parts;
}

namespace {

std::int64_t step_bytes(const step::Tensor& tensor, const Problem& problem) {
  const std::int64_t channels = tensor.tail == step::Tail::Scalar ? 1 : problem.sizes.dim;
  return tensor.rows * channels * kernel::storage_bytes(problem.storage);
}

}  // namespace

std::int64_t least_bytes(const step::Cell& cell, const Problem& problem) {
  std::int64_t per_step = 0;
  if (passes_products(problem))
    for (const step::TensorId id : product_tensors(cell))
      per_step += step_bytes(tensor_in_role({Role::Products, id}, cell), problem);
  auto add = [&](const std::vector<step::TensorId>& tensors) {
    for (const step::TensorId id : tensors)
      per_step += step_bytes(cell.tensors[static_cast<std::size_t>(id)], problem);
  };
  if (problem.pass == Pass::Backward) {
    const BackwardNeeds needs = backward_needs(cell);
    add(needs.inputs);
    for (const TensorRef& history : needs.history_tensors) add({history.tensor});
    add(cell.of_kind(TensorKind::Output));  // their gradients
    add(cell.of_kind(TensorKind::Input));   // gradients written
  } else {
    add(cell.of_kind(TensorKind::Input));
    add(cell.of_kind(TensorKind::Output));
    if (problem.pass == Pass::ForwardSave) add(stored_histories(cell));
  }
  return per_step * problem.sizes.batch * problem.sizes.time * problem.sizes.heads;
}

}  // namespace rondo::schedule
