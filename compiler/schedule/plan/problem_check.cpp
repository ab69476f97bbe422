#include "compiler/schedule/plan/problem_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/executable/tensor.h"
#include "compiler/step/extents.h"
#include "compiler/step/forms.h"

namespace rondo::schedule {

namespace {

constexpr std::int64_t kMostInStep = 2147483647;  // elements

Status check_constants(const step::Cell& cell, const Problem& problem) {
  for (const auto& [name, value] : problem.constants) {
    std::string known;
    bool found = false;
    for (const step::NamedConstant& constant : cell.constants) {
      found |= constant.name == name;
      known += (known.empty() ? "" : ", ") + constant.name;
    }
    if (!found)
      return Error{ErrorKind::Input, fmt::format("cell {} has no constant '{}'", cell.name, name),
                   known.empty() ? "it has none" : "it has: " + known};
    if (!std::isfinite(value))
      return Error{ErrorKind::Input, fmt::format("constant '{}' of cell {} is {}", name, cell.name, value),
                   "give a finite number"};
  }
  return success();
}

// The product, and more than any limit where it would overflow.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? executable::SizeRule::kMost
                                                : std::min(product, executable::SizeRule::kMost);
}

Status check_tensor(const step::Tensor& tensor, const step::Sizes& sizes) {
  std::int64_t in_step = times(sizes.heads, tensor.rows);
  in_step = times(in_step, step::columns(tensor, sizes));
  if (tensor.tail == step::Tail::Matrix) in_step = times(in_step, sizes.dim);
  if (in_step > kMostInStep)
    return Error{
        ErrorKind::Unsupported,
        fmt::format("tensor '{}' has more than {} elements a step at H={}, D={}", tensor.name, kMostInStep,
                    sizes.heads, sizes.dim),
        sizes.heads > 1 ? "split the heads over several calls" : "take fewer channels, or fewer rows"};
  if (tensor.kind != step::TensorKind::Param &&
      times(times(in_step, sizes.batch), sizes.time) >= executable::SizeRule::kMost)
    return Error{ErrorKind::Unsupported,
                 fmt::format("tensor '{}' is larger than any memory at B={}, T={}, H={}, D={}", tensor.name,
                             sizes.batch, sizes.time, sizes.heads, sizes.dim),
                 "split the batch or the sequence into several calls"};
  return success();
}

}  // namespace

Status check_problem(const step::Cell& cell, const Problem& problem) {
  if (Status status = check_constants(cell, problem); !status) return status;
  const step::Sizes& sizes = problem.sizes;
  for (const auto& [axis, extent] : {std::pair("B", sizes.batch), std::pair("T", sizes.time),
                                     std::pair("H", sizes.heads), std::pair("D", sizes.dim)})
    if (extent < 1)
      return Error{ErrorKind::Input, fmt::format("{} is {}", axis, extent),
                   "every extent must be at least 1"};
  if (Status status = step::check_forms(cell, sizes); !status) return status;
  if (Status status = step::check_extents(cell, problem.constants); !status) return status;
  for (const step::Tensor& tensor : step::with_extents(cell, problem.constants).tensors)
    if (Status status = check_tensor(tensor, sizes); !status) return status;
  return success();
}

Status check_problem(const Task& task) {
  if (task.problem.storage == kernel::Storage::F64 && !task.profile.is_cpu())
    return Error{
        ErrorKind::Unsupported,
        fmt::format("no kernel computes in fp64 on {}: those for GPUs compute in fp32", task.profile.name),
        "CPUs compute in fp64 (--arch cpu, or a context of the CPU); or take fp32"};
  return check_problem(task.written, task.problem);
}

}  // namespace rondo::schedule
