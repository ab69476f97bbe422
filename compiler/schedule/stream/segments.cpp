#include "compiler/schedule/stream/segments.h"

#include "compiler/support/index.h"

namespace rondo::schedule {

SegmentWalk::SegmentWalk(StreamKernel& kernel, const Body& body)
    : kernel_(kernel),
      threads_(kernel.threads()),
      b_(kernel.builder()),
      parameters_(threads_.parameters()),
      body_(body) {}

// The first barrier of a stage shows that the stage has landed and that the slot before it is free. The
// second stands only where every thread scans the segments' transforms, and shows that all are published.
void SegmentWalk::emit() {
  if (!parameters_.among_blocks()) return walk_rounds();
  // Asked of the warp's first thread, of which the compiler sees that it is the same for all lanes: it need
  // not join them again behind a role.
  const Value first = b_.shuffle("first_of_warp", b_.thread(), kernel::ShuffleMode::Index, b_.constant(0));
  const Value in_scan_warp = first >= b_.named("kFollowing", parameters_.walking(),
                                               "first thread of the warp that follows the carries");
  b_.if_(in_scan_warp, body_.scan, [&] { threads_.on_computing([&] { walk_rounds(); }); });
}

void SegmentWalk::sync() {
  if (parameters_.among_blocks()) return b_.named_barrier(kWalkBarrier, parameters_.walking());
  b_.barrier();
}

void SegmentWalk::walk_rounds() {
  const Value stages = b_.named("kStages", parameters_.stages, "stages in flight");
  const Value producer = kernel_.is_producer();
  StreamRing& ring = kernel_.ring();
  kernel_.begin_values();
  b_.comment("fill the ring");
  threads_.if_all({producer}, [&] { ring.fill(); });
  const bool pipelined = parameters_.pipelined(), interleaved = ring.interleaves_copies();
  if (pipelined) body_.declare_kept();
  const Value end = pipelined ? threads_.blocks() + 1 : threads_.blocks();
  b_.for_("block", b_.constant(0), end, b_.constant(1), 1, [&](Value block) {
    body_.declare();
    kernel_.pass_values(block);
    threads_.if_all({producer}, [&] { b_.wait_copies(parameters_.stages - 2); });
    sync();
    StreamRing::Ahead ahead;
    if (interleaved) {
      ahead = ring.stage_to_copy(block + (stages - 1), kernel_.starts_apart());
      ring.copy_piece(ahead, b_.constant(0), 2);
    } else {
      threads_.if_all({producer}, [&] { ring.stage_ahead(block + (stages - 1)); });
    }
    threads_.if_all({threads_.computing(), pipelined ? block < threads_.blocks() : Value{}},
                    [&] { scan_stage(block); });
    if (interleaved) {
      ring.copy_piece(ahead, b_.constant(1), 2);
      ring.finish_copies(ahead);
    }
    if (!parameters_.among_blocks()) sync();
    threads_.if_all({threads_.computing()}, [&] { pipelined ? apply_previous(block) : apply_stage(block); });
  });
}

void SegmentWalk::scan_stage(Value block) {
  const Value slot = b_.let("slot", block % b_.named("kStages", parameters_.stages));
  const Value first = b_.let("first_step", threads_.first_step_of(block));
  threads_.if_all({threads_.channel_exists()}, [&] {
    b_.if_(
        whole_stage(first), [&] { local_scan(first, slot, true); }, [&] { local_scan(first, slot, false); });
  });
  body_.publish(block);
}

// The apply phase of a stage, once its carries are known.
void SegmentWalk::apply_stage(Value block) {
  body_.prefix_scan(block);
  const Value first = b_.let("first_of_late", threads_.first_step_of(block));
  const Value slot =
      body_.apply_again ? b_.let("slot_again", block % b_.named("kStages", parameters_.stages)) : Value{};
  threads_.if_all({threads_.channel_exists()}, [&] {
    apply_carries(first, slot, whole_stage(first));
    body_.finish(block);
  });
}

// The apply phase of the round before, while this round's transforms travel.
void SegmentWalk::apply_previous(Value block) {
  b_.if_(block >= 1, [&] { apply_stage(block - 1); });
  b_.if_(block < threads_.blocks(), [&] { threads_.if_all({threads_.channel_exists()}, body_.keep); });
}

Value SegmentWalk::whole_stage(Value first) {
  Value whole = first + b_.named("kSteps", parameters_.steps) <= threads_.time();
  if (kernel_.starts_apart()) whole = whole && first >= 1;
  return b_.let("whole", whole);
}

// Steps of this thread in the order of the walk. `place` is the step within the stage; a stage that reaches
// past T or, with shifted tensors, down to t = 0 is not whole, and its steps are guarded.
void SegmentWalk::each_step(Value first, bool whole,
                            const std::function<void(int, Value, const Guard&)>& body) {
  const Value begin = b_.let("begin", threads_.here().segment * parameters_.unroll);
  for (int u = 0; u < parameters_.unroll; ++u) {
    const Value place = threads_.forward() ? begin + u : b_.constant(parameters_.steps - 1 - u) - begin;
    Guard guard;
    if (!whole) {
      guard.exists = b_.let("exists", first + place < threads_.time());
      if (kernel_.starts_apart()) guard.at_start = b_.let("at_start", first + place == 0);
    }
    body(u, place, guard);
  }
}

namespace {

StreamKernel::Staged reads_of(const StreamRing::Rows& rows) {
  return [&](int id, int row, int channel) { return rows[at(id)][at(row)][at(channel)]; };
}

}  // namespace

StreamRing::Rows SegmentWalk::stand_at(Value first, Value slot, Value place, const Guard& guard) {
  const bool whole = !guard.exists.valid();
  const Value line = b_.let("line", slot * b_.named("kSteps", parameters_.steps) + place);
  StreamRing::Rows rows =
      whole ? kernel_.ring().load(line, false)
            : kernel_.ring().load_guarded(line, guard.exists, [&] { return first + place >= 1; });
  // The step itself, or the last one there is.
  const Value t = whole ? first + place : min(first + place, threads_.last_step());
  kernel_.values().set(kernel_.values_at(place, t));
  kernel_.stand_at(first, place);
  return rows;
}

void SegmentWalk::local_scan(Value first, Value slot, bool whole) {
  each_step(first, whole, [&](int u, Value place, const Guard& guard) {
    const StreamRing::Rows rows = stand_at(first, slot, place, guard);
    body_.local_scan(u, reads_of(rows), guard);
  });
}

void SegmentWalk::apply_carries(Value first, Value slot, Value whole) {
  const Value start = threads_.here().segment * parameters_.unroll;
  const Value place = threads_.forward() ? start : b_.constant(parameters_.steps - 1) - start;
  WrittenRows& written = kernel_.written();
  written.begin(first + place);
  const auto emit = [&](bool all) {
    written.rewind();
    each_step(first, all, [&](int u, Value of_stage, const Guard& guard) {
      if (slot.valid()) {
        const StreamRing::Rows rows = stand_at(first, slot, of_stage, guard);
        body_.apply_again(reads_of(rows), guard);
      } else {
        body_.apply(u, guard);
      }
      written.advance(threads_.forward() ? 1 : -1);
    });
  };
  b_.if_(
      whole, [&] { emit(true); }, [&] { emit(false); });
}

}  // namespace rondo::schedule
