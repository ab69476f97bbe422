#include "compiler/schedule/shoot/between_launches.h"

#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Place;

namespace {

constexpr int kBlocksTogether = 8;  // words of blocks that a lane loads side by side

}  // namespace

BetweenLaunches::BetweenLaunches(ShootKernel& kernel, const ShootParameters& parameters,
                                 const TransformPattern& pattern, int registers)
    : kernel_(kernel),
      b_(kernel.builder()),
      parameters_(parameters),
      pattern_(pattern),
      registers_(registers),
      carries_(kernel.signature().writes({Role::Carries, -1})),
      words_(kernel.signature().writes({Role::Exchange, -1})),
      round_(kernel.signature().step_count("round", "launches of this kernel before this one")) {}

std::int64_t BetweenLaunches::map_elements(const ShootParameters& p, const TransformPattern& pattern) {
  return kSlots * TransformTable{{}, p.all_segments(), pattern, p.channels, {}}.elements();
}

// Whole vectors, so that what follows is aligned.
std::int64_t BetweenLaunches::counts(const ShootParameters& p) {
  return (std::int64_t{kSlots} * p.warps() * p.time_split + 3) / 4 * 4;
}

std::int64_t BetweenLaunches::elements(const ShootParameters& p, const TransformPattern& pattern,
                                       int registers) {
  return map_elements(p, pattern) + counts(p) + std::int64_t{registers} * p.computing() * p.time_split;
}

TransformTable BetweenLaunches::maps(Value round) const {
  const ShootParameters& p = parameters_;
  TransformTable table{carries_.memory, p.all_segments(), pattern_, p.channels, {}};
  table.base = b_.wide(kernel_.threads().here().team) * elements(p, pattern_, registers_);
  return table.starting_at(round % kSlots * p.all_segments());
}

Place BetweenLaunches::count(Value round, Value warp) const {
  const ShootParameters& p = parameters_;
  const Value team = b_.wide(kernel_.threads().here().team) * elements(p, pattern_, registers_);
  return carries_.memory[team + map_elements(p, pattern_) + b_.wide(round % kSlots * all_warps() + warp)];
}

Value BetweenLaunches::own_warp() const {
  return kernel_.threads().here().rank * parameters_.warps() + kernel_.own().warp;
}

// Neighbouring threads have neighbouring elements.
Place BetweenLaunches::register_of(int number) const {
  const ShootParameters& p = parameters_;
  const Value team = b_.wide(kernel_.threads().here().team) * elements(p, pattern_, registers_);
  const Value thread = kernel_.threads().here().rank * p.computing() + b_.thread();
  const std::int64_t before = map_elements(p, pattern_) + counts(p);
  return carries_.memory[team + before + b_.wide(thread + number * p.computing() * p.time_split)];
}

void BetweenLaunches::save(const std::vector<Value>& registers) {
  b_.comment("what this thread needs in the next round");
  for (std::size_t i = 0; i < registers.size(); ++i) b_.store(register_of(static_cast<int>(i)), registers[i]);
}

void BetweenLaunches::restore(const std::vector<Value>& registers) {
  b_.comment("what this thread has left in the round before");
  for (std::size_t i = 0; i < registers.size(); ++i)
    b_.assign(registers[i], b_.load("kept", register_of(static_cast<int>(i))));
}

Place BetweenLaunches::word(Value block, Value round, int which) const {
  return words_.memory[block * kBlockWords + round % kSlots * (kBlockWords / kSlots) + (kWords + which)];
}

void BetweenLaunches::restore(const Known& known) {
  const Value before = round_ - 1;
  if (known.side_by_side.valid())
    b_.assign(known.side_by_side, b_.load("known", word(b_.block(), before, kSideBySide)));
  b_.assign(known.end, b_.load("known", word(b_.block(), before, kEnd)));
}

void BetweenLaunches::leave(const Known& known, Value open) {
  b_.comment("what all threads of this block know");
  b_.if_(b_.thread() == 0, [&] {
    if (known.side_by_side.valid()) b_.store(word(b_.block(), round_, kSideBySide), known.side_by_side);
    b_.store(word(b_.block(), round_, kEnd), known.end);
    b_.store(word(b_.block(), round_, kOpen), b_.select(open, b_.constant(1), b_.constant(0)));
  });
}

// The first warp of the first block counts.
void BetweenLaunches::conclude() {
  b_.comment("whether any block had a part of the round before");
  b_.if_(b_.block() == 0 && b_.thread() < 32, [&] {
    const Value open = b_.variable("open", b_.real(0));
    b_.if_(round_ >= 1, [&] {
      b_.for_("first", b_.constant(0), kernel_.threads().blocks_of_grid(), b_.constant(32), kBlocksTogether,
              [&](Value first) {
                const Value block = b_.let("of_block", first + b_.thread());
                b_.if_(block < kernel_.threads().blocks_of_grid(), [&] {
                  b_.assign(open, open + b_.to_real(b_.load("had", word(block, round_ - 1, kOpen))));
                });
              });
    });
    for (int distance = 16; distance > 0; distance /= 2)
      b_.assign(open, open + b_.shuffle("other", open, kernel::ShuffleMode::Xor, b_.constant(distance)));
    const Value over = round_ >= 1 && open == b_.real(0);
    b_.if_(b_.thread() == 0,
           [&] { b_.store(words_.memory[b_.constant(0)], b_.select(over, b_.constant(1), b_.constant(0))); });
  });
}

}  // namespace rondo::schedule
