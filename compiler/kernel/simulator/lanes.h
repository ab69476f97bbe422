// The values of one warp: slots of 32 lanes, which lanes hold no defined value, and the evaluation of
// expressions over them.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/kernel/simulator/program.h"

namespace rondo::kernel::simulator {

inline constexpr int kLanes = 32;
using Mask = std::uint32_t;  // bit l: lane l
inline constexpr Mask kAllLanes = 0xFFFFFFFFu;
inline Mask bit(int lane) { return Mask{1} << lane; }
inline bool has(Mask mask, int lane) { return (mask >> lane & 1u) != 0; }

// Integers and predicates (0 or 1) live in `i`, sign-extended from their width; real ones in
// `f`, and in `d` of a run in fp64.
struct alignas(64) Lanes {
  union {
    std::int64_t i[kLanes];
    float f[kLanes];
    double d[kLanes];
  };
  // Lanes whose value is undefined: an element never set, or an operation the language leaves open. It
  // spreads through expressions, so `select` and the short-circuit operators may ignore it as the compiled
  // code does.
  Mask undefined;
};

template <class F>
void for_lanes(Mask active, F&& f) {
  for (Mask rest = active; rest != 0; rest &= rest - 1) f(__builtin_ctz(rest));
}

// Calls f(lanes) for each set of lanes with the same values of a and b.
template <class F>
void for_equal(Mask lanes, const Lanes& a, const Lanes& b, F&& f) {
  while (lanes != 0) {
    const int leader = __builtin_ctz(lanes);
    Mask same = 0;
    for_lanes(lanes, [&](int l) {
      if (a.i[l] == a.i[leader] && b.i[l] == b.i[leader]) same |= bit(l);
    });
    f(same);
    lanes &= ~same;
  }
}

// What does not change during a launch.
struct Launch {
  std::vector<std::int64_t> integers;  // scalar arguments by param
  std::vector<double> reals;
  std::int64_t blocks = 1;
};

// Throws std::logic_error in a run in fp64: what the kernel does has a meaning in fp32 alone.
void require_fp32(bool fp64, const char* what);

class LaneFile {
 public:
  LaneFile(const Program& program, bool fp64);
  bool fp64() const { return fp64_; }

  // Fills the leaves for warp `warp` of block `block`, and marks registers and arrays as never set. A file
  // serves one warp of all blocks of one launch.
  void start(const Launch& launch, std::int64_t block, int warp);
  void evaluate(const Compute& compute, Mask active);

  Lanes& operator[](Slot slot) { return slots_[static_cast<std::size_t>(slot)]; }
  const Lanes& operator[](Slot slot) const { return slots_[static_cast<std::size_t>(slot)]; }
  // into = from in the active lanes.
  void move(Slot into, Slot from, Mask active, Type type);

 private:
  void fill(Lanes& into, const Expr& expr, const Launch& launch, std::int64_t block, int warp);
  void read_array(const ArrayRead& n, Lanes& into, const Lanes& index);

  // Doubles move as the integers that they share their place with.
  bool as_floats(Type type) const { return is_real(type) && !fp64_; }

  const Program& program_;
  bool fp64_;
  std::vector<Lanes> slots_;
  bool filled_ = false;  // leaves that are the same in every block
};

}  // namespace rondo::kernel::simulator
