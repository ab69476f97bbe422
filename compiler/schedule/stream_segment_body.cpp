#include "compiler/schedule/stream_segment_body.h"

#include <fmt/format.h>

namespace rondo::schedule {

using kernel::Value;

SegmentedStep::SegmentedStep(StreamBody& body, const StreamBody::LeafOf& leaf,
                             const std::function<void(const StreamBody::Results&)>& consume)
    : body_(body),
      leaf_(leaf),
      consume_(consume),
      b_(body.stream_.builder()),
      channels_(body.parameters_.per_thread) {
  const auto entries = static_cast<std::int64_t>(states() * (states() + 1));
  exchange_ = b_.shared("segment_maps", kernel::Storage::F32,
                        body_.parameters_.segments * entries * body_.parameters_.channels,
                        fmt::format("[segments {}, entries {}, channels {}]", body_.parameters_.segments,
                                    entries, body_.parameters_.channels));
}

void SegmentedStep::walk() {
  body_.stream_.walk_segments({[&] { declare(); },
                               [&](int step, const StreamKernel::Staged& staged,
                                   const StreamKernel::Guard& guard) { early(step, staged, guard); },
                               [&] { publish(); }, [&] { resume(); },
                               [&](int step, const StreamKernel::Guard& guard) { late(step, guard); }});
}

std::size_t SegmentedStep::at(std::size_t row, std::size_t column, int channel) const {
  return (row * (states() + 1) + column) * static_cast<std::size_t>(channels_) +
         static_cast<std::size_t>(channel);
}

// Registers of both halves. The composed map starts as the identity.
void SegmentedStep::declare() {
  const std::size_t roots = body_.step_.roots.size();
  kept_.assign(roots, std::vector<kernel::Array>(static_cast<std::size_t>(channels_)));
  for (std::size_t r = 0; r < roots; ++r)
    for (int c = 0; c < channels_; ++c)
      if (!body_.lowering_.hoisted(c, body_.step_.roots[r]).valid())
        kept_[r][static_cast<std::size_t>(c)] =
            b_.array(fmt::format("part_{}", r), kernel::Type::F32, body_.parameters_.unroll);
  composed_.clear();
  for (std::size_t i = 0; i < states(); ++i)
    for (std::size_t j = 0; j <= states(); ++j)
      for (int c = 0; c < channels_; ++c)
        composed_.push_back(b_.variable(fmt::format("map_{}{}", i, j), b_.real(i == j ? 1 : 0)));
}

Value SegmentedStep::part(int root, int step, int channel) {
  if (root < 0) return {};
  const auto r = static_cast<std::size_t>(root);
  const Value hoisted = body_.lowering_.hoisted(channel, body_.step_.roots[r]);
  return hoisted.valid() ? hoisted : b_.read(kept_[r][static_cast<std::size_t>(channel)], b_.constant(step));
}

Value SegmentedStep::keep_if(const StreamKernel::Guard& guard, Value changed, Value old) {
  return guard.exists.valid() ? b_.select(guard.exists, changed, old) : changed;
}

void SegmentedStep::early(int step, const StreamKernel::Staged& staged, const StreamKernel::Guard& guard) {
  for (int c = 0; c < channels_; ++c) {
    const std::vector<Value> values = body_.lowering_.lower(c, [&](const step::Node& node) {
      return leaf_(node, staged, {false, guard.at_start}, c);
    });
    for (std::size_t r = 0; r < values.size(); ++r)
      if (!body_.lowering_.hoisted(c, body_.step_.roots[r]).valid())
        b_.write(kept_[r][static_cast<std::size_t>(c)], b_.constant(step), values[r]);
    compose(step, c, guard);
  }
}

// form(carried) = sum of coefficient * carried, plus the constant; multiply-adds, no terms for zeros.
Value SegmentedStep::apply(const LinearForm& form, int step, int channel, const std::vector<Value>& carried) {
  Value sum = part(form.constant, step, channel);
  for (std::size_t k = 0; k < carried.size(); ++k) {
    const Value coefficient = part(form.coefficients[k], step, channel);
    if (!coefficient.valid()) continue;
    sum = sum.valid() ? b_.math(scalar::Op::Fma, {coefficient, carried[k], sum}) : coefficient * carried[k];
  }
  return sum.valid() ? sum : b_.real(0);
}

void SegmentedStep::compose(int step, int channel, const StreamKernel::Guard& guard) {
  std::vector<Value> changed;
  for (std::size_t i = 0; i < states(); ++i)
    for (std::size_t j = 0; j <= states(); ++j) {
      LinearForm form = body_.forms_[i];
      if (j < states()) form.constant = -1;
      std::vector<Value> column;
      for (std::size_t k = 0; k < states(); ++k) column.push_back(composed_[at(k, j, channel)]);
      const Value value = keep_if(guard, apply(form, step, channel, column), composed_[at(i, j, channel)]);
      changed.push_back(states() == 1 ? value : b_.let("composed", value));
    }
  for (std::size_t i = 0; i < states(); ++i)
    for (std::size_t j = 0; j <= states(); ++j)
      b_.assign(composed_[at(i, j, channel)], changed[i * (states() + 1) + j]);
}

Value SegmentedStep::place(Value segment, std::size_t entry, int channel) {
  const auto entries = static_cast<std::int64_t>(states() * (states() + 1));
  return (segment * entries + static_cast<std::int64_t>(entry)) * body_.parameters_.channels +
         body_.stream_.lane_channel() + channel;
}

void SegmentedStep::publish() {
  b_.comment("this segment's map, for the segments after it");
  for (std::size_t i = 0; i < states(); ++i)
    for (std::size_t j = 0; j <= states(); ++j)
      for (int c = 0; c < channels_; ++c)
        b_.store(exchange_[place(body_.stream_.segment(), i * (states() + 1) + j, c)],
                 composed_[at(i, j, c)]);
}

// Walks the segments' maps in order: what stands before this thread's segment is where its steps start, what
// stands after the last one is carried to the next stage. Every thread of a channel does the same, so all
// hold the same carry.
void SegmentedStep::resume() {
  b_.comment("carries before this segment, and after the stage");
  carried_.clear();
  for (std::size_t i = 0; i < states(); ++i)
    for (int c = 0; c < channels_; ++c)
      carried_.push_back(b_.variable("start_" + body_.state_name(i), body_.carry_[body_.index(i, c)]));
  b_.for_("part", 0, body_.parameters_.segments, std::min(8, body_.parameters_.segments), [&](Value segment) {
    std::vector<Value> next;
    for (int c = 0; c < channels_; ++c)
      for (std::size_t i = 0; i < states(); ++i) {
        const Value carry = body_.carry_[body_.index(i, c)];
        const Value start = carried_[body_.index(i, c)];
        b_.assign(start, b_.select(segment == body_.stream_.segment(), carry, start));
        Value sum = b_.load("map", exchange_[place(segment, i * (states() + 1) + states(), c)]);
        for (std::size_t k = 0; k < states(); ++k) {
          const Value coefficient = b_.load("map", exchange_[place(segment, i * (states() + 1) + k, c)]);
          sum = b_.math(scalar::Op::Fma, {coefficient, body_.carry_[body_.index(k, c)], sum});
        }
        next.push_back(b_.let("after", sum));
      }
    for (int c = 0; c < channels_; ++c)
      for (std::size_t i = 0; i < states(); ++i)
        b_.assign(body_.carry_[body_.index(i, c)], next[static_cast<std::size_t>(c) * states() + i]);
  });
}

void SegmentedStep::late(int step, const StreamKernel::Guard& guard) {
  StreamBody::Results results;
  for (int c = 0; c < channels_; ++c) {
    std::vector<Value> carried;
    for (std::size_t k = 0; k < states(); ++k) carried.push_back(carried_[body_.index(k, c)]);
    auto& roots = results.emplace_back();
    for (const LinearForm& form : body_.forms_) roots.push_back(b_.let("v", apply(form, step, c, carried)));
  }
  if (guard.exists.valid())
    b_.if_(guard.exists, [&] { consume_(results); });
  else
    consume_(results);
  for (int c = 0; c < channels_; ++c)
    for (std::size_t k = 0; k < states(); ++k) {
      const Value carried = carried_[body_.index(k, c)];
      b_.assign(carried, keep_if(guard, results[static_cast<std::size_t>(c)][k], carried));
    }
}

}  // namespace rondo::schedule
