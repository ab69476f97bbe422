#include "compiler/schedule/channelwise/shared_values.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Storage;

int SharedValues::add(TensorRef ref, bool shifted) {
  const int id = static_cast<int>(inputs_.size());
  inputs_.push_back({.input = id, .tensor = threads_.signature().reads(ref), .shifted = shifted});
  if (shifted) inputs_.back().tensor.name += "_before";
  return id;
}

bool SharedValues::any_shifted() const {
  return std::ranges::any_of(inputs_, [](const Staged& staged) { return staged.shifted; });
}

void SharedValues::each(const std::function<void(Staged&)>& body) {
  const bool resets_first = layout_.resets == Storage::F32;
  for (Staged& staged : resets_first ? resets_ : inputs_) body(staged);
  for (Staged& staged : resets_first ? inputs_ : resets_) body(staged);
}

void SharedValues::declare(const Layout& layout) {
  layout_ = layout;
  for (const step::TensorId tensor : threads_.flags().tensors())
    if (!threads_.flags().is_length(tensor)) resets_.push_back({.reset = tensor});
  each([&](Staged& staged) {
    const bool reset = staged.input < 0;
    staged.shared = threads_.builder().shared(
        reset ? "resets_staged" : staged.tensor.name + "_staged", reset ? layout.resets : Storage::F32,
        layout.lines * rows(staged), layout.shape + (reset ? "]" : fmt::format(", rows {}]", rows(staged))));
  });
}

void SharedValues::begin() {
  auto& b = threads_.builder();
  each([&](Staged& staged) {
    staged.coming.clear();
    for (int i = 0; i < layout_.turns * rows(staged); ++i)
      staged.coming.push_back(staged.input < 0 ? b.variable("coming_reset", b.constant(0))
                                               : b.variable("coming_" + staged.tensor.name, b.real(0)));
  });
}

void SharedValues::load(std::size_t turn, Value t, const PlaceOf& place) {
  auto& b = threads_.builder();
  each([&](Staged& staged) {
    const auto coming = [&](int row) { return staged.coming[turn * at(rows(staged)) + at(row)]; };
    if (staged.input < 0)
      return b.assign(coming(0), threads_.flags().load(staged.reset, threads_.here().batch_row, t));
    threads_.if_all({staged.shifted ? t >= 1 : Value{}}, [&] {
      for (int row = 0; row < rows(staged); ++row) {
        const Value from = place(staged.tensor, staged.input, row, staged.shifted ? t - 1 : t);
        b.assign(coming(row), b.load("head_value", staged.tensor.memory[from]));
      }
    });
  });
}

void SharedValues::store(std::size_t turn, Value line) {
  const bool as_leaves = layout_.resets == Storage::F32;
  each([&](Staged& staged) {
    for (int row = 0; row < rows(staged); ++row) {
      Value value = staged.coming[turn * at(rows(staged)) + at(row)];
      if (staged.input < 0 && as_leaves) value = threads_.flags().value(staged.reset, value, {});
      threads_.builder().store(staged.shared[line * rows(staged) + row], value);
    }
  });
}

SharedValues::Step SharedValues::load_step(Value t, const PlaceOf& place) const {
  auto& b = threads_.builder();
  Step step{threads_.flags().read(threads_.here().batch_row, t), {}};
  for (const Staged& staged : inputs_)
    for (int row = 0; row < staged.tensor.rows; ++row) {
      const Value value = b.variable(staged.tensor.name, b.real(0));
      threads_.if_all({staged.shifted ? t >= 1 : Value{}}, [&] {
        const Value from = place(staged.tensor, staged.input, row, staged.shifted ? t - 1 : t);
        b.assign(value, b.load("head_value", staged.tensor.memory[from]));
      });
      step.inputs.emplace(std::pair{staged.input, row}, value);
    }
  return step;
}

SharedValues::Step SharedValues::read(Value line, Value t, Value head) {
  auto& b = threads_.builder();
  const FlagReader& flags = threads_.flags();
  const bool as_leaves = layout_.resets == Storage::F32;
  Step step;
  for (const step::TensorId tensor : flags.tensors())
    if (flags.is_length(tensor)) step.flags[tensor] = flags.read(tensor, threads_.here().batch_row, t);
  each([&](Staged& staged) {
    if (staged.input < 0) {
      const Value there = b.load(as_leaves ? "reset" : "reset_staged", staged.shared[line]);
      step.flags[staged.reset] = as_leaves ? there : flags.value(staged.reset, there, t);
      return;
    }
    for (int row = 0; row < staged.tensor.rows; ++row) {
      Value own = line * rows(staged) + row;
      if (head.valid()) own = own + head * staged.tensor.rows;
      step.inputs.emplace(std::pair{staged.input, row}, b.load(staged.tensor.name, staged.shared[own]));
    }
  });
  return step;
}

}  // namespace rondo::schedule
