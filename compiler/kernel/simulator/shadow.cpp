#include "compiler/kernel/simulator/shadow.h"

#include <fmt/format.h>

namespace rondo::kernel::simulator {

namespace {

const char* unordered(const Thread& a, const Thread& b) {
  return a.block == b.block ? "with no barrier between" : "with no barrier or flag between";
}

}  // namespace

void Shadow::clear() {
  ++turn_;
  others_.clear();
}

void Shadow::start(Chunk& chunk) {
  if (chunk.elements)
    chunk.elements->fill({});
  else
    chunk.elements = std::make_unique<Elements>();
  chunk.turn = turn_;
}

std::optional<Conflict> Shadow::against_copy(const Element& e, Fault::Kind kind) const {
  if (e.copier.block < 0) return std::nullopt;
  return Conflict{kind, fmt::format("target of an asynchronous copy that {} has not waited for",
                                    describe(e.copier.thread()))};
}

std::optional<Conflict> Shadow::against_writer(const Element& e, const Thread& by, const Clocks& clocks,
                                               bool writes) const {
  if (e.writer.block < 0) return std::nullopt;
  const Thread writer = e.writer.thread();
  if (!clocks.shape().holds(writer.block))
    return Conflict{Fault::Kind::Race, fmt::format("written by {} of the same launch", describe(writer))};
  if (e.write_column >= 0) {
    // Not even its own sender knows when it arrives.
    if (writes ? clocks.reached_all(by, e.write_column, e.write_clock)
               : clocks.seen_all(by, e.write_column, e.write_clock))
      return std::nullopt;
    return Conflict{Fault::Kind::Race,
                    fmt::format("sent by {}, with no wait for its mbarrier between", describe(writer))};
  }
  const bool same = writer.block == by.block && writer.warp == by.warp && writer.lane == by.lane;
  if (same || clocks.seen(by, clocks.shape().agent(writer), writer.lane, e.write_clock)) return std::nullopt;
  return Conflict{Fault::Kind::Race,
                  fmt::format("written by {} {}", describe(writer), unordered(writer, by))};
}

Mask Shadow::not_reached(const Readers& r, const Thread& by, const Clocks& clocks) {
  if (r.agent < 0 || clocks.reached_all(by, r.agent, r.clock)) return 0;
  Mask lanes = r.lanes;
  if (r.agent == clocks.shape().agent(by)) lanes &= ~bit(by.lane);
  for (Mask rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (clocks.reached(by, r.agent, lane, r.clock)) lanes &= ~bit(lane);
  }
  return lanes;
}

std::optional<Conflict> Shadow::against_readers(const Element& e, const Thread& by,
                                                const Clocks& clocks) const {
  for (const std::int32_t block : {e.read_block, e.other_read_block})
    if (block >= 0 && !clocks.shape().holds(block))
      return Conflict{Fault::Kind::Race, fmt::format("read by block {} of the same launch", block)};
  if (e.read_block < 0) return std::nullopt;
  const auto conflict = [&](const Readers& r) -> std::optional<Conflict> {
    const Mask lanes = not_reached(r, by, clocks);
    if (lanes == 0) return std::nullopt;
    const Thread reader = clocks.shape().thread(r.agent, __builtin_ctz(lanes));
    return Conflict{Fault::Kind::Race, fmt::format("read by {} {}", describe(reader), unordered(reader, by))};
  };
  if (auto first = conflict(e.readers)) return first;
  if (e.others >= 0)
    for (const Readers& r : others_[static_cast<std::size_t>(e.others)])
      if (auto other = conflict(r)) return other;
  return std::nullopt;
}

std::optional<Conflict> Shadow::check_write(const Element& e, const Thread& by, const Clocks& clocks) const {
  if (e.read_block < 0 && e.other_read_block < 0 && settled(e, by, clocks)) return std::nullopt;
  if (auto conflict = against_copy(e, Fault::Kind::Race)) return conflict;
  if (auto conflict = against_writer(e, by, clocks, true)) return conflict;
  return against_readers(e, by, clocks);
}

void Shadow::record_new_reader(Element& e, int agent, const Thread& by, const Clocks& clocks) {
  if (e.read_block < 0 || !clocks.shape().holds(e.read_block)) {
    if (e.read_block >= 0) e.other_read_block = e.read_block;
    e.read_block = static_cast<std::int32_t>(by.block);
    forget_readers(e);
  }
  // Readers that this one is ordered after need not be kept: what is ordered after this one is ordered after
  // them.
  if (e.readers.agent == agent) return join(e.readers, agent, by, clocks);
  const bool alone = e.others < 0 || others_[static_cast<std::size_t>(e.others)].empty();
  if (alone && not_reached(e.readers, by, clocks) == 0) return join(e.readers, agent, by, clocks);
  if (e.others < 0) {
    e.others = static_cast<std::int32_t>(others_.size());
    others_.emplace_back();
  }
  auto& others = others_[static_cast<std::size_t>(e.others)];
  for (Readers& r : others)
    if (r.agent == agent) return join(r, agent, by, clocks);
  others.push_back({agent, clocks.now(agent), bit(by.lane)});
}

std::optional<Conflict> Shadow::check_read(std::size_t at, const Thread& by, const Clocks& clocks) {
  const Element& e = element(at);
  if (settled(e, by, clocks)) return std::nullopt;
  if (auto conflict = against_copy(e, Fault::Kind::Unwritten)) return conflict;
  return against_writer(e, by, clocks, false);
}

std::optional<Conflict> Shadow::read(std::size_t at, const Thread& by, const Clocks& clocks) {
  auto conflict = check_read(at, by, clocks);
  record_read(element(at), by, clocks);
  return conflict;
}

std::optional<Conflict> Shadow::write(std::size_t at, const Thread& by, const Clocks& clocks,
                                      std::uint64_t stamp) {
  Element& e = element(at);
  auto conflict = check_write(e, by, clocks);
  record_write(e, by, clocks, stamp);
  return conflict;
}

std::optional<Conflict> Shadow::send(std::size_t at, const Thread& by, const Clocks& clocks,
                                     std::uint64_t stamp, int column, Clock phase) {
  auto conflict = write(at, by, clocks, stamp);
  element(at).write_column = column;
  element(at).write_clock = phase;
  return conflict;
}

std::optional<Conflict> Shadow::issue(std::size_t at, const Thread& by, const Clocks& clocks) {
  Element& e = element(at);
  auto conflict = check_write(e, by, clocks);
  e.copier = who(by);
  return conflict;
}

void Shadow::land(std::size_t at, const Thread& by, const Clocks& clocks, std::uint64_t stamp) {
  Element& e = element(at);
  e.copier = {};
  record_write(e, by, clocks, stamp);
}

std::optional<Shadow::Write> Shadow::last_write(std::size_t at) {
  const Element& e = element(at);
  if (e.writer.block < 0) return std::nullopt;
  return Write{e.writer.thread(), e.write_stamp};
}

}  // namespace rondo::kernel::simulator
