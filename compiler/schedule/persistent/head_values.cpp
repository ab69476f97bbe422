// Tensors with one value a head, in a persistent kernel. Every thread has the values of its batch rows, with
// the same bits; the first lanes of the team store them. They take the same ways as rows of channels: staging
// warps bring them into a ring, store warps take results out of one.
//
// What sums over the head make, gradients of inputs, no step waits for: so they take no part in the exchange
// of a step's reductions. A warp adds up its channels and leaves the sum in the ring, the store warps add the
// block's warps up, and of several blocks a launch after the sweep adds the shares up.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/lower/head_gradient_sum.h"
#include "compiler/schedule/persistent/kernel.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Value;

void PersistentKernel::declare_head_values(StagedTensor& staged) {
  const PersistentGeometry& g = geometry_;
  const int rows = staged.tensor.rows;
  staged.shared = builder_.shared(
      staged.tensor.name + (staged.shifted ? "_before" : "_staged"), staged.tensor.storage,
      std::int64_t{g.p.stages} * g.p.steps * rows * g.batch,
      fmt::format("[stages {}, steps {}, rows {}, batch {}]", g.p.stages, g.p.steps, rows, g.batch));
}

void PersistentKernel::declare_head_values(WrittenTensor& written) {
  const PersistentGeometry& g = geometry_;
  const int rows = written.tensor.rows;
  const std::string warps = written.sums ? fmt::format("warps {}, ", g.warps) : "";
  written.shared = builder_.shared(
      written.tensor.name + "_ring", written.sums ? kernel::Storage::F32 : task_.problem.storage,
      2 * g.p.steps * head_value_line(written),
      fmt::format("[2, steps {}, rows {}, {}batch {}]", g.p.steps, rows, warps, g.batch));
}

// But for those that a launch before the sweep makes: they are fp32, and copied like rows.
bool PersistentKernel::has_head_values() const {
  const auto of_cell = [](const auto& s) { return s.tensor.per_head && s.tensor.ref.role != Role::Scratch; };
  return std::any_of(staged_.begin(), staged_.end(), of_cell) ||
         std::any_of(written_.begin(), written_.end(), [](const auto& w) { return !w.of_channels(); });
}

bool PersistentKernel::reads_scratch_head_values() const {
  return std::any_of(staged_.begin(), staged_.end(),
                     [](const auto& s) { return s.tensor.per_head && s.tensor.ref.role == Role::Scratch; });
}

int PersistentKernel::write_sums(TensorRef ref) {
  WrittenTensor written;
  written.tensor = signature_.writes(ref);
  written.sums = true;
  declare_head_values(written);
  written_.push_back(written);
  return static_cast<int>(written_.size()) - 1;
}

std::int64_t PersistentKernel::head_value_line(const WrittenTensor& written) const {
  return std::int64_t{written.tensor.rows} * (written.sums ? geometry_.warps : 1) * geometry_.batch;
}

Value PersistentKernel::head_value_index(int rows, int row, int channel) {
  auto& b = builder_;
  return (b.wide(batch_row(channel)) * task_.problem.sizes.heads + b.wide(head_)) * rows +
         b.wide(b.constant(row));
}

void PersistentKernel::each_head_value(const std::function<void(int)>& body) {
  for (int channel = 0; channel < geometry_.head_values(); ++channel)
    builder_.if_(batch_row(channel) < batch_, [&] { body(channel); });
}

void PersistentKernel::each_stored_head_value(const std::function<void(int)>& body) {
  Value stores = warp_ == 0 && group_ == 0;
  if (geometry_.p.blocks > 1) stores = rank_ == 0 && stores;
  builder_.if_(stores, [&] { each_head_value(body); });
}

// One value a thread and turn, those of a step one after the other.
void PersistentKernel::stage_head_values(const StagedTensor& staged, Value first, Value count, Value slot) {
  auto& b = builder_;
  const PersistentGeometry& g = geometry_;
  const KernelTensor& tensor = staged.tensor;
  const std::int64_t line = std::int64_t{tensor.rows} * g.batch;
  b.comment("stage " + tensor.name);
  const Value start = b.thread() - b.named("kFirstLoader", g.first_producer_thread(), "first staging thread");
  b.for_("place", start, count * line, b.constant(32 * g.p.producer_warps), 1, [&](Value place) {
    const Value batch = b.let("batch_row", first_row_ + place % g.batch);
    const Value now = time_of(first + place / line);
    const Value t = b.let("t", staged.shifted ? now - 1 : now);
    b.if_(staged.shifted ? batch < batch_ && t >= 0 : batch < batch_, [&] {
      const Value row = place / g.batch % tensor.rows;
      copy_vector(staged, slot * (g.p.steps * line) + place,
                  base(tensor, batch) + b.wide(t) * tensor.stride_t + b.wide(row));
    });
  });
}

// All lanes of a quarter read one pair. Values may be fp32 where rows of channels are not.
void PersistentKernel::load_head_values(const StagedTensor& staged, Value line) {
  auto& b = builder_;
  const PersistentGeometry& g = geometry_;
  const int words = is_wide(staged) ? 2 : elements_->pair_words();
  for (int pair = 0; pair < staged.tensor.rows * g.p.batch_tiles; ++pair) {
    const Value place = line * (staged.tensor.rows * g.batch) + (quarter_ * 2 + pair * 8);
    const std::vector<Value> loaded = is_wide(staged)
                                          ? b.load_vector("number", staged.shared[place], words)
                                          : elements_->load("number", staged.shared[place], words);
    for (int i = 0; i < words; ++i) b.write(staged.fragments, b.constant(pair * words + i), loaded[at(i)]);
  }
}

void PersistentKernel::store_head_values(const WrittenTensor& written, Value line, int row,
                                         const std::vector<Value>& values) {
  const PersistentGeometry& g = geometry_;
  const Value place = (line * written.tensor.rows + row) * g.batch + quarter_ * 2;
  builder_.if_(warp_ == 0 && group_ == 0, [&] {
    for (int c = 0; c < g.head_values(); c += 2)
      elements_->store(written.shared[place + 8 * g.tile_of(c)],
                       elements_->pack(values[at(c)], values[at(c + 1)]));
  });
}

void PersistentKernel::store_sums(const WrittenTensor& written, Value line, int row,
                                  const std::vector<Value>& values) {
  auto& b = builder_;
  const PersistentGeometry& g = geometry_;
  std::vector<Value> sums;
  for (int head_value = 0; head_value < g.head_values(); ++head_value) {
    Value sum;
    for (int unit = 0; unit < g.p.unit_blocks; ++unit) {
      Value share = values[at(unit * g.head_values() + head_value)];
      if (const Value exists = unit_exists(unit); exists.valid()) share = b.select(exists, share, b.real(0));
      sum = sum.valid() ? sum + share : share;
    }
    sum = b.let("share", sum);
    for (int distance = 4; distance < 32; distance *= 2)
      sum = b.let("share", sum + b.shuffle("other", sum, kernel::ShuffleMode::Xor, b.constant(distance)));
    sums.push_back(sum);
  }
  const Value place = ((line * written.tensor.rows + row) * g.warps + warp_) * g.batch + quarter_ * 2;
  b.if_(group_ == 0, [&] {
    for (int c = 0; c < g.head_values(); c += 2)
      b.store_vector(written.shared[place + 8 * g.tile_of(c)], {sums[at(c)], sums[at(c + 1)]});
  });
}

// Element of a row's value, or of this block's share of it, in memory.
Value PersistentKernel::head_value_place(const WrittenTensor& written, Value batch, Value row, Value t) {
  auto& b = builder_;
  const KernelTensor& to = written.tensor;
  if (to.per_head) return base(to, batch) + b.wide(t) * to.stride_t + b.wide(row);
  return row_begin(to, batch) + b.wide(t) * to.stride_t +
         b.wide((head_ * to.rows + row) * geometry_.p.blocks + rank_);
}

void PersistentKernel::write_head_values(const WrittenTensor& written, Value turn, Value first, Value count) {
  auto& b = builder_;
  const PersistentGeometry& g = geometry_;
  const KernelTensor& tensor = written.tensor;
  const std::int64_t line = head_value_line(written);
  const int warps = written.sums ? g.warps : 1;
  const auto write = [&](Value place) {
    const Value batch = b.let("batch_row", first_row_ + place % g.batch);
    b.if_(batch < batch_, [&] {
      const Value row = b.let("row", place / g.batch);
      const Value from =
          b.variable("from", turn * (g.p.steps * line) + row * (warps * g.batch) + place % g.batch);
      const Value to = b.variable("to", head_value_place(written, batch, row, time_of(first)));
      b.for_("s", b.constant(0), count, b.constant(1), 1, [&](Value) {
        const Value total = b.variable("total", b.load("number", written.shared[from]));
        if (warps > 1)
          b.for_("warp", b.constant(1), b.constant(warps), b.constant(1), 4, [&](Value warp) {
            b.assign(total, total + b.load("share", written.shared[from + warp * g.batch]));
          });
        b.store(tensor.memory[to], total);
        b.assign(from, from + line);
        b.assign(to, order_ == TimeOrder::Forward ? to + tensor.stride_t : to - tensor.stride_t);
      });
    });
  };
  b.comment("store " + tensor.name);
  const Value start = b.thread() - b.named("kFirstWriter", g.first_store_thread());
  const auto write_all = [&] {
    b.for_("place", start, b.constant(std::int64_t{tensor.rows} * g.batch), b.constant(32 * g.p.store_warps),
           1, write);
  };
  if (tensor.per_head && g.p.blocks > 1) return b.if_(rank_ == 0, write_all);
  write_all();
}

void PersistentKernel::clear_head_values(const WrittenTensor& written, Value t) {
  auto& b = builder_;
  const PersistentGeometry& g = geometry_;
  const std::int64_t places = std::int64_t{written.tensor.rows} * g.batch;
  b.for_("place", b.thread(), b.constant(places), b.constant(g.threads()), 1, [&](Value place) {
    const Value batch = b.let("batch_row", first_row_ + place % g.batch);
    Value stores = batch < batch_;
    if (written.tensor.per_head && g.p.blocks > 1) stores = stores && rank_ == 0;
    b.if_(stores, [&] {
      const Value row = place / g.batch;
      b.store(written.tensor.memory[head_value_place(written, batch, row, t)], b.real(0));
    });
  });
}

}  // namespace rondo::schedule
