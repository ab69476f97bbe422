#include "compiler/schedule/widen/copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/schedule/lower/element_copy.h"

namespace rondo::schedule {

namespace {

// Where an element of a tensor lies in another one, which may have other channels, or be transposed.
ElementCopy::Place place(const step::Tensor& of, const step::Tensor& in, bool transposed, const Task& task,
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
  ElementCopy::Place result;
  result.element = (group * in_rows + row) * in_columns + column;
  if (in_columns < most_columns) result.exists = column < in_columns;
  if (in_rows < most_rows)
    result.exists = result.exists.valid() ? result.exists && row < in_rows : row < in_rows;
  return result;
}

ElementCopy::Source source_of(const KernelTensor& from, const step::Tensor& declared, const step::Tensor& to,
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
  ElementCopy copy(task, fmt::format("{}_{}_{}", task.cell.name, suffix, name),
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
  ElementCopy copy(task, fmt::format("{}_narrow_{}", task.cell.name, name),
                   fmt::format("the channels that {} has, of what the walk has", name));
  const KernelTensor to = copy.signature().writes(narrow);
  const step::Tensor wanted = tensor_in_role(narrow, task.cell);
  std::vector<ElementCopy::Source> sources;
  for (const WideSide& side : wide) {
    const char* suffix = side.transposed ? "transposed" : "wide";
    const KernelTensor from =
        copy.signature().between_launches(*side.tensor, fmt::format("{}_{}", name, suffix), false);
    sources.push_back(source_of(from, side.declared, wanted, side.transposed, task));
  }
  return copy.copy(to, elements_of(wanted, task), sources, executable::role_info(narrow.role));
}

Launch write_mask(const Task& task, const WideTensor& wide, std::int64_t size, const std::string& name) {
  ElementCopy copy(task, fmt::format("{}_{}", task.cell.name, name),
                   fmt::format("1 in the first {} channels, 0 in those behind", size));
  const KernelTensor to = copy.signature().between_launches(wide, name, true);
  const std::int64_t dim = task.problem.sizes.dim;
  kernel::Builder& b = copy.b();
  return copy.of_all(to, task.problem.sizes.heads * dim,
                     [&](Value i) { return b.select(i % dim < size, b.real(1), b.real(0)); });
}

}  // namespace rondo::schedule
