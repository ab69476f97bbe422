// The walk in segments: a stage's steps are split among groups of threads, which synchronise at each stage's
// start, and, where one block walks through all of time, once more in the middle.
#include <fmt/format.h>

#include "compiler/schedule/stream/kernel.h"

namespace rondo::schedule {

using kernel::Value;

// The first barrier of a stage shows that the stage has landed and that the slot before it is free. The
// second stands only where every thread scans the segments' transforms, and shows that all are published.
void StreamKernel::walk_segments(const SegmentBody& body) {
  auto& b = builder_;
  if (!parameters_.among_blocks()) return walk_rounds(body);
  const Value in_scan_warp = b.thread() >= b.named("kFollowing", parameters_.walking(),
                                                   "first thread of the warp that follows the carries");
  b.if_(in_scan_warp, body.scan, [&] {
    only_computing_ = parameters_.producer_warps == 0;
    walk_rounds(body);
    only_computing_ = false;
  });
}

void StreamKernel::sync_walk() {
  if (parameters_.among_blocks()) return builder_.named_barrier(kWalkBarrier, parameters_.walking());
  builder_.barrier();
}

void StreamKernel::walk_rounds(const SegmentBody& body) {
  auto& b = builder_;
  const bool apart = parameters_.producer_warps > 0;
  const Value stages = b.named("kStages", parameters_.stages, "stages in flight");
  const Value producer =
      apart ? b.thread() >= b.named("kFirstLoader", parameters_.first_producer(), "first staging thread")
            : Value{};
  const auto if_producer = [&](const std::function<void()>& action) {
    apart ? b.if_(producer, action) : action();
  };
  begin_head_values();
  b.comment("fill the ring");
  if_producer([&] { b.for_("ahead", 0, parameters_.stages - 1, 1, [&](Value ahead) { stage_ahead(ahead); }); });
  const bool pipelined = parameters_.pipelined();
  if (pipelined) body.declare_kept();
  b.for_("block", b.constant(0), pipelined ? blocks_ + 1 : blocks_, b.constant(1), 1, [&](Value block) {
    body.declare();
    put_head_values(block);
    if_producer([&] { b.wait_copies(parameters_.stages - 2); });
    sync_walk();
    const Ahead ahead = interleaves_copies() ? stage_to_copy(block + (stages - 1)) : Ahead{};
    if (interleaves_copies())
      copy_piece(ahead, b.constant(0), 2);
    else
      if_producer([&] { stage_ahead(block + (stages - 1)); });
    if_all({computing(), pipelined ? block < blocks_ : Value{}}, [&] {
      const Value slot = b.let("slot", block % stages);
      const Value first = b.let("first_step", first_step_of(block));
      if_all({channel_exists()}, [&] { local_scan(first, slot, whole_stage(first), body); });
      body.publish(block);
    });
    if (interleaves_copies()) {
      copy_piece(ahead, b.constant(1), 2);
      finish_copies(ahead);
    }
    if (!parameters_.among_blocks()) sync_walk();
    if_all({computing()}, [&] { pipelined ? apply_previous(block, body) : apply_stage(block, body); });
  });
}

// The apply phase of a stage, once its carries are known.
void StreamKernel::apply_stage(Value block, const SegmentBody& body) {
  auto& b = builder_;
  body.prefix_scan(block);
  const Value first = b.let("first_of_late", first_step_of(block));
  if_all({channel_exists()}, [&] { apply_carries(first, whole_stage(first), body); });
}

// The apply phase of the round before, while this round's transforms travel.
void StreamKernel::apply_previous(Value block, const SegmentBody& body) {
  auto& b = builder_;
  b.if_(block >= 1, [&] { apply_stage(block - 1, body); });
  b.if_(block < blocks_, [&] { if_all({channel_exists()}, body.keep); });
}

Value StreamKernel::whole_stage(Value first) {
  auto& b = builder_;
  Value whole = first + b.named("kSteps", parameters_.steps) <= time_;
  if (any_shifted()) whole = whole && first >= 1;
  return b.let("whole", whole);
}

// Steps of this thread in the order of the walk. `place` is the step within the stage; a stage that reaches
// past T or, with shifted tensors, down to t = 0 is not whole, and its steps are guarded.
void StreamKernel::each_segment_step(Value first, bool whole,
                                     const std::function<void(int, Value, const Guard&)>& body) {
  auto& b = builder_;
  const bool forward = order_ == TimeOrder::Forward;
  const Value begin = b.let("begin", segment_ * parameters_.unroll);
  for (int u = 0; u < parameters_.unroll; ++u) {
    const Value place = forward ? begin + u : b.constant(parameters_.steps - 1 - u) - begin;
    Guard guard;
    if (!whole) {
      guard.exists = b.let("exists", first + place < time_);
      if (any_shifted()) guard.at_start = b.let("at_start", first + place == 0);
    }
    body(u, place, guard);
  }
}

Value StreamKernel::guarded(Value condition, const std::string& name, const kernel::Place& place) {
  auto& b = builder_;
  const Value value = b.variable(name, b.real(0));
  b.if_(condition, [&] { b.assign(value, b.load(name, place)); });
  return value;
}

// The step itself, or the last one there is.
Value StreamKernel::within(Value step) { return min(step, time_ - 1); }

void StreamKernel::local_scan(Value first, Value slot, Value whole, const SegmentBody& body) {
  auto& b = builder_;
  const auto emit = [&](bool all) {
    each_segment_step(first, all, [&](int u, Value place, const Guard& guard) {
      std::vector<std::vector<std::vector<Value>>> values;  // [tensor][row][channel]
      const Value line = b.let("line", slot * b.named("kSteps", parameters_.steps) + place);
      for (const StagedTensor& staged : staged_) {
        auto& rows = values.emplace_back();
        for (int row = 0; row < staged.tensor.rows; ++row) {
          const Value at =
              (line * staged.tensor.rows + row) * b.named("kChannels", parameters_.channels) + lane_;
          const std::string name = fmt::format("{}_{}", staged.tensor.name, row);
          if (all) {
            rows.push_back(b.load_vector(name, staged.shared[at], parameters_.per_thread));
            continue;
          }
          const Value there = staged.shifted ? guard.exists && first + place >= 1 : guard.exists;
          auto& channels = rows.emplace_back();
          for (int channel = 0; channel < parameters_.per_thread; ++channel)
            channels.push_back(guarded(there, name, staged.shared[at + channel]));
        }
      }
      const auto get = [&](int id, int row, int channel) {
        return values[static_cast<std::size_t>(id)][static_cast<std::size_t>(row)]
                     [static_cast<std::size_t>(channel)];
      };
      if (flags_.any() || !head_values_.empty())
        set_head_values(head_values_at(place, all ? first + place : within(first + place)));
      now_ = {first, place};
      body.local_scan(u, get, guard);
    });
  };
  b.if_(
      whole, [&] { emit(true); }, [&] { emit(false); });
}

void StreamKernel::apply_carries(Value first, Value whole, const SegmentBody& body) {
  auto& b = builder_;
  const bool forward = order_ == TimeOrder::Forward;
  const Value start = segment_ * parameters_.unroll;
  const Value place = forward ? start : b.constant(parameters_.steps - 1) - start;
  write_from(first + place);
  const auto emit = [&](bool all) {
    for (Written& written : written_) written.ahead = 0;
    each_segment_step(first, all, [&](int u, Value, const Guard& guard) {
      body.apply(u, guard);
      next_written_step();
    });
  };
  b.if_(
      whole, [&] { emit(true); }, [&] { emit(false); });
}

}  // namespace rondo::schedule
