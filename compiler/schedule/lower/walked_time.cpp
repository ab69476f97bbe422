#include "compiler/schedule/lower/walked_time.h"

namespace rondo::schedule {

void WalkedTime::begin(Signature& signature, FlagReader& flags) {
  all_ = steps_ = signature.time();
  flags.set_time(all_);
}

void WalkedTime::limit(FlagReader& flags, Value first, Value end) {
  limited_ = true;
  steps_ = flags.longest(first, end);
  if (!flags.starts_late()) return;
  left_out_ = all_.builder()->let("left_out", flags.left_out_before(all_ - steps_));
  after_all_ = flags.left_out_before(all_);
  flags.count_from(left_out_);
}

Value WalkedTime::row_begin(const KernelTensor& tensor, Value row) const {
  kernel::Builder& b = *row.builder();
  const Value begin = tensor.row_begin(row);
  return left_out_.valid() ? begin + b.wide(left_out_) * tensor.stride_t : begin;
}

void WalkedTime::each_past_end(const char* name, Value first, Value stride,
                               const std::function<void(Value)>& body) const {
  if (!limited_) return;
  steps_.builder()->for_(name, first, all_, stride, 1,
                         [&](Value t) { body(after_all_.valid() ? t - after_all_ : t); });
}

}  // namespace rondo::schedule
