#include "compiler/schedule/stream/kernel.h"

#include "compiler/support/index.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

StreamKernel::StreamKernel(const std::string& name, const std::string& comment, const Task& task,
                           const StreamParameters& parameters, TimeOrder order)
    : threads_(name, comment, task, parameters, order),
      parameters_(threads_.parameters()),
      ring_(threads_),
      values_(threads_),
      written_(threads_, parameters.per_thread, parameters.writing(), parameters.interleaved_copies) {}

void StreamKernel::place() {
  threads_.place();
  ring_.place_rows();
  const auto& heads = threads_.whole_heads();
  written_.place(parameters_.whole_head ? heads.owns : threads_.here().owns, heads.leads);
  ring_.place_copies();
}

// The threads that compute have a step each, in as many turns as the stage's steps take. The two places of a
// value are ordered by the barrier of each stage, like the slots of the ring.
void StreamKernel::each_loaded(const std::function<void(std::size_t, Value)>& body) {
  const int threads = parameters_.computing(), steps = parameters_.steps;
  for (int first = 0; first < steps; first += threads) {
    const Value step = builder().thread() + first;
    threads_.if_all({threads_.computing(), first + threads > steps ? step < steps : Value{}},
                    [&] { body(at(first / threads), step); });
  }
}

void StreamKernel::begin_values() {
  const StreamParameters& p = parameters_;
  values_.declare({"[stages 2, steps", std::int64_t{SharedValues::kStages} * p.steps,
                   ceil_div(p.steps, p.computing()), p.heads, kernel::Storage::I32});
  values_.begin();
  if (values_.any_staged()) load_values(builder().constant(0));
}

// Element of what the block's first head has at time t in a row of a tensor with one value a head.
Value StreamKernel::value_place(const KernelTensor& from, int row, Value t) {
  auto& b = builder();
  const Value step = threads_.row_base(from) + b.wide(t) * from.stride_t;
  Value of_head =
      (parameters_.heads > 1 ? threads_.whole_heads().first : threads_.here().head) * from.rows + row;
  if (!threads_.heads_divide()) of_head = min(of_head, b.constant(threads_.head_count() * from.rows - 1));
  return step + b.wide(of_head);
}

void StreamKernel::load_values(Value block) {
  auto& b = builder();
  const Value first = b.let("coming_step", threads_.first_step_of(block));
  const auto place = [&](const KernelTensor& from, int, int row, Value t) {
    return value_place(from, row, t);
  };
  each_loaded([&](std::size_t turn, Value step) {
    b.if_(block < threads_.blocks() && first + step < threads_.time(),
          [&] { values_.load(turn, first + step, place); });
  });
}

SharedValues::Step StreamKernel::load_values_at(Value t) {
  return values_.load_step(
      t, [&](const KernelTensor& from, int, int row, Value at_t) { return value_place(from, row, at_t); });
}

void StreamKernel::pass_values(Value block) {
  if (!values_.any_staged()) return;
  value_line_ = builder().let("head_value_line", block % SharedValues::kStages * parameters_.steps);
  each_loaded([&](std::size_t turn, Value step) { values_.store(turn, value_line_ + step); });
  load_values(block + 1);
}

SharedValues::Step StreamKernel::values_at(Value place, Value t) {
  const Value line = value_line_.valid() ? value_line_ + place : Value{};
  return values_.read(line, t, parameters_.heads > 1 ? threads_.whole_heads().read : Value{});
}

Value StreamKernel::is_producer() {
  auto& b = builder();
  if (parameters_.producer_warps == 0) return {};
  return b.thread() >= b.named("kFirstProducer", parameters_.first_producer(), "first staging thread");
}

// One barrier a stage says both that the next stage has landed and that the slot before it is free again.
// Threads that stage wait for their own copies first (PTX ISA, cp.async.wait_group); the barrier then shows
// them to the others.
void StreamKernel::walk(const StepBody& each_step) {
  auto& b = builder();
  const Value stages = b.named("kStages", parameters_.stages, "stages in flight");
  begin_values();
  const Value producer = is_producer();
  const bool apart = producer.valid();
  const auto wait = [&] { b.wait_copies(parameters_.stages - 2); };
  const auto fill = [&] {
    b.comment("fill the ring");
    ring_.fill();
    if (apart) wait();
  };
  const auto compute = [&](Value block) {
    const Value slot = b.let("slot", block % stages);
    threads_.if_reading([&] { run_steps(block, slot, each_step); });
  };
  threads_.if_all({producer}, fill);
  b.for_("block", b.constant(0), threads_.blocks(), b.constant(1), 1, [&](Value block) {
    pass_values(block);
    if (!apart) wait();
    b.barrier();
    const auto stage = [&] { ring_.stage_ahead(block + (stages - 1)); };
    if (apart)
      return b.if_(
          producer, [&] { stage(), wait(); }, [&] { compute(block); });
    if (!ring_.interleaves_copies()) stage();
    compute(block);
  });
}

void StreamKernel::run_steps(Value block, Value slot, const StepBody& each_step) {
  auto& b = builder();
  const StreamParameters& p = parameters_;
  const Value first = b.let("first_step", threads_.first_step_of(block));
  const Value count = b.let("count", min(b.named("kSteps", p.steps), threads_.time() - first));
  slot_ = slot;
  first_step_ = first;
  if (!p.interleaved_copies) written_.begin(threads_.forward() ? first : first + (count - 1));
  // Whole groups of `unroll` steps, then what is left one by one; the step at t = 0 stands apart where it
  // differs.
  Value plain = count;
  if (starts_apart()) plain = b.let("plain", b.select(first == 0, count - 1, count));
  const Value groups = b.let("groups", plain / p.unroll);
  const int pieces = p.steps / p.unroll;
  const bool interleaved = ring_.interleaves_copies();
  const StreamRing::Ahead ahead =
      interleaved ? ring_.stage_to_copy(block + (p.stages - 1), starts_apart()) : StreamRing::Ahead{};
  b.for_("group", b.constant(0), groups, b.constant(1), 1, [&](Value group) {
    if (interleaved) ring_.copy_piece(ahead, group, pieces);
    run_group(group * p.unroll, p.unroll, count, false, each_step);
  });
  if (interleaved) {
    b.for_("piece", groups, b.constant(pieces), b.constant(1), 1,
           [&](Value piece) { ring_.copy_piece(ahead, piece, pieces); });
    ring_.finish_copies(ahead);
  }
  if (p.unroll > 1)
    b.for_("s", groups * p.unroll, plain, b.constant(1), 1,
           [&](Value s) { run_group(s, 1, count, false, each_step); });
  if (starts_apart()) b.if_(first == 0, [&] { run_group(count - 1, 1, count, true, each_step); });
}

// Loads of all steps come first: a load may not be moved above an earlier step's store, and would be waited
// for there.
void StreamKernel::run_group(Value first, int steps, Value count, bool at_start, const StepBody& each_step) {
  auto& b = builder();
  const int way = threads_.forward() ? 1 : -1;
  const Value step = b.let("step", threads_.forward() ? first : count - 1 - first);
  const Value line = b.let("slot_step", slot_ * b.named("kSteps", parameters_.steps) + step);
  std::vector<StreamRing::Rows> rows;
  std::vector<SharedValues::Step> values;
  for (int u = 0; u < steps; ++u) {
    const Value of_stage = step + way * u;
    values.push_back(values_at(of_stage, first_step_ + of_stage));
    rows.push_back(ring_.load(line + way * u, at_start));
  }
  if (parameters_.interleaved_copies) written_.begin(first_step_ + step);
  stand_at(first_step_, step);
  for (std::size_t u = 0; u < rows.size(); ++u) {
    values_.set(std::move(values[u]));
    each_step([&](int id, int row, int channel) { return rows[u][at(id)][at(row)][at(channel)]; }, at_start);
    written_.advance(way);
    now_.ahead += way;
  }
}

void StreamKernel::write_past_end(const WrittenRows::Kept& kept) {
  if (threads_.stops_early()) threads_.if_active([&] { written_.write_past_end(kept); });
}

}  // namespace rondo::schedule
