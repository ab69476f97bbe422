// Staging of the stages ahead: which thread copies what, and when.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/stream/kernel.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Value;

namespace {

constexpr std::int64_t kUnroll = 8;  // copies of a loop

std::int64_t turns_for(std::int64_t all, std::int64_t each) { return (all + each - 1) / each; }
}  // namespace

// Each staging thread keeps to one place of a step. Where a step has fewer vectors than there are threads,
// several steps go side by side; where it has more, threads take turns.
void StreamKernel::place_staging(int tensor) {
  auto& b = builder_;
  b.comment("what this thread stages of " + staged_[at(tensor)].tensor.name);
  // Staging threads follow each other, so their numbers are any without repeating.
  const Value thread =
      parameters_.producer_warps == 0 ? b.thread() : b.let("stager", b.thread() % parameters_.staging());
  const int staging = parameters_.staging();
  const int per_step = parameters_.channels / parameters_.vector * block_rows(staged_[at(tensor)].tensor);
  if (const int abreast = staging / per_step; abreast > 0) {
    StagingPlace place = staging_place(tensor, thread % per_step, thread / per_step, abreast);
    if (abreast * per_step != staging) place.mine = thread < abreast * per_step;
    staging_.push_back(place);
    return;
  }
  for (int start = 0; start < per_step; start += staging) {
    StagingPlace place = staging_place(tensor, thread + start, b.constant(0), 1);
    if (start + staging > per_step) place.mine = thread < per_step - start;
    staging_.push_back(place);
  }
}

StreamKernel::StagingPlace StreamKernel::staging_place(int tensor, Value place, Value begin, int stride) {
  auto& b = builder_;
  const StagedTensor& staged = staged_[at(tensor)];
  const std::int64_t per_row = parameters_.channels / parameters_.vector;
  const Value channels = b.named("kChannels", parameters_.channels);
  StagingPlace result;
  result.tensor = tensor;
  result.stride = stride;
  result.begin = b.let("begin", begin);
  const Value row = b.let("row", place / per_row);
  if (task_.problem.sizes.heads % parameters_.heads != 0)
    result.head_exists = b.let("head_exists", row + first_head_ * staged.tensor.rows <
                                                  task_.problem.sizes.heads * staged.tensor.rows);
  result.column = b.let("column", place % per_row * parameters_.vector);
  result.from =
      b.let("from", staged.base + b.wide(result.begin - (staged.shifted ? 1 : 0)) * staged.tensor.stride_t +
                        b.wide(row * b.named("kDim", task_.problem.sizes.dim) + result.column));
  result.to = b.let("to", (result.begin * block_rows(staged.tensor) + row) * channels + result.column);
  return result;
}

void StreamKernel::stage_ahead(Value block) {
  auto& b = builder_;
  b.if_(block < blocks_, [&] {
    const Value first_step = b.let("ahead_step", first_step_of(block));
    copy_paced(first_step, b.let("ahead_slot", block % b.named("kStages", parameters_.stages)));
  });
  b.commit_copies();
}

StreamKernel::Ahead StreamKernel::stage_to_copy(Value block) {
  auto& b = builder_;
  b.comment("the stage to copy");
  const Value exists = block < blocks_;
  Ahead ahead;
  ahead.first_step = b.let("ahead_step", first_step_of(block));
  ahead.slot = b.let("ahead_slot", block % b.named("kStages", parameters_.stages));
  const Value past = ahead.first_step + b.named("kSteps", parameters_.steps);
  Value whole = past <= time_, partial = time_ < past;
  if (any_shifted()) {
    whole = whole && ahead.first_step >= 1;
    partial = partial || ahead.first_step < 1;
  }
  ahead.whole = b.let("whole", exists && whole);
  ahead.partial = b.let("partial", exists && partial);
  return ahead;
}

void StreamKernel::copy_piece(const Ahead& ahead, Value piece, int pieces) {
  builder_.if_(ahead.whole, [&] { copy_burst(ahead.first_step, ahead.slot, piece, pieces); });
}

void StreamKernel::finish_copies(const Ahead& ahead) {
  builder_.if_(ahead.partial, [&] { copy_paced(ahead.first_step, ahead.slot); });
  builder_.commit_copies();
}

void StreamKernel::each_staging(Value first_step, Value slot,
                                const std::function<void(const StagingPlace&, Value from, Value to)>& copy) {
  auto& b = builder_;
  for (const StagingPlace& place : staging_) {
    const StagedTensor& staged = staged_[at(place.tensor)];
    b.comment("stage " + staged.tensor.name);
    Value exists;
    if (!channels_divide()) exists = tile_channel_ + place.column < b.named("kDim", task_.problem.sizes.dim);
    if_all({place.mine, exists, place.head_exists}, [&] {
      const int elements = block_rows(staged.tensor) * parameters_.channels;
      copy(place, place.from + b.wide(first_step) * staged.tensor.stride_t,
           b.let("to", place.to + slot * (parameters_.steps * elements)));
    });
  }
}

// Each copy asks whether its step exists; the arithmetic in between paces the copies
// (StreamParameters::interleaved_copies).
void StreamKernel::copy_paced(Value first_step, Value slot) {
  auto& b = builder_;
  each_staging(first_step, slot, [&](const StagingPlace& place, Value from, Value to) {
    const StagedTensor& staged = staged_[at(place.tensor)];
    const Value at_step = b.variable("from", from);
    const auto turns = turns_for(parameters_.steps, place.stride);
    b.for_("turn", 0, turns, static_cast<int>(std::min(kUnroll, turns)), [&](Value turn) {
      const Value s = b.let("s", place.begin + turn * place.stride);
      Value inside = first_step + s < time_;
      if (parameters_.steps % place.stride != 0) inside = inside && s < parameters_.steps;
      if (staged.shifted) inside = inside && first_step + s >= 1;
      const Value step = turn * (place.stride * block_rows(staged.tensor) * parameters_.channels);
      b.if_(inside, [&] { copy_vector(staged, to + step, at_step); });
      b.assign(at_step, at_step + staged.tensor.stride_t * place.stride);
    });
  });
}

void StreamKernel::copy_burst(Value first_step, Value slot, Value piece, int pieces) {
  auto& b = builder_;
  each_staging(first_step, slot, [&](const StagingPlace& place, Value from, Value to) {
    const StagedTensor& staged = staged_[at(place.tensor)];
    const Value start = b.let("from", from);
    const auto all = turns_for(parameters_.steps, place.stride), turns = turns_for(all, pieces);
    b.for_("turn", 0, turns, static_cast<int>(std::min(kUnroll, turns)), [&](Value turn) {
      const Value now = b.let("now", piece * turns + turn);
      const Value step = now * place.stride;
      Value inside, more;
      if (parameters_.steps % place.stride != 0) inside = place.begin + step < parameters_.steps;
      if (turns * pieces != all) more = now < all;
      if_all({inside, more}, [&] {
        copy_vector(staged, to + step * (block_rows(staged.tensor) * parameters_.channels),
                    start + b.wide(step) * staged.tensor.stride_t);
      });
    });
  });
}

// cp.async moves at least 4 bytes (PTX ISA, cp.async): odd rows of 16-bit elements go through registers.
void StreamKernel::copy_vector(const StagedTensor& staged, Value to, Value from) {
  if (parameters_.vector * kernel::storage_bytes(task_.problem.storage) >= 4)
    builder_.copy_async(staged.shared[to], staged.tensor.memory[from], parameters_.vector);
  else
    builder_.store(staged.shared[to], builder_.load("element", staged.tensor.memory[from]));
}

}  // namespace rondo::schedule
