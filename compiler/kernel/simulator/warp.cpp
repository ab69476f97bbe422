#include "compiler/kernel/simulator/warp.h"

#include <fmt/format.h>

#include "compiler/kernel/ir/print.h"
#include "compiler/kernel/ir/visit.h"

namespace rondo::kernel::simulator {

void Warp::start(const Launch& launch, std::int64_t block, int agent) {
  block_ = block;
  agent_ = agent;
  lanes_.start(launch, block, index_);
  copies_.fill({});
  products_.clear();
  frames_.clear();
  active_ = existing_;
  passed_ = 0;
  pc_ = 0;
  state_ = Ready{};
}

void Warp::run(GroupContext& context) {
  const bool polls = std::holds_alternative<AtPhase>(state_) || std::holds_alternative<AtFlag>(state_) ||
                     std::holds_alternative<AtWords>(state_);
  if (polls) state_ = Ready{};
  while (std::holds_alternative<Ready>(state_) && !context.log.stopped()) step(context);
}

void Warp::step(GroupContext& context) {
  const Instruction& instruction = program_.code[static_cast<std::size_t>(pc_)];
  source_ = instruction.source;
  if (++context.steps > context.step_limit) {
    context.log.report(Fault::Kind::StepLimit, source_,
                       fmt::format("{} steps were not enough", context.step_limit));
    return context.log.stop();
  }
  context.memory.at(source_, static_cast<std::uint64_t>(context.steps));
  for (const Compute& compute : instruction.computes) lanes_.evaluate(compute, active_);
  check_defined(instruction, context);
  ++pc_;
  std::visit([&](const auto& action) { act(action, context); }, instruction.action);
}

void Warp::check_defined(const Instruction& instruction, GroupContext& context) {
  for (const Slot slot : instruction.uses)
    if (const Mask undefined = lanes_[slot].undefined & active_; undefined != 0)
      return report_undefined(instruction, __builtin_ctz(undefined), context);
}

// Finds where the undefined value came from: the first node of the instruction whose operands are all
// defined.
void Warp::report_undefined(const Instruction& instruction, int lane, GroupContext& context) {
  const Kernel& kernel = *program_.kernel;
  const std::string who = describe(thread(lane));
  for (const Compute& compute : instruction.computes) {
    bool inherited = !has(lanes_[compute.into].undefined, lane);
    for (const Slot in : compute.in) inherited = inherited || (in >= 0 && has(lanes_[in].undefined, lane));
    if (inherited) continue;
    const std::string text = print(kernel, compute.expr);
    const auto operand = [&](std::size_t k) { return lanes_[compute.in[k]].i[lane]; };
    if (const auto* read = std::get_if<ArrayRead>(&kernel.expr(compute.expr).node)) {
      const RegisterArray& array = kernel.arrays[static_cast<std::size_t>(read->array)];
      const bool outside = operand(0) < 0 || operand(0) >= array.size;
      const char* why = outside             ? "it does not have"
                        : products_.empty() ? "was never set"
                                            : "was never set or belongs to a product that is not waited for";
      return context.log.report(
          outside ? Fault::Kind::OutOfRange : Fault::Kind::Unset, source_,
          fmt::format("{} reads `{}` at index {} of {}, which {}", who, text, operand(0), array.size, why));
    }
    return context.log.report(Fault::Kind::Unset, source_,
                              fmt::format("{} uses `{}`, which is undefined for operands {} and {}", who,
                                          text, operand(0), operand(1)));
  }
  context.log.report(Fault::Kind::Unset, source_, who + " reads a register that was never set");
}

Mask Warp::where_true(Slot slot) const {
  const Lanes& lanes = lanes_[slot];
  Mask result = 0;
  for (int l = 0; l < kLanes; ++l) result |= lanes.i[l] != 0 ? bit(l) : 0;
  return result;
}

// PTX ISA, barrier and bar.warp.sync: with only part of the threads there, the others are waited for for
// ever.
bool Warp::whole_warp(const char* what, GroupContext& context) {
  if (active_ == existing_) return true;
  const int missing = __builtin_ctz(existing_ & ~active_);
  context.log.report(Fault::Kind::Deadlock, source_,
                     fmt::format("{} reached by lanes {:#010x} of warp {} of block {} only; {} is missing",
                                 what, active_, index_, block_, describe(thread(missing))));
  context.log.stop();
  return false;
}

bool Warp::all_lanes(const char* what, GroupContext& context) {
  if (existing_ == kAllLanes && active_ == kAllLanes) {
    context.clocks.run_together(agent_);
    return true;
  }
  context.log.report(Fault::Kind::Deadlock, source_,
                     fmt::format("{} by lanes {:#010x} of warp {} of block {}; all 32 take part", what,
                                 active_, index_, block_));
  context.log.stop();
  return false;
}

void Warp::act(const SetRegister& a, GroupContext&) {
  lanes_.move(a.into, a.from, active_, program_.kernel->registers[static_cast<std::size_t>(a.into)].type);
}

void Warp::act(const ClearArray& a, GroupContext&) {
  for (Slot slot = a.first; slot < a.first + a.size; ++slot) lanes_[slot].undefined |= active_;
}

void Warp::act(const WriteArray& a, GroupContext& context) {
  const auto at = static_cast<std::size_t>(a.array);
  const RegisterArray& array = program_.kernel->arrays[at];
  for_lanes(active_, [&](int l) {
    const std::int64_t index = lanes_[a.index].i[l];
    if (index < 0 || index >= array.size)
      return context.log.report(
          Fault::Kind::OutOfRange, source_,
          fmt::format("{} writes index {} of {}[{}]", describe(thread(l)), index, array.name, array.size));
    lanes_.move(program_.arrays[at] + static_cast<Slot>(index), a.value, bit(l), array.type);
  });
}

void Warp::act(const LoadElements& a, GroupContext& context) {
  const int words = a.load->packed ? 2 : 1;
  if (a.load->packed) require_fp32(lanes_.fp64(), "packs pairs");
  for_lanes(active_, [&](int l) {
    const Span from = span(a.load->from, lanes_[a.index].i[l], static_cast<int>(a.into.size()) * words);
    for (const Slot into : a.into) lanes_[into].undefined &= ~bit(l);
    if (!context.memory.read(from, thread(l))) return;
    const GlobalBuffer& data = context.memory.data(from);
    auto at = static_cast<std::size_t>(from.index);
    for (const Slot into : a.into) {
      if (a.load->packed)
        lanes_[into].i[l] = pack_pair(data.storage, data.values[at], data.values[at + 1]);
      else if (is_integer(data.storage))
        lanes_[into].i[l] = data.integers[at];
      else
        load_real(data, at, lanes_[into], l);
      at += static_cast<std::size_t>(words);
    }
  });
}

void Warp::act(const StoreElements& a, GroupContext& context) {
  const int words = a.store->packed ? 2 : 1;
  if (a.store->packed) require_fp32(lanes_.fp64(), "packs pairs");
  for_lanes(active_, [&](int l) {
    const Span to = span(a.store->to, lanes_[a.index].i[l], static_cast<int>(a.values.size()) * words);
    if (!context.memory.write(to, thread(l))) return;
    GlobalBuffer& data = context.memory.data(to);
    auto at = static_cast<std::size_t>(to.index);
    for (const Slot from : a.values) {
      store_element(data, at, lanes_[from], l, a.store->packed);
      at += static_cast<std::size_t>(words);
    }
  });
}

void Warp::act(const IssueCopy& a, GroupContext& context) {
  for_lanes(active_, [&](int l) {
    const Span to = span(a.copy->to, lanes_[a.to].i[l], a.copy->elements);
    const Span from = span(a.copy->from, lanes_[a.from].i[l], a.copy->elements);
    context.memory.issue_copy(to, from, thread(l), copies_[static_cast<std::size_t>(l)]);
  });
}

void Warp::act(const CommitGroup&, GroupContext&) {
  for_lanes(active_, [&](int l) { copies_[static_cast<std::size_t>(l)].commit(); });
}

void Warp::act(const WaitGroups& a, GroupContext& context) {
  for_lanes(active_, [&](int l) {
    CopyQueue& queue = copies_[static_cast<std::size_t>(l)];
    while (const auto copy = queue.next_landed(a.pending)) context.memory.land(*copy, thread(l));
  });
}

// PTX ISA, shfl.sync: a source lane outside the warp gives the thread its own value (Up, Down); Index takes
// the lane modulo 32. A source that does not run makes the result unpredictable, so all 32 lanes must be
// there.
void Warp::act(const ShuffleLanes& a, GroupContext& context) {
  if (!all_lanes("a shuffle", context)) return;
  const Lanes from = lanes_[a.from];
  const Lanes lane = lanes_[a.lane];
  const bool floats =
      is_real(program_.kernel->registers[static_cast<std::size_t>(a.into)].type) && !lanes_.fp64();
  Lanes& into = lanes_[a.into];
  for (int l = 0; l < kLanes; ++l) {
    std::int64_t source = lane.i[l];
    switch (a.mode) {
      case ShuffleMode::Up: source = l - source; break;
      case ShuffleMode::Down: source = l + source; break;
      case ShuffleMode::Xor: source = l ^ source; break;
      case ShuffleMode::Index: source = source & (kLanes - 1); break;
    }
    if (source < 0 || source >= kLanes) source = l;
    if (floats)
      into.f[l] = from.f[source];
    else
      into.i[l] = from.i[source];
  }
  into.undefined = 0;
}

// PTX ISA, vote.sync.ballot: bit l is the predicate of lane l.
void Warp::act(const CountVotes& a, GroupContext& context) {
  if (!all_lanes("a ballot", context)) return;
  const auto votes = static_cast<std::int32_t>(where_true(a.predicate));
  Lanes& into = lanes_[a.into];
  for (int l = 0; l < kLanes; ++l) into.i[l] = votes;
  into.undefined = 0;
}

void Warp::act(const EnterIf& a, GroupContext&) {
  const Mask taken = active_ & where_true(a.condition);
  frames_.push_back({active_, active_ & ~taken});
  active_ = taken;
  if (active_ == 0) pc_ = a.else_pc;
}

void Warp::act(const SwitchToElse& a, GroupContext&) {
  active_ = frames_.back().otherwise;
  if (active_ == 0) pc_ = a.end_pc;
}

void Warp::act(const LeaveIf&, GroupContext&) {
  active_ = frames_.back().saved;
  frames_.pop_back();
}

void Warp::act(const EnterLoop& a, GroupContext&) {
  frames_.push_back({active_, 0});
  lanes_.move(a.variable, a.begin, active_, Type::I32);
}

// Lanes whose loop has ended wait, inactive, for the others.
void Warp::act(const TestLoop& a, GroupContext&) {
  const Lanes& variable = lanes_[a.variable];
  const Lanes& end = lanes_[a.end];
  Mask more = 0;
  for (int l = 0; l < kLanes; ++l) more |= variable.i[l] < end.i[l] ? bit(l) : 0;
  active_ &= more;
  if (active_ != 0) return;
  active_ = frames_.back().saved;
  frames_.pop_back();
  pc_ = a.exit_pc;
}

void Warp::act(const NextLoop& a, GroupContext& context) {
  Lanes& variable = lanes_[a.variable];
  const Lanes& step = lanes_[a.step];
  for_lanes(active_, [&](int l) {
    if (step.i[l] <= 0) {
      context.log.report(Fault::Kind::StepLimit, source_,
                         fmt::format("{} steps by {}: the loop never ends", describe(thread(l)), step.i[l]));
      context.log.stop();
    }
    variable.i[l] = static_cast<std::int32_t>(static_cast<std::uint32_t>(variable.i[l] + step.i[l]));
  });
  pc_ = a.test_pc;
}

void Warp::act(const Finish&, GroupContext& context) {
  if (!products_.empty())
    context.log.report(
        Fault::Kind::Protocol, products_.front().source,
        fmt::format("warp {} of block {} ends without waiting for the product", index_, block_));
  state_ = Finished{};
}

}  // namespace rondo::kernel::simulator
