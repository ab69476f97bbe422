// The launch walk over random executables: whatever their tensors and grids are, regions of the workspace lie
// apart, and the parts of a launch take each batch tile once. Real plans of every strategy: tests/points.
#include <fmt/format.h>

#include <random>

#include "tests/executable/walk_faults.h"

namespace rondo::executable {
namespace {

using Random = std::mt19937_64;

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

SizeRule random_size(Random& random, bool may_be_timed) {
  SizeRule rule;
  if (pick(random, 0, 1) == 0) rule.fixed = pick(random, 0, 300);
  if (pick(random, 0, 3) != 0) rule.each = pick(random, 1, 300);
  if (pick(random, 0, 1) == 0) rule.batch_tile = pick(random, 1, 20);
  if (pick(random, 0, 2) == 0) rule.batch_rows = pick(random, 2, 9);
  if (may_be_timed && pick(random, 0, 1) == 0) rule.time_tile = pick(random, 1, 20);
  return rule;
}

Executable random_executable(Random& random) {
  Executable executable;
  const auto tensors = pick(random, 1, 24);
  for (std::int64_t i = 0; i < tensors; ++i) {
    Tensor& tensor = executable.tensors.emplace_back();
    tensor.ref = {static_cast<Role>(pick(random, 0, kRoles - 1)), static_cast<std::int32_t>(i)};
    tensor.name = fmt::format("{}_{}", role_info(tensor.ref.role).text, i);
    constexpr scalar::Storage kStorages[] = {scalar::Storage::BF16, scalar::Storage::F32,
                                             scalar::Storage::I32};
    tensor.storage = kStorages[pick(random, 0, 2)];
    tensor.alignment = scalar::storage_bytes(tensor.storage);
    tensor.need = role_info(tensor.ref.role).need;
    tensor.written = pick(random, 0, 1) == 0;
    tensor.size = random_size(random, true);
    tensor.unit = pick(random, 1, 300);
  }
  for (std::int64_t i = 0; i < tensors && pick(random, 0, 2) != 0; ++i) {
    const Tensor& result = executable.tensors[static_cast<std::size_t>(i)];
    if (is_internal(result.ref.role) || !has_time_axis(result.ref.role) || !result.written ||
        result.need != Need::Required)
      continue;
    Tensor scratch = result;
    scratch.ref = {Role::Scratch, static_cast<std::int32_t>(executable.tensors.size())};
    scratch.name = result.name + "_before";
    scratch.unit = pick(random, 1, result.unit);
    scratch.size = {0, scratch.unit, 1, 1};
    scratch.lies_in = static_cast<std::int32_t>(i);
    executable.tensors.push_back(std::move(scratch));
  }
  const auto launches = pick(random, 1, 6);
  for (std::int64_t i = 0; i < launches; ++i) {
    Kernel& kernel = executable.kernels.emplace_back();
    kernel.name = fmt::format("kernel_{}", i);
    Launch& launch = executable.launches.emplace_back();
    launch.kernel = static_cast<std::uint16_t>(i);
    launch.grid.blocks = random_size(random, true);
    if (pick(random, 0, 1) == 0) launch.grid.tiles_together = pick(random, 1, 5);
    if (pick(random, 0, 3) == 0) launch.repetition.kind = Repetition::Kind::EachStep;
    launch.arguments.push_back({Argument::Kind::FirstTile, 4, 0});
    launch.arguments.push_back({Argument::Kind::Batch, 4, 0});
    for (std::size_t t = 0; t < executable.tensors.size(); ++t)
      if (pick(random, 0, 2) != 0)
        launch.arguments.push_back({Argument::Kind::Pointer, 8, static_cast<std::uint16_t>(t)});
  }
  return executable;
}

TEST(Walk, RegionsLieApartAndPartsTakeEachTileOnce) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    const Executable executable = random_executable(random);
    const std::int64_t batch = pick(random, 1, 50), time = pick(random, 1, 50);
    for (const bool optional : {false, true}) {
      const std::vector<std::string> faults = testing::walk_faults(executable, batch, time, optional);
      ASSERT_TRUE(faults.empty()) << "seed " << seed << ": " << faults.front();
    }
  }
}

}  // namespace
}  // namespace rondo::executable
