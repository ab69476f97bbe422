// Statements for the units beside the plain SIMT core. Types and scopes were checked before, so tables may be
// indexed without looking.
#include <fmt/format.h>

#include "compiler/kernel/ir/print.h"
#include "compiler/kernel/ir/print_expression.h"
#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/integer.h"
#include "compiler/kernel/verify/expression.h"
#include "compiler/kernel/verify/parts.h"

namespace rondo::kernel {

namespace {

constexpr int kWarp = 32;
constexpr int kNamedBarriers = 15;  // PTX ISA, barrier: 16 a block, of which 0 is __syncthreads
constexpr int kWordBytes = 4;
// PTX ISA, wgmma: four warps, "the rank of the first warp is a multiple of 4"; n a multiple of 8, up to 256;
// the pattern of the 128-byte swizzle repeats after eight rows.
constexpr int kWarpgroup = 128, kMostColumns = 256;
constexpr int kPanelRow = 64, kPanelPattern = 8 * kPanelRow;  // elements
constexpr int kStep = 16;                                     // of the sum
constexpr int kMatrixRowBytes = 16;  // PTX ISA, ldmatrix: eight 16-bit elements, "aligned to 16 bytes"
// PTX ISA, mbarrier: the range of the tx-count.
constexpr std::int64_t kMaxExpected = (1 << 20) - 1;

class UnitCheck {
 public:
  UnitCheck(const Kernel& kernel, Findings& findings) : kernel_(kernel), findings_(findings) {}

  void body(const Body& statements) {
    for (const Stmt& stmt : statements) {
      current_ = &stmt;
      std::visit([&](const auto& s) { visit(s); }, stmt.node);
    }
  }

 private:
  void defect(const std::string& what) {
    findings_.add(fmt::format("statement `{}`: {}", print(kernel_, *current_), what));
  }

  Storage storage(const MemRef& ref) const {
    const auto at = static_cast<std::size_t>(ref.id);
    return ref.space == Space::Global ? kernel_.params[at].storage : kernel_.shared[at].storage;
  }

  // A constant index shows the alignment of the access; others are the simulator's to check.
  void aligned(const MemRef& ref, std::int64_t bytes) {
    const auto index = constant_value(kernel_, ref.index);
    if (index && *index * storage_bytes(storage(ref)) % bytes != 0)
      defect(fmt::format("{}[{}] is not aligned to the access's {} bytes",
                         memory_name(kernel_, ref.space, ref.id), *index, bytes));
  }

  // A value that constants give must be in first .. last.
  void range(ExprId id, std::int64_t first, std::int64_t last, const char* what) {
    const auto value = constant_value(kernel_, id);
    if (value && (*value < first || *value > last))
      defect(fmt::format("{} {}; {} to {} are legal", what, *value, first, last));
  }

  void mbarrier(const MbarrierRef& ref) {
    range(ref.index, 0, kernel_.mbarriers[static_cast<std::size_t>(ref.id)].count - 1, "mbarrier");
  }
  void rank(ExprId id) {
    if (kernel_.cluster == 1) return defect("names another block, but the kernel has no clusters");
    range(id, 0, kernel_.cluster - 1, "rank");
  }
  void counter(const MemRef& ref) {
    if (!kernel_.cooperative) return defect("a grid flag in a kernel that is not cooperative");
    if (ref.space != Space::Global || storage(ref) != Storage::I32 ||
        !kernel_.params[static_cast<std::size_t>(ref.id)].written)
      defect("a counter is an int32 element of a written buffer");
  }

  void visit(const Load& s) {
    if (s.packed) aligned(s.from, static_cast<std::int64_t>(s.into.size()) * kWordBytes);
  }
  void visit(const Store& s) {
    if (s.packed) aligned(s.to, static_cast<std::int64_t>(s.values.size()) * kWordBytes);
  }
  void visit(const Barrier& s) {
    if (s.id == 0 && s.threads == 0 && s.waits) return;
    if (s.id < 1 || s.id > kNamedBarriers)
      defect(fmt::format("barrier {}; named ones are 1 to {}", s.id, kNamedBarriers));
    if (s.threads < kWarp || s.threads % kWarp != 0 || s.threads > kernel_.threads)
      defect(fmt::format("{} threads; whole warps, up to the block's {}, are legal", s.threads,
                         kernel_.threads));
  }
  void visit(const ClusterBarrier&) {
    if (kernel_.cluster == 1) defect("the kernel has no clusters");
  }
  void visit(const Mma& s) {
    if (!is_half(s.storage) && s.storage != Storage::F32)
      return defect(fmt::format("a product of {}; bf16, fp16 and fp32 are legal", storage_name(s.storage)));
    if (s.tf32x3 && s.storage != Storage::F32)
      defect(
          fmt::format("a product of {} by tf32x3; only products of fp32 are split", storage_name(s.storage)));
  }
  void visit(const LoadMatrix& s) {
    if (s.count != 1 && s.count != 2 && s.count != 4)
      defect(fmt::format("{} matrices; 1, 2 or 4 are legal", s.count));
    if (s.row.space != Space::Shared || !is_half(storage(s.row)))
      return defect("matrices are loaded from shared arrays of bf16 or fp16");
    aligned(s.row, kMatrixRowBytes);
  }
  void panels(const PanelOperand& operand, const WarpgroupMma& s, int extent) {
    const auto at = static_cast<std::size_t>(operand.first.id);
    if (operand.first.space != Space::Shared || storage(operand.first) != s.storage)
      return defect(fmt::format("operands are shared arrays of {}", storage_name(s.storage)));
    if (shared_offsets(kernel_)[at] % (2 * kPanelPattern) != 0)
      defect(fmt::format("{} begins at byte {} of shared memory, which is no multiple of {}",
                         memory_name(kernel_, Space::Shared, operand.first.id), shared_offsets(kernel_)[at],
                         2 * kPanelPattern));
    const auto index = constant_value(kernel_, operand.first.index);
    const int stray = operand.mn_major ? kPanelPattern : kStep;
    if (index && (*index % stray != 0 || *index % kPanelPattern >= kPanelRow))
      defect(fmt::format("an operand from element {} on, which is not the start of {}", *index,
                         operand.mn_major ? "eight rows" : "a step in the first of eight rows"));
    if (!operand.mn_major && s.steps * kStep > kPanelRow)
      defect(fmt::format("{} steps of 16; a row has {} elements", s.steps, kPanelRow));
    if (operand.mn_major && extent > kPanelRow &&
        (operand.panel < kPanelPattern || operand.panel % kPanelPattern != 0))
      defect(
          fmt::format("panels {} elements apart; multiples of {} are legal", operand.panel, kPanelPattern));
  }
  void visit(const WarpgroupMma& s) {
    if (!is_half(s.storage))
      return defect(
          fmt::format("a product of {} by a warpgroup; bf16 and fp16 are legal", storage_name(s.storage)));
    if (s.columns < kStep || s.columns > kMostColumns || s.columns % kStep != 0)
      defect(fmt::format("{} columns; multiples of {} up to {} are legal", s.columns, kStep, kMostColumns));
    if (s.steps < 1) defect(fmt::format("{} steps", s.steps));
    if (kernel_.threads % kWarpgroup != 0)
      defect(fmt::format("{} threads are no whole number of warpgroups", kernel_.threads));
    panels(s.a, s, kPanelRow);
    panels(s.b, s, s.columns);
  }
  void tile_operand(const MemRef& place, Storage wanted, const char* what) {
    if (storage(place) != wanted)
      defect(fmt::format("{} of a tile's product is of {}, not {}", what, storage_name(storage(place)),
                         storage_name(wanted)));
  }
  void tile_pitch(int pitch, int elements, const char* what) {
    if (pitch < elements)
      defect(fmt::format("rows of {} are {} elements apart and have {}", what, pitch, elements));
  }
  void visit(const TileMma& s) {
    if (s.rows < 1 || (s.rows > kTileRows && s.rows != 2 * kTileRows))
      defect(fmt::format("{} rows of a tile's product; 1 to {} and {} are legal", s.rows, kTileRows,
                         2 * kTileRows));
    if (s.columns < kTileRows || s.columns % kTileRows != 0)
      defect(fmt::format("{} columns of a tile's product; multiples of {} are legal", s.columns, kTileRows));
    tile_operand(s.sums, Storage::F32, "the sum");
    tile_operand(s.a, Storage::BF16, "a");
    tile_operand(s.b, Storage::BF16, "b");
    tile_pitch(s.sum_pitch, s.columns, "the sum");
    tile_pitch(s.a_pitch, kTileStep, "a");
    if (s.sums.space != Space::Shared || s.a.space != Space::Shared)
      defect("the sum and a of a tile's product are shared arrays");
    if (kernel_.threads > kWarp) defect("a tile's product by the threads of several warps");
    if (s.b.space == Space::Global && kernel_.params[static_cast<std::size_t>(s.b.id)].written)
      defect("b of a tile's product is written in the launch");
  }
  void visit(const PackTile& s) {
    for (const MemRef& place : {s.to, s.from})
      if (!is_half(storage(place))) defect("tiles are packed of bf16 or fp16");
    const auto written = [&](const MemRef& place) {
      return place.space == Space::Shared || kernel_.params[static_cast<std::size_t>(place.id)].written;
    };
    if (!written(s.to)) defect("a tile is packed into a buffer that is not written");
    tile_pitch(s.to_pitch, kTileStep, "a packed tile");
    tile_pitch(s.from_pitch, kTileRows, "what is packed");
  }
  void visit(const MbarrierArrive& s) {
    mbarrier(s.barrier);
    if (s.rank >= 0) rank(s.rank);
  }
  void visit(const MbarrierExpect& s) {
    mbarrier(s.barrier);
    range(s.bytes, 0, kMaxExpected, "bytes");
  }
  void visit(const MbarrierWait& s) {
    mbarrier(s.barrier);
    range(s.parity, 0, 1, "parity");
  }
  void visit(const StoreAsync& s) {
    mbarrier(s.barrier);
    rank(s.rank);
    if (s.values.size() != 1 && s.values.size() != 2 && s.values.size() != 4)
      return defect(fmt::format("{} words; 1, 2 or 4 are legal", s.values.size()));
    if (s.to.space != Space::Shared) return defect("an asynchronous store goes to shared memory");
    aligned(s.to, static_cast<std::int64_t>(s.values.size()) * kWordBytes);
  }
  void visit(const GridArrive& s) { counter(s.counter); }
  void visit(const GridWait& s) { counter(s.counter); }
  void visit(const StoreSelfFlagged& s) {
    counter(s.to);
    if (s.values.size() != 1 && s.values.size() != 2 && s.values.size() != 4)
      return defect(fmt::format("{} words; 1, 2 or 4 are legal", s.values.size()));
    aligned(s.to, static_cast<std::int64_t>(s.values.size()) * kWordBytes);
  }
  void visit(const LoadSelfFlagged& s) {
    counter(s.from);
    if (s.vectors < 1) defect(fmt::format("{} vectors", s.vectors));
    if (s.rest < 0) defect(fmt::format("a load that waits {} cycles", s.rest));
    aligned(s.from, 4 * kWordBytes);
  }
  void visit(const For& s) { body(s.body); }
  void visit(const If& s) {
    body(s.then_body);
    body(s.else_body);
  }
  // What verify_statements checked completely.
  void visit(const auto&) {}

  const Kernel& kernel_;
  Findings& findings_;
  const Stmt* current_ = nullptr;
};

}  // namespace

void verify_units(const Kernel& kernel, Findings& findings) { UnitCheck(kernel, findings).body(kernel.body); }

}  // namespace rondo::kernel
