#include "compiler/kernel/simulator/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "compiler/kernel/ir/print.h"
#include "compiler/kernel/ir/print_expression.h"
#include "compiler/kernel/ir/visit.h"

namespace rondo::kernel::simulator {

namespace {

// The instruction a warp waits at, if it does.
std::optional<Pc> waits_at(const Warp& warp) {
  return std::visit(Overloaded{[](const Ready&) -> std::optional<Pc> { return std::nullopt; },
                               [](const Finished&) -> std::optional<Pc> { return std::nullopt; },
                               [](const auto& wait) -> std::optional<Pc> { return wait.pc; }},
                    warp.state());
}

std::string name(const Warp& warp) { return fmt::format("warp {} of block {}", warp.index(), warp.block()); }

// All of these warps wait, in state State, at one instruction.
template <class State>
bool together(const std::vector<Warp>& warps, int first, int count) {
  const auto* leader = std::get_if<State>(&warps[static_cast<std::size_t>(first)].state());
  if (leader == nullptr) return false;
  return std::all_of(warps.begin() + first, warps.begin() + first + count, [&](const Warp& w) {
    const auto* at = std::get_if<State>(&w.state());
    return at != nullptr && at->pc == leader->pc;
  });
}

}  // namespace

Group::Group(const Program& program, const GroupShape& shape, const Launch& launch, std::vector<Warp>& warps,
             Memory& memory, FaultLog& log, std::int64_t& steps, std::int64_t step_limit)
    : program_(program),
      shape_(shape),
      warps_(warps),
      log_(log),
      clocks_(shape),
      mbarriers_(*program.kernel, clocks_, log),
      flags_(clocks_),
      words_(clocks_),
      named_(clocks_, log),
      publications_(shape.agents()),
      memory_(*program.kernel, memory, clocks_, flags_, words_, log),
      context_{program,       clocks_, mbarriers_, flags_, words_,    named_,
               publications_, memory_, log,        steps,  step_limit} {
  memory.start_group(shape.first_block, shape.blocks);
  for (int a = 0; a < shape.agents(); ++a) warp(a).start(launch, shape.first_block + a / shape.warps, a);
}

void Group::run(bool give_up) {
  bool goes_on = true;
  while (goes_on) {
    const std::int64_t before = context_.steps;
    for (Warp& w : warps_) w.run(context_);
    if (log_.stopped()) return;
    goes_on = release_barriers() || context_.steps != before;
    if (goes_on || !stuck() || context_.gave_up || !give_up || program_.kernel->status < 0) continue;
    this->give_up();
    goes_on = true;
  }
  log_.mute(false);
  if (stuck()) return deadlock();
  if (!context_.gave_up) mbarriers_.check_exits();
}

bool Group::stuck() const {
  return std::ranges::any_of(warps_, [](const Warp& w) { return waits_at(w).has_value(); });
}

void Group::give_up() {
  context_.gave_up = true;
  memory_.data({Space::Global, program_.kernel->status, 0, 1, shape_.first_block}).integers[0] = 1;
  log_.mute(true);
}

bool Group::release_barriers() {
  bool any = release_named();
  for (int first = 0; first < shape_.agents(); first += shape_.warps) any |= release_block(first);
  const int cluster = shape_.cluster * shape_.warps;
  for (int first = 0; first < shape_.agents(); first += cluster) any |= release_cluster(first, cluster);
  return any;
}

bool Group::release_block(int first) {
  if (!together<AtBarrier>(warps_, first, shape_.warps)) return false;
  std::vector<int> agents(static_cast<std::size_t>(shape_.warps));
  std::iota(agents.begin(), agents.end(), first);
  release(agents);
  return true;
}

bool Group::release_cluster(int first, int count) {
  if (!together<AtClusterBarrier>(warps_, first, count)) return false;
  std::vector<int> agents(static_cast<std::size_t>(count));
  std::iota(agents.begin(), agents.end(), first);
  release(agents);
  return true;
}

bool Group::release_named() {
  bool any = false;
  for (Warp& w : warps_) {
    const auto* at = std::get_if<AtNamedBarrier>(&w.state());
    if (at == nullptr || at->barrier->turn == at->turn) continue;
    clocks_.acquire({w.agent(), kAllLanes, true}, at->barrier->completed);
    w.resume();
    any = true;
  }
  return any;
}

void Group::release(const std::vector<int>& agents) {
  clocks_.meet(agents);
  for (const int agent : agents) warp(agent).resume();
}

std::string Group::barrier_reason(const Warp& waiting, Pc pc) const {
  const int first = waiting.agent() - waiting.index();
  for (int a = first; a < first + shape_.warps; ++a) {
    const Warp& other = warp(a);
    const auto* at = std::get_if<AtBarrier>(&other.state());
    if (at != nullptr && at->pc == pc) continue;
    const char* why = at != nullptr                                     ? "waits at another barrier"
                      : std::holds_alternative<Finished>(other.state()) ? "has finished"
                                                                        : "waits elsewhere";
    return fmt::format("waits at a barrier that warp {} never reaches: it {}", other.index(), why);
  }
  return "waits at a barrier";
}

std::string Group::reason(const Warp& waiting) const {
  const auto why = Overloaded{
      [](const Ready&) -> std::string { return "runs"; },
      [](const Finished&) -> std::string { return "has finished"; },
      [&](const AtBarrier& at) -> std::string { return barrier_reason(waiting, at.pc); },
      [](const AtNamedBarrier& at) -> std::string {
        return fmt::format("waits at barrier {} for {} threads, of which {} have come", at.id,
                           at.barrier->threads, at.barrier->came);
      },
      [&](const AtClusterBarrier&) -> std::string {
        const int size = shape_.cluster * shape_.warps, first = waiting.agent() / size * size;
        for (int a = first; a < first + size; ++a)
          if (!std::holds_alternative<AtClusterBarrier>(warp(a).state()))
            return fmt::format("waits at a cluster barrier that {} never reaches", name(warp(a)));
        return "waits at another cluster barrier than the rest of the cluster";
      },
      [](const AtPhase& at) -> std::string {
        return fmt::format("waits for phase parity {} of mbarrier {}, which is in phase {}: {}", at.parity,
                           at.mbarrier->name, at.mbarrier->phase, progress(*at.mbarrier));
      },
      [&](const AtFlag& at) -> std::string {
        const GlobalBuffer& data = memory_.data(at.counter);
        return fmt::format("waits until {}[{}] is {}; it is {}",
                           memory_name(*program_.kernel, at.counter.space, at.counter.id), at.counter.index,
                           at.target, data.integers[static_cast<std::size_t>(at.counter.index)]);
      },
      [&](const AtWords& at) -> std::string {
        return fmt::format("waits, in lane {}, for {}[{}], which has not come", at.lane,
                           memory_name(*program_.kernel, at.missing.space, at.missing.id), at.missing.index);
      }};
  return name(waiting) + " " + std::visit(why, waiting.state());
}

// One fault, at the statement of the first warp that waits: a deadlock is one event. It tells one warp of
// each other statement too.
void Group::deadlock() {
  constexpr std::size_t kMost = 6;
  const Stmt* where = nullptr;
  std::string what;
  std::set<Pc> told;
  for (const Warp& w : warps_) {
    const auto pc = waits_at(w);
    if (!pc || told.size() >= kMost || !told.insert(*pc).second) continue;
    const Stmt* stmt = program_.code[static_cast<std::size_t>(*pc)].source;
    if (where == nullptr) where = stmt;
    if (!what.empty()) what += "; at `" + print(*program_.kernel, *stmt) + "` ";
    what += reason(w);
  }
  log_.report(Fault::Kind::Deadlock, where, what);
  log_.stop();
}

}  // namespace rondo::kernel::simulator
