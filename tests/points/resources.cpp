#include "tests/points/resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "compiler/backend/cuda/emit.h"
#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/features.h"
#include "compiler/kernel/verify/verify.h"
#include "compiler/schedule/plan/lower_plan.h"
#include "tests/executable/walk_faults.h"

namespace rondo::points {

using kernel::Feature;
using kernel::Kernel;
using schedule::KernelPlan;
using schedule::Launch;

namespace {

constexpr int kNamedBarriers = 16;              // of a block (PTX ISA, barrier); 0 is __syncthreads
constexpr std::int64_t kReserved = 1024;        // bytes of shared memory that the system keeps of each block
constexpr std::int64_t kParameterBytes = 4096;  // of a launch (CUDA C++ Programming Guide, __global__)
constexpr int kMostRegisters = 248;             // that setmaxnreg gives here
constexpr int kWarpgroup = 128, kWarp = 32;     // threads

std::int64_t round_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b * b; }

class Checker {
 public:
  Checker(const Point& point, const KernelPlan& plan)
      : point_(point), plan_(plan), limits_(point.profile.limits) {}

  std::vector<std::string> run() {
    std::set<std::string> names;
    std::vector<const Kernel*> kernels;
    for (const Launch& launch : plan_.launches) {
      kernel_ = &launch.kernel;
      kernels.push_back(kernel_);
      require(names.insert(kernel_->name).second, "the name comes twice");
      for (const std::string& defect : kernel::verify(*kernel_)) complain(defect);
      check_block();
      check_units();
      check_registers();
      check_together(launch);
      if (is_shaped_by_point()) check_estimates();
    }
    kernel_ = nullptr;
    require(!backend::cuda::emit(kernels).empty(), "there is no text");
    require(plan_.alignment == point_.strategy->alignment(point_.problem, plan_.parameters),
            "another alignment than the strategy says");
    check_price();
    check_workspace();
    return std::move(complaints_);
  }

 private:
  void complain(const std::string& what) {
    complaints_.push_back(kernel_ == nullptr ? what : kernel_->name + ": " + what);
  }
  void require(bool holds, const std::string& what) {
    if (!holds) complain(what);
  }
  void at_most(std::int64_t value, std::int64_t limit, const char* what) {
    if (value > limit) complain(fmt::format("{} {}, more than {}", value, what, limit));
  }

  std::optional<std::int64_t> quantity(const std::string& name) const {
    const auto found = point_.drawn.quantities.find(name);
    return found == point_.drawn.quantities.end() ? std::nullopt : std::optional(found->second);
  }

  void check_block() {
    at_most(kernel::shared_bytes(*kernel_), limits_.shared_per_block, "bytes of shared memory");
    at_most(kernel_->threads, limits_.threads_per_block, "threads a block");
    at_most(kernel_->cluster, std::max(1, limits_.max_cluster), "blocks a cluster");
    // Blocks that the compiler is asked to leave registers for could otherwise never be there.
    at_most(std::int64_t{kernel_->min_blocks} * round_up(kernel_->threads, kWarp), limits_.threads_per_sm,
            "threads of the blocks an SM is to hold");
    at_most(kernel_->min_blocks, limits_.blocks_per_sm, "blocks an SM is to hold");
    std::int64_t bytes = 0;
    for (const kernel::Param& param : kernel_->params)
      bytes += param.buffer || param.type == kernel::Type::I64 ? 8 : 4;
    at_most(bytes, kParameterBytes, "bytes of parameters");
  }

  void check_units() {
    kernel::for_each_statement(kernel_->body, [&](const kernel::Stmt& stmt) {
      const auto* barrier = std::get_if<kernel::Barrier>(&stmt.node);
      if (barrier == nullptr) return;
      at_most(barrier->id + 1, kNamedBarriers, "named barriers");
      at_most(barrier->threads, round_up(kernel_->threads, kWarp), "threads at a named barrier");
      require(barrier->threads % kWarp == 0, "part of a warp at a named barrier");
    });
    if (point_.profile.target.major() >= 9) return;
    for (const Feature feature : kernel::features_of(*kernel_))
      require(feature != Feature::AsyncStore && feature != Feature::Clusters &&
                  feature != Feature::WarpgroupMma && feature != Feature::SetMaxNReg,
              "it uses what only sm_90 has");
  }

  // Registers a thread that __launch_bounds__ leaves the compiler, before they are rounded down to eights:
  // spaces count the sum of what threads are thought to need.
  std::int64_t registers_allowed() const {
    const std::int64_t threads = kernel_->min_blocks * round_up(kernel_->threads, kWarp);
    return std::min<std::int64_t>(limits_.registers_per_thread, limits_.registers_per_sm / threads);
  }

  // setmaxnreg: what all groups of warps have at once, and what those that compute are thought to need.
  void check_registers() {
    std::int64_t most = 0, least = 0;
    kernel::for_each_statement(kernel_->body, [&](const kernel::Stmt& stmt) {
      const auto* set = std::get_if<kernel::SetMaxNReg>(&stmt.node);
      if (set != nullptr) (set->more ? most : least) = set->count;
    });
    if (most == 0) return;
    at_most((kernel_->threads - kWarpgroup) * most + kWarpgroup * least, limits_.registers_per_sm,
            "registers after setmaxnreg");
    const std::int64_t before = std::min<std::int64_t>(registers_allowed() / 8 * 8, kMostRegisters);
    require(least <= before && most >= before, "setmaxnreg turns the wrong way");
    at_most(quantity("registers").value_or(0), most, "registers needed where setmaxnreg gives fewer");
  }

  // Blocks that wait for each other: those of a whole part of a launch must be resident.
  void check_together(const Launch& launch) {
    if (!kernel_->cooperative) return;
    require(launch.tiles_together > 0, "all its blocks wait for each other, however many there are");
    const std::int64_t rows = launch.tiles_together * launch.batch_tile;
    const std::int64_t blocks = schedule::grid_blocks(launch, rows, point_.problem.sizes.time);
    const std::int64_t by_shared = limits_.shared_per_sm / (kernel::shared_bytes(*kernel_) + kReserved);
    const std::int64_t by_threads = limits_.threads_per_sm / round_up(kernel_->threads, kWarp);
    const std::int64_t of_sm = std::min({by_shared, by_threads, std::int64_t{limits_.blocks_per_sm}});
    require(of_sm >= 1, "not one block is resident");
    at_most(blocks, limits_.sm_count * of_sm, "blocks that wait for each other");
  }

  // The kernels of the walk or the sweep; those before and after it are shaped by the problem alone.
  bool is_shaped_by_point() const {
    return kernel_->name.find("_" + plan_.strategy + "_") != std::string::npos &&
           kernel_->name.find("_pack") == std::string::npos;
  }

  void check_estimates() {
    // alternating has a launch for each level of a step: shared_bytes_1, shared_bytes_2 ...
    std::string launch;
    if (const std::size_t step = kernel_->name.find("_step_"); step != std::string::npos)
      launch = "_" + kernel_->name.substr(step + 6);
    const bool has_own = !kernel_->name.ends_with("_first");
    if (has_own) {
      const auto shared = quantity("shared_bytes" + launch);
      require(shared.has_value(), "the space has no word of its shared memory");
      at_most(kernel::shared_bytes(*kernel_), shared.value_or(0),
              "bytes of shared memory where the space counts fewer");
    }
    if (const auto threads = quantity("threads"); threads && *threads != kernel_->threads)
      complain(fmt::format("{} threads where the space counts {}", kernel_->threads, *threads));
    const bool lent = plan_.parameters.contains("setmaxnreg") && plan_.parameters.at("setmaxnreg") == 1;
    for (const std::string& name : {"registers" + launch, std::string("segment_registers")})
      if (const auto registers = quantity(name); registers && !lent)
        at_most(*registers, registers_allowed(), "registers where the launch bounds leave fewer");
  }

  void check_price() {
    const schedule::Estimate price =
        point_.strategy->cost({point_.cell, point_.problem, point_.profile}, plan_.parameters);
    require(std::isfinite(price.seconds) && price.seconds > 0, fmt::format("{} seconds", price.seconds));
  }

  // Regions of the workspace, at the call's sizes and at others.
  void check_workspace() {
    const auto lowered = schedule::lower_plan({point_.cell, point_.problem, {}}, plan_);
    if (!lowered) return complain(lowered.error().message);
    const step::Sizes &problem = point_.problem.sizes, &call = point_.call;
    for (const std::int64_t batch : {std::int64_t{1}, problem.batch, call.batch, 4 * call.batch + 3})
      for (const std::int64_t time : {std::int64_t{1}, problem.time, call.time, 3 * call.time + 5})
        for (const bool optional : {false, true})
          for (const std::string& fault : executable::testing::walk_faults(*lowered, batch, time, optional))
            complain(fault);
  }

  const Point& point_;
  const KernelPlan& plan_;
  const target::Limits& limits_;
  const Kernel* kernel_ = nullptr;  // that is being looked at
  std::vector<std::string> complaints_;
};

}  // namespace

std::vector<std::string> resource_complaints(const Point& point, const KernelPlan& plan) {
  return Checker(point, plan).run();
}

}  // namespace rondo::points
