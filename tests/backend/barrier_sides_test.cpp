// The two sides of a named barrier, as emitted, in every interleaving of a few warps and turns: nobody passes
// before all have come, and nobody waits for ever.
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "compiler/backend/cuda/emit.h"
#include "tests/backend/cuda_kernels.h"

namespace rondo::backend::cuda {
namespace {

struct Instruction {
  bool waits;   // bar.sync, or bar.arrive
  int barrier;  // 0: id, 1: the number after it
};
using Side = std::vector<Instruction>;

Side emitted(const std::string& helper) {
  const kernel::Kernel kernel = testing::meeting_roles();
  std::string text = emit({&kernel});
  text.erase(0, text.find(" " + helper + "()"));
  text.erase(text.find('}'));
  Side side;
  const std::regex instruction("bar\\.(arrive|sync) %([01])");
  for (std::sregex_iterator at(text.begin(), text.end(), instruction), end; at != end; ++at)
    side.push_back({at->str(1) == "sync", at->str(2) == "1" ? 1 : 0});
  return side;
}

struct Warp {
  int turn = 0, step = 0;
  int waits_for = -1;  // the phase of its barrier that must complete, or none
  auto operator<=>(const Warp&) const = default;
};
struct Barrier {
  int came = 0, phase = 0;
  auto operator<=>(const Barrier&) const = default;
};
struct State {
  std::vector<Warp> warps;
  Barrier barriers[2];
  auto operator<=>(const State&) const = default;
};

constexpr int kTurns = 4;

class Interleavings {
 public:
  Interleavings(Side first, std::size_t first_warps, Side second, std::size_t second_warps)
      : first_(std::move(first)), second_(std::move(second)), first_warps_(first_warps) {
    start_.warps.resize(first_warps + second_warps);
  }

  // What goes wrong, or nothing.
  std::string fault() {
    std::vector<State> open{start_};
    std::set<State> known{start_};
    while (!open.empty()) {
      const State state = open.back();
      open.pop_back();
      bool moves = false, done = true;
      for (std::size_t w = 0; w < state.warps.size(); ++w) {
        done = done && state.warps[w].turn == kTurns;
        State next = state;
        if (!advance(next, w)) continue;
        moves = true;
        if (next.warps[w].turn > state.warps[w].turn && !all_came(state, state.warps[w].turn))
          return "a warp passes before all have come";
        if (known.insert(next).second) open.push_back(next);
      }
      if (!moves && !done) return "warps wait for ever";
    }
    return "";
  }

 private:
  bool advance(State& state, std::size_t w) const {
    const Side& side = w < first_warps_ ? first_ : second_;
    Warp& warp = state.warps[w];
    if (warp.turn == kTurns) return false;
    const Instruction now = side[static_cast<std::size_t>(warp.step)];
    Barrier& barrier = state.barriers[now.barrier];
    if (warp.waits_for < 0) {
      const int phase = barrier.phase;
      if (++barrier.came == static_cast<int>(state.warps.size())) barrier = {0, phase + 1};
      if (now.waits) return warp.waits_for = phase, true;
    } else if (barrier.phase <= warp.waits_for) {
      return false;
    }
    const bool last = warp.step + 1 == static_cast<int>(side.size());
    warp = {warp.turn + (last ? 1 : 0), last ? 0 : warp.step + 1, -1};
    return true;
  }

  static bool all_came(const State& state, int turn) {
    return std::all_of(state.warps.begin(), state.warps.end(), [&](const Warp& warp) {
      return warp.turn > turn || (warp.turn == turn && (warp.step > 0 || warp.waits_for >= 0));
    });
  }

  const Side first_, second_;
  const std::size_t first_warps_;
  State start_;
};

TEST(BarrierSides, NobodyPassesBeforeAllHaveCome) {
  const Side first = emitted("named_barrier_first"), second = emitted("named_barrier_second");
  ASSERT_EQ(first.size(), 2u);
  ASSERT_EQ(second.size(), 2u);
  for (const std::size_t a : {1, 2, 3})
    for (const std::size_t z : {1, 2, 3})
      EXPECT_EQ(Interleavings(first, a, second, z).fault(), "") << a << " and " << z << " warps";
}

TEST(BarrierSides, PlantedFaultsAreFound) {
  const Side first = emitted("named_barrier_first"), second = emitted("named_barrier_second");
  const Side early = {second[1], second[0]};  // arrives before it waits
  EXPECT_NE(Interleavings(first, 2, early, 2).fault(), "");
  const Side only_arrives = {first[0]}, only_waits = {second[0]};
  EXPECT_EQ(Interleavings(only_arrives, 2, only_waits, 2).fault(), "a warp passes before all have come");
  EXPECT_EQ(Interleavings({first[1], first[0]}, 2, second, 2).fault(), "warps wait for ever");
}

}  // namespace
}  // namespace rondo::backend::cuda
