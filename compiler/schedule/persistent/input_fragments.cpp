#include "compiler/schedule/persistent/input_fragments.h"

#include "compiler/support/index.h"

namespace rondo::schedule {

InputFragments::InputFragments(PersistentKernel& kernel, const step::Node& row, int vectors)
    : kernel_(kernel), row_(row), vectors_(vectors) {}

void InputFragments::declare() { tensor_ = kernel_.signature().reads({Role::Input, row_.tensor}); }

// Lane 4g + q has batch row g of a tile, and of each vector's channels the q-th quarter.
void InputFragments::begin(const std::string& name, Value first) {
  auto& b = kernel_.builder();
  const PersistentGeometry& g = kernel_.geometry();
  const PersistentThreads& threads = kernel_.threads();
  const ChipElements& elements = kernel_.elements();
  exists_.clear();
  at_.clear();
  words_ = b.array(name, elements.type(), g.p.batch_tiles * vectors_ * 4);
  b.for_("i", 0, g.p.batch_tiles * vectors_ * 4, kernel::kFullUnroll,
         [&](Value i) { b.write(words_, i, elements.zero()); });
  const Value channel =
      first * (4 * elements.vector_channels()) + kernel_.here().quarter * elements.vector_channels();
  const Value in_step =
      b.let(name + "_in_step",
            b.wide(kernel_.threads().time_of(b.constant(0))) * tensor_.stride_t +
                b.wide((kernel_.here().head * tensor_.head_rows() + row_.row) * threads.dim() + channel));
  for (int tile = 0; tile < g.p.batch_tiles; ++tile) {
    const Value row = b.let(name + "_row", kernel_.here().first_row + tile * 8 + kernel_.here().group);
    exists_.push_back(b.let(name + "_exists", row < kernel_.here().batch));
    at_.push_back(b.variable(name + "_at", threads.row_begin(tensor_, row) + in_step));
  }
  load(b.constant(0) < threads.walked().steps());
}

void InputFragments::load_next(Value count) { load(count + 1 < kernel_.threads().walked().steps()); }

void InputFragments::load(Value is_there) {
  auto& b = kernel_.builder();
  const ChipElements& elements = kernel_.elements();
  for (std::size_t tile = 0; tile < at_.size(); ++tile) {
    b.if_(exists_[tile] && is_there, [&] {
      for (int vector = 0; vector < vectors_; ++vector) {
        const std::vector<Value> words =
            elements.load("input", tensor_.memory[at_[tile] + vector * (4 * elements.vector_channels())], 4);
        for (int i = 0; i < 4; ++i)
          b.write(words_, b.constant((static_cast<int>(tile) * vectors_ + vector) * 4 + i),
                  elements.operand(words[at(i)]));
      }
    });
    b.assign(at_[tile], kernel_.threads().next(tensor_, at_[tile]));
  }
}

}  // namespace rondo::schedule
