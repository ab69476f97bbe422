#include "compiler/schedule/stream/segment_body.h"

#include <fmt/format.h>

#include "compiler/schedule/analysis/carried.h"
#include "compiler/schedule/stream/resources.h"

namespace rondo::schedule {

SegmentedStep::SegmentedStep(StreamBody& body, const StreamBody::LeafOf& leaf,
                             const std::function<void(const StreamBody::Results&)>& consume)
    : body_(body),
      leaf_(leaf),
      consume_(consume),
      b_(body.stream_.builder()),
      channels_(body.parameters_.per_thread),
      in_order_(body, leaf, consume) {
  const StreamParameters& p = body_.parameters_;
  if (p.among_blocks()) {
    scan_warp_ = std::make_unique<ScanWarp>(body_.stream_.threads(), body_.parameters_, body_.task_.cell,
                                            body_.pattern_);
    b_.set_min_blocks(blocks_by_registers(p, segment_shape(body_.task_)));
    if (!body_.cuts_)
      marks_ = b_.shared("marks", kernel::Storage::F32, p.computing(), "[computing threads]: 0, or NaN");
    return;
  }
  segment_transforms_ = {{}, p.segments, body_.pattern_, p.channels, {}};
  segment_transforms_.memory = b_.shared("segment_maps", kernel::Storage::F32, segment_transforms_.elements(),
                                         fmt::format("[segments {}, entries {}, channels {}, 2]", p.segments,
                                                     segment_transforms_.entries() / 2, p.channels));
}

void SegmentedStep::walk(const CarryEnds& ends) {
  SegmentWalk::Body body;
  body.declare = [&] { declare(); };
  body.local_scan = [&](int step, const StreamKernel::Staged& staged, const SegmentWalk::Guard& guard) {
    local_scan(step, staged, guard);
  };
  body.publish = [&](Value stage) { publish(stage); };
  body.prefix_scan = [&](Value stage) { prefix_scan(stage); };
  body.finish = [&](Value stage) { finish_stage(stage, ends); };
  body.apply = [&](int step, const SegmentWalk::Guard& guard) { apply_step(step, guard); };
  if (body_.again_) {
    body.apply_again = [&](const StreamKernel::Staged& staged, const SegmentWalk::Guard& guard) {
      apply_again(staged, guard);
    };
    in_order_.hoist();
  }
  body.declare_kept = [&] { parts_before_ = declare_parts("kept"); };
  body.keep = [&] { keep(); };
  if (body_.cuts_) mark_ = b_.variable("mark", b_.real(0));
  // Of a sequence without steps no stage is the last.
  if (marks_.valid())
    body_.stream_.threads().if_all({body_.stream_.threads().computing()},
                                   [&] { b_.store(marks_[b_.thread()], b_.real(0)); });
  if (scan_warp_) {
    scan_warp_->begin();
    body.scan = [&] { scan_warp_->role(ends.first); };
  }
  SegmentWalk(body_.stream_, body).emit();
  if (scan_warp_) scan_warp_->finish();
  in_order_.emit(ends, [&] { return telling(); });
}

std::vector<Value> SegmentedStep::telling() {
  if (marks_.valid()) return {b_.load("mark", marks_[b_.thread()])};
  std::vector<Value> telling = scan_warp_ ? std::vector<Value>() : body_.carry_;
  if (mark_.valid()) telling.push_back(mark_);
  return telling;
}

std::size_t SegmentedStep::at(std::size_t row, std::size_t column, int channel) const {
  return (row * (states() + 1) + column) * static_cast<std::size_t>(channels_) +
         static_cast<std::size_t>(channel);
}

SegmentedStep::Kept SegmentedStep::declare_parts(const std::string& name) {
  const std::size_t roots = body_.step_.roots.size();
  Kept kept(roots, std::vector<kernel::Array>(static_cast<std::size_t>(channels_)));
  for (std::size_t r = 0; r < roots; ++r)
    for (int c = 0; c < channels_; ++c)
      if (!body_.lowering_.hoisted(c, body_.step_.roots[r]).valid())
        kept[r][static_cast<std::size_t>(c)] =
            b_.array(fmt::format("{}_{}", name, r), kernel::Type::F32, kept_steps());
  return kept;
}

// Registers of the local scan and of the apply phase. The composed transform starts as the identity.
void SegmentedStep::declare() {
  parts_ = declare_parts("part");
  composed_.clear();
  for (std::size_t i = 0; i < states(); ++i)
    for (std::size_t j = 0; j <= states(); ++j)
      for (int c = 0; c < channels_; ++c)
        composed_.push_back(body_.pattern_.has(static_cast<int>(i), static_cast<int>(j))
                                ? b_.variable(fmt::format("map_{}{}", i, j), b_.real(i == j ? 1 : 0))
                                : Value{});
}

void SegmentedStep::keep() {
  b_.comment("this round becomes the round before");
  for (std::size_t r = 0; r < parts_.size(); ++r)
    for (std::size_t c = 0; c < parts_[r].size(); ++c)
      if (!body_.lowering_.hoisted(static_cast<int>(c), body_.step_.roots[r]).valid())
        for (int step = 0; step < body_.parameters_.unroll; ++step)
          b_.write(parts_before_[r][c], b_.constant(step), b_.read(parts_[r][c], b_.constant(step)));
}

Value SegmentedStep::part(const Kept& kept, int root, int step, int channel) {
  if (root < 0) return {};
  const auto r = static_cast<std::size_t>(root);
  const Value hoisted = body_.lowering_.hoisted(channel, body_.step_.roots[r]);
  return hoisted.valid() ? hoisted : b_.read(kept[r][static_cast<std::size_t>(channel)], place(step));
}

Value SegmentedStep::keep_if(const SegmentWalk::Guard& guard, Value changed, Value old) {
  return guard.exists.valid() ? b_.select(guard.exists, changed, old) : changed;
}

void SegmentedStep::local_scan(int step, const StreamKernel::Staged& staged,
                               const SegmentWalk::Guard& guard) {
  for (int c = 0; c < channels_; ++c) {
    const std::vector<Value> values = body_.lowering_.lower(c, [&](const step::Node& node) {
      return leaf_(node, staged, {false, guard.at_start}, c);
    });
    for (std::size_t r = 0; r < values.size(); ++r)
      if (!body_.lowering_.hoisted(c, body_.step_.roots[r]).valid())
        b_.write(parts_[r][static_cast<std::size_t>(c)], place(step), values[r]);
    compose(step, c, guard);
  }
}

std::vector<Value> SegmentedStep::shifted(const Kept& kept, int step, int channel,
                                          std::vector<Value> carried) {
  for (std::size_t k = 0; k < carried.size(); ++k)
    if (const Value shift = part(kept, body_.shifts_[k], step, channel); shift.valid())
      carried[k] = b_.let("shifted", carried[k] + shift);
  return carried;
}

// form(u) = sum of coefficient * u, plus the constant; multiply-adds, no terms for zeros.
Value SegmentedStep::evaluate(const Kept& kept, const LinearForm& form, int step, int channel,
                              const std::vector<Value>& shifted) {
  Value sum = part(kept, form.constant, step, channel);
  for (std::size_t k = 0; k < shifted.size(); ++k) {
    const Value coefficient = part(kept, form.coefficients[k], step, channel);
    if (!coefficient.valid() || !shifted[k].valid()) continue;
    sum = sum.valid() ? b_.math(scalar::Op::Fma, {coefficient, shifted[k], sum}) : coefficient * shifted[k];
  }
  return sum.valid() ? sum : b_.real(0);
}

// The columns of coefficients see neither shifts nor constants.
void SegmentedStep::compose(int step, int channel, const SegmentWalk::Guard& guard) {
  std::vector<std::vector<Value>> columns;
  for (std::size_t j = 0; j <= states(); ++j) {
    auto& column = columns.emplace_back();
    for (std::size_t k = 0; k < states(); ++k) column.push_back(composed_[at(k, j, channel)]);
  }
  columns[states()] = shifted(parts_, step, channel, columns[states()]);
  std::vector<Value> changed;
  for (std::size_t i = 0; i < states(); ++i)
    for (std::size_t j = 0; j <= states(); ++j) {
      if (!composed_[at(i, j, channel)].valid()) {
        changed.emplace_back();
        continue;
      }
      LinearForm form = body_.forms_[i];
      if (j < states()) form.constant = -1;
      const Value value =
          keep_if(guard, evaluate(parts_, form, step, channel, columns[j]), composed_[at(i, j, channel)]);
      changed.push_back(states() == 1 ? value : b_.let("composed", value));
    }
  for (std::size_t i = 0; i < states(); ++i)
    for (std::size_t j = 0; j <= states(); ++j)
      if (const Value& entry = composed_[at(i, j, channel)]; entry.valid())
        b_.assign(entry, changed[i * (states() + 1) + j]);
}

void SegmentedStep::publish(Value stage) {
  std::vector<AffineTransform> transforms;
  for (int c = 0; c < channels_; ++c) transforms.push_back(composed_of(c));
  if (scan_warp_) return scan_warp_->publish(stage, transforms);
  b_.comment("this segment's map, for the segments after it");
  for (int c = 0; c < channels_; ++c)
    segment_transforms_.store(b_, body_.stream_.threads().here().segment,
                              body_.stream_.threads().here().lane_channel + c,
                              {transforms[static_cast<std::size_t>(c)]});
}

// The carry that comes into this thread's segment, and the carry to the next stage. Every thread of a channel
// computes the same, so all hold the same carry.
void SegmentedStep::prefix_scan(Value stage) {
  const std::vector<Value> from = scan_warp_ ? scan_warp_->incoming_carries(stage) : body_.carry_;
  carried_.clear();
  for (std::size_t i = 0; i < states(); ++i)
    for (int c = 0; c < channels_; ++c)
      carried_.push_back(b_.variable("start_" + carried_name(body_.task_.cell, i), from[body_.index(i, c)]));
  if (scan_warp_) return;
  b_.comment("carries before this segment, and after the stage");
  for (int c = 0; c < channels_; ++c)
    scan_transforms(b_, segment_transforms_, body_.stream_.threads().here().lane_channel + c,
                    body_.stream_.threads().here().segment, column_of(body_.carry_, c),
                    column_of(carried_, c));
}

Value SegmentedStep::marked(Value before, const std::vector<Value>& values) {
  for (const Value& value : values) before = b_.math(scalar::Op::Fma, {value, b_.real(0), before});
  return before;
}

// A carry that is not finite leaves none of those after it finite, so those behind the last stage tell of
// all, unless a step cuts the sequence: then each stage's do. Where blocks split time, the thread that has
// the last step stores the last carries: those that the scan warp has need not be finite, though the walk in
// order is.
void SegmentedStep::finish_stage(Value stage, const CarryEnds& ends) {
  if (body_.cuts_) b_.assign(mark_, marked(mark_, carried_));
  if (!scan_warp_) return;
  b_.if_(stage == body_.stream_.threads().blocks() - 1, [&] {
    if (!body_.cuts_) b_.store(marks_[b_.thread()], marked(b_.real(0), carried_));
    b_.if_(in_order_.owns(in_order_.last_step()), [&] { body_.store_carries(ends, carried_); });
  });
}

TransformColumn SegmentedStep::column_of(const std::vector<Value>& rows, int channel) const {
  TransformColumn column;
  for (std::size_t i = 0; i < states(); ++i) column.rows.push_back(rows[body_.index(i, channel)]);
  return column;
}

AffineTransform SegmentedStep::composed_of(int channel) const {
  AffineTransform entries;
  for (std::size_t i = 0; i < states(); ++i)
    for (std::size_t j = 0; j <= states(); ++j) entries.push_back(composed_[at(i, j, channel)]);
  return entries;
}

void SegmentedStep::apply_step(int step, const SegmentWalk::Guard& guard) {
  const Kept& kept = pipelined() ? parts_before_ : parts_;
  StreamBody::Results results;
  for (int c = 0; c < channels_; ++c) {
    std::vector<Value> carried;
    for (std::size_t k = 0; k < states(); ++k) carried.push_back(carried_[body_.index(k, c)]);
    carried = shifted(kept, step, c, std::move(carried));
    auto& roots = results.emplace_back();
    for (const LinearForm& form : body_.forms_)
      roots.push_back(b_.let("v", evaluate(kept, form, step, c, carried)));
  }
  take(results, guard);
}

// The step as it is, from the carries before it.
void SegmentedStep::apply_again(const StreamKernel::Staged& staged, const SegmentWalk::Guard& guard) {
  take(in_order_.results(staged, {false, guard.at_start}, carried_), guard);
}

void SegmentedStep::take(const StreamBody::Results& results, const SegmentWalk::Guard& guard) {
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
