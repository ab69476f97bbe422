#include "compiler/schedule/widen/copies.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/plan/signature.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

// Of a block; on a CPU its threads are lanes.
int threads_on(const target::Profile& profile) { return profile.is_cpu() ? 8 : 128; }
constexpr int kEach = 4;       // elements of a thread, at every so many threads
constexpr int kTimeTile = 16;  // steps of a block

// A kernel that makes each element of a tensor, or of all (batch row, step) of it, from another one's.
class CopyBuilder {
 public:
  CopyBuilder(const Task& task, const std::string& name, const std::string& comment)
      : task_(task),
        threads_(threads_on(task.profile)),
        b_(name, threads_, task.problem.math, comment),
        signature_(b_, task) {}

  // Of a tensor without a batch axis that is all written: value(element).
  Launch of_all(const KernelTensor& to, std::int64_t count, const std::function<Value(Value)>& value) {
    const std::int64_t blocks = blocks_of(count);
    elements(b_.block(), count, [&](Value i) { b_.store(to.memory[b_.wide(i)], value(i)); });
    return {b_.kernel(), signature_.arguments(), blocks, 0};
  }

  // `inside`: whether an element of `to` has one of `from`, and which. Elements are of a (batch row, step),
  // of a batch row or of all.
  struct Source {
    Value exists, element;
  };
  using Find = std::function<Source(Value)>;
  Launch copy(const KernelTensor& to, const KernelTensor& from, std::int64_t count, std::int64_t of_from,
              const executable::RoleInfo& role, const Find& find) {
    const std::int64_t blocks = blocks_of(count);
    const auto move = [&](Value block, Value to_first, Value from_first) {
      elements(block, count, [&](Value i) {
        const Source source = find(i);
        const Value value = b_.variable("value", b_.real(0));
        const auto fetch = [&] {
          b_.assign(value, b_.load("element", from.memory[from_first + b_.wide(source.element)]));
        };
        source.exists.valid() ? b_.if_(source.exists, fetch) : fetch();
        b_.store(to.memory[to_first + b_.wide(i)], value);
      });
    };
    if (!role.per_batch) {
      move(b_.block(), b_.constant(0, kernel::Type::I64), b_.constant(0, kernel::Type::I64));
      return {b_.kernel(), signature_.arguments(), blocks, 0};
    }
    const Value batch = signature_.batch();
    if (!role.timed) {
      const Value row = b_.let("row", b_.block() / static_cast<int>(blocks));
      move(b_.block() % static_cast<int>(blocks), b_.wide(row) * count, b_.wide(row) * of_from);
      return {b_.kernel(), signature_.arguments(), 0, blocks};
    }
    const Value time = signature_.time();
    const Value spans = b_.let("spans", ceil_div(time, kTimeTile));
    const Value block = b_.let("part", b_.block() / (spans * batch));
    const Value rest = b_.let("rest", b_.block() % (spans * batch));
    const Value row = b_.let("row", rest / spans);
    const Value first = b_.let("first_step", rest % spans * kTimeTile);
    b_.for_("t", first, min(first + kTimeTile, time), b_.constant(1), 1, [&](Value t) {
      const auto begin = [&](const KernelTensor& tensor) {
        return b_.wide(row) * tensor.stride_b + b_.wide(t) * tensor.stride_t;
      };
      move(block, b_.let("to_step", begin(to)), b_.let("from_step", begin(from)));
    });
    Launch launch{b_.kernel(), signature_.arguments(), 0, blocks};
    launch.time_tile = kTimeTile;
    return launch;
  }

  Signature& signature() { return signature_; }
  kernel::Builder& b() { return b_; }

 private:
  std::int64_t blocks_of(std::int64_t count) const {
    return ceil_div(count, std::int64_t{threads_} * kEach);
  }
  void elements(Value block, std::int64_t count, const std::function<void(Value)>& body) {
    for (int turn = 0; turn < kEach; ++turn) {
      const Value i = b_.let("i", block * (threads_ * kEach) + (b_.thread() + turn * threads_));
      b_.if_(i < count, [&] { body(i); });
    }
  }

  const Task& task_;
  int threads_;
  kernel::Builder b_;
  Signature signature_;
};

// Where channels and rows of one of two tensors lie in the other.
CopyBuilder::Source place(const step::Tensor& of, const step::Tensor& in, const Task& task, Value i) {
  const step::Sizes& sizes = task.problem.sizes;
  const auto columns = step::columns(of, sizes), rows = step::outputs(of, sizes);
  const auto other_columns = step::columns(in, sizes), other_rows = step::outputs(in, sizes);
  const Value column = i % columns, row = i / columns % rows, group = i / (columns * rows);
  CopyBuilder::Source source;
  source.element = (group * other_rows + row) * other_columns + column;
  if (other_columns < columns) source.exists = column < other_columns;
  if (other_rows < rows)
    source.exists = source.exists.valid() ? source.exists && row < other_rows : row < other_rows;
  return source;
}

Launch copy(const Task& task, const WideCopy& what, bool to_wide) {
  const executable::RoleInfo& role = executable::role_info(what.narrow.role);
  const std::string name = name_of(what.narrow, task.cell), wide_name = name + "_wide";
  CopyBuilder copy(task, fmt::format("{}_{}_{}", task.cell.name, to_wide ? "widen" : "narrow", name),
                   to_wide ? fmt::format("{} with D channels, 0 behind its own", name)
                           : fmt::format("the channels that {} has, of D", name));
  Signature& signature = copy.signature();
  const KernelTensor narrow = to_wide ? signature.reads(what.narrow) : signature.writes(what.narrow);
  const KernelTensor wide = signature.between_launches(*what.wide, wide_name, to_wide);
  const step::Tensor &to = to_wide ? what.of_wide : what.of_narrow,
                     &from = to_wide ? what.of_narrow : what.of_wide;
  return copy.copy(to_wide ? wide : narrow, to_wide ? narrow : wide, elements_of(to, task),
                   elements_of(from, task), role, [&](Value i) { return place(to, from, task, i); });
}

}  // namespace

std::int64_t elements_of(const step::Tensor& tensor, const Task& task) {
  return task.problem.sizes.heads * step::block(tensor, task.problem.sizes);
}

Launch copy_to_wide(const Task& task, const WideCopy& what) { return copy(task, what, true); }
Launch copy_from_wide(const Task& task, const WideCopy& what) { return copy(task, what, false); }

Launch write_mask(const Task& task, const WideTensor& wide, std::int64_t size, const std::string& name) {
  CopyBuilder copy(task, fmt::format("{}_{}", task.cell.name, name),
                   fmt::format("1 in the first {} channels, 0 in those behind", size));
  const KernelTensor to = copy.signature().between_launches(wide, name, true);
  const std::int64_t dim = task.problem.sizes.dim;
  kernel::Builder& b = copy.b();
  return copy.of_all(to, task.problem.sizes.heads * dim,
                     [&](Value i) { return b.select(i % dim < size, b.real(1), b.real(0)); });
}

}  // namespace rondo::schedule
