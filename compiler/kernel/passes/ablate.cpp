#include "compiler/kernel/passes/ablate.h"

#include <algorithm>
#include <limits>
#include <set>

#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/simplify.h"

namespace rondo::kernel {

namespace {

// Statements of one part go, or others take their place.
class Remover {
 public:
  Remover(Kernel& kernel, Part part) : kernel_(kernel), part_(part) {}

  void run() {
    for_each_statement(kernel_.body, [&](const Stmt& stmt) {
      if (const auto* store = std::get_if<StoreAsync>(&stmt.node)) counting_.insert(store->barrier.id);
      if (const auto* expect = std::get_if<MbarrierExpect>(&stmt.node)) counting_.insert(expect->barrier.id);
    });
    body(kernel_.body, false);
  }
  bool found() const { return found_; }

 private:
  // `repeated`: inside a loop that the compiler does not unroll to the end.
  void body(Body& statements, bool repeated) {
    Body kept;
    for (Stmt& stmt : statements) {
      if (auto* loop = std::get_if<For>(&stmt.node))
        body(loop->body, repeated || loop->unroll != kFullUnroll);
      if (auto* branch = std::get_if<If>(&stmt.node)) {
        body(branch->then_body, repeated);
        body(branch->else_body, repeated);
      }
      if (part_ == Part::Messages && std::holds_alternative<LoadSelfFlagged>(stmt.node))
        zeros(std::get<LoadSelfFlagged>(stmt.node), kept);
      else if (goes(stmt, repeated))
        found_ = true;
      else if (part_ == Part::Exchange)
        kept.push_back(alone(std::move(stmt)));
      else
        kept.push_back(std::move(stmt));
    }
    statements = std::move(kept);
  }

  bool goes(const Stmt& stmt, bool repeated) const {
    switch (part_) {
      case Part::Products:
        return std::holds_alternative<Mma>(stmt.node) || std::holds_alternative<WarpgroupMma>(stmt.node) ||
               std::holds_alternative<TileMma>(stmt.node);
      case Part::Clears: return std::holds_alternative<GridFence>(stmt.node) || clears(stmt);
      case Part::Inputs:
        return std::holds_alternative<CopyAsync>(stmt.node) ||
               std::holds_alternative<CommitCopies>(stmt.node) ||
               std::holds_alternative<WaitCopies>(stmt.node);
      case Part::Stores: {
        const auto* store = std::get_if<Store>(&stmt.node);
        return repeated && store != nullptr && store->to.space == Space::Global;
      }
      case Part::Messages:
        return std::holds_alternative<StoreSelfFlagged>(stmt.node) ||
               std::holds_alternative<GridArrive>(stmt.node) || std::holds_alternative<GridWait>(stmt.node) ||
               std::holds_alternative<StoreAsync>(stmt.node) || counting_.contains(mbarrier_of(stmt));
      case Part::Barriers: {
        const auto* barrier = std::get_if<Barrier>(&stmt.node);
        return (barrier != nullptr && (repeated || barrier->threads > 0)) || mbarrier_of(stmt) >= 0;
      }
      case Part::Exchange:
      case Part::Functions: return false;
    }
    return false;
  }

  // That a statement waits for, arrives at, or has counted; -1 of others.
  static MbarrierId mbarrier_of(const Stmt& stmt) {
    if (const auto* wait = std::get_if<MbarrierWait>(&stmt.node)) return wait->barrier.id;
    if (const auto* arrive = std::get_if<MbarrierArrive>(&stmt.node)) return arrive->barrier.id;
    if (const auto* expect = std::get_if<MbarrierExpect>(&stmt.node)) return expect->barrier.id;
    if (const auto* store = std::get_if<StoreAsync>(&stmt.node)) return store->barrier.id;
    return -1;
  }

  // What a load would have filled.
  void zeros(const LoadSelfFlagged& load, Body& kept) {
    found_ = true;
    const bool real = kernel_.arrays[static_cast<std::size_t>(load.into.array)].type == Type::F32;
    const ExprId zero = real ? add({Type::F32, FloatConst{0}}) : add({Type::I32, IntConst{0}});
    for (int i = 0; i < 4 * load.vectors; ++i) {
      const ExprId offset = add({Type::I32, IntConst{i}});
      const ExprId index = add({Type::I32, IntExpr{IntOp::Add, load.into.first, offset}});
      kept.push_back({ArrayWrite{load.into.array, index, zero}});
    }
  }

  bool clears(const Stmt& stmt) const {
    const auto* store = std::get_if<StoreSelfFlagged>(&stmt.node);
    return store != nullptr && std::ranges::all_of(store->values, [&](ExprId value) {
             const auto* word = std::get_if<IntConst>(&kernel_.expr(value).node);
             return word != nullptr && word->value == kEmpty;
           });
  }

  // A statement that does not need other blocks.
  Stmt alone(Stmt stmt) {
    if (auto* wait = std::get_if<GridWait>(&stmt.node)) {
      wait->target = add({Type::I32, IntConst{std::numeric_limits<std::int32_t>::min()}});
    } else if (auto* load = std::get_if<LoadSelfFlagged>(&stmt.node)) {
      load->once = true;
      load->rest = 0;
    } else if (auto* arrive = std::get_if<MbarrierArrive>(&stmt.node);
               arrive != nullptr && arrive->rank >= 0) {
      arrive->rank = -1;
    } else if (auto* store = std::get_if<StoreAsync>(&stmt.node)) {
      store->rank = add({Type::I32, BuiltinRead{Builtin::ClusterRank}});
    } else if (std::holds_alternative<ClusterBarrier>(stmt.node)) {
      stmt.node = Barrier{};
    } else {
      return stmt;
    }
    found_ = true;
    return stmt;
  }

  ExprId add(Expr expr) {
    kernel_.expressions.push_back(std::move(expr));
    return static_cast<ExprId>(kernel_.expressions.size() - 1);
  }

  Kernel& kernel_;
  Part part_;
  std::set<MbarrierId> counting_;  // mbarriers that count asynchronous stores
  bool found_ = false;
};

// Users of special functions read the first argument instead. Operands stand before users, so an operand that
// was one itself is known by then.
bool remove_functions(Kernel& kernel) {
  std::vector<ExprId> instead(kernel.expressions.size());
  bool found = false;
  for (std::size_t i = 0; i < instead.size(); ++i) {
    const auto now = [&](ExprId& id) { id = instead[static_cast<std::size_t>(id)]; };
    for_each_operand(kernel.expressions[i], now);
    const auto* math = std::get_if<MathExpr>(&kernel.expressions[i].node);
    const bool special = math != nullptr && scalar::info(math->op).fast.special > 0;
    instead[i] = special ? math->args[0] : static_cast<ExprId>(i);
    found = found || special;
  }
  for_each_statement(kernel.body, [&](Stmt& stmt) {
    for_each_expression(stmt, [&](ExprId& id) { id = instead[static_cast<std::size_t>(id)]; });
  });
  return found;
}

bool remove(Kernel& kernel, Part part) {
  if (part == Part::Functions) return remove_functions(kernel);
  Remover remover(kernel, part);
  remover.run();
  return remover.found();
}

}  // namespace

const char* part_name(Part part) {
  switch (part) {
    case Part::Products: return "products";
    case Part::Exchange: return "exchange";
    case Part::Clears: return "clears";
    case Part::Inputs: return "inputs";
    case Part::Stores: return "stores";
    case Part::Functions: return "functions";
    case Part::Messages: return "messages";
    case Part::Barriers: return "barriers";
  }
  return "?";
}

Kernel ablate(Kernel kernel, Part part) {
  if (!remove(kernel, part)) return kernel;
  if (!kernel.comment.empty()) kernel.comment += '\n';
  kernel.comment += std::string("without ") + part_name(part) + ": the results are wrong";
  return simplify(kernel);
}

bool has_part(const Kernel& kernel, Part part) {
  Kernel copy = kernel;
  return remove(copy, part);
}

}  // namespace rondo::kernel
