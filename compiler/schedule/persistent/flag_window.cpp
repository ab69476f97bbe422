#include "compiler/schedule/persistent/flag_window.h"

#include <fmt/format.h>

#include "compiler/support/index.h"

namespace rondo::schedule {

FlagWindow::FlagWindow(kernel::Builder& b, const FlagReader& reader, Places places)
    : reader_(reader), places_(std::move(places)) {
  for (const step::TensorId tensor : reader_.tensors())
    if (!reader_.is_length(tensor))
      words_[tensor] = b.shared(
          "reset_words", kernel::Storage::I32, std::int64_t{places_.stages} * pairs(),
          fmt::format("[stages {}, batch tiles {}, quarters 4]", places_.stages, places_.batch_tiles));
}

// Of the batch row in that place of the block. Past the end of the walk lies a byte that no step looks at.
Value FlagWindow::load(step::TensorId tensor, Value place, Value step) const {
  return reader_.load(tensor, places_.row(place), places_.time(min(step, places_.walked - 1)));
}

// A thread has one batch row, and its neighbour the other one of the pair. The first step of a stage is ahead
// already when the stage begins, so a word has the steps after it.
void FlagWindow::stage(Value lane, Value first, Value slot) const {
  kernel::Builder& b = *first.builder();
  for (const auto& [tensor, words] : words_) {
    b.comment("stage resets");
    b.if_(lane < 32, [&] {
      Value word;
      for (int s = 0; s < places_.steps; ++s) {
        const Value byte = load(tensor, min(lane, b.constant(2 * pairs() - 1)), first + (s + 1));
        const Value bit = b.let("of_step", b.select(byte == 0, b.constant(0), b.constant(1 << 4 * s)));
        word = word.valid() ? word | bit : bit;
      }
      word = b.let("of_row", word);
      const Value other = b.shuffle("of_other", word, kernel::ShuffleMode::Xor, b.constant(1));
      b.if_(lane % 2 == 0 && lane < 2 * pairs(),
            [&] { b.store(words[slot * pairs() + lane / 2], word | other << b.constant(1)); });
    });
  }
}

void FlagWindow::begin(kernel::Builder& b, Value quarter) {
  quarter_ = quarter;
  const auto place = [&](int row) { return quarter * 2 + (row / 2 * 8 + row % 2); };
  for (const step::TensorId tensor : reader_.tensors()) {
    if (reader_.is_length(tensor)) {
      for (int row = 0; row < 2 * places_.batch_tiles; ++row)
        lengths_[tensor].push_back(
            reader_.load(tensor, b.let("flag_row", places_.row(place(row))), b.constant(0)));
      continue;
    }
    const auto bit = [&](int row) {
      return b.select(load(tensor, place(row), b.constant(0)) == 0, b.constant(0), b.constant(of_row(row)));
    };
    for (int tile = 0; tile < places_.batch_tiles; ++tile)
      resets_[tensor].push_back({b.variable("reset_window", b.constant(0)),
                                 {},
                                 b.variable("next_resets", bit(2 * tile) + bit(2 * tile + 1))});
  }
}

void FlagWindow::begin_stage(Value slot) {
  kernel::Builder& b = *slot.builder();
  for (auto& [tensor, tiles] : resets_)
    for (std::size_t tile = 0; tile < tiles.size(); ++tile)
      b.assign(tiles[tile].window,
               b.load("resets_of_stage",
                      words_.at(tensor)[slot * pairs() + (quarter_ + 4 * static_cast<std::int64_t>(tile))]));
}

void FlagWindow::advance(kernel::Builder& b) {
  for (auto& [tensor, tiles] : resets_)
    for (Tile& tile : tiles) {
      tile.now = b.let("resets_now", tile.next);
      b.assign(tile.next, tile.window);
      b.assign(tile.window, tile.window >> b.constant(4));
    }
}

Value FlagWindow::value(step::TensorId tensor, int row, Value t, bool ahead) const {
  if (reader_.is_length(tensor)) return reader_.value(tensor, lengths_.at(tensor)[at(row)], t);
  const Tile& tile = resets_.at(tensor)[at(row / 2)];
  return reader_.value(tensor, (ahead ? tile.next : tile.now) & of_row(row), t);
}

}  // namespace rondo::schedule
