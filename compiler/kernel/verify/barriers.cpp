#include <fmt/format.h>

#include <algorithm>

#include "compiler/kernel/ir/print.h"
#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/integer.h"
#include "compiler/kernel/verify/parts.h"

namespace rondo::kernel {

namespace {

// How far threads may differ in a value, or in whether they get somewhere.
enum Spread { kCluster, kBlock, kThread };  // same in the whole cluster; same in each block; neither

// How much the registers and arrays of a kernel differ: ThreadX between threads, BlockX and ClusterRank
// between the blocks of a cluster, and what depends on them, through values or through control flow. PTX ISA,
// barrier: "barrier{.cta} ... all threads in the CTA participate", hence every thread must reach the same
// barriers; and barrier.cluster likewise for the cluster. Named barriers, mbarriers and what a warp does
// together may stand under conditions that differ: who comes there is the schedule's choice, which the
// simulator checks.
class Divergence {
 public:
  explicit Divergence(const Kernel& kernel)
      : kernel_(kernel),
        registers_(kernel.registers.size(), kCluster),
        arrays_(kernel.arrays.size(), kCluster) {
    // A register may become varying late in a loop body and be read early in it: repeat until nothing
    // changes.
    do {
      changed_ = false;
      body(kernel.body, {});
    } while (changed_);
  }

  void report(Findings& findings) {
    findings_ = &findings;
    body(kernel_.body, {});
  }

 private:
  // Control flow around a statement: the outermost statements that not all threads of a block, and not all
  // blocks of a cluster, enter; or null.
  struct Around {
    const Stmt* threads = nullptr;
    const Stmt* blocks = nullptr;

    Spread spread() const { return threads != nullptr ? kThread : blocks != nullptr ? kBlock : kCluster; }
    Around inside(const Stmt& stmt, Spread condition) const {
      Around inner = *this;
      if (condition == kThread && inner.threads == nullptr) inner.threads = &stmt;
      if (condition != kCluster && inner.blocks == nullptr) inner.blocks = &stmt;
      return inner;
    }
  };

  // BlockX / n for a multiple n of the cluster's size: the number of the cluster, or of a group of clusters.
  bool is_cluster_number(const Expr& expr) const {
    const auto* division = std::get_if<IntExpr>(&expr.node);
    if (division == nullptr || division->op != IntOp::Div) return false;
    const auto* block = std::get_if<BuiltinRead>(&kernel_.expr(division->a).node);
    const auto size = constant_value(kernel_, division->b);
    return block != nullptr && block->builtin == Builtin::BlockX && size && *size % kernel_.cluster == 0;
  }

  Spread spread(ExprId id) const {
    const Expr& expr = kernel_.expr(id);
    if (const auto* read = std::get_if<RegRead>(&expr.node))
      return registers_[static_cast<std::size_t>(read->reg)];
    if (const auto* read = std::get_if<BuiltinRead>(&expr.node)) return spread(read->builtin);
    if (is_cluster_number(expr)) return kCluster;
    Spread result = kCluster;
    if (const auto* read = std::get_if<ArrayRead>(&expr.node))
      result = arrays_[static_cast<std::size_t>(read->array)];
    for_each_operand(expr, [&](ExprId operand) { result = std::max(result, spread(operand)); });
    return result;
  }
  Spread spread(Builtin builtin) const {
    switch (builtin) {
      case Builtin::ThreadX: return kThread;
      case Builtin::BlockX:
      case Builtin::ClusterRank: return kernel_.cluster > 1 ? kBlock : kCluster;
      case Builtin::GridX: return kCluster;
    }
    return kThread;
  }

  void mark(std::vector<Spread>& table, int id, Spread spread) {
    const auto at = static_cast<std::size_t>(id);
    if (spread <= table[at]) return;
    table[at] = spread;
    changed_ = true;
  }

  void body(const Body& statements, const Around& around) {
    for (const Stmt& stmt : statements) statement(stmt, around);
  }

  // Only memory that is constant during the launch gives every thread the same value at the same address.
  Spread loaded(const Load& s) const {
    const bool constant =
        s.from.space == Space::Global && !kernel_.params[static_cast<std::size_t>(s.from.id)].written;
    return constant ? spread(s.from.index) : kThread;
  }

  void statement(const Stmt& stmt, const Around& around) {
    const Spread control = around.spread();
    std::visit(
        Overloaded{
            [&](const Let& s) { mark(registers_, s.reg, spread(s.value)); },
            [&](const Variable& s) { mark(registers_, s.reg, spread(s.initial)); },
            [&](const Assign& s) { mark(registers_, s.reg, std::max(control, spread(s.value))); },
            [&](const ArrayWrite& s) { mark(arrays_, s.array, std::max(control, spread(s.value))); },
            [&](const Load& s) {
              for (const RegId reg : s.into) mark(registers_, reg, loaded(s));
            },
            [&](const Shuffle& s) { mark(registers_, s.into, std::max(spread(s.from), spread(s.lane))); },
            // The lanes of a warp get the same word, but warps may get others.
            [&](const Ballot& s) { mark(registers_, s.into, spread(s.predicate)); },
            // Each lane holds a part of the matrix.
            [&](const Mma& s) { mark(arrays_, s.acc.array, kThread); },
            [&](const LoadMatrix& s) { mark(arrays_, s.into.array, kThread); },
            // So that all warps of a group come to it.
            [&](const WarpgroupMma& s) {
              mark(arrays_, s.acc.array, kThread);
              barrier(stmt, around.threads, "threads of the block");
            },
            // All threads of the block do it together.
            [&](const TileMma&) { barrier(stmt, around.threads, "threads of the block"); },
            [&](const PackTile&) { barrier(stmt, around.threads, "threads of the block"); },
            [&](const WgmmaWait&) { barrier(stmt, around.threads, "threads of the block"); },
            [&](const For& s) { loop(s, stmt, around); },
            [&](const If& s) {
              const Around inner = around.inside(stmt, spread(s.condition));
              body(s.then_body, inner);
              body(s.else_body, inner);
            },
            [&](const Barrier& s) {
              if (s.threads == 0) barrier(stmt, around.threads, "threads of the block");
            },
            [&](const ClusterBarrier&) { barrier(stmt, around.blocks, "threads of the cluster"); },
            [](const DeclareArray&) {}, [](const Store&) {}, [](const Prefetch&) {}, [](const CopyAsync&) {},
            [](const CommitCopies&) {}, [](const WaitCopies&) {}, [](const WarpSync&) {},
            [](const ProxyFence&) {}, [](const MbarrierArrive&) {}, [](const MbarrierExpect&) {},
            [](const MbarrierWait&) {}, [](const StoreAsync&) {}, [](const GridArrive&) {},
            [](const GridWait&) {}, [](const StoreSelfFlagged&) {}, [](const GridFence&) {},
            [](const SetMaxNReg&) {}, [&](const LoadSelfFlagged& s) { mark(arrays_, s.into.array, kThread); },
            [](const Comment&) {}},
        stmt.node);
  }

  void loop(const For& s, const Stmt& stmt, const Around& around) {
    const Spread first = std::max(spread(s.begin), spread(s.step));
    mark(registers_, s.variable, first);
    body(s.body, around.inside(stmt, std::max(first, spread(s.end))));
  }

  void barrier(const Stmt& stmt, const Stmt* divergent, const char* whose) {
    if (divergent == nullptr || findings_ == nullptr) return;
    findings_->add(fmt::format("statement `{}`: under `{}`, which may differ between {}",
                               print(kernel_, stmt), print(kernel_, *divergent), whose));
  }

  const Kernel& kernel_;
  std::vector<Spread> registers_;
  std::vector<Spread> arrays_;
  bool changed_ = false;
  Findings* findings_ = nullptr;
};

}  // namespace

void verify_barriers(const Kernel& kernel, Findings& findings) { Divergence(kernel).report(findings); }

}  // namespace rondo::kernel
