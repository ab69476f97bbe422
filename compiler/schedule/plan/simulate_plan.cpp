#include "compiler/schedule/plan/simulate_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/schedule/plan/signature.h"

namespace rondo::schedule {

namespace {

template <class... F>
struct Overload : F... {
  using F::operator()...;
};
template <class... F>
Overload(F...) -> Overload<F...>;

// How a dense [B, T, step] tensor lies in a buffer with padding.
struct Layout {
  std::int64_t batch = 1, time = 1, step = 0, stride_b = 0, stride_t = 0;
  std::int64_t buffer_elements() const { return batch * stride_b; }
  std::int64_t place(std::int64_t dense) const {
    return dense / (time * step) * stride_b + dense / step % time * stride_t + dense % step;
  }
};

class PlanSimulator {
 public:
  PlanSimulator(const step::Cell& cell, const Problem& problem, const KernelPlan& plan,
                const TensorValues& given, int pad, const kernel::SimulationOptions& options)
      : cell_(cell), problem_(problem), plan_(plan), given_(given), pad_(pad), options_(options) {}

  SimulatedRun run() {
    for (std::size_t first = 0; first < plan_.launches.size();) {
      const std::size_t end = section_end(plan_.launches, first);
      const std::int64_t steps = plan_.launches[first].each_step ? problem_.sizes.time : 1;
      for (std::int64_t step = 0; step < steps; ++step)
        for (std::size_t k = first; k < end; ++k) start(plan_.launches[k], step);
      first = end;
    }
    for (const auto& [ref, written] : written_)
      if (written && !is_internal(ref.role)) collect(ref);
    return std::move(result_);
  }

 private:
  void start(const Launch& launch, std::int64_t step) {
    for (const LaunchPart& part : launch_parts(launch, problem_.sizes.batch, problem_.sizes.time)) {
      std::vector<kernel::Argument> arguments;
      for (std::size_t i = 0; i < launch.arguments.size(); ++i)
        arguments.push_back(argument(launch.arguments[i], launch.kernel.params[i].written, part, step));
      const auto ran = kernel::simulate(launch.kernel, part.blocks, arguments, buffers_, options_);
      result_.gave_up |= ran.gave_up;
      for (const kernel::Fault& fault : ran.faults) {
        result_.faults.push_back(fmt::format("{}: {}", launch.kernel.name, fault.message));
        result_.kinds.push_back(fault.kind);
      }
    }
  }

  Layout layout(const TensorRef& ref) const {
    const step::Sizes& sizes = problem_.sizes;
    Layout l;
    if (!has_time_axis(ref.role)) {
      l.step = ref.role == Role::Status     ? 1
               : is_kept(ref.role)          ? kept_extent(plan_, ref.role).elements(sizes.batch)
               : ref.role == Role::Exchange ? plan_.exchange.elements(sizes.batch, sizes.time)
               : ref.role == Role::Workspace
                   ? plan_.workspace_elements_fixed + plan_.workspace_elements_per_batch * sizes.batch
                   : element_count(cell_, ref, sizes);
      l.stride_b = l.stride_t = l.step;
      return l;
    }
    l.batch = sizes.batch;
    l.time = sizes.time;
    l.step = ref.role == Role::Scratch
                 ? plan_.scratch_rows.at(static_cast<std::size_t>(ref.tensor)) * sizes.heads * sizes.dim
                 : element_count(cell_, ref, sizes) / (sizes.batch * sizes.time);
    l.stride_t = l.step + pad_;
    l.stride_b = l.stride_t * l.time + pad_;
    return l;
  }

  int buffer(const TensorRef& ref, bool written) {
    written_[ref] = written_[ref] || written;
    if (const auto known = index_.find(ref); known != index_.end()) return known->second;
    const Layout l = layout(ref);
    kernel::GlobalBuffer buffer =
        kernel::output_buffer(storage_of(ref, cell_, problem_), l.buffer_elements());
    fill(ref, l, buffer);
    buffers_.push_back(std::move(buffer));
    return index_[ref] = static_cast<int>(buffers_.size()) - 1;
  }

  void fill(const TensorRef& ref, const Layout& l, kernel::GlobalBuffer& buffer) const {
    if (ref.role == Role::Status) {
      buffer.integers[0] = 0;
      buffer.written[0] = true;
    }
    const auto found = given_.find(ref);
    const bool optional = ref.role == Role::InitialState || ref.role == Role::LastStateGradient;
    if (found == given_.end() && !optional) return;  // written by the plan; reading it first is a fault
    for (std::int64_t i = 0; i < l.batch * l.time * l.step; ++i) {
      const double value = found == given_.end() ? 0 : found->second.at(static_cast<std::size_t>(i));
      const auto at = static_cast<std::size_t>(l.place(i));
      buffer.values[at] = scalar::round_to(buffer.storage, static_cast<float>(value));
      buffer.written[at] = true;
    }
  }

  kernel::Argument argument(const LaunchArgument& launch_argument, bool written, const LaunchPart& part,
                            std::int64_t step) {
    kernel::Argument result;
    std::visit(Overload{[&](const Pointer& p) { result.buffer = buffer(p.tensor, written); },
                        [&](const StrideB& s) { result.integer = layout(s.tensor).stride_b; },
                        [&](const StrideT& s) { result.integer = layout(s.tensor).stride_t; },
                        [&](const Batch&) { result.integer = problem_.sizes.batch; },
                        [&](const Time&) { result.integer = problem_.sizes.time; },
                        [&](const FirstTile&) { result.integer = part.first_tile; },
                        [&](const StepCount&) { result.integer = step; }},
               launch_argument);
    return result;
  }

  void collect(const TensorRef& ref) {
    const Layout l = layout(ref);
    const kernel::GlobalBuffer& buffer = buffers_[static_cast<std::size_t>(index_.at(ref))];
    std::vector<double>& values = result_.written[ref];
    bool complete = true;
    for (std::int64_t i = 0; i < l.batch * l.time * l.step; ++i) {
      const auto at = static_cast<std::size_t>(l.place(i));
      complete = complete && buffer.written[at];
      values.push_back(static_cast<double>(buffer.values[at]));
    }
    const auto touched = std::count(buffer.written.begin(), buffer.written.end(), true);
    if (!complete) result_.unwritten.push_back(name_of(ref, cell_));
    if (touched > l.batch * l.time * l.step)
      result_.faults.push_back(name_of(ref, cell_) + ": padding was written");
  }

  const step::Cell& cell_;
  const Problem& problem_;
  const KernelPlan& plan_;
  const TensorValues& given_;
  int pad_;
  kernel::SimulationOptions options_;
  std::vector<kernel::GlobalBuffer> buffers_;
  std::map<TensorRef, int, TensorRefLess> index_;
  std::map<TensorRef, bool, TensorRefLess> written_;
  SimulatedRun result_;
};

}  // namespace

std::int64_t element_count(const step::Cell& cell, const TensorRef& ref, const step::Sizes& sizes) {
  if (is_internal(ref.role)) throw std::logic_error("the workspace has no shape of its own");
  const step::Tensor tensor = tensor_in_role(ref, cell);
  if (ref.role == Role::History) return step::history_count(tensor, sizes);
  return step::element_count(tensor, sizes);
}

SimulatedRun simulate_plan(const step::Cell& cell, const Problem& problem, const KernelPlan& plan,
                           const TensorValues& given, int pad, const kernel::SimulationOptions& options) {
  return PlanSimulator(cell, problem, plan, given, pad, options).run();
}

}  // namespace rondo::schedule
