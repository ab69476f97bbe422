#include "compiler/schedule/widen/widening.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/wide_tensors.h"
#include "compiler/schedule/widen/copies.h"
#include "compiler/step/extents.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

// What is walked in the place of a task.
struct Wide {
  WidenedCell of;
  Task walked;
};

// None: the task itself is walked.
std::shared_ptr<const std::optional<Wide>> wide_of(const Task& task) {
  return task.fact<std::optional<Wide>>("the cell with D channels in the place of its extents",
                                        [&]() -> std::optional<Wide> {
                                          std::optional<WidenedCell> wide = widened(task.cell);
                                          if (!wide) return std::nullopt;
                                          Task walked(wide->cell, task.problem, task.profile, task.watcher);
                                          return Wide{std::move(*wide), std::move(walked)};
                                        });
}

// The task with D channels, of the problem that is asked for.
Task walked_by(const Wide& wide, const Task& task) { return wide.walked.with(task.problem); }

class AroundWideWalk {
 public:
  AroundWideWalk(const Task& task, const Task& walked, const WidenedCell& of, KernelPlan plan)
      : task_(in_order_of_time(task)), walked_(walked), of_(of), plan_(std::move(plan)) {}

  KernelPlan run() {
    std::vector<Launch> walk = std::exchange(plan_.launches, {});
    for (Launch& launch : walk)
      wide_.name_in(launch, [&](TensorRef ref, int number) { return wide(ref, number); });
    if (plan_.in_result) keep_apart();
    for (const WideTensors::Used& used : wide_.used())  // now that all are known, so that none moves
      if (!used.written) plan_.launches.push_back(bring(used));
    for (Launch& launch : walk) plan_.launches.push_back(std::move(launch));
    take_results();
    return std::move(plan_);
  }

 private:
  // Each result once, though it may be the sum of two that the walk has.
  void take_results() {
    std::vector<TensorRef> results;
    for (const WideTensors::Used& used : wide_.used())
      if (const TensorRef result = given_of(used.of);
          used.written && !mask_of(used.of) && std::ranges::find(results, result) == results.end())
        results.push_back(result);
    for (const TensorRef result : results) {
      std::vector<WideSide> sides;
      for (const WideTensors::Used& used : wide_.used())
        if (used.written && !mask_of(used.of) && given_of(used.of) == result) sides.push_back(side_of(used));
      plan_.launches.push_back(copy_from_wide(task_, result, sides));
    }
  }

  bool is_wide(TensorRef ref) const {
    if (executable::is_internal(ref.role) || ref.tensor < 0) return false;
    if (at(ref.tensor) >= of_.narrow.size()) return true;  // a mask or a transpose
    if (ref.role == Role::Products) return bool(task_.cell.tensor(ref.tensor).outer);
    return of_.narrow[at(ref.tensor)];
  }
  const WidenedCell::Mask* mask_of(TensorRef ref) const {
    const auto found = std::ranges::find(of_.masks, ref.tensor, &WidenedCell::Mask::param);
    return found == of_.masks.end() ? nullptr : &*found;
  }

  const WidenedCell::Transpose* transpose_of(TensorRef ref) const {
    const auto found = std::ranges::find(of_.transposes, ref.tensor, &WidenedCell::Transpose::param);
    return found == of_.transposes.end() ? nullptr : &*found;
  }
  // The tensor of the task's cell from which one of the walk's is made, or which is made of it.
  TensorRef given_of(TensorRef ref) const {
    const WidenedCell::Transpose* transpose = transpose_of(ref);
    return transpose == nullptr ? ref : TensorRef{ref.role, transpose->of};
  }

  std::optional<WideTensor> wide(TensorRef ref, int number) const {
    if (!is_wide(ref)) return std::nullopt;
    const executable::RoleInfo& role = executable::role_info(ref.role);
    const kernel::Storage storage = storage_of(ref, walked_);
    const bool rounded = storage == task_.problem.storage && role.role == Role::Param;
    const Role as = role.timed ? Role::Scratch : rounded ? Role::Packed : Role::Carries;
    const std::int64_t unit = elements_of(tensor_in_role(ref, walked_.cell), walked_);
    executable::SizeRule size;
    if (role.per_batch)
      size = {0, unit, 1, role.timed ? 1 : 0};
    else
      size.fixed = unit;
    return WideTensor{{as, number}, storage, size};
  }

  WideSide side_of(const WideTensors::Used& used) const {
    return {&wide_.tensor(used), tensor_in_role(used.of, walked_.cell), transpose_of(used.of) != nullptr};
  }
  Launch bring(const WideTensors::Used& used) const {
    if (const WidenedCell::Mask* mask = mask_of(used.of))
      return write_mask(task_, wide_.tensor(used), mask->size, walked_.cell.tensor(mask->param).name);
    return copy_to_wide(task_, given_of(used.of), side_of(used));
  }

  // What lies in a result of the walk that is no result of the plan has memory of its own.
  void keep_apart() {
    if (is_wide(plan_.in_result->result)) plan_.in_result.reset();
  }

  const Task task_;
  const Task& walked_;
  const WidenedCell& of_;
  KernelPlan plan_;
  WideTensors wide_{plan_};
};

// Of each tensor with a time axis a copy, of both sizes.
double seconds_of_copies(const Task& task, const WidenedCell& of) {
  const step::Sizes& sizes = task.problem.sizes;
  double bytes = 0;
  int launches = 0;
  for (std::size_t id = 0; id < of.narrow.size(); ++id) {
    const step::Tensor &narrow = task.cell.tensors[id], &wide = of.cell.tensors[id];
    if (!of.narrow[id]) continue;
    ++launches;
    const bool timed = narrow.kind != step::TensorKind::Param;
    bytes += static_cast<double>((step::block(narrow, sizes) + step::block(wide, sizes)) * sizes.heads) *
             (timed ? static_cast<double>(sizes.batch * sizes.time) : 1) *
             kernel::storage_bytes(task.problem.storage);
  }
  const target::Speeds& speeds = task.profile.speeds;
  return launches * speeds.graph_launch_s + bytes / speeds.copy_bytes_per_s;
}

}  // namespace

Legality Widening::legal(const Task& task) const {
  const auto wide = wide_of(task);
  if (!*wide) return walk_.legal(task);
  const std::int64_t dim = task.problem.sizes.dim;
  if (!(*wide)->of.transposes.empty() && passes_products(task.problem))
    return {false, "products of a transposed matrix are not saved: save states"};
  if ((*wide)->of.largest > dim)
    return {false, fmt::format("a state, a parameter or an output has an extent of {}, more than the {} "
                               "channels of a head: write the cell with the largest extent as its first",
                               (*wide)->of.largest, dim)};
  return walk_.legal(walked_by(**wide, task));
}

std::optional<Wrapping::Walk> Widening::walk_of(const Task& task) const {
  const auto wide = wide_of(task);
  if (!*wide) return std::nullopt;
  return Walk{walked_by(**wide, task), seconds_of_copies(task, (*wide)->of), "copies to and from D channels"};
}

KernelPlan Widening::build_kernels(const Task& task, const Parameters& parameters) const {
  const auto wide = wide_of(task);
  if (!*wide) return walk_.build_kernels(task, parameters);
  const Task walked = walked_by(**wide, task);
  return AroundWideWalk(task, walked, (*wide)->of, walk_.build_kernels(walked, parameters)).run();
}

}  // namespace rondo::schedule
