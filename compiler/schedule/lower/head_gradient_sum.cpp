#include "compiler/schedule/lower/head_gradient_sum.h"

#include <fmt/format.h>

#include <functional>

#include "compiler/schedule/plan/signature.h"

namespace rondo::schedule {

namespace {

constexpr int kWarps = 4;       // of a block, one a time step
constexpr int kRowsByLane = 8;  // from so many on lanes have rows; else all lanes have the shares of one

bool is_head_value(const step::Cell& cell, TensorId id, TensorKind kind = TensorKind::Input) {
  const step::Tensor& tensor = cell.tensors[static_cast<std::size_t>(id)];
  return tensor.kind == kind && tensor.tail == step::Tail::Scalar;
}

// Adds up what the channels of a row have in `shares` from element `first` on, `apart` elements from one to
// the next: each lane of a warp every 32nd, then a tree of lanes.
Value add_channels(kernel::Builder& b, const kernel::Memory& shares, Value first, Value lane,
                   std::int64_t channels, std::int64_t apart = 1) {
  const Value total = b.variable("total", b.real(0));
  b.for_("d", lane, b.constant(channels), b.constant(32), 4,
         [&](Value d) { b.assign(total, total + b.load("share", shares[first + b.wide(d * apart)])); });
  for (int distance = 16; distance > 0; distance /= 2)
    b.assign(total, total + b.shuffle("other", total, kernel::ShuffleMode::Xor, b.constant(distance)));
  return total;
}

// An element of the shares, and of their sum, by the row of the input.
struct Summed {
  const KernelTensor &shares, &sum;
  std::function<Value(Value)> from, to;
  int rows = 1;
};

// Each lane adds up `count` shares of every 32nd row, one after the other.
void sum_rows_by_lane(kernel::Builder& b, const Summed& s, Value lane, int count) {
  b.for_("row", lane, b.constant(s.rows), b.constant(32), 1, [&](Value row) {
    const Value total = b.variable("total", b.real(0)), first = b.let("first", s.from(row));
    b.for_("n", b.constant(0), b.constant(count), b.constant(1), 8, [&](Value n) {
      b.assign(total, total + b.load("share", s.shares.memory[first + b.wide(n * s.shares.rows)]));
    });
    b.store(s.sum.memory[s.to(row)], total);
  });
}

// All lanes add up one row after the other: of each `count` numbers, `apart` elements from one to the next.
void sum_rows_by_warp(kernel::Builder& b, const Summed& s, Value lane, std::int64_t count,
                      std::int64_t apart) {
  for (int row = 0; row < s.rows; ++row) {
    const Value first = b.let("first", s.from(b.constant(row)));
    const Value total = add_channels(b, s.shares.memory, first, lane, count, apart);
    b.if_(lane == 0, [&] { b.store(s.sum.memory[s.to(b.constant(row))], total); });
  }
}

// A block has four steps of a batch row and head; a warp adds up the shares of one.
Launch sum_channels(const Task& task, int count, int share_rows, TensorId id) {
  const step::Tensor& tensor = task.cell.tensors[static_cast<std::size_t>(id)];
  kernel::Builder b(
      fmt::format("{}_grad_{}", task.cell.name, tensor.name), 32 * kWarps, task.problem.math,
      fmt::format("gradient of {}: sum over the {}", tensor.name, count > 0 ? "shares" : "channels"));
  Signature signature(b, task);
  signature.set_scratch(head_value_scratch(share_rows), count);
  const KernelTensor shares = signature.reads({Role::Scratch, kShares});
  const KernelTensor sum = signature.writes({Role::InputGradient, id});
  const Value time = signature.time();
  const std::int64_t heads = task.problem.sizes.heads, dim = task.problem.sizes.dim;
  const Value spans = b.let("spans", ceil_div(time, kWarps));
  const Value head = b.let("head", b.block() % heads);
  signature.set_head(head);
  const Value batch = b.let("row", b.block() / heads / spans);
  const Value t = b.let("t", b.block() / heads % spans * kWarps + b.thread() / 32);
  const Value lane = b.let("lane", b.thread() % 32);
  b.if_(t < time, [&] {
    const auto place = [&](const KernelTensor& of, Value of_head) {
      return of.row_begin(batch) + b.wide(t) * of.stride_t + b.wide(of_head);
    };
    const int first = first_head_value_row(task.cell, id);
    const std::int64_t of_head = shares.rows * (count > 0 ? count : dim), of_row = count > 0 ? 1 : dim;
    const Summed summed{shares, sum,
                        [&](Value row) { return place(shares, head * of_head + (row + first) * of_row); },
                        [&](Value row) { return place(sum, head * sum.head_rows() + row); }, tensor.rows};
    if (count > 0 && tensor.rows >= kRowsByLane)
      sum_rows_by_lane(b, summed, lane, count);
    else
      sum_rows_by_warp(b, summed, lane, count > 0 ? count : dim, count > 0 ? shares.rows : 1);
  });
  Launch launch{b.kernel(), signature.arguments(), 0, heads};
  launch.time_tile = kWarps;
  return launch;
}

// A block has a batch row and head of an initial state, its warps the rows in turn.
Launch sum_state_channels(const Task& task, TensorId id) {
  const step::Tensor& tensor = task.cell.tensors[static_cast<std::size_t>(id)];
  kernel::Builder b(fmt::format("{}_grad_first_{}", task.cell.name, tensor.name), 32 * kWarps,
                    task.problem.math,
                    fmt::format("gradient of the initial {}: sum over the channels", tensor.name));
  Signature signature(b, task);
  const KernelTensor shares = signature.reads({Role::Carries, -1});
  const KernelTensor sum = signature.writes({Role::InitialStateGradient, id});
  const std::int64_t dim = task.problem.sizes.dim;
  const int rows = head_value_rows(task.cell, TensorKind::State), own = first_head_value_row(task.cell, id);
  const Value lane = b.let("lane", b.thread() % 32);
  b.for_("row", b.thread() / 32, b.constant(tensor.rows), b.constant(kWarps), 1, [&](Value row) {
    const Value first = b.let("first", (b.wide(b.block()) * rows + b.wide(row + own)) * dim);
    const Value total = add_channels(b, shares.memory, first, lane, dim);
    b.if_(lane == 0, [&] { b.store(sum.memory[b.wide(b.block()) * tensor.rows + b.wide(row)], total); });
  });
  return {b.kernel(), signature.arguments(), 0, task.problem.sizes.heads};
}

int rows_before(const step::Cell& cell, TensorKind kind, TensorId tensor) {
  int rows = 0;
  for (const TensorId id : cell.of_kind(kind))
    if (id < tensor && is_head_value(cell, id, kind)) rows += cell.tensors[static_cast<std::size_t>(id)].rows;
  return rows;
}

}  // namespace

int head_value_rows(const step::Cell& cell, TensorKind kind) {
  return rows_before(cell, kind, static_cast<TensorId>(cell.tensors.size()));
}

int first_head_value_row(const step::Cell& cell, TensorId tensor) {
  return rows_before(cell, cell.tensors[static_cast<std::size_t>(tensor)].kind, tensor);
}

std::vector<int> head_value_scratch(int rows) {
  std::vector<int> scratch(kShares + 1, 0);
  scratch[kShares] = rows;
  return scratch;
}

std::vector<Launch> sum_head_gradients(const Task& task, int shares, int rows) {
  std::vector<Launch> launches;
  if (rows == 0) rows = head_value_rows(task.cell);
  for (const TensorId id : task.cell.of_kind(TensorKind::Input))
    if (is_head_value(task.cell, id)) launches.push_back(sum_channels(task, shares, rows, id));
  return launches;
}

std::vector<Launch> sum_head_state_gradients(const Task& task) {
  std::vector<Launch> launches;
  for (const TensorId id : task.cell.of_kind(TensorKind::State))
    if (is_head_value(task.cell, id, TensorKind::State)) launches.push_back(sum_state_channels(task, id));
  return launches;
}

}  // namespace rondo::schedule
