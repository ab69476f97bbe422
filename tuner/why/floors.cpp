#include "tuner/why/floors.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/kernel/ir/visit.h"
#include "compiler/schedule/analysis/compulsory_bytes.h"
#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/sweep/backward_split.h"
#include "compiler/step/extents.h"
#include "compiler/support/units.h"

namespace rondo::tuner {

using schedule::EstimatePart;
using schedule::Task;

namespace {

int count(const std::vector<schedule::ProductGroup>& groups) {
  int products = 0;
  for (const schedule::ProductGroup& group : groups) products += static_cast<int>(group.products.size());
  return products;
}

int forward_products(const Task& task) {
  return count(schedule::product_groups(task.cell.graph, schedule::forward_roots(task)));
}

// Of the matrices of all products of a step: D each, but where an input has an extent of its own. A backward
// pass makes such a product again, and has two of its transpose and of its matrix's gradient.
std::int64_t columns_of_step(const Task& task) {
  const std::int64_t times = task.problem.pass == schedule::Pass::Backward ? 3 : 1;
  const std::int64_t dim = task.problem.sizes.dim;
  std::int64_t columns = products_of_step(task) * dim;
  for (const step::Node& node : task.cell.graph.nodes)
    if (node.kind == step::NodeKind::MatVec &&
        step::multiplies_beside_walk(task.cell, task.cell.tensor(node.tensor)))
      columns += times * (task.cell.tensor(node.tensor).inner.size - dim);
  return std::max<std::int64_t>(columns, 0);
}

struct Rate {
  double operations_per_s = 0;
  const char* by = "";
};

// Vectors of multiply-adds that a core starts in a cycle: two on the cores of servers from Haswell and Zen
// on.
constexpr double kUnitsOfCore = 2;
// Of 16 x 16 x 32 multiply-adds a core starts one in 16 cycles (Intel's optimization manual, "Intel AMX").
constexpr const char* kTileProduct = "tdpbf16ps";
constexpr double kOfTiles = 2.0 * 16 * 16 * 32 / 16;

// fp32 is multiplied as tf32, of which an mma takes half as many; with three terms it takes three of them
// (kernel::Mma::tf32x3).
Rate product_rate(const Task& task, const std::vector<std::string>& instructions) {
  const target::Speeds& speeds = task.profile.speeds;
  const double cycles_per_s = speeds.clock_hz * task.profile.units();
  if (std::ranges::count(instructions, kTileProduct) > 0) return {kOfTiles * cycles_per_s, kTileProduct};
  if (task.profile.is_cpu())
    return {kUnitsOfCore * 2 * task.profile.cpu.vector_bytes / 4 * cycles_per_s, "multiply-adds"};
  if (!schedule::has_mma(task.profile.target, task.problem.storage))
    return {2 * speeds.alu_per_cycle_sm * cycles_per_s, "multiply-adds"};
  const double of_mma = speeds.mma_flops_per_cycle_sm * cycles_per_s;
  if (task.problem.storage != kernel::Storage::F32) return {of_mma, "mma.sync"};
  if (task.problem.math == kernel::Math::Tf32) return {of_mma / 2, "mma.sync of tf32"};
  return {of_mma / 6, "mma.sync of tf32 in three terms"};
}

}  // namespace

int products_of_step(const Task& task) {
  const int forward = forward_products(task);
  if (forward == 0 || task.problem.pass != schedule::Pass::Backward) return forward;
  const schedule::BackwardSplit split = schedule::backward_split(task);
  return schedule::sweep_shape(task).product_count + forward + count(split.forward);
}

Floor bytes_floor(const Task& task, double copy_bytes_per_s) {
  const auto bytes = static_cast<double>(schedule::compulsory_bytes(task));
  return {"bytes", bytes / copy_bytes_per_s, bytes, ""};
}

Floor products_floor(const Task& task, const std::vector<std::string>& instructions) {
  const step::Sizes& sizes = task.problem.sizes;
  const double operations = 2.0 * static_cast<double>(columns_of_step(task) * sizes.dim) *
                            static_cast<double>(sizes.batch * sizes.time * sizes.heads);
  double measured = 0;  // operations a cycle and SM
  std::string by;
  for (const std::string& instruction : instructions)
    if (const auto rate = task.profile.floors.per_cycle_sm(instruction); rate && *rate > measured)
      measured = *rate, by = instruction;
  if (measured > 0) {
    const double of_all = measured * task.profile.speeds.clock_hz * task.profile.units();
    return {"products", operations / of_all, operations, by, true};
  }
  const Rate rate = product_rate(task, instructions);
  return {"products", operations / rate.operations_per_s, operations, rate.by};
}

std::vector<std::string> product_instructions(const schedule::KernelPlan& plan) {
  std::set<std::string> names;
  for (const schedule::Launch& launch : plan.launches)
    kernel::for_each_statement(launch.kernel.body, [&](const kernel::Stmt& stmt) {
      if (const auto* mma = std::get_if<kernel::Mma>(&stmt.node))
        names.insert(mma->storage == kernel::Storage::F32
                         ? "mma.m16n8k8.tf32"
                         : fmt::format("mma.m16n8k16.{}", kernel::storage_name(mma->storage)));
      if (std::holds_alternative<kernel::TileMma>(stmt.node)) names.insert(kTileProduct);
      if (const auto* mma = std::get_if<kernel::WarpgroupMma>(&stmt.node))
        names.insert(fmt::format("wgmma.m64n{}k16.{}", mma->columns, kernel::storage_name(mma->storage)));
    });
  return {names.begin(), names.end()};
}

Floor chain_floor(const Task& task, const std::vector<EstimatePart>& parts) {
  double seconds = 0;
  for (const EstimatePart& part : parts)
    if (part.of == EstimatePart::Of::Chain) seconds += part.seconds;
  return {"chain", seconds, static_cast<double>(task.problem.sizes.time),
          "",      false,   "the model's, not calibrated"};
}

std::vector<Floor> floors(const Task& task, const std::vector<EstimatePart>& parts, double copy_bytes_per_s,
                          const std::vector<std::string>& instructions) {
  std::vector<Floor> all = {bytes_floor(task, copy_bytes_per_s), products_floor(task, instructions),
                            chain_floor(task, parts)};
  std::erase_if(all, [](const Floor& floor) { return floor.seconds <= 0; });
  std::ranges::stable_sort(all,
                           [](const Floor& one, const Floor& other) { return one.seconds > other.seconds; });
  return all;
}

std::string made_of(const Floor& floor) {
  if (floor.name == "bytes")
    return fmt::format("{}, each once, at {}", with_prefix(floor.amount, "B"),
                       with_prefix(floor.rate(), "B/s"));
  if (floor.name == "products")
    return fmt::format("{} at {} of {}{}", with_prefix(floor.amount, "FLOP"),
                       with_prefix(floor.rate(), "FLOP/s"), floor.by,
                       floor.calibrated ? " (measured by calibrate)" : " (the profile's, not calibrated)");
  return fmt::format("{} steps of {} ns that wait for each other ({})", floor.amount,
                     digits(1e9 / floor.rate()), floor.source);
}

}  // namespace rondo::tuner
