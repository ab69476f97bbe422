// Warps that stage inputs and warps that store results.
#include "compiler/schedule/persistent/kernel.h"

#include <algorithm>

namespace rondo::schedule {

using kernel::Value;

// Copies of `behind` stages are in flight when the warp waits: it announces stage i once stage i + behind is
// issued. (cp.async groups complete in order; PTX ISA, cp.async.wait_group.)
void PersistentKernel::producer_role() {
  auto& b = builder_;
  const PersistentGeometry& g = geometry_;
  const int behind = std::max(1, g.p.stages - 2);
  const Value steps = b.named("kSteps", g.p.steps);
  b.for_("stage", b.constant(0), groups_ + behind, b.constant(1), 1, [&](Value stage) {
    b.if_(stage < groups_, [&] {
      const Value slot = b.let("slot", stage % g.p.stages);
      b.if_(stage >= g.p.stages, [&] { b.wait(empty_, slot, (stage / g.p.stages + 1) % 2); });
      const Value first = b.let("first", stage * steps);
      const Value count = b.let("count", min(steps, time_ - first));
      for (const StagedTensor& staged : staged_) stage_tensor(staged, first, count, slot);
      if (flag_window_) flag_window_->stage(b.thread() - g.first_producer_thread(), first, slot);
    });
    b.commit_copies();
    b.if_(stage >= behind, [&] {
      b.wait_copies(behind);
      b.arrive(full_, (stage - behind) % g.p.stages);
    });
  });
}

// A lane keeps to one place of a step, so that walking from step to step costs it one addition.
void PersistentKernel::stage_tensor(const StagedTensor& staged, Value first, Value count, Value slot) {
  auto& b = builder_;
  if (staged.tensor.per_head) return stage_head_values(staged, first, count, slot);
  const PersistentGeometry& g = geometry_;
  const KernelTensor& tensor = staged.tensor;
  const int per_row = g.units / g.p.vector;
  const int places = tensor.rows * g.batch * per_row;
  const std::int64_t line = std::int64_t{tensor.rows} * g.batch * g.staged_pitch();
  b.comment("stage " + tensor.name);
  const Value start = b.thread() - b.named("kFirstLoader", g.first_producer_thread(), "first staging thread");
  b.for_("place", start, b.constant(places), b.constant(32 * g.p.producer_warps), 1, [&](Value place) {
    const Value column = b.let("column", place % per_row * g.p.vector);
    const Value batch = b.let("batch_place", place / per_row % g.batch);
    const Value row = b.let("row", place / (per_row * g.batch));
    Value exists = first_row_ + batch < batch_;
    if (!g.exact()) exists = exists && first_unit_ + column < b.named("kDim", task_.problem.sizes.dim);
    b.if_(exists, [&] {
      Value t = time_of(first);
      if (staged.shifted || order_ == TimeOrder::Backward) t = b.let("t", staged.shifted ? t - 1 : t);
      const Value from = b.variable("from", base(tensor, first_row_ + batch) + b.wide(t) * tensor.stride_t +
                                                b.wide(row * task_.problem.sizes.dim + column));
      const Value to =
          b.variable("to", slot * (g.p.steps * line) + (row * g.batch + batch) * g.staged_pitch() + column);
      b.for_("s", b.constant(0), count, b.constant(1), std::min(4, g.p.steps), [&](Value s) {
        if (staged.shifted)
          b.if_((order_ == TimeOrder::Forward ? t + s : t - s) >= 0, [&] { copy_vector(staged, to, from); });
        else
          copy_vector(staged, to, from);
        b.assign(from, order_ == TimeOrder::Forward ? from + tensor.stride_t : from - tensor.stride_t);
        b.assign(to, to + line);
      });
    });
  });
}

// cp.async moves at least 4 bytes (PTX ISA, cp.async): odd rows of 16-bit elements go through registers.
void PersistentKernel::copy_vector(const StagedTensor& staged, Value to, Value from) {
  const int width = staged.tensor.per_head ? 1 : geometry_.p.vector;
  if (width * kernel::storage_bytes(staged.tensor.storage) >= 4)
    builder_.copy_async(staged.shared[to], staged.tensor.memory[from], width);
  else
    builder_.store(staged.shared[to], builder_.load("element", staged.tensor.memory[from]));
}

void PersistentKernel::store_role() {
  auto& b = builder_;
  const PersistentGeometry& g = geometry_;
  const Value steps = b.named("kSteps", g.p.steps);
  b.for_("stage", b.constant(0), groups_, b.constant(1), 1, [&](Value stage) {
    const Value turn = b.let("turn", stage % 2);
    b.wait(filled_, turn, stage / 2 % 2);
    const Value first = b.let("first", stage * steps);
    const Value count = b.let("count", min(steps, time_ - first));
    for (const WrittenTensor& written : written_) write_tensor(written, turn, first, count);
    b.arrive(drained_, turn);
  });
}

// 32 units by 8 batch rows at a time: lane 4g + q holds batch row g of units 8q to 8q + 7.
void PersistentKernel::write_tensor(const WrittenTensor& written, Value turn, Value first, Value count) {
  if (!written.of_channels()) return write_head_values(written, turn, first, count);
  auto& b = builder_;
  const PersistentGeometry& g = geometry_;
  const KernelTensor& tensor = written.tensor;
  const int chunks = (g.units + 31) / 32;
  const int places = tensor.rows * g.p.batch_tiles * chunks;
  const std::int64_t line = tensor.rows * elements_->result_elements();
  b.comment("store " + tensor.name);
  const kernel::Array pieces = b.array("pieces", elements_->type(), elements_->row_words());
  const Value store_warp = (b.thread() - b.named("kFirstWriter", g.first_store_thread())) / 32;
  b.for_("place", store_warp, b.constant(places), b.constant(g.p.store_warps), 1, [&](Value place) {
    const Value chunk = b.let("chunk", place % chunks);
    const Value held = elements_->held_unit(chunk);
    const Value unit = b.let("unit", chunk * 32 + quarter_ * 8);
    const Value tile = b.let("tile", place / chunks % g.p.batch_tiles);
    const Value row = b.let("row", place / (chunks * g.p.batch_tiles));
    const Value batch = b.let("batch_row", first_row_ + tile * 8 + group_);
    const Value from = b.variable(
        "from", turn * (g.p.steps * line) + elements_->result_place(row * g.p.batch_tiles + tile, held));
    const Value to = b.variable("to", base(tensor, batch) + b.wide(time_of(first)) * tensor.stride_t +
                                          b.wide(row * task_.problem.sizes.dim + unit));
    b.for_("s", b.constant(0), count, b.constant(1), 1, [&](Value) {
      elements_->load_result(pieces, written.shared, from);
      Value exists = batch < batch_;
      if (g.units % 32 != 0) exists = exists && unit < g.units;
      b.if_(exists, [&] { write_pieces(written, pieces, to, unit); });
      b.assign(from, from + line);
      b.assign(to, order_ == TimeOrder::Forward ? to + tensor.stride_t : to - tensor.stride_t);
    });
  });
}

// Eight elements of a row, in stores as wide as the tensor's alignment allows.
void PersistentKernel::write_pieces(const WrittenTensor& written, kernel::Array pieces, Value to,
                                    Value unit) {
  auto& b = builder_;
  const int width = geometry_.p.vector;
  const Value dim = b.named("kDim", task_.problem.sizes.dim, "channels a head");
  for (int first = 0; first < 8; first += width) {
    const auto store = [&] {
      const kernel::Place place = written.tensor.memory[to + first];
      if (width == 1) return b.store(place, elements_->element(pieces, first / 2, first % 2 == 1));
      std::vector<Value> words;
      for (int i = 0; i < width; i += elements_->per_word())
        words.push_back(b.read(pieces, b.constant(elements_->words(first + i))));
      elements_->store(place, words);
    };
    if (geometry_.exact())
      store();
    else
      b.if_(unit + first < dim - first_unit_, store);
  }
}

}  // namespace rondo::schedule
