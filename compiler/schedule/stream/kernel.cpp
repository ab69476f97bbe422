#include "compiler/schedule/stream/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "compiler/schedule/stream/head_reductions.h"
#include "compiler/support/index.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

using kernel::Value;

StreamKernel::StreamKernel(std::string name, std::string comment, const Task& task,
                           const StreamParameters& parameters, TimeOrder order)
    : ChannelThreads(name, parameters.threads(), comment, task, parameters),
      parameters_(parameters),
      order_(order) {
  if (parameters.head_split > 1) builder_.set_cluster(parameters.head_split);
}

int StreamKernel::stage(TensorRef ref, bool shifted) {
  StagedTensor staged;
  staged.tensor = signature_.reads(ref);
  staged.shifted = shifted;
  staged.shared = builder_.shared(
      staged.tensor.name + (shifted ? "_before" : "_staged"), task_.problem.storage,
      std::int64_t{parameters_.stages} * parameters_.steps * block_rows(staged.tensor) * parameters_.channels,
      fmt::format("[stages {}, steps {}, rows {}, channels {}]", parameters_.stages, parameters_.steps,
                  block_rows(staged.tensor), parameters_.channels));
  staged_.push_back(staged);
  return static_cast<int>(staged_.size()) - 1;
}

int StreamKernel::write_each_step(TensorRef ref) {
  const bool per_head =
      !is_internal(ref.role) && task_.cell.tensors[at(ref.tensor)].tail == step::Tail::Scalar;
  written_.push_back({signature_.writes(ref), {}, {}, 0, per_head});
  return static_cast<int>(written_.size()) - 1;
}

void StreamKernel::place_threads() {
  auto& b = builder_;
  parameters_.whole_head ? place_heads() : place_channels();
  const std::int64_t split = parameters_.time_split;
  part_ = order_ == TimeOrder::Forward ? rank_ : b.constant(split - 1) - rank_;
  const Value steps = b.named("kSteps", parameters_.steps, "time steps a stage");
  const Value span = split == 1 ? steps : steps * split;
  const auto rounds_of = [&](Value time) { return (time + (split * parameters_.steps - 1)) / span; };
  rounds_ = blocks_ = b.let("blocks", rounds_of(time_));
  if (stops_early_ && parameters_.through_global())
    most_rounds_ = b.let("most_blocks", rounds_of(whole_time_));
  place_tensors();
  for (std::size_t i = 0; i < staged_.size(); ++i) place_staging(static_cast<int>(i));
}

Value StreamKernel::workspace_index(int rows, int row, int channel) {
  const Value batch = builder_.wide(batch_index_);
  return index_of(parameters_.time_split == 1 ? batch : batch * parameters_.time_split + builder_.wide(rank_),
                  rows, row, channel_index(channel));
}

Value StreamKernel::computing() {
  if (only_computing_ || parameters_.threads() == parameters_.computing()) return {};
  return builder_.thread() < parameters_.computing();
}

void StreamKernel::if_active(const std::function<void()>& body) {
  if_all({computing(), parameters_.whole_head ? owns_ : channel_exists()}, body);
}

void StreamKernel::if_reading(const std::function<void()>& body) {
  parameters_.whole_head ? body() : if_active(body);
}

void StreamKernel::if_owner(const std::function<void()>& body) {
  if (parameters_.segments == 1) return if_active(body);
  if_active([&] { builder_.if_(segment_ == 0, body); });
}

bool StreamKernel::any_shifted() const {
  const auto shifted = [](const auto& staged) { return staged.shifted; };
  return std::any_of(staged_.begin(), staged_.end(), shifted) ||
         std::any_of(head_values_.begin(), head_values_.end(), shifted);
}

Value StreamKernel::first_step_of(Value block) {
  const Value steps = builder_.named("kSteps", parameters_.steps);
  const Value turn = order_ == TimeOrder::Forward ? block : blocks_ - 1 - block;
  return (parameters_.time_split == 1 ? turn : turn * parameters_.time_split + part_) * steps;
}

// One barrier a stage says both that the next stage has landed and that the slot before it is free again.
// Threads that stage wait for their own copies first (PTX ISA, cp.async.wait_group); the barrier then shows
// them to the others.
void StreamKernel::walk(const StepBody& each_step) {
  auto& b = builder_;
  const bool apart = parameters_.producer_warps > 0;
  const Value stages = b.named("kStages", parameters_.stages, "stages in flight");
  begin_head_values();
  const auto fill = [&] {
    b.comment("fill the ring");
    b.for_("ahead", 0, parameters_.stages - 1, 1, [&](Value ahead) { stage_ahead(ahead); });
    if (apart) b.wait_copies(parameters_.stages - 2);
  };
  const auto compute = [&](Value block) {
    const Value slot = b.let("slot", block % stages);
    if_reading([&] { run_steps(block, slot, each_step); });
  };
  if (apart) {
    const Value producer =
        b.thread() >= b.named("kFirstLoader", parameters_.first_producer(), "first staging thread");
    b.if_(producer, fill);
    b.for_("block", b.constant(0), blocks_, b.constant(1), 1, [&](Value block) {
      put_head_values(block);
      b.barrier();
      b.if_(
          producer,
          [&] {
            stage_ahead(block + (stages - 1));
            b.wait_copies(parameters_.stages - 2);
          },
          [&] { compute(block); });
    });
    return;
  }
  fill();
  b.for_("block", b.constant(0), blocks_, b.constant(1), 1, [&](Value block) {
    put_head_values(block);
    b.wait_copies(parameters_.stages - 2);
    b.barrier();
    if (!interleaves_copies()) stage_ahead(block + (stages - 1));
    compute(block);
  });
}

void StreamKernel::run_steps(Value block, Value slot, const StepBody& each_step) {
  auto& b = builder_;
  const Value first = b.let("first_step", first_step_of(block));
  const Value count = b.let("count", min(b.named("kSteps", parameters_.steps), time_ - first));
  slot_ = slot;
  first_step_ = first;
  if (!parameters_.interleaved_copies) write_from(order_ == TimeOrder::Forward ? first : first + (count - 1));
  // Whole groups of `unroll` steps, then what is left one by one; the step at t = 0 stands apart where it
  // differs.
  Value plain = count;
  if (any_shifted()) plain = b.let("plain", b.select(first == 0, count - 1, count));
  const Value groups = b.let("groups", plain / parameters_.unroll);
  const int pieces = parameters_.steps / parameters_.unroll;
  const Ahead ahead = interleaves_copies() ? stage_to_copy(block + (parameters_.stages - 1)) : Ahead{};
  b.for_("group", b.constant(0), groups, b.constant(1), 1, [&](Value group) {
    if (interleaves_copies()) copy_piece(ahead, group, pieces);
    run_group(group * parameters_.unroll, parameters_.unroll, count, false, each_step);
  });
  if (interleaves_copies()) {
    b.for_("piece", groups, b.constant(pieces), b.constant(1), 1,
           [&](Value piece) { copy_piece(ahead, piece, pieces); });
    finish_copies(ahead);
  }
  if (parameters_.unroll > 1)
    b.for_("s", groups * parameters_.unroll, plain, b.constant(1), 1,
           [&](Value s) { run_group(s, 1, count, false, each_step); });
  if (any_shifted()) b.if_(first == 0, [&] { run_group(count - 1, 1, count, true, each_step); });
}

// Loads of all steps come first: a load may not be moved above an earlier step's store, and would be waited
// for there.
void StreamKernel::run_group(Value first, int steps, Value count, bool at_start, const StepBody& each_step) {
  auto& b = builder_;
  const bool forward = order_ == TimeOrder::Forward;
  const Value step = b.let("step", forward ? first : count - 1 - first);
  const Value line = b.let("slot_step", slot_ * b.named("kSteps", parameters_.steps) + step);
  std::vector<std::vector<std::vector<std::vector<Value>>>> values(
      at(steps));  // [step][tensor][row][channel]
  std::vector<HeadValues> head_values;
  for (int u = 0; u < steps; ++u) {
    const Value of_stage = step + (forward ? u : -u);
    head_values.push_back(head_values_at(of_stage, first_step_ + of_stage));
    for (const StagedTensor& staged : staged_) {
      auto& rows = values[at(u)].emplace_back();
      for (int row = 0; row < staged.tensor.rows && !(at_start && staged.shifted); ++row) {
        Value of_rows = (line + (forward ? u : -u)) * block_rows(staged.tensor) + row;
        if (parameters_.heads > 1) of_rows = of_rows + head_read_ * staged.tensor.rows;
        const Value place = of_rows * b.named("kChannels", parameters_.channels) + lane_;
        rows.push_back(load_channels(fmt::format("{}_{}", staged.tensor.name, row), staged, place));
      }
    }
  }
  if (parameters_.interleaved_copies) write_from(first_step_ + step);
  now_ = {first_step_, step};
  for (std::size_t u = 0; u < values.size(); ++u) {
    const auto& now = values[u];
    set_head_values(std::move(head_values[u]));
    each_step([&](int id, int row, int channel) { return now[at(id)][at(row)][at(channel)]; }, at_start);
    next_written_step();
    now_.ahead += forward ? 1 : -1;
  }
}

std::vector<Value> StreamKernel::load_channels(const std::string& name, const StagedTensor& staged,
                                               Value place) {
  const int count = std::min(parameters_.per_thread, widest(staged.tensor));
  std::vector<Value> values;
  for (int first = 0; first < parameters_.per_thread; first += count)
    for (const Value value : builder_.load_vector(name, staged.shared[place + first], count))
      values.push_back(value);
  return values;
}

void StreamKernel::write_from(Value first_step) {
  auto& b = builder_;
  for (Written& written : written_) {
    const Value at_step = written.base + b.wide(first_step) * written.tensor.stride_t;
    const std::string name = written.tensor.name + "_at";
    written.cursor = parameters_.interleaved_copies ? b.let(name, at_step) : b.variable(name, at_step);
    written.ahead = 0;
  }
}

// A cursor that walks keeps the compiler from gathering the stores of many steps.
void StreamKernel::next_written_step() {
  const int way = order_ == TimeOrder::Forward ? 1 : -1;
  for (Written& written : written_) {
    const Value stride = written.tensor.stride_t;
    if (parameters_.interleaved_copies)
      written.ahead += way;
    else
      builder_.assign(written.cursor, way > 0 ? written.cursor + stride : written.cursor - stride);
  }
}

void StreamKernel::store_row(int written, int row, const std::vector<Value>& values) {
  const Written& w = written_[at(written)];
  const Value step = w.ahead == 0 ? w.cursor : w.cursor + w.tensor.stride_t * w.ahead;
  if_writing(w, [&] {
    if (w.per_head) return builder_.store(w.tensor.memory[step + row], values.front(), parameters_.writing());
    store_channels(w.tensor, step + std::int64_t{row} * task_.problem.sizes.dim, values,
                   parameters_.writing());
  });
}

void StreamKernel::write_past_end(const Kept& kept) {
  if (!stops_early_) return;
  std::vector<PastEnd> written;
  for (const Written& one : written_)
    written.push_back({&one.tensor, one.base, one.per_head ? leads_ : Value{}});
  if_active(
      [&] { ChannelThreads::write_past_end(written, parameters_.per_thread, parameters_.writing(), kept); });
}

Launch StreamKernel::finish() {
  Launch launch;
  signature_.watch_waits();
  launch.arguments = signature_.arguments();
  launch.blocks_fixed = 0;
  launch.blocks_per_batch = parameters_.whole_head ? head_groups() * parameters_.head_split
                                                   : ceil_div(task_.problem.sizes.dim, parameters_.channels) *
                                                         task_.problem.sizes.heads * parameters_.time_split;
  if (parameters_.through_global()) launch.tiles_together = task_.problem.sizes.batch;
  launch.kernel = builder_.kernel();
  return launch;
}

}  // namespace rondo::schedule
