#include "compiler/schedule/stream/maps.h"

#include <fmt/format.h>

#include <algorithm>

namespace rondo::schedule {

using kernel::Value;

namespace {

constexpr int kUnroll = 8;  // maps loaded side by side

}  // namespace

Value MapTable::element(Value part, int pair, Value channel) const {
  const Value row = first.valid() ? first + part : part;
  return ((row * (entries(states) / 2) + pair) * channels + channel) * 2;
}

MapTable MapTable::starting_at(Value from) const {
  MapTable table = *this;
  table.first = from;
  return table;
}

std::vector<FlatMap> MapTable::load(kernel::Builder& b, Value part, Value channel, int count) const {
  std::vector<FlatMap> maps(static_cast<std::size_t>(count));
  for (int pair = 0; pair < entries(states) / 2; ++pair)
    for (int c = 0; c < count; c += 2) {
      const int words = std::min(4, 2 * (count - c));
      const std::vector<Value> loaded = b.load_vector("map", this->pair(part, pair, channel + c), words);
      for (int word = 0; word < words; ++word)
        maps[static_cast<std::size_t>(c) + static_cast<std::size_t>(word) / 2].push_back(
            loaded[static_cast<std::size_t>(word)]);
    }
  return maps;
}

void MapTable::store(kernel::Builder& b, Value part, Value channel, const std::vector<FlatMap>& maps) const {
  for (int pair = 0; pair < entries(states) / 2; ++pair)
    for (std::size_t c = 0; c < maps.size(); c += 2)
      b.store_vector(this->pair(part, pair, channel + static_cast<std::int64_t>(c)),
                     side_by_side(maps, c, pair));
}

std::vector<Value> side_by_side(const std::vector<FlatMap>& maps, std::size_t first, int pair) {
  std::vector<Value> words;
  for (std::size_t c = first; c < std::min(first + 2, maps.size()); ++c)
    for (int i = 0; i < 2; ++i)
      words.push_back(maps[c][2 * static_cast<std::size_t>(pair) + static_cast<std::size_t>(i)]);
  return words;
}

std::vector<MapColumn> identity_map(kernel::Builder& b, int states, const std::string& name) {
  std::vector<MapColumn> columns;
  for (int j = 0; j <= states; ++j) {
    MapColumn& column = columns.emplace_back();
    column.constant = j == states;
    for (int i = 0; i < states; ++i)
      column.rows.push_back(b.variable(fmt::format("{}_{}{}", name, i, j), b.real(i == j ? 1 : 0)));
  }
  return columns;
}

FlatMap flat(const std::vector<MapColumn>& columns) {
  FlatMap entries;
  for (std::size_t i = 0; i + 1 < columns.size(); ++i)
    for (const MapColumn& column : columns) entries.push_back(column.rows[i]);
  return entries;
}

std::vector<Value> apply_map(kernel::Builder& b, const FlatMap& map, const MapColumn& column) {
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

void follow_map(kernel::Builder& b, const FlatMap& map, const MapColumn& column) {
  const std::vector<Value> next = apply_map(b, map, column);
  for (std::size_t i = 0; i < next.size(); ++i) b.assign(column.rows[i], next[i]);
}

void follow_maps(kernel::Builder& b, const MapTable& table, Value channel, Value own,
                 const MapColumn& running, const MapColumn& before) {
  b.for_("part", 0, table.parts, std::min(kUnroll, table.parts), [&](Value part) {
    const FlatMap map = table.load(b, part, channel, 1).front();
    for (std::size_t i = 0; i < running.rows.size(); ++i)
      b.assign(before.rows[i], b.select(part == own, running.rows[i], before.rows[i]));
    follow_map(b, map, running);
  });
}

}  // namespace rondo::schedule
