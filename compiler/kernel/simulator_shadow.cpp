#include "compiler/kernel/simulator_shadow.h"

#include <fmt/format.h>

namespace rondo::kernel::simulator {

namespace {

constexpr const char* kUnordered = "with no barrier between";

}  // namespace

std::optional<Conflict> Shadow::against_copy(const Element& e, Fault::Kind kind, const Thread& by) const {
  if (e.copy_warp < 0) return std::nullopt;
  return Conflict{kind, fmt::format("target of an asynchronous copy that {} has not waited for",
                                    describe({by.block, e.copy_warp, e.copy_lane}))};
}

std::optional<Conflict> Shadow::against_writer(const Element& e, const Thread& by,
                                               const Clocks& clocks) const {
  if (e.write_block < 0) return std::nullopt;
  const Thread writer{e.write_block, e.write_warp, e.write_lane};
  if (e.write_block != by.block)
    return Conflict{Fault::Kind::Race, fmt::format("written by {} of the same launch", describe(writer))};
  const bool same = e.write_warp == by.warp && e.write_lane == by.lane;
  if (same || clocks.after(by.warp, e.write_warp, e.write_clock)) return std::nullopt;
  return Conflict{Fault::Kind::Race, fmt::format("written by {} {}", describe(writer), kUnordered)};
}

std::optional<Conflict> Shadow::against_readers(const Element& e, const Thread& by,
                                                const Clocks& clocks) const {
  for (const std::int64_t block : {e.read_block, e.other_read_block})
    if (block >= 0 && block != by.block)
      return Conflict{Fault::Kind::Race, fmt::format("read by block {} of the same launch", block)};
  if (e.read_block < 0) return std::nullopt;
  const auto unordered = [&](const Readers& r) -> std::optional<Conflict> {
    if (r.warp < 0 || clocks.after(by.warp, r.warp, r.clock)) return std::nullopt;
    const Mask foreign = r.warp == by.warp ? r.lanes & ~bit(by.lane) : r.lanes;
    if (foreign == 0) return std::nullopt;
    return Conflict{
        Fault::Kind::Race,
        fmt::format("read by {} {}", describe({by.block, r.warp, __builtin_ctz(foreign)}), kUnordered)};
  };
  if (auto conflict = unordered(e.readers)) return conflict;
  if (e.others >= 0)
    for (const Readers& r : others_[static_cast<std::size_t>(e.others)])
      if (auto conflict = unordered(r)) return conflict;
  return std::nullopt;
}

std::optional<Conflict> Shadow::check_write(const Element& e, const Thread& by, const Clocks& clocks) const {
  if (auto conflict = against_copy(e, Fault::Kind::Race, by)) return conflict;
  if (auto conflict = against_writer(e, by, clocks)) return conflict;
  return against_readers(e, by, clocks);
}

void Shadow::record_read(Element& e, const Thread& by, const Clocks& clocks) {
  if (e.read_block != by.block) {
    if (e.read_block >= 0) e.other_read_block = e.read_block;
    e.read_block = by.block;
    forget_readers(e);
  }
  const Clock now = clocks.now(by.warp);
  const auto join = [&](Readers& r) {
    if (r.warp != by.warp || r.clock != now) r = {by.warp, now, 0};
    r.lanes |= bit(by.lane);
  };
  // Readers that this one is ordered after need not be kept: what is ordered after this one is ordered after
  // them.
  const bool alone = e.others < 0 || others_[static_cast<std::size_t>(e.others)].empty();
  const Readers& first = e.readers;
  if (first.warp == by.warp || (alone && (first.warp < 0 || clocks.after(by.warp, first.warp, first.clock))))
    return join(e.readers);
  if (e.others < 0) {
    e.others = static_cast<std::int32_t>(others_.size());
    others_.emplace_back();
  }
  auto& others = others_[static_cast<std::size_t>(e.others)];
  for (Readers& r : others)
    if (r.warp == by.warp) return join(r);
  others.push_back({by.warp, now, bit(by.lane)});
}

void Shadow::forget_readers(Element& e) {
  e.readers = {};
  if (e.others >= 0) others_[static_cast<std::size_t>(e.others)].clear();
}

void Shadow::record_write(Element& e, const Thread& by, const Clocks& clocks, std::uint64_t stamp) {
  e.write_block = by.block;
  e.write_stamp = stamp;
  e.write_clock = clocks.now(by.warp);
  e.write_warp = static_cast<std::int16_t>(by.warp);
  e.write_lane = static_cast<std::int8_t>(by.lane);
  forget_readers(e);
  e.read_block = -1;
}

std::optional<Conflict> Shadow::read(std::size_t at, const Thread& by, const Clocks& clocks) {
  Element& e = element(at);
  auto conflict = against_copy(e, Fault::Kind::Unwritten, by);
  if (!conflict) conflict = against_writer(e, by, clocks);
  record_read(e, by, clocks);
  return conflict;
}

std::optional<Conflict> Shadow::write(std::size_t at, const Thread& by, const Clocks& clocks,
                                      std::uint64_t stamp) {
  Element& e = element(at);
  auto conflict = check_write(e, by, clocks);
  record_write(e, by, clocks, stamp);
  return conflict;
}

std::optional<Conflict> Shadow::issue(std::size_t at, const Thread& by, const Clocks& clocks) {
  Element& e = element(at);
  auto conflict = check_write(e, by, clocks);
  e.copy_warp = static_cast<std::int16_t>(by.warp);
  e.copy_lane = static_cast<std::int8_t>(by.lane);
  return conflict;
}

void Shadow::land(std::size_t at, const Thread& by, const Clocks& clocks, std::uint64_t stamp) {
  Element& e = element(at);
  e.copy_warp = -1;
  record_write(e, by, clocks, stamp);
}

std::optional<Thread> Shadow::written_since(std::size_t at, std::uint64_t stamp) const {
  const Element& e = elements_[at];
  if (e.write_block < 0 || e.write_stamp <= stamp) return std::nullopt;
  return Thread{e.write_block, e.write_warp, e.write_lane};
}

}  // namespace rondo::kernel::simulator
