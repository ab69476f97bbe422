#include "compiler/kernel/simulator/named.h"

#include <fmt/format.h>

#include <bit>

namespace rondo::kernel::simulator {

// PTX ISA, barrier: "the arrival count is incremented by the warp size"; a barrier in use has one number of
// threads. Memory: "when the barrier completes, prior memory accesses requested by this thread are performed
// relative to all threads participating in the barrier", for bar.arrive as for bar.sync.
std::optional<NamedBarriers::Coming> NamedBarriers::come(const Stmt* stmt, const Party& warp, int id,
                                                         int threads) {
  const Thread by = clocks_.shape().thread(warp.agent, 0);
  State& state =
      states_.try_emplace({by.block, id}, State{0, 0, 0, clocks_.nothing(), clocks_.nothing(), {}, {}})
          .first->second;
  if (state.came > 0 && state.threads != threads) {
    log_.report(Fault::Kind::Protocol, stmt,
                fmt::format("warp {} of block {} comes to barrier {} for {} threads, where others have come "
                            "for {}",
                            by.warp, by.block, id, threads, state.threads));
    log_.stop();
    return std::nullopt;
  }
  check_turn(state, stmt, warp, id);
  const Coming result{&state, state.turn};
  state.threads = threads;
  state.now.push_back({warp.agent, clocks_.now(warp.agent)});
  clocks_.release(warp, state.gathering);
  state.came += kLanes;
  if (state.came < threads) return result;
  state.completed.join(state.gathering);
  state.gathering.clear();
  state.before = std::move(state.now);
  state.now.clear();
  state.came = 0;
  ++state.turn;
  return result;
}

// The hardware only counts. Who comes for a turn must know in every interleaving that the one before is
// complete, so that all who belong to that have come: else it may be counted for that one.
void NamedBarriers::check_turn(const State& state, const Stmt* stmt, const Party& warp, int id) {
  const Thread by = clocks_.shape().thread(warp.agent, 0);
  const auto unknown = [&](const State::Arrival& arrival) {
    if (arrival.agent == warp.agent) return false;
    for (Mask rest = warp.lanes; rest != 0; rest &= rest - 1)
      if (!clocks_.reached_all({by.block, by.warp, std::countr_zero(rest)}, arrival.agent, arrival.clock))
        return true;
    return false;
  };
  for (const std::vector<State::Arrival>* arrivals : {&state.before, &state.now})
    for (const State::Arrival& arrival : *arrivals) {
      const bool again = arrivals == &state.now;
      if (again ? arrival.agent != warp.agent : !unknown(arrival)) continue;
      log_.report(
          Fault::Kind::Protocol, stmt,
          fmt::format("warp {} of block {} comes to barrier {} for turn {}, but {}: it may be counted "
                      "for that one",
                      by.warp, by.block, id, state.turn + (again ? 1 : 0),
                      again ? "has come for the one before, which is not complete"
                            : fmt::format("has not heard from warp {} that it came for the one before",
                                          clocks_.shape().thread(arrival.agent, 0).warp)));
      return;
    }
}

}  // namespace rondo::kernel::simulator
