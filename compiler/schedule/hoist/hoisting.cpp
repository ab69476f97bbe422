#include "compiler/schedule/hoist/hoisting.h"

#include <algorithm>
#include <utility>

#include "compiler/schedule/gemm/matrix_gradient.h"
#include "compiler/schedule/gemm/time_product.h"
#include "compiler/schedule/hoist/transpose.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

// Scratch tensors of the storage type that no strategy for cells without matrices has.
constexpr int kMade = 0, kMadeGradient = 2;

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
  AroundTheWalk(const Task& task, const InputProducts& products, KernelPlan plan)
      : task_(task), products_(products), plan_(std::move(plan)) {}

  KernelPlan run() {
    if (plan_.scratch_rows.size() <= kMadeGradient) plan_.scratch_rows.resize(kMadeGradient + 1, 0);
    plan_.scratch_rows[kMade] = static_cast<int>(products_.products.size());
    std::vector<Launch> walk = std::exchange(plan_.launches, {});
    add_products();
    for (Launch& launch : walk) {
      for (LaunchArgument& argument : launch.arguments) rename(argument);
      plan_.launches.push_back(std::move(launch));
    }
    if (task_.problem.pass != Pass::Backward) return std::move(plan_);
    plan_.scratch_rows[kMadeGradient] = plan_.scratch_rows[kMade];
    add_input_gradients();
    add_matrix_gradients();
    return std::move(plan_);
  }

 private:
  GemmParameters gemm(GemmUse use, std::size_t rows) const {
    return gemm_parameters(task_.problem, task_.profile, use, static_cast<int>(rows),
                           plan_.alignment / kernel::storage_bytes(task_.problem.storage));
  }
  static TimeOperand operand(RowRef row) { return {row, false, std::nullopt, 0}; }

  // Tensors of the walk's cell are those of the task's, and its new input is scratch.
  void rename(LaunchArgument& argument) const {
    const auto rename = [&](TensorRef& ref) {
      if (executable::is_internal(ref.role)) return;
      const step::TensorId of_cell = products_.tensors[at(ref.tensor)];
      if (of_cell >= 0)
        ref.tensor = of_cell;
      else
        ref = {Role::Scratch, ref.role == Role::InputGradient ? kMadeGradient : kMade};
    };
    if (auto* pointer = std::get_if<Pointer>(&argument)) rename(pointer->tensor);
    if (auto* stride = std::get_if<StrideB>(&argument)) rename(stride->tensor);
    if (auto* stride = std::get_if<StrideT>(&argument)) rename(stride->tensor);
  }

  void add_products() {
    for (const SameVector& group : by_vector(products_.products)) {
      std::vector<TimeProduct> same;
      for (std::size_t i = group.first; i < group.first + group.count; ++i) {
        const InputProducts::Product& product = products_.products[i];
        same.push_back({product.matrix,
                        product.row,
                        operand({{Role::Input, product.input}, product.input_row}),
                        {{Role::Scratch, kMade}, static_cast<int>(i)}});
      }
      plan_.launches.push_back(
          time_product(task_, same, plan_.scratch_rows, gemm(GemmUse::TimeProduct, same.size())));
    }
  }

  // The gradient of each vector is one product: of its matrices, packed by their columns one beside the
  // other, and of the gradients of its products, which are neighbours.
  void add_input_gradients() {
    const step::Sizes& sizes = task_.problem.sizes;
    std::int64_t packed = 0;
    for (const SameVector& group : by_vector(products_.products)) {
      const std::int64_t columns = static_cast<std::int64_t>(group.count) * sizes.dim;
      for (std::size_t i = 0; i < group.count; ++i) {
        const InputProducts::Product& product = products_.products[group.first + i];
        plan_.launches.push_back(transpose(
            task_, {product.matrix, product.row, packed, columns, static_cast<std::int64_t>(i) * sizes.dim}));
      }
      const InputProducts::Product& first = products_.products[group.first];
      TimeProduct product;
      product.vector = operand({{Role::Scratch, kMadeGradient}, static_cast<int>(group.first)});
      product.out = {{Role::InputGradient, first.input}, first.input_row};
      product.packed = packed;
      product.vector_rows = static_cast<int>(group.count);
      plan_.launches.push_back(
          time_product(task_, {product}, plan_.scratch_rows, gemm(GemmUse::TimeProduct, 1)));
      packed += sizes.heads * sizes.dim * columns;
    }
    plan_.packed = {packed, 0};
  }

  void add_matrix_gradients() {
    std::vector<MatrixTerm> terms;
    for (std::size_t i = 0; i < products_.products.size(); ++i) {
      const InputProducts::Product& product = products_.products[i];
      terms.push_back({product.matrix, product.row,
                       operand({{Role::Scratch, kMadeGradient}, static_cast<int>(i)}),
                       operand({{Role::Input, product.input}, product.input_row})});
    }
    const GemmParameters parameters = gemm(GemmUse::MatrixGradient, terms.size());
    for (Launch& launch : matrix_gradients(task_, terms, plan_.scratch_rows, parameters))
      plan_.launches.push_back(std::move(launch));
    plan_.workspace_elements_fixed =
        std::max(plan_.workspace_elements_fixed, matrix_gradient_workspace(task_, terms, parameters));
  }

  const Task& task_;
  const InputProducts& products_;
  KernelPlan plan_;
};

// Of each vector one launch of products, and in a backward pass one more for its gradient.
double seconds_of_products(const Task& task, const InputProducts& products) {
  double seconds = 0;
  for (const SameVector& group : by_vector(products.products))
    seconds += seconds_of_time_product(task, static_cast<int>(group.count));
  return task.problem.pass == Pass::Backward ? 2 * seconds : seconds;
}

}  // namespace

std::shared_ptr<const std::optional<Hoisting::Split>> Hoisting::split(const Task& task) const {
  return task.fact<std::optional<Split>>(
      "what " + name() + " walks in the place of the cell", [&]() -> std::optional<Split> {
        if (walk_.legal(task).legal) return std::nullopt;
        std::optional<InputProducts> products = input_products(task);
        if (!products) return std::nullopt;
        Task walked(products->walked, task.problem, task.profile, task.watcher);
        if (!walk_.legal(walked).legal) return std::nullopt;
        return Split{std::move(*products), std::move(walked)};
      });
}

Legality Hoisting::legal(const Task& task) const { return *split(task) ? Legality{} : walk_.legal(task); }

constraint::System Hoisting::space(const Task& task) const {
  const auto split = this->split(task);
  return walk_.space(*split ? (*split)->walked : task);
}

CostModel Hoisting::cost_model(const Task& task) const {
  const auto split = this->split(task);
  if (!*split) return walk_.cost_model(task);
  const double beside = seconds_of_products(task, (*split)->products);
  return [model = walk_.cost_model((*split)->walked), beside](const Parameters& parameters) {
    Estimate estimate = model(parameters);
    estimate.seconds += beside;
    estimate.launch += beside;
    return estimate;
  };
}

std::vector<EstimatePart> Hoisting::parts(const Task& task, const Parameters& parameters) const {
  const auto split = this->split(task);
  if (!*split) return walk_.parts(task, parameters);
  std::vector<EstimatePart> parts = walk_.parts((*split)->walked, parameters);
  parts.push_back({EstimatePart::Of::Launches, "products of inputs over all steps",
                   seconds_of_products(task, (*split)->products)});
  return parts;
}

std::vector<EstimatePart> Hoisting::measured_chain(const Task& task, const Parameters& parameters) const {
  const auto split = this->split(task);
  return walk_.measured_chain(*split ? (*split)->walked : task, parameters);
}

KernelPlan Hoisting::build_kernels(const Task& task, const Parameters& parameters) const {
  const auto split = this->split(task);
  if (!*split) return walk_.build_kernels(task, parameters);
  return AroundTheWalk(task, (*split)->products, walk_.build_kernels((*split)->walked, parameters)).run();
}

}  // namespace rondo::schedule
