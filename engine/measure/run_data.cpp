// Tensors for timing: large, random, and several sets of them where one would stay in L2.
#include <algorithm>
#include <cmath>
#include <memory>

#include "compiler/scalar/storage.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/step/ranges.h"
#include "engine/data/host_problem.h"
#include "engine/measure/measure.h"

namespace rondo::engine {
using schedule::Pass;
using schedule::Role;
using schedule::TensorRef;
using step::TensorKind;

namespace {

// A prime: rows and steps, whose sizes are mostly powers of two, all differ.
constexpr std::int64_t kPatternElements = 1'048'573;
constexpr int kMostSets = 32;
// Sets in which shoot finds other numbers: one draw of the weights may just need a sweep less than most.
constexpr int kDraws = 8;

// Timing hardly depends on the values as long as they are ordinary numbers; shoot sweeps more often where
// weights are large.
Status fill_random(const schedule::Task& task, const runtime::Device& device, const DeviceTensor& tensor,
                   double scale, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(kernel::storage_bytes(tensor.storage()));
  const auto count =
      static_cast<std::int64_t>(std::min<std::size_t>(tensor.buffer().bytes() / size, kPatternElements));
  return fill_repeated(device, tensor, random_numbers(task, tensor.ref(), count, scale, seed));
}

// No reset, and rows of T steps: a pass with forms does the work of the plain one, all of it.
std::vector<double> flag_that_changes_nothing(const step::Tensor& flag, const step::Sizes& sizes) {
  return {flag.kind == step::TensorKind::Reset ? 0 : static_cast<double>(sizes.time)};
}

Result<std::vector<DeviceTensor>> make_tensors(const std::vector<TensorRef>& refs, const schedule::Task& task,
                                               const runtime::Device& device, std::uint64_t seed,
                                               double weights, const Given& given) {
  std::vector<DeviceTensor> tensors;
  for (const TensorRef ref : refs) {
    Result<DeviceTensor> tensor = DeviceTensor::allocate(device, ref, task, task.problem.sizes);
    if (!tensor) return tensor.error();
    const double scale = ref.role == Role::Param          ? weights * std::sqrt(3.0)
                         : ref.role == Role::InitialState ? 0.5
                                                          : 1;
    const step::Tensor& declared = task.written.tensor(ref.tensor);
    Status filled = success();
    if (step::is_flag(declared.kind))
      filled = fill_repeated(device, *tensor, flag_that_changes_nothing(declared, task.problem.sizes));
    else if (const auto own = given_values(given.get(), ref.role, declared, task.problem.sizes))
      filled = tensor->upload(*own);
    else if (ref.role == Role::InitialState && !declared.range && !declared.first.is_zero())
      filled =
          fill_repeated(device, *tensor, {{step::first_of(task.written, declared, task.problem.constants)}});
    else
      filled = fill_random(task, device, *tensor, scale, seed++);
    if (!filled) return filled.error();
    tensors.push_back(std::move(tensor).value());
  }
  return tensors;
}

// What a set with other numbers needs of its own: all that has no steps. The steps are most of its bytes.
std::vector<TensorRef> tensors_of_draw(const schedule::Task& task) {
  std::vector<TensorRef> refs = tensors_of_pass(task);
  std::erase_if(
      refs, [](const TensorRef& ref) { return ref.role != Role::Param && ref.role != Role::InitialState; });
  return refs;
}

// Whether a forward pass of the cell may iterate, so that its time depends on the numbers.
bool may_iterate(const schedule::Task& task) {
  const bool has_matrix = std::ranges::any_of(
      task.written.tensors, [](const step::Tensor& tensor) { return tensor.tail == step::Tail::Matrix; });
  return task.problem.pass != Pass::Backward && !has_matrix;
}

std::int64_t bytes_of(const std::vector<DeviceTensor>& set) {
  std::int64_t bytes = 0;
  for (const DeviceTensor& tensor : set) bytes += static_cast<std::int64_t>(tensor.buffer().bytes());
  return bytes;
}

}  // namespace

Status fill_repeated(const runtime::Device& device, const DeviceTensor& tensor,
                     std::span<const double> values) {
  const auto size = static_cast<std::size_t>(kernel::storage_bytes(tensor.storage()));
  const std::size_t total = tensor.buffer().bytes();
  std::vector<std::byte> bytes(std::min(values.size() * size, total));
  for (std::size_t i = 0; i * size < bytes.size(); ++i)
    scalar::encode(tensor.storage(), values[i], &bytes[i * size]);
  if (bytes.empty()) return success();
  const runtime::Address base = tensor.buffer().address();
  const auto turn = device.turn();
  if (Status status = device.upload(base, bytes); !status) return status;
  for (std::size_t done = bytes.size(); done < total; done *= 2) {
    if (Status status = device.copy(base + done, base, std::min(done, total - done)); !status) return status;
  }
  return device.wait();
}

std::int64_t cache_to_leave(const target::Profile& profile) {
  constexpr std::int64_t kMost = std::int64_t{128} << 20;
  if (!profile.is_cpu()) return profile.limits.l2_bytes;
  // A cache that does not drop what it has had longest keeps a part of data that are larger than itself.
  return std::min(kMost, 2 * std::max(profile.cpu.l3_bytes, profile.cpu.own_caches()));
}

std::vector<TensorRef> tensors_of_pass(const schedule::Task& task) {
  std::vector<TensorRef> result;
  const Pass pass = task.problem.pass;
  if (passes_products(task.problem))
    for (const step::TensorId id : schedule::product_tensors(task.cell))
      result.push_back({Role::Products, id});
  auto add = [&](TensorKind kind, std::initializer_list<Role> roles) {
    for (const step::TensorId id : task.written.of_kind(kind))
      for (const Role role : roles) result.push_back({role, id});
  };
  add(TensorKind::Reset, {Role::Resets});
  add(TensorKind::Length, {Role::Lengths});
  if (pass == Pass::Backward) {
    add(TensorKind::Input, {Role::Input, Role::InputGradient});
    add(TensorKind::Param, {Role::Param, Role::ParamGradient});
    add(TensorKind::State, {Role::InitialState, Role::LastStateGradient, Role::InitialStateGradient});
    add(TensorKind::Output, {Role::OutputGradient});
    for (const TensorRef& history : schedule::backward_needs(task.cell).history_tensors)
      result.push_back(history);
    return result;
  }
  add(TensorKind::Input, {Role::Input});
  add(TensorKind::Param, {Role::Param});
  add(TensorKind::State, {Role::InitialState, Role::LastState});
  add(TensorKind::Output, {Role::Output});
  if (pass == Pass::ForwardSave)
    for (const step::TensorId id : schedule::stored_histories(task.cell))
      result.push_back({Role::History, id});
  return result;
}

Result<RunData> RunData::make(const schedule::Task& task, std::int64_t cache_bytes,
                              const runtime::Device& device, std::uint64_t seed, double weights,
                              const Given& given) {
  RunData data;
  data.device_ = &device;
  data.sizes_ = task.problem.sizes;
  std::int64_t total = 0;
  while (data.sets() == 0 || (total < 2 * cache_bytes && data.sets() < kMostSets)) {
    Result<std::vector<DeviceTensor>> set =
        make_tensors(tensors_of_pass(task), task, device, seed + 1000 * data.sets_.size(), weights, given);
    if (!set) {
      if (data.sets() > 0) break;  // memory is short: fewer sets, warmer caches
      return set.error();
    }
    data.bytes_per_set_ = bytes_of(*set);
    total += data.bytes_per_set_;
    data.sets_.push_back(std::move(set).value());
  }
  const std::vector<TensorRef> drawn = tensors_of_draw(task);
  while (may_iterate(task) && data.sets() < kDraws) {
    Result<std::vector<DeviceTensor>> draw = make_tensors(
        drawn, task, device, seed + 1000 * static_cast<std::uint64_t>(data.sets()), weights, given);
    if (!draw) break;  // memory is short: fewer draws
    data.draws_.push_back(std::move(draw).value());
  }
  return data;
}

Status RunData::reserve(const runtime::LoadedPlan& plan) {
  const auto bytes = static_cast<std::size_t>(plan.workspace_bytes(sizes_.batch, sizes_.time));
  if (bytes <= workspace_.bytes()) return success();
  Result<runtime::Memory> grown = device_->allocate(bytes);
  if (!grown) return grown.error();
  workspace_ = std::move(grown).value();
  return success();
}

TimedWork RunData::work(const runtime::LoadedPlan& plan) const {
  auto made = std::make_shared<std::vector<runtime::Bindings>>(sets_.size() + draws_.size());
  std::vector<runtime::Bindings>& bindings = *made;
  for (std::size_t set = 0; set < bindings.size(); ++set) {
    for (const DeviceTensor& tensor : sets_[set % sets_.size()]) bindings[set].set(tensor.binding());
    if (set >= sets_.size())
      for (const DeviceTensor& tensor : draws_[set - sets_.size()]) bindings[set].set(tensor.binding());
    if (workspace_.bytes() > 0)
      bindings[set].set_workspace(workspace_.address(), static_cast<std::int64_t>(workspace_.bytes()));
  }
  const auto of = [made](int set) -> const runtime::Bindings& {
    return (*made)[static_cast<std::size_t>(set) % made->size()];
  };
  return TimedWork(
      [&plan, of, sizes = sizes_](int set) { return plan.launch(of(set), sizes.batch, sizes.time); },
      [&plan, of, sizes = sizes_](int set, int sets) {
        plan.prepare(of(set), sizes.batch, sizes.time, static_cast<std::size_t>(sets));
      });
}

}  // namespace rondo::engine
