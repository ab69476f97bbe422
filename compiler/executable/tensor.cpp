#include "compiler/executable/tensor.h"

#include <algorithm>
#include <array>
#include <limits>

namespace rondo::executable {

namespace {

constexpr bool kTimed = true, kNoTime = false, kBatch = true, kNoBatch = false;
constexpr bool kInternal = true, kBound = false;

constexpr std::array<RoleInfo, kRoles> kTable = {{
    {Role::Input, "input", "{}", kTimed, kBatch, kBound, Need::Required},
    {Role::Param, "param", "{}", kNoTime, kNoBatch, kBound, Need::Required},
    {Role::InitialState, "initial_state", "{}_first", kNoTime, kBatch, kBound, Need::Zero},
    {Role::Output, "output", "{}_out", kTimed, kBatch, kBound, Need::Required},
    {Role::History, "history", "{}_history", kTimed, kBatch, kBound, Need::Required},
    {Role::LastState, "last_state", "{}_last", kNoTime, kBatch, kBound, Need::Discard},
    {Role::Products, "products", "{}_products", kTimed, kBatch, kBound, Need::Required},
    {Role::OutputGradient, "output_gradient", "grad_{}_out", kTimed, kBatch, kBound, Need::Zero},
    {Role::LastStateGradient, "last_state_gradient", "grad_{}_last", kNoTime, kBatch, kBound, Need::Zero},
    {Role::InputGradient, "input_gradient", "grad_{}", kTimed, kBatch, kBound, Need::Discard},
    {Role::ParamGradient, "param_gradient", "grad_{}", kNoTime, kNoBatch, kBound, Need::Discard},
    {Role::InitialStateGradient, "initial_state_gradient", "grad_{}_first", kNoTime, kBatch, kBound,
     Need::Discard},
    {Role::Workspace, "workspace", "workspace", kNoTime, kBatch, kInternal, Need::Required},
    {Role::Exchange, "exchange", "exchange", kNoTime, kBatch, kInternal, Need::Required},
    {Role::Status, "status", "status", kNoTime, kNoBatch, kInternal, Need::Required},
    {Role::Scratch, "scratch", "scratch_{}", kTimed, kBatch, kInternal, Need::Required},
    {Role::Packed, "packed", "packed", kNoTime, kBatch, kInternal, Need::Required},
    {Role::Vectors, "vectors", "vectors", kNoTime, kBatch, kInternal, Need::Required},
    {Role::Carries, "carries", "carries", kNoTime, kBatch, kInternal, Need::Required},
    {Role::Report, "report", "report", kNoTime, kBatch, kInternal, Need::Required},
    {Role::Resets, "resets", "{}", kTimed, kBatch, kBound, Need::Required},
    {Role::Lengths, "lengths", "{}", kNoTime, kBatch, kBound, Need::Required},
}};

constexpr bool in_order() {
  for (int i = 0; i < kRoles; ++i)
    if (static_cast<int>(kTable[static_cast<std::size_t>(i)].role) != i) return false;
  return true;
}
static_assert(in_order(), "a row for every role, in the order of the enumeration");

}  // namespace

std::int64_t SizeRule::rows(std::int64_t batch) const {
  std::int64_t rows = 0;
  return __builtin_mul_overflow(batch, batch_rows, &rows) ? std::numeric_limits<std::int64_t>::max() : rows;
}

std::int64_t SizeRule::of_tiles(std::int64_t tiles, std::int64_t time) const {
  const std::int64_t spans = time_tile > 0 ? tiles_of(time, time_tile) : 1;
  std::int64_t size = 0;
  if (__builtin_mul_overflow(tiles, spans, &size) || __builtin_mul_overflow(size, each, &size) ||
      __builtin_add_overflow(size, fixed, &size))
    return kMost;
  return std::min(size, kMost);
}

const RoleInfo& role_info(Role role) { return kTable[static_cast<std::size_t>(role)]; }

}  // namespace rondo::executable
