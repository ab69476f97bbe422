#include "compiler/schedule/shoot/kernel.h"

#include <fmt/format.h>

#include "compiler/schedule/lower/copy_vector.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

ShootKernel::ShootKernel(const std::string& name, const std::string& comment, const Task& task,
                         const ShootParameters& parameters)
    : parameters_(parameters),
      threads_(name, parameters.threads(), comment, task, parameters),
      values_(threads_),
      written_(threads_, parameters.per_thread, parameters.writing()) {}

int ShootKernel::stage(TensorRef ref) {
  const ShootParameters& p = parameters_;
  StagedTensor staged;
  staged.tensor = signature().reads(ref);
  staged.shared =
      builder().shared(staged.tensor.name + "_staged", staged.tensor.storage,
                       std::int64_t{p.warps()} * p.stages * p.steps * staged.tensor.rows * p.warp_channels(),
                       fmt::format("[warps {}, stages {}, steps {}, rows {}, channels {}]", p.warps(),
                                   p.stages, p.steps, staged.tensor.rows, p.warp_channels()));
  staged_.push_back(staged);
  return static_cast<int>(staged_.size()) - 1;
}

void ShootKernel::place() {
  auto& b = builder();
  const ShootParameters& p = parameters_;
  threads_.place_channels();
  threads_.set_rounds(p.rounds());
  b.comment("this warp's segment of time");
  const Value steps = b.named("kSteps", p.steps, "time steps a stage");
  const Value segments = b.named("kSegments", p.all_segments(), "segments of time");
  own_.warp = b.let("warp", b.thread() / 32);
  lane_of_warp_ = b.let("lane_of_warp", b.thread() % 32);
  own_.part = b.let("part", threads_.here().rank * p.segments + threads_.here().segment);
  own_.length = b.let("length", (threads_.time() + (p.all_segments() - 1)) / segments);
  own_.first = b.let("first_step", min(own_.part * own_.length, threads_.time()));
  own_.end = b.let("end_step", min(own_.first + own_.length, threads_.time()));
  own_.lead =
      p.warmup == 0 ? b.constant(0) : b.let("lead", min(b.constant(p.warmup / p.steps), own_.first / steps));
  place_staging();
  place_kept();
  written_.place();
}

// A row of a warp's channels takes vectors() lanes, so steps_abreast() steps are copied side by side.
void ShootKernel::place_staging() {
  auto& b = builder();
  const ShootParameters& p = parameters_;
  place_values();
  b.comment("what this lane stages");
  lane_step_ = b.let("lane_step", lane_of_warp_ / vectors());
  const Value column = b.let("column", lane_of_warp_ % vectors() * p.vector);
  const Value first =
      b.let("staged_channel", threads_.here().tile_channel +
                                  (threads_.here().lane_channel - lane_of_warp_ * p.per_thread) + column);
  if (!threads_.channels_divide())
    column_exists_ = b.let("column_exists", first < b.named("kDim", threads_.dim()));
  for (StagedTensor& staged : staged_) {
    const Value from = threads_.base(staged.tensor, first, "_base");
    staged.from = b.let("from", from + b.wide(lane_step_) * staged.tensor.stride_t);
    const int slot = p.steps * staged.tensor.rows * p.warp_channels();
    staged.to = b.let(
        "to", own_.warp * (p.stages * slot) + lane_step_ * (staged.tensor.rows * p.warp_channels()) + column);
  }
}

Value ShootKernel::count_lanes(Value condition) {
  auto& b = builder();
  const Value count = b.variable("lanes", b.select(condition, b.real(1), b.real(0)));
  for (int distance = 16; distance > 0; distance /= 2)
    b.assign(count, count + b.shuffle("other", count, kernel::ShuffleMode::Xor, b.constant(distance)));
  return count;
}

Value ShootKernel::exists() {
  const Value channels = threads_.channel_exists();
  return channels.valid() ? has_steps() && channels : has_steps();
}

void ShootKernel::walk(Value lead, const Walk& body) {
  auto& b = builder();
  const ShootParameters& p = parameters_;
  const Value steps = b.named("kSteps", p.steps), stages = b.named("kStages", p.stages, "stages of a ring");
  const Value begin = b.let("begin", own_.first - lead * steps);
  const Value count = b.let("count", lead + (own_.end - own_.first + (p.steps - 1)) / steps);
  if (p.keep_inputs == KeptInputs::Shared) on_chip_.left_out = b.let("left_out", own_.lead - lead);
  b.comment("fill the ring; the sweep before has read all of it");
  b.warp_sync();
  b.for_("ahead", 0, p.stages - 1, 1, [&](Value ahead) { copy_stage(begin, ahead, count); });
  values_.begin();
  load_values(begin);
  b.for_("block", b.constant(0), count, b.constant(1), 1, [&](Value block) {
    b.wait_copies(p.stages - 2);
    store_values(block);
    b.warp_sync();
    copy_stage(begin, block + (p.stages - 1), count);
    const Value first = b.let("stage_step", begin + block * steps);
    load_values(first + steps);
    now_.stage = first;
    const Value slot = b.let("slot", (own_.warp * stages + slot_of(block)) * steps);
    const auto segment = [&] {
      b.if_(first == own_.first, body.enter);
      written_.begin(first);
      const auto step = [&](const Staged& staged) {
        body.step(staged);
        written_.advance(1);
      };
      const Value count_of_stage = b.let("steps", min(steps, own_.end - first));
      p.kept_steps() > 0 ? run_kept(slot, count_of_stage, step) : run_steps(slot, count_of_stage, step);
      body.leave_stage();
    };
    threads_.if_all({threads_.channel_exists()}, [&] {
      if (p.warmup == 0) return segment();
      b.if_(
          first < own_.first, [&] { run_steps(slot, {}, body.lead_in); }, segment);
    });
  });
  keep();
}

// Whole groups of `unroll` steps, then what is left one by one. Without `steps` the stage is whole.
void ShootKernel::run_steps(Value slot, Value steps, const std::function<void(const Staged&)>& body) {
  auto& b = builder();
  const int unroll = parameters_.unroll;
  const Value groups =
      steps.valid() ? b.let("groups", steps / unroll) : b.constant(parameters_.steps / unroll);
  b.for_("group", b.constant(0), groups, b.constant(1), 1,
         [&](Value group) { run_group(slot, group * unroll, unroll, body); });
  if (!steps.valid() || unroll == 1) return;
  b.for_("s", groups * unroll, steps, b.constant(1), 1, [&](Value s) { run_group(slot, s, 1, body); });
}

ShootKernel::StepInputs ShootKernel::load_step(Value slot_step) {
  auto& b = builder();
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

void ShootKernel::run_step(const StepInputs& inputs, SharedValues::Step values,
                           const std::function<void(const Staged&)>& body) {
  values_.set(std::move(values));
  body([&](int id, int row, int channel) { return inputs[at(id)][at(row)][at(channel)]; });
  ++now_.ahead;
}

// Loads of all steps come first: a load may not be moved above an earlier step's store.
void ShootKernel::run_group(Value slot, Value group, int steps,
                            const std::function<void(const Staged&)>& body) {
  const Value slot_step = builder().let("slot_step", slot + group);
  std::vector<StepInputs> inputs;
  std::vector<SharedValues::Step> values;
  for (int u = 0; u < steps; ++u) {
    values.push_back(values_at(group + u));
    inputs.push_back(load_step(slot_step + u));
  }
  now_.group = group;
  now_.ahead = 0;
  for (std::size_t u = 0; u < inputs.size(); ++u) run_step(inputs[u], std::move(values[u]), body);
}

Value ShootKernel::slot_of(Value block) {
  const Value stage = on_chip_.left_out.valid() ? block + on_chip_.left_out : block;
  return stage % builder().named("kStages", parameters_.stages);
}

// Copies of one stage close a group, also where there is nothing to copy.
void ShootKernel::copy_stage(Value begin, Value block, Value count) {
  auto& b = builder();
  const ShootParameters& p = parameters_;
  const Value wanted = on_chip_.fresh.valid() ? on_chip_.fresh == 1 : Value{};
  threads_.if_all({block < count, wanted, column_exists_}, [&] {
    const Value first = b.let("ahead_step", begin + block * p.steps);
    const Value slot = b.let("ahead_slot", slot_of(block));
    for (const StagedTensor& staged : staged_) {
      const int rows = staged.tensor.rows, step = rows * p.warp_channels();
      const Value from = b.let("from", staged.from + b.wide(first) * staged.tensor.stride_t);
      const Value to = b.let("to", staged.to + slot * (p.steps * step));
      for (int ahead = 0; ahead < p.steps; ahead += steps_abreast()) {
        Value inside = first + lane_step_ + ahead < own_.end;
        if (ahead + steps_abreast() > p.steps) inside = inside && lane_step_ < p.steps - ahead;
        b.if_(inside, [&] {
          for (int row = 0; row < rows; ++row)
            copy_vector(staged.shared, to + (ahead * step + row * p.warp_channels()), staged.tensor,
                        from + staged.tensor.stride_t * ahead + row * threads_.dim(), p.vector);
        });
      }
    }
  });
  b.commit_copies();
}

// A lane loads the shared values of one step of the stage that comes, and puts them into shared memory when
// the stage is there. The lanes meet at the stage's barrier before they read, and at that of the stage
// between before the slot is written again.
void ShootKernel::place_values() {
  auto& b = builder();
  const ShootParameters& p = parameters_;
  values_.declare({fmt::format("[warps {}, slots {}, steps {}", p.warps(), SharedValues::kStages, p.steps),
                   std::int64_t{p.warps()} * SharedValues::kStages * p.steps, 1, 1, kernel::Storage::F32});
  values_.each_input([&](const KernelTensor& input) {
    value_bases_.push_back(
        b.let(input.name + "_base", threads_.row_base(input) + b.wide(threads_.here().head * input.rows)));
  });
}

void ShootKernel::load_values(Value stage_step) {
  if (!values_.any_staged()) return;
  auto& b = builder();
  const Value step =
      b.let(values_.any_inputs() ? "head_value_step" : "reset_step", stage_step + lane_of_warp_);
  b.if_(lane_of_warp_ < parameters_.steps && step < own_.end, [&] {
    values_.load(0, step, [&](const KernelTensor& from, int input, int row, Value t) {
      return value_bases_[at(input)] + b.wide(t) * from.stride_t + std::int64_t{row};
    });
  });
}

void ShootKernel::store_values(Value block) {
  if (!values_.any_staged()) return;
  auto& b = builder();
  constexpr int kStages = SharedValues::kStages;
  now_.values = b.let(values_.any_inputs() ? "head_values_at" : "resets_at",
                      (own_.warp * kStages + block % kStages) * parameters_.steps);
  b.if_(lane_of_warp_ < parameters_.steps, [&] { values_.store(0, now_.values + lane_of_warp_); });
}

SharedValues::Step ShootKernel::values_at(Value step_of_stage) {
  const Value line = now_.values.valid() ? now_.values + step_of_stage : Value{};
  return values_.read(line, now_.stage + step_of_stage);
}

void ShootKernel::write_past_end(const WrittenRows::Kept& kept) {
  if (!threads_.stops_early()) return;
  // The scan warp walks through no segment.
  const Value walks = parameters_.among_blocks() ? builder().thread() < parameters_.computing() : Value{};
  threads_.if_all({walks, threads_.channel_exists()}, [&] { written_.write_past_end(kept); });
}

}  // namespace rondo::schedule
