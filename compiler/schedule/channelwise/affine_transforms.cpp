#include "compiler/schedule/channelwise/affine_transforms.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

constexpr int kUnroll = 8;  // transforms loaded side by side

}  // namespace

TransformPattern::TransformPattern(int states)
    : states_(states), has_(static_cast<std::size_t>(states * states), true) {
  count();
}

TransformPattern TransformPattern::composed(int states, const std::function<bool(int, int)>& has) {
  TransformPattern pattern(states);
  const auto at = [&](int row, int column) { return static_cast<std::size_t>(row * states + column); };
  for (int i = 0; i < states; ++i)
    for (int k = 0; k < states; ++k) pattern.has_[at(i, k)] = i == k || has(i, k);
  for (int by = 0; by < states; ++by)
    for (int i = 0; i < states; ++i)
      for (int k = 0; pattern.has_[at(i, by)] && k < states; ++k)
        if (pattern.has_[at(by, k)]) pattern.has_[at(i, k)] = true;
  pattern.count();
  return pattern;
}

int TransformPattern::coefficients() const { return static_cast<int>(std::ranges::count(has_, true)); }

void TransformPattern::count() { entries_ = round_up(coefficients() + states_, 2); }

int TransformPattern::products() const {
  int count = 0;
  for (int i = 0; i < states_; ++i)
    for (int by = 0; by < states_; ++by)
      for (int k = 0; has(i, by) && k <= states_; ++k) count += has(by, k) ? 1 : 0;
  return count;
}

AffineTransform TransformPattern::spread(const std::vector<Value>& words) const {
  AffineTransform transform;
  std::size_t next = 0;
  for (int i = 0; i < states_; ++i)
    for (int k = 0; k <= states_; ++k) transform.push_back(has(i, k) ? words[next++] : Value{});
  return transform;
}

std::vector<Value> words_of(const AffineTransform& transform) {
  std::vector<Value> words;
  for (const Value& entry : transform)
    if (entry.valid()) words.push_back(entry);
  if (words.size() % 2 != 0) words.push_back(words.front().builder()->real(0));
  return words;
}

Value TransformTable::element(Value part, int pair, Value channel) const {
  const Value row = first.valid() ? first + part : part;
  return ((row * (entries() / 2) + pair) * channels + channel) * 2;
}

kernel::Place TransformTable::pair(Value part, int pair, Value channel) const {
  const Value place = element(part, pair, channel);
  return memory[base.valid() ? base + base.builder()->wide(place) : place];
}

TransformTable TransformTable::starting_at(Value from) const {
  TransformTable table = *this;
  table.first = from;
  return table;
}

std::vector<AffineTransform> TransformTable::load(kernel::Builder& b, Value part, Value channel,
                                                  int count) const {
  std::vector<std::vector<Value>> all(static_cast<std::size_t>(count));
  for (int pair = 0; pair < entries() / 2; ++pair)
    for (int c = 0; c < count; c += 2) {
      const int words = std::min(4, 2 * (count - c));
      const std::vector<Value> loaded = b.load_vector("map", this->pair(part, pair, channel + c), words);
      for (int word = 0; word < words; ++word)
        all[static_cast<std::size_t>(c) + static_cast<std::size_t>(word) / 2].push_back(
            loaded[static_cast<std::size_t>(word)]);
    }
  std::vector<AffineTransform> transforms;
  for (const std::vector<Value>& words : all) transforms.push_back(pattern.spread(words));
  return transforms;
}

void TransformTable::store(kernel::Builder& b, Value part, Value channel,
                           const std::vector<AffineTransform>& transforms) const {
  for (int pair = 0; pair < entries() / 2; ++pair)
    for (std::size_t c = 0; c < transforms.size(); c += 2)
      b.store_vector(this->pair(part, pair, channel + static_cast<std::int64_t>(c)),
                     side_by_side(transforms, c, pair));
}

std::vector<Value> side_by_side(const std::vector<AffineTransform>& transforms, std::size_t first, int pair) {
  std::vector<Value> words;
  for (std::size_t c = first; c < std::min(first + 2, transforms.size()); ++c) {
    const std::vector<Value> all = words_of(transforms[c]);
    for (int i = 0; i < 2; ++i)
      words.push_back(all[2 * static_cast<std::size_t>(pair) + static_cast<std::size_t>(i)]);
  }
  return words;
}

std::vector<TransformColumn> identity_transform(kernel::Builder& b, const TransformPattern& pattern,
                                                const std::string& name) {
  const int states = pattern.states();
  std::vector<TransformColumn> columns;
  for (int j = 0; j <= states; ++j) {
    TransformColumn& column = columns.emplace_back();
    column.constant = j == states;
    for (int i = 0; i < states; ++i)
      column.rows.push_back(pattern.has(i, j)
                                ? b.variable(fmt::format("{}_{}{}", name, i, j), b.real(i == j ? 1 : 0))
                                : Value{});
  }
  return columns;
}

AffineTransform flat(const std::vector<TransformColumn>& columns) {
  AffineTransform entries;
  for (std::size_t i = 0; i + 1 < columns.size(); ++i)
    for (const TransformColumn& column : columns) entries.push_back(column.rows[i]);
  return entries;
}

std::vector<Value> apply_transform(kernel::Builder& b, const AffineTransform& transform,
                                   const TransformColumn& column) {
  const std::size_t states = column.rows.size();
  std::vector<Value> result;
  for (std::size_t i = 0; i < states; ++i) {
    const auto entry = [&](std::size_t k) { return transform[i * (states + 1) + k]; };
    Value sum = column.constant ? entry(states) : Value{};
    for (std::size_t k = 0; k < states; ++k) {
      if (!entry(k).valid() || !column.rows[k].valid()) continue;
      sum =
          sum.valid() ? b.math(scalar::Op::Fma, {entry(k), column.rows[k], sum}) : entry(k) * column.rows[k];
    }
    result.push_back(sum.valid() ? b.let("after", sum) : sum);
  }
  return result;
}

std::vector<Value> or_constants(kernel::Builder& b, const AffineTransform& transform,
                                const std::vector<Value>& applied) {
  const std::size_t states = applied.size();
  std::vector<Value> result;
  for (std::size_t i = 0; i < states; ++i) {
    Value none;
    for (std::size_t k = 0; k < states; ++k) {
      if (!transform[i * (states + 1) + k].valid()) continue;
      const Value zero = transform[i * (states + 1) + k] == b.real(0);
      none = none.valid() ? none && zero : zero;
    }
    result.push_back(b.let("settled", b.select(none, transform[i * (states + 1) + states], applied[i])));
  }
  return result;
}

void advance(kernel::Builder& b, const AffineTransform& transform, const TransformColumn& column) {
  const std::vector<Value> next = apply_transform(b, transform, column);
  for (std::size_t i = 0; i < next.size(); ++i)
    if (next[i].valid()) b.assign(column.rows[i], next[i]);
}

void scan_transforms(kernel::Builder& b, const TransformTable& table, Value channel, Value own,
                     const TransformColumn& running, const TransformColumn& before, bool settles,
                     const EachTransform& each) {
  std::vector<Value> reached = running.rows;
  for (std::size_t i = 0; settles && i < reached.size(); ++i)
    reached[i] = b.variable("reached", running.rows[i]);
  b.for_("part", 0, table.parts, std::min(kUnroll, table.parts), [&](Value part) {
    const AffineTransform transform = table.load(b, part, channel, 1).front();
    for (std::size_t i = 0; i < running.rows.size(); ++i)
      b.assign(before.rows[i], b.select(part == own, reached[i], before.rows[i]));
    const std::vector<Value> next = apply_transform(b, transform, running);
    if (each) each(part, transform, running.rows, next);
    if (settles) {
      const std::vector<Value> settled = or_constants(b, transform, next);
      for (std::size_t i = 0; i < settled.size(); ++i) b.assign(reached[i], settled[i]);
    }
    for (std::size_t i = 0; i < next.size(); ++i) b.assign(running.rows[i], next[i]);
  });
}

void if_not_finite(kernel::Builder& builder, const std::vector<Value>& values,
                   const std::function<void()>& body) {
  const Value zero = builder.real(0);
  Value sum = zero;  // or NaN
  for (const Value& value : values) sum = builder.math(Op::Fma, {value, zero, sum});
  const auto finite = [] {};
  builder.if_cold(sum == zero, finite, body);
}

}  // namespace rondo::schedule
