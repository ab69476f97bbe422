#include "compiler/kernel/simulator/program.h"

#include <algorithm>

#include "compiler/kernel/ir/visit.h"

namespace rondo::kernel::simulator {

namespace {

// Slots: registers, then array elements, then leaves, then the temporaries of one instruction, used again by
// the next.
class Compiler {
 public:
  explicit Compiler(const Kernel& kernel) : kernel_(kernel), slot_of_(kernel.expressions.size(), -1) {
    program_.kernel = &kernel;
    Slot next = static_cast<Slot>(kernel.registers.size());
    for (const RegisterArray& array : kernel.arrays) {
      program_.arrays.push_back(next);
      next += array.size;
    }
    for (std::size_t i = 0; i < kernel.expressions.size(); ++i) place_leaf(static_cast<ExprId>(i), next);
    first_temporary_ = program_.slots = next;
  }

  Program run() {
    body(kernel_.body);
    emit(nullptr, {}, Finish{});
    return std::move(program_);
  }

 private:
  void place_leaf(ExprId id, Slot& next) {
    const auto& node = kernel_.expr(id).node;
    if (const auto* read = std::get_if<RegRead>(&node)) {
      slot_of_[static_cast<std::size_t>(id)] = read->reg;
      return;
    }
    if (!std::holds_alternative<IntConst>(node) && !std::holds_alternative<FloatConst>(node) &&
        !std::holds_alternative<ParamRead>(node) && !std::holds_alternative<BuiltinRead>(node))
      return;
    slot_of_[static_cast<std::size_t>(id)] = next;
    program_.leaves.emplace_back(next++, id);
  }

  Pc here() const { return static_cast<Pc>(program_.code.size()); }
  template <class A>
  A& action(Pc at) {
    return std::get<A>(program_.code[static_cast<std::size_t>(at)].action);
  }

  // The instruction for `source` that evaluates `roots` and then does what `make(slots of roots)` says.
  template <class Make>
  Pc emit(const Stmt* source, const std::vector<ExprId>& roots, Make&& make) {
    Instruction instruction;
    instruction.source = source;
    Slot next = first_temporary_;
    for (const ExprId root : roots) instruction.uses.push_back(place(root, instruction.computes, next));
    program_.slots = std::max(program_.slots, next);
    for (const Compute& compute : instruction.computes) slot_of_[static_cast<std::size_t>(compute.expr)] = -1;
    if constexpr (std::is_invocable_v<Make, const std::vector<Slot>&>)
      instruction.action = make(instruction.uses);
    else
      instruction.action = make;
    program_.code.push_back(std::move(instruction));
    return here() - 1;
  }

  // Slot of an expression, evaluated once an instruction however often its tree holds it.
  Slot place(ExprId id, std::vector<Compute>& computes, Slot& next) {
    Slot& slot = slot_of_[static_cast<std::size_t>(id)];
    if (slot >= 0) return slot;
    Compute compute{id, -1, {-1, -1, -1, -1, -1}};
    std::size_t operand = 0;
    for_each_operand(kernel_.expr(id), [&](ExprId in) { compute.in[operand++] = place(in, computes, next); });
    slot = compute.into = next++;
    computes.push_back(compute);
    return slot;
  }

  void body(const Body& statements) {
    for (const Stmt& stmt : statements) std::visit([&](const auto& s) { statement(s, &stmt); }, stmt.node);
  }

  using Slots = const std::vector<Slot>&;
  void statement(const Let& s, const Stmt* source) { set(s.reg, s.value, source); }
  void statement(const Variable& s, const Stmt* source) { set(s.reg, s.initial, source); }
  void statement(const Assign& s, const Stmt* source) { set(s.reg, s.value, source); }
  void set(RegId reg, ExprId value, const Stmt* source) {
    emit(source, {value}, [&](Slots in) { return SetRegister{reg, in[0]}; });
  }
  void statement(const DeclareArray& s, const Stmt* source) {
    const auto at = static_cast<std::size_t>(s.array);
    emit(source, {}, ClearArray{program_.arrays[at], kernel_.arrays[at].size});
  }
  void statement(const ArrayWrite& s, const Stmt* source) {
    emit(source, {s.index, s.value}, [&](Slots in) { return WriteArray{s.array, in[0], in[1]}; });
  }
  void statement(const Load& s, const Stmt* source) {
    emit(source, {s.from.index}, [&](Slots in) { return LoadElements{&s, in[0], s.into}; });
  }
  void statement(const Store& s, const Stmt* source) {
    std::vector<ExprId> roots{s.to.index};
    roots.insert(roots.end(), s.values.begin(), s.values.end());
    emit(source, roots, [&](Slots in) { return StoreElements{&s, in[0], {in.begin() + 1, in.end()}}; });
  }
  void statement(const Prefetch&, const Stmt*) {}
  void statement(const CopyAsync& s, const Stmt* source) {
    emit(source, {s.to.index, s.from.index}, [&](Slots in) { return IssueCopy{&s, in[0], in[1]}; });
  }
  void statement(const CommitCopies&, const Stmt* source) { emit(source, {}, CommitGroup{}); }
  void statement(const WaitCopies& s, const Stmt* source) { emit(source, {}, WaitGroups{s.pending}); }
  void statement(const Barrier& s, const Stmt* source) {
    if (s.threads == 0)
      emit(source, {}, BlockBarrier{});
    else
      emit(source, {}, ComeToBarrier{s.id, s.threads, s.waits});
  }
  void statement(const ClusterBarrier&, const Stmt* source) { emit(source, {}, ClusterMeeting{}); }
  void statement(const WarpSync&, const Stmt* source) { emit(source, {}, SyncWarp{}); }
  void statement(const Shuffle& s, const Stmt* source) {
    emit(source, {s.from, s.lane}, [&](Slots in) { return ShuffleLanes{s.mode, s.into, in[0], in[1]}; });
  }
  void statement(const Ballot& s, const Stmt* source) {
    emit(source, {s.predicate}, [&](Slots in) { return CountVotes{s.into, in[0]}; });
  }
  void statement(const Mma& s, const Stmt* source) {
    emit(source, {s.acc.first, s.a.first, s.b.first}, [&](Slots in) {
      return MultiplyMatrices{&s, in[0], in[1], in[2]};
    });
  }
  void statement(const LoadMatrix& s, const Stmt* source) {
    emit(source, {s.into.first, s.row.index}, [&](Slots in) { return LoadMatrices{&s, in[0], in[1]}; });
  }
  void statement(const WarpgroupMma& s, const Stmt* source) {
    emit(source, {s.acc.first, s.a.first.index, s.b.first.index}, [&](Slots in) {
      return StartProduct{&s, in[0], in[1], in[2]};
    });
  }
  void statement(const WgmmaWait& s, const Stmt* source) { emit(source, {}, AwaitProducts{s.pending}); }
  void statement(const ProxyFence&, const Stmt* source) { emit(source, {}, PublishShared{}); }
  void statement(const TileMma& s, const Stmt* source) {
    emit(source, {s.steps, s.sums.index, s.a.index, s.b.index}, [&](Slots in) {
      return MultiplyTiles{&s, in[0], in[1], in[2], in[3]};
    });
  }
  void statement(const PackTile& s, const Stmt* source) {
    emit(source, {s.to.index, s.from.index}, [&](Slots in) { return PackElements{&s, in[0], in[1]}; });
  }
  void statement(const MbarrierArrive& s, const Stmt* source) {
    std::vector<ExprId> roots{s.barrier.index};
    if (s.rank >= 0) roots.push_back(s.rank);
    emit(source, roots, [&](Slots in) {
      return ArriveMbarrier{s.barrier.id, in[0], in.size() > 1 ? in[1] : -1, -1};
    });
  }
  void statement(const MbarrierExpect& s, const Stmt* source) {
    emit(source, {s.barrier.index, s.bytes}, [&](Slots in) {
      return ArriveMbarrier{s.barrier.id, in[0], -1, in[1]};
    });
  }
  void statement(const MbarrierWait& s, const Stmt* source) {
    emit(source, {s.barrier.index, s.parity}, [&](Slots in) {
      return AwaitPhase{s.barrier.id, in[0], in[1]};
    });
  }
  void statement(const StoreAsync& s, const Stmt* source) {
    std::vector<ExprId> roots{s.to.index, s.rank, s.barrier.index};
    roots.insert(roots.end(), s.values.begin(), s.values.end());
    emit(source, roots, [&](Slots in) {
      return SendElements{&s, in[0], in[1], in[2], {in.begin() + 3, in.end()}};
    });
  }
  void statement(const GridArrive& s, const Stmt* source) {
    emit(source, {s.counter.index}, [&](Slots in) { return ArriveFlag{&s, in[0]}; });
  }
  void statement(const GridWait& s, const Stmt* source) {
    emit(source, {s.counter.index, s.target}, [&](Slots in) { return AwaitFlag{&s, in[0], in[1]}; });
  }
  void statement(const StoreSelfFlagged& s, const Stmt* source) {
    std::vector<ExprId> roots{s.to.index};
    roots.insert(roots.end(), s.values.begin(), s.values.end());
    emit(source, roots, [&](Slots in) { return SendWords{&s, in[0], {in.begin() + 1, in.end()}}; });
  }
  void statement(const LoadSelfFlagged& s, const Stmt* source) {
    emit(source, {s.into.first, s.from.index, s.stride}, [&](Slots in) {
      return AwaitWords{&s, in[0], in[1], in[2]};
    });
  }
  void statement(const SetMaxNReg&, const Stmt*) {}  // the simulator's threads have as many as they name
  void statement(const GridFence&, const Stmt* source) { emit(source, {}, FenceGrid{}); }
  // As the emitted `for`: the end is evaluated at every test, the step at every increment.
  void statement(const For& s, const Stmt* source) {
    emit(source, {s.begin}, [&](Slots in) { return EnterLoop{s.variable, in[0]}; });
    const Pc test = emit(source, {s.end}, [&](Slots in) { return TestLoop{s.variable, in[0], -1}; });
    body(s.body);
    emit(source, {s.step}, [&](Slots in) { return NextLoop{s.variable, in[0], test}; });
    action<TestLoop>(test).exit_pc = here();
  }
  void statement(const If& s, const Stmt* source) {
    const Pc enter = emit(source, {s.condition}, [&](Slots in) { return EnterIf{in[0], -1}; });
    body(s.then_body);
    const Pc middle = emit(source, {}, SwitchToElse{-1});
    action<EnterIf>(enter).else_pc = middle;
    body(s.else_body);
    action<SwitchToElse>(middle).end_pc = emit(source, {}, LeaveIf{});
  }
  void statement(const Comment&, const Stmt*) {}

  const Kernel& kernel_;
  Program program_;
  std::vector<Slot> slot_of_;  // by expression; temporaries only while their instruction is made
  Slot first_temporary_ = 0;
};

}  // namespace

Program compile(const Kernel& kernel) { return Compiler(kernel).run(); }

}  // namespace rondo::kernel::simulator
