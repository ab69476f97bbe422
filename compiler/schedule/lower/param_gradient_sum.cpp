#include "compiler/schedule/lower/param_gradient_sum.h"

#include <fmt/format.h>

#include "compiler/schedule/analysis/param_rows.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

constexpr int kThreads = 128;

// Rows [H, P, D] of the workspace.
Value rows_of(Signature& signature, int shares) {
  const Value batch = signature.batch();
  return shares == 1 ? batch : batch * shares;
}

// A thread sums one (head, row, channel) over the batch.
Launch reduce_vector(const Task& task, int shares, TensorId id) {
  const step::Tensor& tensor = task.cell.tensor(id);
  kernel::Builder b(fmt::format("{}_grad_{}", task.cell.name, tensor.name), kThreads, task.problem.math,
                    fmt::format("gradient of {}: sum over the batch", tensor.name));
  Signature signature(b, task);
  const KernelTensor parts = signature.reads({Role::Workspace, -1});
  const KernelTensor sum = signature.writes({Role::ParamGradient, id});
  const Value batch = rows_of(signature, shares);
  const std::int64_t own = tensor.rows * task.problem.sizes.dim;  // elements of one head
  const std::int64_t stride =
      param_rows(task.cell) * task.problem.sizes.dim;  // of one (batch, head) in the workspace
  const std::int64_t count = own * task.problem.sizes.heads;
  const Value i = b.let("i", b.wide(b.block()) * kThreads + b.wide(b.thread()));
  b.if_(i < count, [&] {
    const Value first =
        b.let("first", i / own * stride + first_param_row(task.cell, id) * task.problem.sizes.dim + i % own);
    const Value total = b.variable("total", b.real(0));
    b.for_("row", b.constant(0), batch, b.constant(1), 8, [&](Value row) {
      b.assign(
          total,
          total + b.load("part", parts.memory[first + b.wide(row) * (stride * task.problem.sizes.heads)]));
    });
    b.store(sum.memory[i], total);
  });
  return {b.kernel(), signature.arguments(), ceil_div(count, kThreads), 0};
}

// A block sums one (head, row) over the batch and the channels: strided sums, then a tree in shared memory.
Launch reduce_scalar(const Task& task, int shares, TensorId id) {
  const step::Tensor& tensor = task.cell.tensor(id);
  kernel::Builder b(fmt::format("{}_grad_{}", task.cell.name, tensor.name), kThreads, task.problem.math,
                    fmt::format("gradient of {}: sum over the batch and the channels", tensor.name));
  Signature signature(b, task);
  const KernelTensor parts = signature.reads({Role::Workspace, -1});
  const KernelTensor sum = signature.writes({Role::ParamGradient, id});
  const Value batch = rows_of(signature, shares);
  const kernel::Memory tree = b.shared("tree", kernel::Storage::F32, kThreads, "[threads]");
  const std::int64_t dim = task.problem.sizes.dim;
  const Value head = b.let("head", b.block() / tensor.rows);
  const Value row = b.let("row", b.block() % tensor.rows);
  const Value total = b.variable("total", b.real(0));
  b.for_("n", b.constant(0), batch, b.constant(1), 1, [&](Value n) {
    const Value first =
        b.let("first", ((b.wide(n) * task.problem.sizes.heads + b.wide(head)) * param_rows(task.cell) +
                        b.wide(row + first_param_row(task.cell, id))) *
                           dim);
    b.for_("d", b.thread(), b.constant(dim), b.constant(kThreads), 4,
           [&](Value d) { b.assign(total, total + b.load("part", parts.memory[first + b.wide(d)])); });
  });
  b.store(tree[b.thread()], total);
  b.barrier();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    b.if_(b.thread() < half, [&] {
      b.store(tree[b.thread()], b.load("mine", tree[b.thread()]) + b.load("other", tree[b.thread() + half]));
    });
    b.barrier();
  }
  b.if_(b.thread() == 0, [&] { b.store(sum.memory[b.block()], b.load("all", tree[b.constant(0)])); });
  return {b.kernel(), signature.arguments(), tensor.rows * task.problem.sizes.heads, 0};
}

}  // namespace

std::vector<Launch> sum_param_gradients(const Task& task, int shares) {
  std::vector<Launch> launches;
  for (const TensorId id : task.cell.of_kind(TensorKind::Param)) {
    const step::Tensor& tensor = task.cell.tensor(id);
    if (tensor.tail == Tail::Vector) launches.push_back(reduce_vector(task, shares, id));
    if (tensor.tail == Tail::Scalar) launches.push_back(reduce_scalar(task, shares, id));
  }
  return launches;
}

}  // namespace rondo::schedule
