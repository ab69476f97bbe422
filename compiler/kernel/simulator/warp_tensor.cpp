// Warp: what all its lanes do together on the matrix units.
#include <fmt/format.h>

#include "compiler/kernel/ir/print_expression.h"
#include "compiler/kernel/simulator/tensor.h"
#include "compiler/kernel/simulator/warp.h"

namespace rondo::kernel::simulator {

// The index is made of constants and variables of unrolled loops, so it is the same in every lane.
Lanes* Warp::slice(const ArraySlice& slice, Slot first, int count, GroupContext& context) {
  const auto at = static_cast<std::size_t>(slice.array);
  const int size = program_.kernel->arrays[at].size;
  const std::int64_t index = lanes_[first].i[0];
  if (index >= 0 && index <= size - count) return &lanes_[program_.arrays[at] + static_cast<Slot>(index)];
  context.log.report(Fault::Kind::OutOfRange, source_,
                     fmt::format("warp {} of block {} uses {} elements of {}[{}] from {} on", index_, block_,
                                 count, array_name(*program_.kernel, slice.array), size, index));
  return nullptr;
}

bool Warp::holds_values(const char* operand, const Lanes* values, int count, GroupContext& context) {
  for (int r = 0; r < count; ++r) {
    if (values[r].undefined == 0) continue;
    context.log.report(Fault::Kind::Unset, source_,
                       fmt::format("{} has never set register {} of {}",
                                   describe(thread(__builtin_ctz(values[r].undefined))), r, operand));
    return false;
  }
  return true;
}

// The hardware takes no notice of the bits that tf32 lacks: a product of what was not rounded is wrong by up
// to twice as much.
bool Warp::holds_tf32(const char* operand, const Lanes* values, int count, GroupContext& context) {
  for (int r = 0; r < count; ++r)
    for (int l = 0; l < kLanes; ++l) {
      if (scalar::is_tf32(values[r].f[l])) continue;
      context.log.report(Fault::Kind::Protocol, source_,
                         fmt::format("{} multiplies {} in register {} of {}, which is no number of tf32",
                                     describe(thread(l)), values[r].f[l], r, operand));
      return false;
    }
  return true;
}

void Warp::act(const MultiplyMatrices& a, GroupContext& context) {
  require_fp32(lanes_.fp64(), "multiplies matrices");
  if (!all_lanes("a matrix product", context)) return;
  const MmaRegisters of = mma_registers(a.mma->storage);
  Lanes* acc = slice(a.mma->acc, a.acc, of.acc, context);
  const Lanes* left = slice(a.mma->a, a.a, of.a, context);
  const Lanes* right = slice(a.mma->b, a.b, of.b, context);
  if (acc == nullptr || left == nullptr || right == nullptr) return;
  const bool complete = holds_values("the accumulator", acc, of.acc, context) &&
                        holds_values("a", left, of.a, context) && holds_values("b", right, of.b, context);
  if (complete && a.mma->storage == Storage::F32 && !a.mma->tf32x3)
    (void)(holds_tf32("a", left, of.a, context) && holds_tf32("b", right, of.b, context));
  if (complete) multiply_add(*a.mma, acc, left, right);
  // After a fault go on with something, as other instructions do.
  for (int r = 0; r < of.acc; ++r) acc[r].undefined = 0;
}

// A row counts as read by the lane that gives its place: that lane's address decides which bytes are read,
// and its alignment; the lanes that receive them have none. Others are ordered by a warp_sync as with any
// load.
void Warp::act(const LoadMatrices& a, GroupContext& context) {
  require_fp32(lanes_.fp64(), "multiplies matrices");
  if (!all_lanes("a matrix load", context)) return;
  Lanes* into = slice(a.load->into, a.first, a.load->count, context);
  if (into == nullptr) return;
  const Lanes& row = lanes_[a.row];
  for (int m = 0; m < a.load->count; ++m) {
    std::uint16_t matrix[kMatrixRows][kMatrixRows] = {};
    for (int i = 0; i < kMatrixRows; ++i) {
      const int lane = m * kMatrixRows + i;
      const Span from = span(a.load->row, row.i[lane], kMatrixRows);
      if (!context.memory.read(from, thread(lane))) continue;
      const GlobalBuffer& data = context.memory.data(from);
      for (int k = 0; k < kMatrixRows; ++k)
        matrix[i][k] = half_bits(data.storage, data.values[static_cast<std::size_t>(from.index + k)]);
    }
    distribute(matrix, a.load->transposed, into[m]);
    into[m].undefined = 0;
  }
}

}  // namespace rondo::kernel::simulator
