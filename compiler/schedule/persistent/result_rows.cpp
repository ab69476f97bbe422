#include "compiler/schedule/persistent/result_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/index.h"

namespace rondo::schedule {

int ResultRows::add(TensorRef ref) { return add(ref, false); }

int ResultRows::add_sums(TensorRef ref) { return add(ref, true); }

int ResultRows::add(TensorRef ref, bool sums) {
  const PersistentGeometry& g = geometry_;
  Written written;
  written.tensor = threads_.signature().writes(ref);
  written.sums = sums;
  written.summed = is_summed_over_batch_rows(ref, threads_.task()) && written.of_channels();
  if (written.summed) written.tensor.batch_rows = rows_added_by_tiles(threads_.task().batch_rows.count);
  const std::string shape =
      written.of_channels()
          ? elements_of(written).result_shape()
          : fmt::format("{}batch {}", sums ? fmt::format("warps {}, ", g.warps) : "", g.turn_batch);
  written.shared = b_.shared(
      written.tensor.name + "_ring", sums ? kernel::Storage::F32 : elements_of(written).storage(),
      2 * g.p.steps * step_of(written),
      fmt::format("[2, steps {}, {}rows {}, {}]", g.p.steps,
                  g.p.tiles_in_turn == 1 ? "" : fmt::format("tiles in turn {}, ", g.p.tiles_in_turn),
                  written.tensor.rows, shape));
  written_.push_back(written);
  return static_cast<int>(written_.size()) - 1;
}

bool ResultRows::has_head_values() const {
  return std::ranges::any_of(written_, [](const Written& w) { return !w.of_channels(); });
}

std::int64_t ResultRows::line_of(const Written& written) const {
  const std::int64_t rows = written.tensor.rows;
  return written.of_channels() ? rows * elements_of(written).result_elements()
                               : rows * shares(written) * geometry_.turn_batch;
}

void ResultRows::store(int written, Value line, int row, const std::vector<Value>& values) {
  const Written& w = written_[at(written)];
  if (w.sums) return store_sums(w, line, row, values);
  if (w.tensor.per_head) return store_head_values(w, line, row, values);
  for (int c = 0; c < geometry_.channels(); c += 2)
    elements_of(w).store_result(w.shared, line * w.tensor.rows + row, c, values[at(c)], values[at(c + 1)]);
}

void ResultRows::store_head_values(const Written& written, Value line, int row,
                                   const std::vector<Value>& values) {
  const PersistentGeometry& g = geometry_;
  const PersistentThreads::Places& here = threads_.here();
  const ChipElements& elements = elements_of(written);
  const Value place = (line * written.tensor.rows + row) * g.turn_batch + here.quarter * 2;
  b_.if_(here.warp == 0 && here.group == 0, [&] {
    for (int c = 0; c < g.head_values(); c += 2)
      elements.store(written.shared[place + 8 * g.tile_of(c)],
                     elements.pack(values[at(c)], values[at(c + 1)]));
  });
}

void ResultRows::store_sums(const Written& written, Value line, int row, const std::vector<Value>& values) {
  const PersistentGeometry& g = geometry_;
  const PersistentThreads::Places& here = threads_.here();
  std::vector<Value> sums;
  for (int head_value = 0; head_value < g.head_values(); ++head_value) {
    Value sum;
    for (int unit = 0; unit < g.p.unit_blocks; ++unit) {
      Value share = values[at(unit * g.head_values() + head_value)];
      if (const Value exists = threads_.unit_exists(unit); exists.valid())
        share = b_.select(exists, share, b_.real(0));
      sum = sum.valid() ? sum + share : share;
    }
    sum = b_.let("share", sum);
    for (int distance = 4; distance < 32; distance *= 2)
      sum = b_.let("share", sum + b_.shuffle("other", sum, kernel::ShuffleMode::Xor, b_.constant(distance)));
    sums.push_back(sum);
  }
  const Value place =
      ((line * written.tensor.rows + row) * g.warps + here.warp) * g.turn_batch + here.quarter * 2;
  b_.if_(here.group == 0, [&] {
    for (int c = 0; c < g.head_values(); c += 2)
      b_.store_vector(written.shared[place + 8 * g.tile_of(c)], {sums[at(c)], sums[at(c + 1)]});
  });
}

void ResultRows::write(Value turn, Value first, Value count) {
  for (const Written& written : written_)
    written.of_channels() ? write_rows(written, turn, first, count)
                          : write_head_values(written, turn, first, count);
}

Value ResultRows::store_thread() {
  return b_.thread() - b_.named("kFirstStoreThread", geometry_.first_store_thread());
}

// 32 units by 8 batch rows at a time: lane 4g + q holds batch row g of units 8q to 8q + 7.
void ResultRows::write_rows(const Written& written, Value turn, Value first, Value count) {
  const PersistentGeometry& g = geometry_;
  const PersistentThreads::Places& here = threads_.here();
  const KernelTensor& tensor = written.tensor;
  const ChipElements& elements = elements_of(written);
  const int chunks = (g.units + 31) / 32;
  const int places = g.p.tiles_in_turn * tensor.rows * g.p.batch_tiles * chunks;
  const std::int64_t line = step_of(written);
  b_.comment("store " + tensor.name);
  const kernel::Array pieces = b_.array("pieces", elements.type(), elements.row_words());
  const Value store_warp = store_thread() / 32;
  b_.for_("place", store_warp, b_.constant(places), b_.constant(g.p.store_warps), 1, [&](Value place) {
    const Value chunk = b_.let("chunk", place % chunks);
    const Value held = elements.held_unit(chunk);
    const Value unit = b_.let("unit", chunk * 32 + here.quarter * 8);
    const Value tile = b_.let("tile", place / chunks % g.p.batch_tiles);
    const Value line_row = b_.let("row", place / (chunks * g.p.batch_tiles));  // counts [tile in turn][row]
    const auto [first_of_tile, row] = threads_.row_of_block(line_row, tile * 8, tensor.rows);
    const Value batch = b_.let("batch_row", here.first_row + first_of_tile + here.group);
    const Value from = b_.variable(
        "from", turn * (g.p.steps * line) + elements.result_place(line_row * g.p.batch_tiles + tile, held));
    const Value to =
        b_.variable("to", threads_.base(tensor, batch) + b_.wide(threads_.time_of(first)) * tensor.stride_t +
                              b_.wide(row * threads_.dim() + unit));
    b_.for_("s", b_.constant(0), count, b_.constant(1), 1, [&](Value) {
      elements.load_result(pieces, written.shared, from);
      Value exists = batch < here.batch;
      if (g.units % 32 != 0) exists = exists && unit < g.units;
      if (written.rows_added() > 1)
        write_sums_of_rows(written, pieces, exists, to, unit);
      else
        b_.if_(exists, [&] { write_pieces(written, pieces, to, unit); });
      b_.assign(from, from + line);
      b_.assign(to, threads_.next(tensor, to));
    });
  });
}

// Eight elements of a row, in stores as wide as the tensor's alignment allows.
void ResultRows::write_pieces(const Written& written, kernel::Array pieces, Value to, Value unit) {
  const ChipElements& elements = elements_of(written);
  const int width = std::min(geometry_.p.vector, 4 * elements.per_word());
  const Value dim = b_.named("kDim", threads_.dim(), "channels a head");
  for (int first = 0; first < 8; first += width) {
    const auto store = [&] {
      const kernel::Place place = written.tensor.memory[to + first];
      if (width == 1) return b_.store(place, elements.element(pieces, first / 2, first % 2 == 1));
      std::vector<Value> words;
      for (int i = 0; i < width; i += elements.per_word())
        words.push_back(b_.read(pieces, b_.constant(elements.words(first + i))));
      elements.store(place, words);
    };
    geometry_.exact() ? store() : b_.if_(unit + first < dim - threads_.here().first_unit, store);
  }
}

// Lanes 4 apart have neighbouring batch rows. In each round a lane sends half of its elements to one that has
// other rows, and adds what comes to the other half, so that at last each has some elements of all rows.
void ResultRows::write_sums_of_rows(const Written& written, kernel::Array pieces, Value exists, Value to,
                                    Value unit) {
  const ChipElements& elements = elements_of(written);
  std::vector<Value> own;
  for (int i = 0; i < 8; ++i) own.push_back(elements.element(pieces, i / 2, i % 2 == 1));
  Value first = b_.constant(0);  // of the eight, that the lane has
  for (int rows = written.rows_added() / 2; rows >= 1; rows /= 2) {
    const Value upper = b_.let("upper", threads_.here().group / rows % 2 == 1);
    const std::size_t half = own.size() / 2;
    std::vector<Value> kept;
    for (std::size_t i = 0; i < half; ++i) {
      const Value sent = b_.select(upper, own[i], own[i + half]);
      const Value other = b_.shuffle("other", sent, kernel::ShuffleMode::Xor, b_.constant(4 * rows));
      kept.push_back(b_.let("sum", b_.select(upper, own[i + half], own[i]) + other));
    }
    first = first + b_.select(upper, b_.constant(static_cast<int>(half)), b_.constant(0));
    own = std::move(kept);
  }
  const Value dim = b_.named("kDim", threads_.dim(), "channels a head");
  const Value place = b_.let("first", first);
  b_.if_(exists, [&] {
    for (std::size_t i = 0; i < own.size(); ++i) {
      const Value channel = place + static_cast<int>(i);
      const auto store = [&] { b_.store(written.tensor.memory[to + b_.wide(channel)], own[i]); };
      geometry_.exact() ? store() : b_.if_(unit + channel < dim - threads_.here().first_unit, store);
    }
  });
}

Value ResultRows::head_value_place(const Written& written, Value batch, Value row, Value t) {
  const PersistentThreads::Places& here = threads_.here();
  const KernelTensor& to = written.tensor;
  if (to.per_head) return threads_.base(to, batch) + b_.wide(t) * to.stride_t + b_.wide(row);
  return threads_.row_begin(to, batch) + b_.wide(t) * to.stride_t +
         b_.wide((here.head * geometry_.p.blocks + here.rank) * to.rows + row);
}

void ResultRows::write_head_values(const Written& written, Value turn, Value first, Value count) {
  const PersistentGeometry& g = geometry_;
  const PersistentThreads::Places& here = threads_.here();
  const KernelTensor& tensor = written.tensor;
  const std::int64_t line = step_of(written);
  const int warps = shares(written);
  const auto write = [&](Value place) {
    const auto [block_row, row_of_tensor] =
        threads_.row_of_block(place / g.turn_batch, place % g.turn_batch, tensor.rows);
    const Value batch = b_.let("batch_row", here.first_row + block_row);
    b_.if_(batch < here.batch, [&] {
      const Value row = b_.let("row", row_of_tensor);
      const Value line_row = g.p.tiles_in_turn == 1 ? row : place / g.turn_batch;
      const Value from = b_.variable(
          "from", turn * (g.p.steps * line) + line_row * (warps * g.turn_batch) + place % g.turn_batch);
      const Value to = b_.variable("to", head_value_place(written, batch, row, threads_.time_of(first)));
      b_.for_("s", b_.constant(0), count, b_.constant(1), 1, [&](Value) {
        const Value total = b_.variable("total", b_.load("head_value", written.shared[from]));
        if (warps > 1)
          b_.for_("warp", b_.constant(1), b_.constant(warps), b_.constant(1), 4, [&](Value warp) {
            b_.assign(total, total + b_.load("share", written.shared[from + warp * g.turn_batch]));
          });
        b_.store(tensor.memory[to], total);
        b_.assign(from, from + line);
        b_.assign(to, threads_.next(tensor, to));
      });
    });
  };
  b_.comment("store " + tensor.name);
  const Value start = store_thread();
  const auto write_all = [&] {
    b_.for_("place", start, b_.constant(std::int64_t{tensor.rows} * g.batch),
            b_.constant(32 * g.p.store_warps), 1, write);
  };
  tensor.per_head&& g.p.blocks > 1 ? b_.if_(here.rank == 0, write_all) : write_all();
}

void ResultRows::clear_past_end() {
  threads_.each_step_past_end([&](Value t) {
    for (const Written& written : written_)
      if (!written.kept) written.of_channels() ? clear_rows(written, t) : clear_head_values(written, t);
  });
}

void ResultRows::clear_rows(const Written& written, Value t) {
  const PersistentGeometry& g = geometry_;
  const PersistentThreads::Places& here = threads_.here();
  const KernelTensor& to = written.tensor;
  const std::int64_t places = std::int64_t{to.rows} * g.batch * g.units;
  b_.for_("place", b_.thread(), b_.constant(places), b_.constant(g.threads()), 1, [&](Value index) {
    const Value unit = b_.let("unit", index % g.units);
    const Value row = b_.let("batch_row", here.first_row + index / g.units % g.batch);
    Value exists = row < here.batch;
    if (!g.exact()) exists = exists && here.first_unit + unit < threads_.dim();
    if (written.rows_added() > 1) exists = exists && row % written.rows_added() == 0;
    b_.if_(exists, [&] {
      const Value of_row = b_.wide(index / (g.units * g.batch) * threads_.dim() + unit);
      b_.store(to.memory[threads_.base(to, row) + b_.wide(t) * to.stride_t + of_row], b_.real(0));
    });
  });
}

void ResultRows::clear_head_values(const Written& written, Value t) {
  const PersistentGeometry& g = geometry_;
  const PersistentThreads::Places& here = threads_.here();
  const std::int64_t places = std::int64_t{written.tensor.rows} * g.batch;
  b_.for_("place", b_.thread(), b_.constant(places), b_.constant(g.threads()), 1, [&](Value place) {
    const Value batch = b_.let("batch_row", here.first_row + place % g.batch);
    Value stores = batch < here.batch;
    if (written.tensor.per_head && g.p.blocks > 1) stores = stores && here.rank == 0;
    b_.if_(stores, [&] {
      const Value row = place / g.batch;
      b_.store(written.tensor.memory[head_value_place(written, batch, row, t)], b_.real(0));
    });
  });
}

}  // namespace rondo::schedule
