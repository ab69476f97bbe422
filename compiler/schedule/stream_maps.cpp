#include "compiler/schedule/stream_maps.h"

#include <algorithm>

namespace rondo::schedule {

using kernel::Value;

namespace {

constexpr int kUnroll = 8;        // maps loaded side by side
constexpr int kUnrollBefore = 4;  // the same, where their number is not known

// The map's entries, row after row.
std::vector<Value> load_map(kernel::Builder& b, const MapTable& table, Value part, Value channel) {
  std::vector<Value> entries;
  for (int pair = 0; pair < MapTable::entries(table.states) / 2; ++pair)
    for (const Value entry : b.load_vector("map", table.pair(part, pair, channel), 2))
      entries.push_back(entry);
  return entries;
}

}  // namespace

Value MapTable::element(Value part, int pair, Value channel) const {
  const Value row = first.valid() ? first + part : part;
  return ((row * (entries(states) / 2) + pair) * channels + channel) * 2;
}

std::vector<Value> apply_map(kernel::Builder& b, const std::vector<Value>& map, const MapColumn& column) {
  const std::size_t states = column.rows.size();
  std::vector<Value> result;
  for (std::size_t i = 0; i < states; ++i) {
    const auto entry = [&](std::size_t k) { return map[i * (states + 1) + k]; };
    Value sum = column.constant ? entry(states) : Value{};
    for (std::size_t k = 0; k < states; ++k)
      sum =
          sum.valid() ? b.math(scalar::Op::Fma, {entry(k), column.rows[k], sum}) : entry(k) * column.rows[k];
    result.push_back(b.let("after", sum));
  }
  return result;
}

// running = map(running).
static void follow_map(kernel::Builder& b, const std::vector<Value>& map, const MapColumn& running) {
  const std::vector<Value> next = apply_map(b, map, running);
  for (std::size_t i = 0; i < next.size(); ++i) b.assign(running.rows[i], next[i]);
}

void follow_maps(kernel::Builder& b, const MapTable& table, Value channel, Value own,
                 const std::vector<MapColumn>& running, const std::vector<MapColumn>& before) {
  b.for_("part", 0, table.parts, std::min(kUnroll, table.parts), [&](Value part) {
    const std::vector<Value> map = load_map(b, table, part, channel);
    for (std::size_t c = 0; c < running.size(); ++c) {
      const MapColumn& column = running[c];
      for (std::size_t i = 0; i < column.rows.size(); ++i)
        b.assign(before[c].rows[i], b.select(part == own, column.rows[i], before[c].rows[i]));
      follow_map(b, map, column);
    }
  });
}

void follow_maps_before(kernel::Builder& b, const MapTable& table, Value channel, Value own,
                        const std::vector<MapColumn>& running) {
  b.for_("part", b.constant(0), own, b.constant(1), kUnrollBefore, [&](Value part) {
    const std::vector<Value> map = load_map(b, table, part, channel);
    for (const MapColumn& column : running) follow_map(b, map, column);
  });
}

}  // namespace rondo::schedule
