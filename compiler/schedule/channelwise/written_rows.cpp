#include "compiler/schedule/channelwise/written_rows.h"

#include <algorithm>

#include "compiler/support/index.h"

namespace rondo::schedule {

int WrittenRows::add(TensorRef ref) {
  written_.push_back({threads_.signature().writes(ref), {}, {}});
  return static_cast<int>(written_.size()) - 1;
}

void WrittenRows::place(Value owns, Value leads) {
  owns_ = owns;
  leads_ = leads;
  for (Written& written : written_) {
    if (written.tensor.per_head && !leads_.valid())
      leads_ = threads_.builder().let("leads", threads_.leads());
    written.base = threads_.own_base(written.tensor);
  }
}

void WrittenRows::begin(Value first) {
  auto& b = threads_.builder();
  for (Written& written : written_) {
    const Value at_step = written.base + b.wide(first) * written.tensor.stride_t;
    const std::string name = written.tensor.name + "_at";
    written.cursor = gather_ ? b.let(name, at_step) : b.variable(name, at_step);
    written.ahead = 0;
  }
}

void WrittenRows::advance(int way) {
  for (Written& written : written_) {
    const Value stride = written.tensor.stride_t;
    if (gather_)
      written.ahead += way;
    else
      threads_.builder().assign(written.cursor, way > 0 ? written.cursor + stride : written.cursor - stride);
  }
}

void WrittenRows::rewind() {
  for (Written& written : written_) written.ahead = 0;
}

void WrittenRows::store(int written, int row, const std::vector<Value>& values) {
  const Written& w = written_[at(written)];
  const Value step = w.ahead == 0 ? w.cursor : w.cursor + w.tensor.stride_t * w.ahead;
  threads_.if_all({w.tensor.per_head ? leads_ : owns_, once(w.tensor)}, [&] {
    if (w.tensor.per_head)
      return threads_.builder().store(w.tensor.memory[step + row], values.front(), hint_);
    store_channels(w.tensor, step + std::int64_t{row} * threads_.dim(), values);
  });
}

Value WrittenRows::once(const KernelTensor& tensor) {
  return tensor.row_lanes == 1 ? threads_.first_of_rows() : Value{};
}

void WrittenRows::store_channels(const KernelTensor& to, Value place, const std::vector<Value>& values) {
  const std::size_t count = std::min(values.size(), at(ChannelThreads::widest(to)));
  for (std::size_t first = 0; first < values.size(); first += count) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    threads_.builder().store_vector(to.memory[place + static_cast<std::int64_t>(first)],
                                    {begin, begin + static_cast<std::ptrdiff_t>(count)}, hint_);
  }
}

void WrittenRows::write_past_end(const Kept& kept) {
  auto& b = threads_.builder();
  b.comment("steps past the end of this row");
  threads_.each_past_end([&](Value t) {
    for (std::size_t w = 0; w < written_.size(); ++w) {
      const KernelTensor& to = written_[w].tensor;
      const Value at_step = b.let("past_at", written_[w].base + b.wide(t) * to.stride_t);
      threads_.if_all({once(to)}, [&] {
        for (int row = 0; row < to.own_rows(); ++row) {
          std::vector<Value> values = kept ? kept(static_cast<int>(w), row) : std::vector<Value>();
          if (values.empty()) values.assign(at(per_thread_), b.real(0));
          if (to.per_head)
            b.if_(leads_, [&] { b.store(to.memory[at_step + row], values.front(), hint_); });
          else
            store_channels(to, at_step + std::int64_t{row} * threads_.dim(), values);
        }
      });
    }
  });
}

}  // namespace rondo::schedule
