#include "compiler/schedule/widen/copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "compiler/schedule/analysis/saved_products.h"
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

  // Elements are of a (batch row, step), of a batch row or of all. `find`: which one of `from` belongs to an
  // element of the tensor that is written, and whether there is one; where there is none the value is 0.
  struct Place {
    Value exists, element;
  };
  struct Source {
    KernelTensor from;
    std::int64_t count;
    std::function<Place(Value)> find;
  };
  Launch copy(const KernelTensor& to, std::int64_t count, const std::vector<Source>& sources,
              const executable::RoleInfo& role) {
    const std::int64_t blocks = blocks_of(count);
    using Begin = std::function<Value(const KernelTensor&, std::int64_t count)>;
    const auto move = [&](Value block, const Begin& begin) {
      elements(block, count, [&](Value i) {
        const Value value = b_.variable("value", b_.real(0));
        for (const Source& source : sources) {
          const Place place = source.find(i);
          const auto fetch = [&] {
            const Value element = b_.load(
                "element", source.from.memory[begin(source.from, source.count) + b_.wide(place.element)]);
            b_.assign(value, sources.size() > 1 ? value + element : element);
          };
          place.exists.valid() ? b_.if_(place.exists, fetch) : fetch();
        }
        b_.store(to.memory[begin(to, count) + b_.wide(i)], value);
      });
    };
    if (!role.per_batch) {
      move(b_.block(), [&](const KernelTensor&, std::int64_t) { return b_.constant(0, kernel::Type::I64); });
      return {b_.kernel(), signature_.arguments(), blocks, 0};
    }
    const Value batch = signature_.batch();
    if (!role.timed) {
      const Value row = b_.let("row", b_.block() / static_cast<int>(blocks));
      move(b_.block() % static_cast<int>(blocks),
           [&](const KernelTensor&, std::int64_t of_row) { return b_.wide(row) * of_row; });
      return {b_.kernel(), signature_.arguments(), 0, blocks};
    }
    const Value time = signature_.time();
    const Value spans = b_.let("spans", ceil_div(time, kTimeTile));
    const Value block = b_.let("part", b_.block() / (spans * batch));
    const Value rest = b_.let("rest", b_.block() % (spans * batch));
    const Value row = b_.let("row", rest / spans);
    const Value first = b_.let("first_step", rest % spans * kTimeTile);
    b_.for_("t", first, min(first + kTimeTile, time), b_.constant(1), 1, [&](Value t) {
      move(block, [&](const KernelTensor& tensor, std::int64_t) {
        return b_.wide(row) * tensor.stride_b + b_.wide(t) * tensor.stride_t;
      });
    });
    Launch launch{b_.kernel(), signature_.arguments(), 0, blocks};
    launch.time_tile = kTimeTile;
    return launch;
  }

  Signature& signature() { return signature_; }
  kernel::Builder& b() { return b_; }

 private:
  std::int64_t blocks_of(std::int64_t count) const { return ceil_div(count, std::int64_t{threads_} * kEach); }
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

// Where an element of a tensor lies in another one, which may have other channels, or be transposed.
CopyBuilder::Place place(const step::Tensor& of, const step::Tensor& in, bool transposed, const Task& task,
                         Value i) {
  const step::Sizes& sizes = task.problem.sizes;
  const std::int64_t columns = step::columns(of, sizes), rows = step::outputs(of, sizes);
  const std::int64_t in_columns = step::columns(in, sizes), in_rows = step::outputs(in, sizes);
  const Value group = i / (columns * rows);
  Value row = i / columns % rows, column = i % columns;
  std::int64_t most_rows = rows, most_columns = columns;
  if (transposed) {
    std::swap(row, column);
    std::swap(most_rows, most_columns);
  }
  CopyBuilder::Place result;
  result.element = (group * in_rows + row) * in_columns + column;
  if (in_columns < most_columns) result.exists = column < in_columns;
  if (in_rows < most_rows)
    result.exists = result.exists.valid() ? result.exists && row < in_rows : row < in_rows;
  return result;
}

CopyBuilder::Source source_of(const KernelTensor& from, const step::Tensor& declared, const step::Tensor& to,
                              bool transposed, const Task& task) {
  return {from, elements_of(declared, task),
          [=, &task](Value i) { return place(to, declared, transposed, task, i); }};
}

}  // namespace

std::int64_t elements_of(const step::Tensor& tensor, const Task& task) {
  return task.problem.sizes.heads * step::block(tensor, task.problem.sizes);
}

Launch copy_to_wide(const Task& task, TensorRef narrow, const WideSide& wide) {
  const std::string name = name_of(narrow, task.cell), suffix = wide.transposed ? "transposed" : "wide";
  CopyBuilder copy(task, fmt::format("{}_{}_{}", task.cell.name, suffix, name),
                   fmt::format("{} as the walk has it, 0 behind its own channels", name));
  const KernelTensor from = copy.signature().reads(narrow);
  const KernelTensor to =
      copy.signature().between_launches(*wide.tensor, fmt::format("{}_{}", name, suffix), true);
  const step::Tensor given = tensor_in_role(narrow, task.cell);
  return copy.copy(to, elements_of(wide.declared, task),
                   {source_of(from, given, wide.declared, wide.transposed, task)},
                   executable::role_info(narrow.role));
}

Launch copy_from_wide(const Task& task, TensorRef narrow, const std::vector<WideSide>& wide) {
  const std::string name = name_of(narrow, task.cell);
  CopyBuilder copy(task, fmt::format("{}_narrow_{}", task.cell.name, name),
                   fmt::format("the channels that {} has, of what the walk has", name));
  const KernelTensor to = copy.signature().writes(narrow);
  const step::Tensor wanted = tensor_in_role(narrow, task.cell);
  std::vector<CopyBuilder::Source> sources;
  for (const WideSide& side : wide) {
    const char* suffix = side.transposed ? "transposed" : "wide";
    const KernelTensor from =
        copy.signature().between_launches(*side.tensor, fmt::format("{}_{}", name, suffix), false);
    sources.push_back(source_of(from, side.declared, wanted, side.transposed, task));
  }
  return copy.copy(to, elements_of(wanted, task), sources, executable::role_info(narrow.role));
}

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
