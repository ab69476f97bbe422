// Plans compiled for the CPU that the tests run on, in the form of simulated runs.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <span>
#include <string>

#include "compiler/schedule/plan/simulate_plan.h"
#include "engine/plan/compile.h"
#include "runtime/host/host_plan.h"
#include "tests/runtime/device/guarded_device.h"

namespace rondo::runtime {

// Bytes of a tensor, laid out with unused elements after every time step and batch row but the last, in
// guarded memory.
class PaddedTensor {
 public:
  PaddedTensor(const executable::Tensor& tensor, const step::Sizes& sizes, int pad, const Device& device)
      : storage_(tensor.storage) {
    const bool timed = executable::has_time_axis(tensor.ref.role);
    unit_ = timed ? tensor.unit : tensor.size.at(sizes.batch, sizes.time);
    batch_ = timed ? sizes.batch : 1, time_ = timed ? sizes.time : 1;
    strides_.t = unit_ + (timed ? pad : 0);
    strides_.b = strides_.t * time_ + (timed ? pad : 0);
    const std::int64_t elements = count() == 0 ? 0 : place(count() - 1) + 1;
    memory_ = device.allocate(static_cast<std::size_t>(elements * scalar::storage_bytes(storage_))).value();
    bytes_ = {reinterpret_cast<unsigned char*>(memory_.address()), memory_.bytes()};
    std::fill(bytes_.begin(), bytes_.end(), kUnused);
  }
  void put(const std::vector<double>& values) {
    for (std::int64_t i = 0; i < count(); ++i)
      scalar::encode(storage_, values[static_cast<std::size_t>(i)], element(place(i)));
  }
  std::vector<double> get() const {
    std::vector<double> values;
    for (std::int64_t i = 0; i < count(); ++i) values.push_back(read(place(i)));
    return values;
  }
  // Whether all bytes outside of the elements are as they were.
  bool padding_is_whole() const {
    std::vector<unsigned char> all(bytes_.begin(), bytes_.end());
    const std::int64_t size = scalar::storage_bytes(storage_);
    for (std::int64_t i = 0; i < count(); ++i)
      std::memset(all.data() + place(i) * size, kUnused, static_cast<std::size_t>(size));
    return std::all_of(all.begin(), all.end(), [](unsigned char byte) { return byte == kUnused; });
  }
  executable::Address address() const { return memory_.address(); }
  executable::Strides strides() const { return strides_; }

 private:
  static constexpr unsigned char kUnused = 0x7f;

  std::int64_t count() const { return batch_ * time_ * unit_; }
  std::int64_t place(std::int64_t i) const {
    return i / (time_ * unit_) * strides_.b + i / unit_ % time_ * strides_.t + i % unit_;
  }
  std::byte* element(std::int64_t place) const {
    return reinterpret_cast<std::byte*>(bytes_.data()) + scalar::storage_bytes(storage_) * place;
  }
  double read(std::int64_t place) const { return scalar::decode(storage_, element(place)); }

  scalar::Storage storage_;
  std::int64_t unit_ = 0, batch_ = 1, time_ = 1;
  executable::Strides strides_;
  Memory memory_;
  std::span<unsigned char> bytes_;
};

inline executable::Executable native_executable(const schedule::Task& task,
                                                const schedule::KernelPlan& plan) {
  const auto here =
      std::make_shared<const schedule::Task>(task.written, task.problem, target::host_profile());
  const backend::Backend& backend = *backend::find_backend("llvm");
  auto made = engine::uncompiled_plan(here, plan, backend, "test", std::nullopt);
  if (!made) throw std::runtime_error(made.error().message);
  // Many tests run the same kernels twice, on other numbers of threads: compiling takes most of the time.
  static std::map<std::string, backend::Compiled> compiled;
  const auto [code, is_new] = compiled.try_emplace(made->request.target.name() + made->request.text);
  if (is_new) {
    auto fresh = backend.compile(made->request);
    if (!fresh) throw std::runtime_error(fresh.error().message);
    code->second = std::move(*fresh);
  }
  const Status attached = engine::attach_code(*made, backend::Compiled(code->second));
  if (!attached) throw std::runtime_error(attached.error().message);
  return made->executable;
}

// As schedule::simulate_plan(), on this machine's CPU. Unmapped pages touch the end of all tensors in one
// call, and their beginning in the next.
inline schedule::SimulatedRun run_natively(const schedule::Task& task, const schedule::KernelPlan& plan,
                                           const schedule::TensorValues& given, int pad,
                                           ThreadPool& pool = ThreadPool::shared()) {
  using rondo::testing::Guard;
  static int calls = 0;
  const rondo::testing::GuardedDevice device(calls++ % 2 == 0 ? Guard::Behind : Guard::Before);
  const executable::Executable made = native_executable(task, plan);
  const auto loaded = HostPlan::load(made, pool);
  if (!loaded) throw std::runtime_error(loaded.error().message);
  schedule::SimulatedRun run;
  executable::Bindings bindings;
  std::vector<std::pair<const executable::Tensor*, PaddedTensor>> memory;
  memory.reserve(loaded->tensors().size());
  for (const executable::Tensor& tensor : loaded->tensors()) {
    if (executable::is_internal(tensor.ref.role)) continue;
    const auto values = given.find(tensor.ref);
    if (values == given.end() && !tensor.written) continue;
    PaddedTensor& made_here =
        memory.emplace_back(&tensor, PaddedTensor(tensor, task.problem.sizes, pad, device)).second;
    if (values != given.end()) made_here.put(values->second);
    bindings.set(tensor.ref, made_here.address(), made_here.strides());
  }
  const std::int64_t batch = task.problem.sizes.batch, time = task.problem.sizes.time;
  const Memory workspace =
      device.allocate(static_cast<std::size_t>(loaded->workspace_bytes(batch, time))).value();
  // What nobody has written is a NaN, in every type.
  (void)device.fill(workspace.address(), 0xff, workspace.bytes());
  if (workspace.bytes() > 0) bindings.set_workspace(workspace.address());
  const Status launched = loaded->launch(bindings, batch, time);
  if (!launched) throw std::runtime_error(launched.error().message);
  for (const auto& [tensor, values] : memory) {
    if (!values.padding_is_whole()) run.faults.push_back(tensor->name + ": padding was written");
    if (tensor->written) run.written[tensor->ref] = values.get();
  }
  return run;
}

}  // namespace rondo::runtime
