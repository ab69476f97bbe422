#include "compiler/schedule/shoot/kernel.h"

#include <fmt/format.h>

#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Value;

ShootKernel::ShootKernel(const std::string& name, const std::string& comment, const Task& task,
                         const ShootParameters& parameters)
    : ChannelThreads(name, parameters.threads(), comment, task, parameters), parameters_(parameters) {}

int ShootKernel::stage(TensorRef ref) {
  const ShootParameters& p = parameters_;
  StagedTensor staged;
  staged.tensor = signature_.reads(ref);
  staged.shared =
      builder_.shared(staged.tensor.name + "_staged", task_.problem.storage,
                      std::int64_t{p.warps()} * p.stages * p.steps * staged.tensor.rows * p.warp_channels(),
                      fmt::format("[warps {}, stages {}, steps {}, rows {}, channels {}]", p.warps(),
                                  p.stages, p.steps, staged.tensor.rows, p.warp_channels()));
  staged_.push_back(staged);
  return static_cast<int>(staged_.size()) - 1;
}

int ShootKernel::write_each_step(TensorRef ref) {
  written_.push_back({signature_.writes(ref), {}, {}});
  return static_cast<int>(written_.size()) - 1;
}

void ShootKernel::place_threads() {
  auto& b = builder_;
  const ShootParameters& p = parameters_;
  place_channels();
  rounds_ = b.constant(p.rounds());
  b.comment("this warp's segment of time");
  const Value steps = b.named("kSteps", p.steps, "time steps a stage");
  const Value segments = b.named("kSegments", p.all_segments(), "segments of time");
  warp_ = b.let("warp", b.thread() / 32);
  lane_of_warp_ = b.let("lane_of_warp", b.thread() % 32);
  part_ = b.let("part", rank_ * p.segments + segment_);
  length_ = b.let("length", (time_ + (p.all_segments() - 1)) / segments);
  first_ = b.let("first_step", min(part_ * length_, time_));
  end_ = b.let("end_step", min(first_ + length_, time_));
  lead_ = p.warmup == 0 ? b.constant(0) : b.let("lead", min(b.constant(p.warmup / p.steps), first_ / steps));
  place_staging();
  place_kept();
  for (Written& written : written_) written.base = base(written.tensor, channel_, "_own");
}

// A row of a warp's channels takes vectors() lanes, so steps_abreast() steps are copied side by side.
void ShootKernel::place_staging() {
  auto& b = builder_;
  const ShootParameters& p = parameters_;
  place_head_values();
  b.comment("what this lane stages");
  lane_step_ = b.let("lane_step", lane_of_warp_ / vectors());
  const Value column = b.let("column", lane_of_warp_ % vectors() * p.vector);
  const Value first =
      b.let("staged_channel", tile_channel_ + (lane_ - lane_of_warp_ * p.per_thread) + column);
  if (!channels_divide())
    column_exists_ = b.let("column_exists", first < b.named("kDim", task_.problem.sizes.dim));
  for (StagedTensor& staged : staged_) {
    const Value from = base(staged.tensor, first, "_base");
    staged.from = b.let("from", from + b.wide(lane_step_) * staged.tensor.stride_t);
    const int slot = p.steps * staged.tensor.rows * p.warp_channels();
    staged.to = b.let(
        "to", warp_ * (p.stages * slot) + lane_step_ * (staged.tensor.rows * p.warp_channels()) + column);
  }
}

Value ShootKernel::count_lanes(Value condition) {
  auto& b = builder_;
  const Value count = b.variable("lanes", b.select(condition, b.real(1), b.real(0)));
  for (int distance = 16; distance > 0; distance /= 2)
    b.assign(count, count + b.shuffle("other", count, kernel::ShuffleMode::Xor, b.constant(distance)));
  return count;
}

Value ShootKernel::exists() {
  const Value channels = channel_exists();
  return channels.valid() ? has_steps() && channels : has_steps();
}

void ShootKernel::walk(Value lead, const Walk& body) {
  auto& b = builder_;
  const ShootParameters& p = parameters_;
  const Value steps = b.named("kSteps", p.steps), stages = b.named("kStages", p.stages, "stages of a ring");
  const Value begin = b.let("begin", first_ - lead * steps);
  const Value count = b.let("count", lead + (end_ - first_ + (p.steps - 1)) / steps);
  if (p.keep_inputs == KeptInputs::Shared) on_chip_.left_out = b.let("left_out", lead_ - lead);
  b.comment("fill the ring; the sweep before has read all of it");
  b.warp_sync();
  b.for_("ahead", 0, p.stages - 1, 1, [&](Value ahead) { copy_stage(begin, ahead, count); });
  begin_head_values();
  load_head_values(begin);
  b.for_("block", b.constant(0), count, b.constant(1), 1, [&](Value block) {
    b.wait_copies(p.stages - 2);
    store_head_values(block);
    b.warp_sync();
    copy_stage(begin, block + (p.stages - 1), count);
    const Value first = b.let("stage_step", begin + block * steps);
    load_head_values(first + steps);
    now_.stage = first;
    const Value slot = b.let("slot", (warp_ * stages + slot_of(block)) * steps);
    const auto segment = [&] {
      b.if_(first == first_, body.enter);
      for (Written& written : written_)
        written.cursor =
            b.variable(written.tensor.name + "_at", written.base + b.wide(first) * written.tensor.stride_t);
      const auto step = [&](const Staged& staged) {
        body.step(staged);
        for (const Written& written : written_)
          b.assign(written.cursor, written.cursor + written.tensor.stride_t);
      };
      const Value count_of_stage = b.let("steps", min(steps, end_ - first));
      p.kept_steps() > 0 ? run_kept(slot, count_of_stage, step) : run_steps(slot, count_of_stage, step);
      body.leave_stage();
    };
    if_channels_exist([&] {
      if (p.warmup == 0) return segment();
      b.if_(
          first < first_, [&] { run_steps(slot, {}, body.lead_in); }, segment);
    });
  });
  keep();
}

// Whole groups of `unroll` steps, then what is left one by one. Without `steps` the stage is whole.
void ShootKernel::run_steps(Value slot, Value steps, const std::function<void(const Staged&)>& body) {
  auto& b = builder_;
  const int unroll = parameters_.unroll;
  const Value groups =
      steps.valid() ? b.let("groups", steps / unroll) : b.constant(parameters_.steps / unroll);
  b.for_("group", b.constant(0), groups, b.constant(1), 1,
         [&](Value group) { run_group(slot, group * unroll, unroll, body); });
  if (!steps.valid() || unroll == 1) return;
  b.for_("s", groups * unroll, steps, b.constant(1), 1, [&](Value s) { run_group(slot, s, 1, body); });
}

ShootKernel::StepInputs ShootKernel::load_step(Value slot_step) {
  auto& b = builder_;
  const Value lane = lane_of_warp_ * parameters_.per_thread;
  StepInputs values;
  for (const StagedTensor& staged : staged_) {
    auto& rows = values.emplace_back();
    for (int row = 0; row < staged.tensor.rows; ++row) {
      const Value place = (slot_step * staged.tensor.rows + row) * parameters_.warp_channels() + lane;
      rows.push_back(b.load_vector(fmt::format("{}_{}", staged.tensor.name, row), staged.shared[place],
                                   parameters_.per_thread));
    }
  }
  return values;
}

void ShootKernel::run_step(const StepInputs& inputs, HeadValues head_values,
                           const std::function<void(const Staged&)>& body) {
  flags_now_ = std::move(head_values.flags);
  inputs_now_ = std::move(head_values.inputs);
  body([&](int id, int row, int channel) { return inputs[at(id)][at(row)][at(channel)]; });
  ++now_.ahead;
}

// Loads of all steps come first: a load may not be moved above an earlier step's store.
void ShootKernel::run_group(Value slot, Value group, int steps,
                            const std::function<void(const Staged&)>& body) {
  const Value slot_step = builder_.let("slot_step", slot + group);
  std::vector<StepInputs> inputs;
  std::vector<HeadValues> head_values;
  for (int u = 0; u < steps; ++u) {
    head_values.push_back(head_values_at(group + u));
    inputs.push_back(load_step(slot_step + u));
  }
  now_.group = group;
  now_.ahead = 0;
  for (std::size_t u = 0; u < inputs.size(); ++u) run_step(inputs[u], std::move(head_values[u]), body);
}

Value ShootKernel::slot_of(Value block) {
  const Value stage = on_chip_.left_out.valid() ? block + on_chip_.left_out : block;
  return stage % builder_.named("kStages", parameters_.stages);
}

// Copies of one stage close a group, also where there is nothing to copy.
void ShootKernel::copy_stage(Value begin, Value block, Value count) {
  auto& b = builder_;
  const ShootParameters& p = parameters_;
  const Value wanted = on_chip_.fresh.valid() ? on_chip_.fresh == 1 : Value{};
  if_all({block < count, wanted, column_exists_}, [&] {
    const Value first = b.let("ahead_step", begin + block * p.steps);
    const Value slot = b.let("ahead_slot", slot_of(block));
    for (const StagedTensor& staged : staged_) {
      const int rows = staged.tensor.rows, step = rows * p.warp_channels();
      const Value from = b.let("from", staged.from + b.wide(first) * staged.tensor.stride_t);
      const Value to = b.let("to", staged.to + slot * (p.steps * step));
      for (int ahead = 0; ahead < p.steps; ahead += steps_abreast()) {
        Value inside = first + lane_step_ + ahead < end_;
        if (ahead + steps_abreast() > p.steps) inside = inside && lane_step_ < p.steps - ahead;
        b.if_(inside, [&] {
          for (int row = 0; row < rows; ++row)
            copy_vector(staged, to + (ahead * step + row * p.warp_channels()),
                        from + staged.tensor.stride_t * ahead + row * task_.problem.sizes.dim);
        });
      }
    }
  });
  b.commit_copies();
}

// cp.async moves at least 4 bytes (PTX ISA, cp.async): odd rows of 16-bit elements go through registers.
void ShootKernel::copy_vector(const StagedTensor& staged, Value to, Value from) {
  if (parameters_.vector * kernel::storage_bytes(task_.problem.storage) >= 4)
    builder_.copy_async(staged.shared[to], staged.tensor.memory[from], parameters_.vector);
  else
    builder_.store(staged.shared[to], builder_.load("element", staged.tensor.memory[from]));
}

void ShootKernel::store_row(int written, int row, const std::vector<Value>& values) {
  const Written& w = written_[at(written)];
  builder_.store_vector(w.tensor.memory[w.cursor + std::int64_t{row} * task_.problem.sizes.dim], values,
                        parameters_.writing());
}

void ShootKernel::write_past_end(const Kept& kept) {
  if (!stops_early_) return;
  std::vector<PastEnd> written;
  for (const Written& one : written_) written.push_back({&one.tensor, one.base});
  // The scan warp walks through no segment.
  const Value walks = parameters_.among_blocks() ? builder_.thread() < parameters_.computing() : Value{};
  if_all({walks, channel_exists()}, [&] {
    ChannelThreads::write_past_end(written, parameters_.per_thread, parameters_.writing(), kept);
  });
}

Launch ShootKernel::finish() {
  Launch launch;
  signature_.watch_waits();
  launch.arguments = signature_.arguments();
  launch.blocks_fixed = 0;
  launch.blocks_per_batch = tiles() * task_.problem.sizes.heads * parameters_.time_split;
  if (parameters_.through_global()) launch.tiles_together = task_.problem.sizes.batch;
  launch.kernel = builder_.kernel();
  return launch;
}

}  // namespace rondo::schedule
