#include "compiler/schedule/persistent/flag_window.h"

#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Value;

void FlagWindow::begin(kernel::Builder& b) {
  const Value zero = b.constant(0);
  for (const step::TensorId tensor : reader_.tensors())
    for (int i = 0; i < places_.batch_tiles; ++i) {
      if (reader_.is_length(tensor)) {
        for (const int row : {2 * i, 2 * i + 1})
          lengths_[tensor].push_back(reader_.load(tensor, b.let("flag_row", places_.row(row)), zero));
        continue;
      }
      Tile tile;
      std::vector<Value> first, coming;
      for (const int row : {2 * i, 2 * i + 1})
        first.push_back(reader_.load(tensor, places_.row(row), places_.time(zero)));
      tile.next = b.variable("next_resets", of_pair(first));
      tile.window = b.variable("reset_window", zero);
      load(tensor, i, b.constant(1), coming);
      for (const Value byte : coming) tile.bytes.push_back(b.variable("coming_resets", byte));
      resets_[tensor].push_back(tile);
    }
}

void FlagWindow::load(step::TensorId tensor, int tile, Value first_step, std::vector<Value>& bytes) const {
  for (const int row : {2 * tile, 2 * tile + 1})
    bytes.push_back(reader_.load(tensor, places_.row(row), places_.time(first_step + places_.group)));
}

Value FlagWindow::of_pair(const std::vector<Value>& bytes) {
  kernel::Builder& b = *bytes[0].builder();
  const auto bit = [&](std::size_t row) {
    return b.select(bytes[row] == 0, b.constant(0), b.constant(static_cast<int>(row) + 1));
  };
  return bit(0) + bit(1);
}

// The bits of all steps of a window, of the same quarter's lanes: each has those of its group's step.
Value FlagWindow::of_quarter(const std::vector<Value>& bytes) const {
  kernel::Builder& b = *bytes[0].builder();
  Value word = b.let("resets_of_step", of_pair(bytes) << places_.group * 2);
  for (int lanes = 4; lanes < 32; lanes *= 2)
    word = b.let("resets_of_steps",
                 word | b.shuffle("other_resets", word, kernel::ShuffleMode::Xor, b.constant(lanes)));
  return word;
}

void FlagWindow::begin_stage(Value first, int steps) {
  kernel::Builder& b = *first.builder();
  const auto turn = [&] {
    for (auto& [tensor, tiles] : resets_)
      for (std::size_t i = 0; i < tiles.size(); ++i) {
        b.assign(tiles[i].window, of_quarter(tiles[i].bytes));
        std::vector<Value> coming;
        load(tensor, static_cast<int>(i), first + (kSteps + 1), coming);
        for (const std::size_t row : {0, 1}) b.assign(tiles[i].bytes[row], coming[row]);
      }
  };
  if (resets_.empty()) return;
  if (steps % kSteps == 0) return turn();
  b.if_(first % kSteps == 0, turn);
}

void FlagWindow::advance(Value done) {
  kernel::Builder& b = *done.builder();
  if (resets_.empty()) return;
  const Value place = b.let("place_in_window", done % kSteps * 2);
  for (auto& [tensor, tiles] : resets_)
    for (Tile& tile : tiles) {
      tile.now = b.let("resets_now", tile.next);
      b.assign(tile.next, tile.window >> place & 3);
    }
}

Value FlagWindow::value(step::TensorId tensor, int row, Value t, bool ahead) const {
  if (reader_.is_length(tensor)) return reader_.value(tensor, lengths_.at(tensor)[at(row)], t);
  const Tile& tile = resets_.at(tensor)[at(row / 2)];
  const Value word = ahead ? tile.next : tile.now;
  return reader_.value(tensor, row % 2 == 0 ? word % 2 : word / 2, t);
}

}  // namespace rondo::schedule
