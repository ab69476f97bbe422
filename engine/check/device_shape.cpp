#include "engine/check/device_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

#include "compiler/scalar/storage.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/support/index.h"
#include "compiler/support/integers.h"
#include "compiler/support/parallel_for.h"
#include "engine/measure/measure.h"
#include "engine/plan/compile.h"

namespace rondo::engine {
using runtime::Device;
using runtime::LoadedPlan;
using runtime::Memory;
using schedule::Role;
using schedule::TensorRef;

namespace {

constexpr double kMostSeconds = 10;                           // of all plain runs
constexpr std::int64_t kThroughHost = std::int64_t{1} << 24;  // elements that go through the host at once
constexpr std::int64_t kPart = std::int64_t{1} << 18;         // of them that a thread rounds at once
constexpr std::uint8_t kWorkspacePoison = 0xFF;               // no number

using Tensors = std::map<TensorRef, DeviceTensor, schedule::TensorRefLess>;

struct LoadedPlain {
  std::unique_ptr<runtime::LoadedPlan> same, perturbed, forward;  // forward: of a backward pass
};

class DeviceShape final : public ShapeRuns {
 public:
  DeviceShape(const schedule::Task& task, const runtime::Device& device, const runtime::LoadedPlan& kernel,
              const LoadedPlain& plain)
      : task_(task), plain_task_(task), device_(device), kernel_(kernel), plain_(plain) {
    plain_task_.problem.storage = scalar::computed_in(task.problem.storage);
  }

  // Error Device where memory is short.
  Status allocate() {
    tensors_ = shape_tensors(task_, kernel_.tensors(), plain_.same->tensors());
    for (const TensorRef ref : tensors_of_pass(task_))
      for (const Side side : {Side::Kernel, Side::Plain})
        if (Status status = add(side, ref); !status) return status;
    // What only the plain forward pass of a backward one writes.
    if (plain_.forward)
      for (const executable::Tensor& tensor : plain_.forward->tensors())
        if (!executable::is_internal(tensor.ref.role) && of(Side::Plain).count(tensor.ref) == 0 &&
            tensor.need == executable::Need::Required)
          if (Status status = add(Side::Plain, tensor.ref); !status) return status;
    std::int64_t bytes = 0;
    for (const runtime::LoadedPlan* plan :
         {&kernel_, static_cast<const runtime::LoadedPlan*>(plain_.same.get()),
          static_cast<const runtime::LoadedPlan*>(plain_.perturbed.get()), &forward()})
      bytes = std::max(bytes, plan->workspace_bytes(task_.problem.sizes.batch, task_.problem.sizes.time));
    Result<runtime::Memory> made = device_.allocate(at(bytes));
    if (!made) return made.error();
    workspace_ = std::move(made).value();
    return allocate_seeds();
  }

  // Below 1: the plain runs would take too long, and were given up; the share of the work that would not.
  double affordable() const { return affordable_; }

  const std::vector<ShapeTensor>& tensors() const override { return tensors_; }

  Status fill(Side side, TensorRef tensor, std::span<const double> values) override {
    return fill_repeated(device_, of(side).at(tensor), values);
  }

  Status reach_initial_states(std::int64_t steps) override {
    runtime::Bindings bindings =
        bound(Side::Plain, [](TensorRef ref) { return ref.role != Role::InitialState; });
    std::vector<TensorRef> states;
    for (const ShapeTensor& tensor : tensors_)
      if (tensor.ref.role == Role::InitialState) states.push_back(tensor.ref);
    for (const TensorRef state : states) {
      executable::Binding last = of(Side::Plain).at(state).binding();
      last.tensor = {Role::LastState, state.tensor};
      bindings.set(last);
    }
    if (Status status = launch(forward(), bindings, steps); !status) return status;
    for (const TensorRef state : states) {
      const runtime::Memory& from = of(Side::Plain).at(state).buffer();
      const runtime::Memory& to = of(Side::Kernel).at(state).buffer();
      if (Status status = device_.copy(to.address(), from.address(), from.bytes()); !status) return status;
    }
    return device_.wait();
  }

  Status save() override {
    if (Status status = launch(forward(), bound(Side::Plain), task_.problem.sizes.time); !status)
      return status;
    for (const ShapeTensor& tensor : tensors_)
      if (!tensor.computed && !tensor.random && tensor.ref.role != Role::InitialState)
        if (Status status = hand_over(tensor); !status) return status;
    return success();
  }

  Status run(Side side) override { return run(side, side == Side::Kernel ? kernel_ : *plain_.same); }
  Status run_perturbed(double seed, double amplitude) override {
    std::vector<float> values(seeds_.bytes() / sizeof(float), static_cast<float>(seed));
    for (std::size_t i = 1; i < values.size(); i += 2) values[i] = static_cast<float>(amplitude);
    if (seed_)
      if (Status status = device_.upload(seeds_.address(), std::as_bytes(std::span(values))); !status)
        return status;
    if (plain_.forward)
      if (Status status = launch(*plain_.forward, bound(Side::Plain), task_.problem.sizes.time); !status)
        return status;
    return run(Side::Plain, *plain_.perturbed);
  }

  Status read(Side side, TensorRef tensor, std::span<const std::int64_t> rows,
              std::span<double> into) override {
    const DeviceTensor& from = of(side).at(tensor);
    const auto size = at(kernel::storage_bytes(from.storage()));
    const std::size_t unit = into.size() / rows.size() * size;
    std::vector<std::byte> bytes(into.size() * size);
    // Rows that lie side by side in one piece.
    for (std::size_t first = 0, end = 0; first < rows.size(); first = end) {
      for (end = first + 1; end < rows.size() && rows[end] == rows[end - 1] + 1;) ++end;
      const std::span<std::byte> part(bytes.data() + first * unit, (end - first) * unit);
      if (Status status = device_.download(from.buffer().address() + at(rows[first]) * unit, part); !status)
        return status;
    }
    if (Status status = device_.wait(); !status) return status;
    in_parts(static_cast<std::int64_t>(into.size()),
             [&](std::size_t i) { into[i] = scalar::decode(from.storage(), &bytes[i * size]); });
    return success();
  }

 private:
  Tensors& of(Side side) { return all_[side == Side::Kernel ? 0 : 1]; }
  const runtime::LoadedPlan& forward() const { return plain_.forward ? *plain_.forward : *plain_.same; }

  // Of the parameter that only the perturbed plan has.
  Status allocate_seeds() {
    for (const executable::Tensor& tensor : plain_.perturbed->tensors()) {
      if (tensor.ref.role != Role::Param || at(tensor.ref.tensor) < task_.written.tensors.size()) continue;
      Result<runtime::Memory> made = device_.allocate(at(tensor.size.at(1, 1)) * sizeof(float));
      if (!made) return made.error();
      seeds_ = std::move(made).value();
      seed_ = tensor.ref;
    }
    return success();
  }

  Status add(Side side, TensorRef ref) {
    Result<DeviceTensor> made =
        DeviceTensor::allocate(device_, ref, side == Side::Kernel ? task_ : plain_task_, task_.problem.sizes);
    if (!made) return made.error();
    of(side).emplace(ref, std::move(made).value());
    return success();
  }

  runtime::Bindings bound(Side side, const std::function<bool(TensorRef)>& wanted = {}) {
    runtime::Bindings bindings;
    for (const auto& [ref, tensor] : of(side))
      if (!wanted || wanted(ref)) bindings.set(tensor.binding());
    if (seed_) bindings.set(*seed_, seeds_.address());
    if (workspace_.bytes() > 0)
      bindings.set_workspace(workspace_.address(), static_cast<std::int64_t>(workspace_.bytes()));
    return bindings;
  }

  Status launch(const runtime::LoadedPlan& plan, const runtime::Bindings& bindings, std::int64_t time) {
    const auto turn = device_.turn();
    if (workspace_.bytes() > 0)
      if (Status status = device_.fill(workspace_.address(), kWorkspacePoison, workspace_.bytes()); !status)
        return status;
    if (Status status = plan.launch(bindings, task_.problem.sizes.batch, time); !status) return status;
    if (Status status = device_.wait(); !status) return status;
    return plan.check();
  }

  Status run(Side side, const runtime::LoadedPlan& plan) {
    for (const ShapeTensor& tensor : tensors_)
      if (tensor.computed)
        if (Status status = of(side).at(tensor.ref).poison(); !status) return status;
    const auto turn = device_.turn();  // not waited for below
    const auto begin = std::chrono::steady_clock::now();
    if (Status status = launch(plan, bound(side), task_.problem.sizes.time); !status) return status;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (side == Side::Plain)
      affordable_ =
          kMostSeconds / (took.count() * plain_runs(has_decisions(task_.written, task_.problem.pass)));
    if (affordable_ < 1 && task_.problem.sizes.batch * task_.problem.sizes.time > 1)
      return Error{ErrorKind::Cancelled, "the plain runs would take too long"};
    return success();
  }

  // A tensor that the plain forward pass has left goes to the kernel in its storage type, and back as
  // rounded.
  Status hand_over(const ShapeTensor& tensor) {
    const DeviceTensor& plain = of(Side::Plain).at(tensor.ref);
    const DeviceTensor& kernel = of(Side::Kernel).at(tensor.ref);
    const auto size = at(kernel::storage_bytes(kernel.storage()));
    const auto plain_size = at(kernel::storage_bytes(plain.storage()));
    std::vector<std::byte> values, stored;
    for (std::int64_t first = 0; first < plain.elements(); first += kThroughHost) {
      const std::int64_t count = std::min(kThroughHost, plain.elements() - first);
      values.resize(at(count) * plain_size);
      stored.resize(at(count) * size);
      const runtime::Address at_plain = plain.buffer().address() + at(first) * plain_size;
      if (Status status = device_.download(at_plain, values); !status) return status;
      if (Status status = device_.wait(); !status) return status;
      in_parts(count, [&](std::size_t i) {
        std::byte* const value = &values[i * plain_size];
        scalar::encode(kernel.storage(), scalar::decode(plain.storage(), value), &stored[i * size]);
        scalar::encode(plain.storage(), scalar::decode(kernel.storage(), &stored[i * size]), value);
      });
      if (Status status = device_.upload(kernel.buffer().address() + at(first) * size, stored); !status)
        return status;
      if (Status status = device_.upload(at_plain, values); !status) return status;
      if (Status status = device_.wait(); !status) return status;
    }
    return success();
  }

  // Does something for each of so many elements, on all cores.
  template <class Element>
  static void in_parts(std::int64_t count, const Element& element) {
    parallel_for(ceil_div(count, kPart), 0, [&]() -> Worker {
      return [&](std::int64_t part) {
        for (std::int64_t i = part * kPart; i < std::min(count, (part + 1) * kPart); ++i) element(at(i));
      };
    });
  }

  const schedule::Task& task_;
  schedule::Task plain_task_;
  const runtime::Device& device_;
  const runtime::LoadedPlan& kernel_;
  const LoadedPlain& plain_;
  std::vector<ShapeTensor> tensors_;
  std::array<Tensors, 2> all_;  // by side
  runtime::Memory workspace_, seeds_;
  std::optional<TensorRef> seed_;
  double affordable_ = 1;
};

Result<LoadedPlain> load(const PlainCode& code, const runtime::Device& device) {
  Result<std::unique_ptr<runtime::LoadedPlan>> same = device.load(code.same);
  if (!same) return same.error();
  Result<std::unique_ptr<runtime::LoadedPlan>> perturbed = device.load(code.perturbed);
  if (!perturbed) return perturbed.error();
  LoadedPlain loaded{std::move(same).value(), std::move(perturbed).value(), {}};
  if (!code.forward) return loaded;
  Result<std::unique_ptr<runtime::LoadedPlan>> forward = device.load(*code.forward);
  if (!forward) return forward.error();
  loaded.forward = std::move(forward).value();
  return loaded;
}

// The sizes with `share` of their work: batch rows are cut first, as time is what a recurrence is about.
// False where nothing is left to cut.
bool cut(step::Sizes& sizes, double share) {
  std::int64_t& cut = sizes.batch > 1 ? sizes.batch : sizes.time;
  if (cut <= 1) return false;
  cut = std::clamp<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(cut) * share), 1, cut - 1);
  return true;
}

}  // namespace

Result<PlainCode> compile_plain(PlainPlans plans, db::Database* database) {
  std::vector<PlainPlan*> wanted = {&plans.same, &plans.perturbed};
  if (plans.forward) wanted.push_back(&*plans.forward);
  CompileOptions options;
  options.database = database;
  std::vector<std::optional<Result<CompiledPlan>>> made(wanted.size());
  parallel_for(static_cast<std::int64_t>(wanted.size()), 0, [&]() -> Worker {
    return [&](std::int64_t i) {
      PlainPlan& plain = *wanted[at(i)];
      made[at(i)] = compile_plan(std::make_shared<const schedule::Task>(std::move(plain.task)),
                                 std::move(plain.plan), options);
    };
  });
  for (const auto& one : made)
    if (!*one) return one->error();
  PlainCode code{std::move(made[0]->value().executable), std::move(made[1]->value().executable), {}};
  if (plans.forward) code.forward = std::move(made[2]->value().executable);
  return code;
}

Result<Verification> verify_at_shape(const schedule::Task& task, const runtime::Device& device,
                                     const runtime::LoadedPlan& kernel, const PlainCode& plain,
                                     std::uint64_t seed, const Given& given) {
  const Result<LoadedPlain> loaded = load(plain, device);
  if (!loaded) return loaded.error();
  schedule::Task affordable = task;
  step::Sizes& sizes = affordable.problem.sizes;
  for (;;) {
    DeviceShape shape(affordable, device, kernel, *loaded);
    if (Status status = shape.allocate(); !status) {
      const ErrorKind kind = status.error().kind;
      if (kind != ErrorKind::Device && kind != ErrorKind::Memory) return status.error();
      if (cut(sizes, 0.5)) continue;
      return Error{ErrorKind::Unsupported, "no memory beside the kernel: " + status.error().message};
    }
    Result<Verification> checked = check_at_shape(affordable, shape, seed, given);
    if (!checked && shape.affordable() < 1 && cut(sizes, shape.affordable())) continue;
    if (checked && checked->says_nothing())
      return Error{ErrorKind::Unsupported, checked->summary(), "compare it at a shorter T"};
    if (checked && sizes.batch * sizes.time < task.problem.sizes.batch * task.problem.sizes.time)
      checked->covered.front() +=
          fmt::format(" (cut from B={},T={})", task.problem.sizes.batch, task.problem.sizes.time);
    return checked;
  }
}

}  // namespace rondo::engine
