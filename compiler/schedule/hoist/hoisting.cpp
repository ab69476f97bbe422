#include "compiler/schedule/hoist/hoisting.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "compiler/schedule/hoist/on_gpus.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/wide_tensors.h"
#include "compiler/step/extents.h"
#include "compiler/support/index.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

// Scratch tensors of the storage type that the walk does not have.
struct Made {
  int products, gradients;
};
Made made_beside(const KernelPlan& walk) {
  const auto is_free = [&](std::size_t tensor) {
    return tensor >= walk.scratch_rows.size() || walk.scratch_rows[tensor] == 0;
  };
  // Where rows of a state are rows of the batch, those tensors of the walk are of its larger batch.
  return walk.batch_rows == 1 && is_free(0) && is_free(2) ? Made{0, 2}
                                                          : Made{kInputProducts, kInputProductGradients};
}

constexpr std::int64_t kPackedUnit = 64;  // elements to which the first packed matrix is aligned

// Neighbouring products of one vector.
struct SameVector {
  std::size_t first, count;
};
std::vector<SameVector> by_vector(const std::vector<InputProducts::Product>& products) {
  std::vector<SameVector> groups;
  for (std::size_t i = 0; i < products.size(); ++i) {
    const auto& [first, count] = groups.empty() ? SameVector{0, 0} : groups.back();
    if (count > 0 && products[first].input == products[i].input &&
        products[first].input_row == products[i].input_row)
      ++groups.back().count;
    else
      groups.push_back({i, 1});
  }
  return groups;
}

class AroundTheWalk {
 public:
  AroundTheWalk(const Task& task, const InputProducts& products, const Strategy& walk, KernelPlan plan)
      : task_(in_order_of_time(task)), products_(products), made_(made_beside(plan)), plan_(std::move(plan)) {
    if (plan_.packed.each != 0) throw std::logic_error("a walk whose packed matrices follow the batch");
    const auto last = at(std::max(made_.products, made_.gradients));
    if (plan_.scratch_rows.size() <= last) plan_.scratch_rows.resize(last + 1, 0);
    plan_.scratch_rows[at(made_.products)] = static_cast<int>(products_.products.size());
    if (backward()) plan_.scratch_rows[at(made_.gradients)] = plan_.scratch_rows[at(made_.products)];
    const BesideWhat what{task_, plan_.scratch_rows, round_up(plan_.packed.fixed, kPackedUnit),
                          plan_.alignment, step::has_matrix(products_.walked)};
    beside_ = walk.products_beside(what, plan_.parameters);
    if (!beside_) beside_ = products_on_gpus(what);
  }

  KernelPlan run() {
    std::vector<Launch> walk = std::exchange(plan_.launches, {});
    for (const SameVector& group : by_vector(products_.products)) add(beside_->products(of_vector(group)));
    for (Launch& launch : walk) each_tensor(launch, [&](TensorRef& ref, bool) { rename(ref); });
    add(std::move(walk));
    if (plan_.in_result) keep_apart();
    if (backward()) {
      for (const SameVector& group : by_vector(products_.products))
        add(beside_->vector_gradient(of_vector(group), gradient(group.first)));
      add_matrix_gradients();
    }
    if (beside_->packed_end() > round_up(plan_.packed.fixed, kPackedUnit))
      plan_.packed.fixed = beside_->packed_end();
    return std::move(plan_);
  }

 private:
  bool backward() const { return task_.problem.pass == Pass::Backward; }
  void add(std::vector<Launch> launches) {
    for (Launch& launch : launches) plan_.launches.push_back(std::move(launch));
  }
  RowRef gradient(std::size_t product) const {
    return {{Role::Scratch, made_.gradients}, static_cast<int>(product)};
  }
  TimeOperand vector(const InputProducts::Product& product) const {
    return {{{Role::Input, product.input}, product.input_row}, false, std::nullopt, 0};
  }

  std::vector<TimeProduct> of_vector(const SameVector& group) const {
    std::vector<TimeProduct> same;
    for (std::size_t i = group.first; i < group.first + group.count; ++i) {
      const InputProducts::Product& product = products_.products[i];
      same.push_back({product.matrix,
                      product.row,
                      vector(product),
                      {{Role::Scratch, made_.products}, static_cast<int>(i)}});
    }
    return same;
  }

  // Tensors of the walk's cell are those of the task's, and its new input is scratch.
  void rename(TensorRef& ref) const {
    if (executable::is_internal(ref.role)) return;
    const step::TensorId of_cell = products_.tensors[at(ref.tensor)];
    if (of_cell >= 0)
      ref.tensor = of_cell;
    else
      ref = {Role::Scratch, ref.role == Role::InputGradient ? made_.gradients : made_.products};
  }
  // What lies in a result of the walk that is no result of the plan has memory of its own.
  void keep_apart() {
    rename(plan_.in_result->result);
    if (executable::is_internal(plan_.in_result->result.role)) plan_.in_result.reset();
  }

  void add_matrix_gradients() {
    std::vector<MatrixTerm> terms;
    for (std::size_t i = 0; i < products_.products.size(); ++i) {
      const InputProducts::Product& product = products_.products[i];
      terms.push_back({product.matrix, product.row, {gradient(i), false, std::nullopt, 0}, vector(product)});
    }
    std::vector<step::TensorId> of_walk;  // it makes their gradients itself
    if (step::has_matrix(products_.walked))
      for (const step::TensorId param : task_.cell.of_kind(step::TensorKind::Param))
        if (products_.in_walk(param)) of_walk.push_back(param);
    add(beside_->gradients(terms, of_walk));
    plan_.workspace_elements_fixed = std::max(plan_.workspace_elements_fixed, beside_->workspace(terms));
  }

  const Task task_;
  const InputProducts& products_;
  const Made made_;
  KernelPlan plan_;
  std::shared_ptr<ProductsBeside> beside_;
};

// Of each vector one launch of products, and in a backward pass one more for its gradient.
double seconds_of_products(const Task& task, const InputProducts& products) {
  double seconds = 0;
  for (const SameVector& group : by_vector(products.products)) {
    const step::Tensor& input = task.cell.tensor(products.products[group.first].input);
    seconds += seconds_of_time_product(task, static_cast<int>(group.count),
                                       step::columns(input, task.problem.sizes));
  }
  return task.problem.pass == Pass::Backward ? 2 * seconds : seconds;
}

}  // namespace

std::shared_ptr<const std::optional<Hoisting::Split>> Hoisting::split(const Task& task) const {
  return task.fact<std::optional<Split>>(
      fmt::format("what {} walks in the place of the cell, {}", name(), pass_key(task.problem)),
      [&]() -> std::optional<Split> {
        if (!step::has_extents(task.cell) && walk_.legal(task).legal) return std::nullopt;
        std::optional<InputProducts> products = input_products(task);
        if (!products) return std::nullopt;
        Task walked(products->walked, task.problem, task.profile, task.watcher);
        if (!products->own_extents && !walk_.legal(walked).legal) return std::nullopt;
        return Split{std::move(*products), std::move(walked)};
      });
}

Legality Hoisting::legal(const Task& task) const {
  const auto split = this->split(task);
  if (*split)
    return (*split)->products.own_extents ? walk_.legal((*split)->walked.with(task.problem)) : Legality{};
  if (step::has_extents(task.cell))
    return {false, "no matrix multiplies some row of an input that has an extent of its own"};
  return walk_.legal(task);
}

std::optional<Wrapping::Walk> Hoisting::walk_of(const Task& task) const {
  const auto split = this->split(task);
  if (!*split) return std::nullopt;
  return Walk{(*split)->walked.with(task.problem), seconds_of_products(task, (*split)->products),
              "products of inputs over all steps"};
}

KernelPlan Hoisting::build_kernels(const Task& task, const Parameters& parameters) const {
  const auto split = this->split(task);
  if (!*split) return walk_.build_kernels(task, parameters);
  return AroundTheWalk(task, (*split)->products, walk_,
                       walk_.build_kernels((*split)->walked.with(task.problem), parameters))
      .run();
}

}  // namespace rondo::schedule
