#include "compiler/schedule/plan/lower_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/executable/print.h"
#include "compiler/executable/producer.h"
#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/tensor_layout.h"
#include "compiler/step/ranges.h"

namespace rondo::schedule {

using executable::Executable;

namespace {

constexpr std::int64_t kMaxUnit = 2147483647;  // kernels number the elements of one step in 32 bits

class PlanLowering {
 public:
  PlanLowering(const Task& task, const KernelPlan& plan) : task_(task), plan_(plan) {}

  Result<Executable> run() {
    result_.identity = identity_of(task_, plan_.strategy, plan_.parameters);
    for (const Launch& launch : plan_.launches)
      if (Status status = add(launch); !status) return status.error();
    if (plan_.in_result) put_in_result(*plan_.in_result);
    if (Status status = executable::check(result_); !status) return status.error();
    return std::move(result_);
  }

 private:
  Status add(const Launch& launch) {
    const std::vector<kernel::Param>& params = launch.kernel.params;
    if (params.size() != launch.arguments.size())
      return Error{ErrorKind::Internal,
                   fmt::format("kernel {} has {} parameters and {} arguments", launch.kernel.name,
                               params.size(), launch.arguments.size())};
    const auto same_name = [&](const auto& other) { return other.name == launch.kernel.name; };
    if (std::ranges::any_of(result_.kernels, same_name))  // who loads them would find one of them only
      return Error{ErrorKind::Internal, fmt::format("two kernels are called {}", launch.kernel.name)};
    executable::Launch lowered;
    lowered.kernel = static_cast<std::uint16_t>(result_.kernels.size());
    lowered.grid = grid_of(launch);
    lowered.repetition = launch.repetition;
    if (launch.repetition.kind == executable::Repetition::Kind::Until) {
      const Result<std::uint16_t> condition = index_of({Role::Exchange, -1}, false, false);
      if (!condition) return condition.error();
      lowered.repetition.condition = *condition;
    }
    for (std::size_t i = 0; i < params.size(); ++i) {
      const Result<executable::Argument> argument = lower(launch.arguments[i], params[i]);
      if (!argument) return argument.error();
      lowered.arguments.push_back(*argument);
    }
    result_.kernels.push_back(launch_needs(launch.kernel));
    result_.launches.push_back(std::move(lowered));
    return success();
  }

  Result<executable::Argument> lower(const LaunchArgument& argument, const kernel::Param& param) {
    using Kind = executable::Argument::Kind;
    const std::uint8_t bytes = param.buffer || param.type == kernel::Type::I64 ? 8 : 4;
    const auto of_tensor = [&](Kind kind, TensorRef ref, bool reads,
                               bool writes) -> Result<executable::Argument> {
      const Result<std::uint16_t> tensor = index_of(ref, reads, writes);
      if (!tensor) return tensor.error();
      return executable::Argument{kind, bytes, *tensor};
    };
    const auto back = [&](TensorRef ref) {
      return task_.cell.direction == step::Direction::Reversed && lies_in_order_of_time(ref);
    };
    if (const auto* p = std::get_if<Pointer>(&argument))
      return of_tensor(back(p->tensor) ? Kind::LastStep : Kind::Pointer, p->tensor, !param.written,
                       param.written);
    if (const auto* s = std::get_if<StrideB>(&argument))
      return of_tensor(Kind::StrideB, s->tensor, false, false);
    if (const auto* s = std::get_if<StrideT>(&argument))
      return of_tensor(back(s->tensor) ? Kind::StrideTBack : Kind::StrideT, s->tensor, false, false);
    const Kind kind = std::holds_alternative<Batch>(argument)       ? Kind::Batch
                      : std::holds_alternative<Time>(argument)      ? Kind::Time
                      : std::holds_alternative<FirstTile>(argument) ? Kind::FirstTile
                                                                    : Kind::StepCount;
    return executable::Argument{kind, bytes, 0};
  }

  Result<std::uint16_t> index_of(TensorRef ref, bool reads, bool writes) {
    auto found = std::ranges::find_if(result_.tensors,
                                      [&](const executable::Tensor& tensor) { return tensor.ref == ref; });
    if (found == result_.tensors.end()) {
      if (result_.tensors.size() == executable::kMaxTensors)
        return Error{
            ErrorKind::Unsupported,
            fmt::format("cell {} needs more than {} tensors", task_.cell.name, executable::kMaxTensors),
            "join tensors of the cell into rows of one: x[4, D]"};
      Result<executable::Tensor> tensor = describe(ref);
      if (!tensor) return tensor.error();
      found = result_.tensors.insert(result_.tensors.end(), std::move(tensor).value());
    } else if (reads && found->need == executable::Need::Discard) {
      found->need = executable::Need::Required;  // a result that a later launch reads cannot be thrown away
    }
    found->written |= writes;
    return static_cast<std::uint16_t>(found - result_.tensors.begin());
  }

  void put_in_result(const InResult& pair) {
    const auto find = [&](TensorRef ref) {
      return std::ranges::find_if(result_.tensors,
                                  [&](const executable::Tensor& tensor) { return tensor.ref == ref; });
    };
    const auto scratch = find(pair.scratch), result = find(pair.result), none = result_.tensors.end();
    if (scratch == none || result == none || result->need != executable::Need::Required) return;
    scratch->lies_in = static_cast<std::int32_t>(result - result_.tensors.begin());
  }

  Result<executable::Tensor> describe(TensorRef ref) const {
    if (!is_internal(ref.role)) return bound_tensor(ref, task_, plan_.alignment);
    executable::Tensor tensor;
    tensor.ref = ref;
    tensor.name = name_of(ref, task_.cell);
    const WideTensor* wide = find_wide(plan_, ref);
    tensor.storage = wide != nullptr ? wide->storage : storage_of(ref, task_);
    tensor.alignment = kernel::storage_bytes(tensor.storage);
    if (ref.role != Role::Status) tensor.size = internal_size(plan_, task_.problem, ref);
    tensor.unit = tensor.size.each;
    return tensor;
  }

  const Task& task_;
  const KernelPlan& plan_;
  Executable result_;
};

}  // namespace

Result<executable::Tensor> bound_tensor(TensorRef ref, const Task& task, int alignment) {
  executable::Tensor tensor;
  tensor.ref = ref;
  tensor.name = name_of(ref, task.cell);
  tensor.storage = storage_of(ref, task);
  tensor.alignment = kernel::storage_bytes(tensor.storage);
  const executable::RoleInfo& role = executable::role_info(ref.role);
  const step::Tensor declared = tensor_in_role(ref, task.cell);
  tensor.shape = shape_of(ref, task.cell);
  tensor.need = role.need;
  if (ref.role == Role::InitialState || ref.role == Role::LastState)
    tensor.first = static_cast<float>(step::first_of(task.cell, declared, task.problem.constants));
  const bool per_head = declared.tail == step::Tail::Scalar;  // of a step; no vector of them is moved
  if (declared.inner)                                         // no access is wider than its rows allow
    while (declared.inner.size * kernel::storage_bytes(task.problem.storage) % alignment != 0) alignment /= 2;
  if (!per_head && (role.timed || (ref.role == Role::Param && declared.tail == step::Tail::Matrix)))
    tensor.alignment = std::max({alignment, tensor.alignment, kernel::storage_bytes(task.problem.storage)});
  tensor.unit = unit_elements(ref, task.cell, task.problem.sizes);
  if (tensor.unit > kMaxUnit)
    return Error{ErrorKind::Unsupported,
                 fmt::format("tensor '{}' has {} elements a step; the limit is {}", tensor.name, tensor.unit,
                             kMaxUnit),
                 task.problem.sizes.heads > 1 ? "split the heads over several calls"
                                              : "take fewer channels, or fewer rows"};
  if (role.per_batch)
    tensor.size = {0, tensor.unit, 1, role.timed ? 1 : 0};
  else
    tensor.size.fixed = tensor.unit;
  return tensor;
}

executable::Identity identity_of(const Task& task, const std::string& strategy,
                                 const Parameters& parameters) {
  executable::Identity id;
  id.cell_name = task.cell.name;
  id.cell_hash = step::canonical_hash(cell_with_constants(task.written, task.problem));
  id.variant = variant_text(task.written, task.problem);
  id.batch = task.problem.sizes.batch;
  id.time = task.problem.sizes.time;
  id.heads = task.problem.sizes.heads;
  id.dim = task.problem.sizes.dim;
  id.storage = kernel::storage_name(task.problem.storage);
  id.math = kernel::math_name(task.problem.math);
  id.pass = pass_key(task.problem);
  id.strategy = strategy;
  id.parameters = print(parameters);
  id.producer = executable::producer();
  id.build = executable::build_id();
  return id;
}

executable::Kernel launch_needs(const kernel::Kernel& kernel) {
  return {kernel.name,        kernel.threads,    kernel.cluster, kernel::shared_bytes(kernel),
          kernel.cooperative, kernel.status >= 0};
}

Result<Executable> lower_plan(const Task& task, const KernelPlan& plan) {
  return pipeline::watched(
      task.watcher, pipeline::Pass::Launches, [&] { return PlanLowering(task, plan).run(); },
      [](const Result<Executable>& made) {
        if (!made) return pipeline::Made{};
        return pipeline::Made{[&] { return executable::print_rules(*made); },
                              [&] {
                                const Status checked = executable::check(*made);
                                return checked ? std::vector<std::string>{}
                                               : std::vector<std::string>{checked.error().message};
                              }};
      });
}

}  // namespace rondo::schedule
