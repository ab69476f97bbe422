#include "compiler/kernel/ir/ir.h"

#include <algorithm>

namespace rondo::kernel {

namespace {

// Widest access of the language (16 bytes), so that any array can be read with any vector width.
constexpr std::int64_t kSharedAlignment = 16;
// PTX ISA, mbarrier: "size 8 bytes, alignment 8 bytes".
constexpr std::int64_t kMbarrierBytes = 8;

std::int64_t align_up(std::int64_t bytes) {
  return (bytes + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
}

std::int64_t array_bytes(const Kernel& kernel) {
  std::int64_t total = 0;
  for (const SharedArray& array : kernel.shared)
    total = align_up(total + array.elements * storage_bytes(array.storage));
  return total;
}

}  // namespace

const char* math_name(Math math) {
  switch (math) {
    case Math::Fast: return "fast";
    case Math::Accurate: return "accurate";
    case Math::Tf32: return "tf32";
  }
  return "?";
}

bool is_in_double(const Kernel& kernel) {
  const auto is_wide = [](const auto& one) { return one.type == Type::F64; };
  return std::ranges::any_of(kernel.registers, is_wide) || std::ranges::any_of(kernel.arrays, is_wide) ||
         std::ranges::any_of(kernel.params, [&](const Param& param) {
           return param.buffer ? param.storage == Storage::F64 : is_wide(param);
         });
}

MmaRegisters mma_registers(Storage storage) {
  if (storage == Storage::F32) return {4, 8, 4};
  return {4, 4, 2};
}

bool may_contract(const std::vector<const Kernel*>& kernels) {
  return std::ranges::all_of(kernels, [](const Kernel* kernel) { return kernel->may_contract; });
}

std::vector<std::int64_t> shared_offsets(const Kernel& kernel) {
  std::vector<std::int64_t> offsets;
  std::int64_t next = 0;
  for (const SharedArray& array : kernel.shared) {
    offsets.push_back(next);
    next = align_up(next + array.elements * storage_bytes(array.storage));
  }
  return offsets;
}

std::vector<std::int64_t> mbarrier_offsets(const Kernel& kernel) {
  std::vector<std::int64_t> offsets;
  std::int64_t next = array_bytes(kernel);
  for (const MbarrierArray& array : kernel.mbarriers) {
    offsets.push_back(next);
    next += array.count * kMbarrierBytes;
  }
  return offsets;
}

std::int64_t shared_bytes(const Kernel& kernel) {
  std::int64_t total = array_bytes(kernel);
  for (const MbarrierArray& array : kernel.mbarriers) total += array.count * kMbarrierBytes;
  return align_up(total);
}

}  // namespace rondo::kernel
