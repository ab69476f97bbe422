#include "compiler/backend/llvm/nvptx/statements.h"

#include "compiler/backend/llvm/nvptx/memory.h"
#include "compiler/backend/llvm/nvptx/products.h"
#include "compiler/backend/llvm/nvptx/units.h"
#include "compiler/kernel/ir/visit.h"
#include "compiler/kernel/passes/barrier_uses.h"

namespace rondo::backend::nvptx {

using namespace kernel;

StatementWriter::StatementWriter(const Kernel& kernel, const target::Target& target, ValueWriter& values,
                                 FunctionText& text, ModuleText& module)
    : kernel_(kernel),
      target_(target),
      values_(values),
      text_(text),
      module_(module),
      awaited_in_two_roles_(kernel::awaited_in_two_roles(kernel)),
      signalled_by_others_(kernel::signalled_by_other_blocks(kernel)),
      accumulators_(kernel::accumulators(kernel)) {}

struct StatementWriter::Visit {
  StatementWriter& w;

  void operator()(const Let& s) const {
    w.values_.set_known(s.reg, w.values_.type(s.reg) == Type::F32 ? std::nullopt : w.values_.known(s.value));
    w.values_.set(s.reg, w.text_.named(w.values_.write(s.value), w.values_.name(s.reg)));
  }
  void operator()(const Variable& s) const {
    const std::string value = w.values_.write(s.initial);
    w.values_.make_variable(s.reg);
    w.values_.assign(s.reg, value);
  }
  void operator()(const Assign& s) const { w.values_.assign(s.reg, w.values_.write(s.value)); }
  void operator()(const DeclareArray& s) const { w.values_.make_array(s.array); }
  void operator()(const ArrayWrite& s) const {
    w.values_.write(s.array, w.values_.index(s.index), w.values_.write(s.value));
  }

  // ---- loops ----
  void operator()(const For& s) const {
    const auto turns = turns_to_write(s, w.values_);
    if (!turns) return rolled(s);
    // Register arrays are indexed by variables of such loops (compiler/kernel/verify/arrays.cpp).
    for (const std::int64_t turn : *turns) {
      w.values_.set_known(s.variable, turn);
      w.values_.set(s.variable, fmt::format("{}", turn));
      w.write(s.body);
    }
    w.values_.set_known(s.variable, std::nullopt);
  }
  void rolled(const For& s) const {
    const std::string begin = w.values_.write(s.begin);
    const std::string counter = w.text_.slot("i32", w.values_.name(s.variable) + "_counter");
    w.text_.line(fmt::format("store i32 {}, ptr {}", begin, counter));
    // LLVM leaves a loop as it is whose number of turns is not known and whose threads act together.
    const bool here =
        s.unroll > 1 && w.acts_together(s.body) && w.values_.is_fixed(s.end) && w.values_.is_fixed(s.step);
    if (here) turns(s, counter, s.unroll, 1);
    turns(s, counter, 1, here ? 1 : s.unroll);
  }
  // A loop of which each turn is `copies` of the body, and that LLVM unrolls `unroll` times.
  void turns(const For& s, const std::string& counter, int copies, int unroll) const {
    const std::string head = w.text_.label("for"), body = w.text_.label("body"), done = w.text_.label("done");
    const std::string name = w.values_.name(s.variable);
    w.text_.jump(head);
    w.text_.begin(head);
    w.values_.next_statement();
    w.values_.set_known(s.variable, std::nullopt);
    const std::string first = w.text_.named(w.text_.value("load i32, ptr {}", counter), name);
    w.values_.set(s.variable, first);
    std::string end = w.values_.write(s.end);
    if (copies > 1) {  // the last copy's turn must be one too
      const std::string step = w.values_.write(s.step);
      end = w.text_.value("sub nsw i32 {}, {}", end, w.text_.value("mul nsw i32 {}, {}", step, copies - 1));
    }
    w.text_.branch(w.text_.value("icmp slt i32 {}, {}", first, end), body, done);
    w.text_.begin(body);
    std::string variable = first;
    for (int copy = 0; copy < copies; ++copy) {
      w.values_.set(s.variable, variable);
      w.write(s.body);
      const std::string step = w.values_.write(s.step);
      variable = w.text_.value("add nsw i32 {}, {}", variable, step);
    }
    w.text_.line(fmt::format("store i32 {}, ptr {}", variable, counter));
    w.text_.jump(head, w.module_.loop(unroll));
    w.text_.begin(done);
    w.values_.next_statement();
  }

  void operator()(const If& s) const {
    if (const auto condition = w.values_.known(s.condition))
      return w.write(*condition != 0 ? s.then_body : s.else_body);
    const std::string condition = w.values_.write(s.condition);
    std::function<void()> otherwise;
    if (!s.else_body.empty()) otherwise = [&] { w.write(s.else_body); };
    w.values_.within(s, [&] {
      w.text_.branch_around(
          condition, "then", [&] { w.write(s.then_body); }, otherwise);
    });
  }
  void operator()(const Comment& s) const { w.text_.comment(s.text); }

  // ---- the other parts ----
  void operator()(const auto& s) const {
    if constexpr (requires { Memory{w}(s); })
      Memory{w}(s);
    else if constexpr (requires { Products{w}(s); })
      Products{w}(s);
    else
      Units{w}(s);
  }
};

bool StatementWriter::acts_together(const Body& body) {
  bool found = false;
  for_each_statement(body, [&](const Stmt& stmt) {
    found =
        found ||
        std::visit(
            Overloaded{[](const Barrier&) { return true; }, [](const WarpSync&) { return true; },
                       [](const ClusterBarrier&) { return true; }, [](const Shuffle&) { return true; },
                       [](const Ballot&) { return true; }, [](const Mma&) { return true; },
                       [](const LoadMatrix&) { return true; }, [](const WarpgroupMma&) { return true; },
                       [](const WgmmaWait&) { return true; }, [](const MbarrierArrive&) { return true; },
                       [](const MbarrierExpect&) { return true; }, [](const MbarrierWait&) { return true; },
                       [](const StoreAsync&) { return true; }, [](const auto&) { return false; }},
            stmt.node);
  });
  return found;
}

void StatementWriter::write(const Body& body) {
  for (const Stmt& stmt : body) {
    values_.next_statement();
    std::visit(Visit{*this}, stmt.node);
  }
  values_.next_statement();
}

// PTX ISA, mbarrier.init and fence.mbarrier_init: one thread initialises; nobody may use an mbarrier before
// it knows of that, in the own block by a block barrier, in others of the cluster by the fence and a cluster
// barrier.
void StatementWriter::begin() {
  if (kernel_.mbarriers.empty()) return;
  if (counts_vain_waits(kernel_)) {
    in_vain_ = text_.slot("i1", "in_vain");
    text_.line(fmt::format("store i1 false, ptr {}", in_vain_));
  }
  const std::string thread = text_.once("thread_x", "thread_x", "call i32 @llvm.nvvm.read.ptx.sreg.tid.x()");
  const std::string first = text_.label("initialise"), ready = text_.label("initialised");
  text_.branch(text_.value("icmp eq i32 {}, 0", thread), first, ready);
  text_.begin(first);
  const std::vector<std::int64_t> offsets = mbarrier_offsets(kernel_);
  for (std::size_t i = 0; i < offsets.size(); ++i)
    for (int at = 0; at < kernel_.mbarriers[i].count; ++at) {
      const std::string arguments =
          fmt::format("ptr addrspace(3) {}, i32 {}", values_.shared_place(offsets[i] + 8 * at),
                      kernel_.mbarriers[i].arrivals);
      if (target_.before_ampere())
        values_.call("mbarrier_init_75", arguments);
      else
        text_.line(fmt::format("call void @llvm.nvvm.mbarrier.init.shared({})", arguments));
    }
  if (kernel_.cluster > 1) text_.line("call void @llvm.nvvm.fence.mbarrier_init.release.cluster()");
  text_.jump(ready);
  text_.begin(ready);
  if (kernel_.cluster > 1)
    Units{*this}(ClusterBarrier{});
  else
    Units{*this}(Barrier{});
}

}  // namespace rondo::backend::nvptx
