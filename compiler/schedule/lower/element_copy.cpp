#include "compiler/schedule/lower/element_copy.h"

#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

// Of a block; on a CPU its threads are lanes.
int threads_on(const target::Profile& profile) { return profile.is_cpu() ? 8 : 128; }
constexpr int kEach = 4;       // elements of a thread, at every so many threads
constexpr int kTimeTile = 16;  // steps of a block

}  // namespace

ElementCopy::ElementCopy(const Task& task, const std::string& name, const std::string& comment)
    : task_(task),
      threads_(threads_on(task.profile)),
      b_(name, threads_, task.problem.math, comment),
      signature_(b_, task_) {}

std::int64_t ElementCopy::blocks_of(std::int64_t count) const {
  return ceil_div(count, std::int64_t{threads_} * kEach);
}

void ElementCopy::elements(Value block, std::int64_t count, const std::function<void(Value)>& body) {
  for (int turn = 0; turn < kEach; ++turn) {
    const Value i = b_.let("i", block * (threads_ * kEach) + (b_.thread() + turn * threads_));
    b_.if_(i < count, [&] { body(i); });
  }
}

Launch ElementCopy::of_all(const KernelTensor& to, std::int64_t count,
                           const std::function<Value(Value)>& value) {
  const std::int64_t blocks = blocks_of(count);
  elements(b_.block(), count, [&](Value i) { b_.store(to.memory[b_.wide(i)], value(i)); });
  return {b_.kernel(), signature_.arguments(), blocks, 0};
}

void ElementCopy::add(const Source& source, const Place& place, Value row, const Begin& begin,
                      const std::function<void(Value)>& take) {
  const auto fetch = [&](Value of) {
    take(b_.load("element",
                 source.from.memory[begin(source.from, source.count, of) + b_.wide(place.element)]));
  };
  if (source.batch_rows == 1) return fetch(row);
  b_.for_("batch_row", row * source.batch_rows, (row + 1) * source.batch_rows, b_.constant(1), 4, fetch);
}

void ElementCopy::move(Value block, const KernelTensor& to, std::int64_t count,
                       const std::vector<Source>& sources, Value row, const Begin& begin) {
  elements(block, count, [&](Value i) {
    const Value value = b_.variable("value", b_.real(0));
    for (const Source& source : sources) {
      const Place place = source.find(i);
      const bool sum = sources.size() > 1 || source.batch_rows > 1;
      const auto fetch = [&] {
        add(source, place, row, begin,
            [&](Value element) { b_.assign(value, sum ? value + element : element); });
      };
      place.exists.valid() ? b_.if_(place.exists, fetch) : fetch();
    }
    b_.store(to.memory[begin(to, count, row) + b_.wide(i)], value);
  });
}

Launch ElementCopy::copy(const KernelTensor& to, std::int64_t count, const std::vector<Source>& sources,
                         const executable::RoleInfo& role) {
  if (role.timed) return copy_steps(to, count, sources);
  const std::int64_t blocks = blocks_of(count);
  if (!role.per_batch) {
    move(b_.block(), to, count, sources, {},
         [&](const KernelTensor&, std::int64_t, Value) { return b_.constant(0, kernel::Type::I64); });
    return {b_.kernel(), signature_.arguments(), blocks, 0};
  }
  signature_.batch();
  const Value row = b_.let("row", b_.block() / static_cast<int>(blocks));
  move(b_.block() % static_cast<int>(blocks), to, count, sources, row,
       [&](const KernelTensor&, std::int64_t of_row, Value of) { return b_.wide(of) * of_row; });
  return {b_.kernel(), signature_.arguments(), 0, blocks};
}

// A block's steps are of one batch row.
Launch ElementCopy::copy_steps(const KernelTensor& to, std::int64_t count,
                               const std::vector<Source>& sources) {
  const std::int64_t blocks = blocks_of(count);
  const Value batch = signature_.batch(), time = signature_.time();
  const Value spans = b_.let("spans", ceil_div(time, kTimeTile));
  const Value block = b_.let("part", b_.block() / (spans * batch));
  const Value rest = b_.let("rest", b_.block() % (spans * batch));
  const Value row = b_.let("row", rest / spans);
  const Value first = b_.let("first_step", rest % spans * kTimeTile);
  b_.for_("t", first, min(first + kTimeTile, time), b_.constant(1), 1, [&](Value t) {
    move(block, to, count, sources, row, [&](const KernelTensor& tensor, std::int64_t, Value of) {
      return b_.wide(of) * tensor.stride_b + b_.wide(t) * tensor.stride_t;
    });
  });
  Launch launch{b_.kernel(), signature_.arguments(), 0, blocks};
  launch.time_tile = kTimeTile;
  return launch;
}

}  // namespace rondo::schedule
