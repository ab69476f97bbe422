#include "compiler/schedule/lower/head_gradient_sum.h"

#include <fmt/format.h>

#include "compiler/schedule/plan/signature.h"

namespace rondo::schedule {

namespace {

constexpr int kWarps = 4;  // of a block, one a time step

bool is_head_value(const step::Cell& cell, TensorId id) {
  const step::Tensor& tensor = cell.tensors[static_cast<std::size_t>(id)];
  return tensor.kind == TensorKind::Input && tensor.tail == step::Tail::Scalar;
}

// A block has four steps of a batch row and head; a warp adds up the channels of one: each lane every 32nd,
// then a tree of lanes.
Launch sum_channels(const Task& task, int count, TensorId id) {
  const step::Tensor& tensor = task.cell.tensors[static_cast<std::size_t>(id)];
  kernel::Builder b(
      fmt::format("{}_grad_{}", task.cell.name, tensor.name), 32 * kWarps, task.problem.math,
      fmt::format("gradient of {}: sum over the {}", tensor.name, count > 0 ? "blocks" : "channels"));
  Signature signature(b, task);
  signature.set_scratch(head_value_scratch(head_value_rows(task.cell)), count);
  const KernelTensor shares = signature.reads({Role::Scratch, kShares});
  const KernelTensor sum = signature.writes({Role::InputGradient, id});
  const Value time = signature.time();
  const std::int64_t heads = task.problem.sizes.heads, of_row = count > 0 ? count : task.problem.sizes.dim;
  const Value spans = b.let("spans", ceil_div(time, kWarps));
  const Value head = b.let("head", b.block() % heads);
  const Value batch = b.let("row", b.block() / heads / spans);
  const Value t = b.let("t", b.block() / heads % spans * kWarps + b.thread() / 32);
  const Value lane = b.let("lane", b.thread() % 32);
  b.if_(t < time, [&] {
    const auto place = [&](const KernelTensor& of, Value of_head) {
      return b.wide(batch) * of.stride_b + b.wide(t) * of.stride_t + b.wide(of_head);
    };
    for (int row = 0; row < tensor.rows; ++row) {
      const Value first =
          b.let("first", place(shares, head * (shares.rows * of_row) +
                                           (first_head_value_row(task.cell, id) + row) * of_row));
      const Value total = b.variable("total", b.real(0));
      b.for_("d", lane, b.constant(of_row), b.constant(32), 4,
             [&](Value d) { b.assign(total, total + b.load("share", shares.memory[first + b.wide(d)])); });
      for (int apart = 16; apart > 0; apart /= 2)
        b.assign(total, total + b.shuffle("other", total, kernel::ShuffleMode::Xor, b.constant(apart)));
      b.if_(lane == 0, [&] { b.store(sum.memory[place(sum, head * tensor.rows + row)], total); });
    }
  });
  Launch launch{b.kernel(), signature.arguments(), 0, heads};
  launch.time_tile = kWarps;
  return launch;
}

}  // namespace

int head_value_rows(const step::Cell& cell) {
  return first_head_value_row(cell, static_cast<TensorId>(cell.tensors.size()));
}

int first_head_value_row(const step::Cell& cell, TensorId input) {
  int rows = 0;
  for (const TensorId id : cell.of_kind(TensorKind::Input))
    if (id < input && is_head_value(cell, id)) rows += cell.tensors[static_cast<std::size_t>(id)].rows;
  return rows;
}

std::vector<int> head_value_scratch(int rows) {
  std::vector<int> scratch(kShares + 1, 0);
  scratch[kShares] = rows;
  return scratch;
}

std::vector<Launch> sum_head_gradients(const Task& task, int shares) {
  std::vector<Launch> launches;
  for (const TensorId id : task.cell.of_kind(TensorKind::Input))
    if (is_head_value(task.cell, id)) launches.push_back(sum_channels(task, shares, id));
  return launches;
}

}  // namespace rondo::schedule
