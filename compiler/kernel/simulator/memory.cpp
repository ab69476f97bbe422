#include "compiler/kernel/simulator/memory.h"

#include <fmt/format.h>

#include "compiler/kernel/ir/print_expression.h"

namespace rondo::kernel::simulator {

Memory::Memory(const Kernel& kernel, const std::vector<Argument>& arguments,
               std::vector<GlobalBuffer>& buffers, bool fp64)
    : kernel_(kernel), fp64_(fp64), global_(kernel.params.size()), global_shadows_(buffers.size()) {
  // Two params may name one buffer: what matters is what the launch does to the buffer.
  std::vector<bool> constant(buffers.size(), false);
  for (std::size_t p = 0; p < kernel.params.size(); ++p) {
    if (!kernel.params[p].buffer) continue;
    const auto buffer = static_cast<std::size_t>(arguments[p].buffer);
    if (!kernel.params[p].written)
      constant[buffer] = true;
    else if (!global_shadows_[buffer])
      global_shadows_[buffer] = std::make_unique<Shadow>(buffers[buffer].written.size());
  }
  for (std::size_t p = 0; p < kernel.params.size(); ++p) {
    if (!kernel.params[p].buffer) continue;
    const auto buffer = static_cast<std::size_t>(arguments[p].buffer);
    // Of two tensors in one buffer a launch may read one and write the other.
    const bool shared = !buffers[buffer].holds.empty();
    global_[p] = {&buffers[buffer], global_shadows_[buffer].get(),
                  shared ? !kernel.params[p].written : bool{constant[buffer]}, shared, arguments[p].tensor};
  }
}

void Memory::start_group(std::int64_t first_block, int blocks) {
  first_block_ = first_block;
  const std::size_t arrays = kernel_.shared.size(), count = arrays * static_cast<std::size_t>(blocks);
  shared_data_.resize(count);
  shared_shadows_.resize(count);
  shared_.resize(count);
  for (std::size_t s = 0; s < count; ++s) {
    const SharedArray& array = kernel_.shared[s % arrays];
    if (shared_shadows_[s]) {
      poison(shared_data_[s]);
      shared_shadows_[s]->clear();
      continue;
    }
    shared_data_[s] = output_buffer(array.storage, array.elements, fp64_);
    shared_shadows_[s] = std::make_unique<Shadow>(static_cast<std::size_t>(array.elements));
    shared_[s] = {&shared_data_[s], shared_shadows_[s].get(), false};
  }
}

std::optional<PendingCopy> CopyQueue::next_landed(std::int64_t newest) {
  if (landed_ == pending_.size() || pending_[landed_].group >= groups_ - newest) return std::nullopt;
  const PendingCopy copy = pending_[landed_++];
  if (2 * landed_ >= pending_.size()) {
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(landed_));
    landed_ = 0;
  }
  return copy;
}

void store_element(GlobalBuffer& data, std::size_t at, const Lanes& value, int lane, bool packed) {
  if (packed) {
    const auto pair = static_cast<std::int32_t>(value.i[lane]);
    data.values[at] = unpack_pair(data.storage, pair, false);
    data.values[at + 1] = unpack_pair(data.storage, pair, true);
  } else if (is_integer(data.storage)) {
    data.integers[at] = static_cast<std::int32_t>(value.i[lane]);
  } else if (!data.doubles.empty()) {
    data.doubles[at] = value.d[lane];
  } else {
    data.values[at] = round_to(data.storage, value.f[lane]);
  }
}

void Accessor::report(Fault::Kind kind, const Thread& by, const char* verb, const Span& span,
                      std::int64_t index, const std::string& why) {
  if (!log_.is_new(kind, stmt_)) return;
  const bool foreign = span.space == Space::Shared && span.block != by.block;
  log_.report(kind, stmt_,
              fmt::format("{} {} {} {}[{}]{}, {}", describe(by), verb,
                          span.space == Space::Shared ? "shared" : "global",
                          memory_name(kernel_, span.space, span.id), index,
                          foreign ? fmt::format(" of block {}", span.block) : "", why));
}

bool Accessor::reachable(const Span& span, const Thread& by) {
  const std::int64_t elements = memory_.region(span).elements();
  if (span.index < 0 || span.index > elements - span.count) {
    report(Fault::Kind::OutOfRange, by, "accesses", span, span.index,
           span.count == 1 ? fmt::format("which has {} elements", elements)
                           : fmt::format("{} elements at once, of {}", span.count, elements));
    return false;
  }
  // Every region starts on a boundary of the widest access, so the index alone decides.
  if (span.count > 1 && span.index % span.count != 0) {
    report(Fault::Kind::Misaligned, by, "accesses", span, span.index,
           fmt::format("{} elements at once, which must start at a multiple of {}", span.count, span.count));
    return false;
  }
  return true;
}

bool Accessor::writable(const Span& span, const Thread& by) {
  const Region& region = memory_.region(span);
  if (!region.constant && region.shadow != nullptr) return true;
  report(Fault::Kind::ReadOnly, by, "writes", span, span.index, "which a read-only param names");
  return false;
}

std::optional<Conflict> Accessor::against_atomics(const Region& region, std::int64_t index,
                                                  const Thread& by) const {
  if (!flags_.empty() && flags_.unordered(region.data, index, by))
    return Conflict{Fault::Kind::Race, "a counter that others add to, with no wait for it between"};
  if (!words_.empty() && words_.unordered(region.data, index, by))
    return Conflict{Fault::Kind::Race, "a word that another thread sends, with nothing ordered between"};
  return std::nullopt;
}

bool Accessor::read(const Span& span, const Thread& by) {
  if (!reachable(span, by)) return false;
  const Region& region = memory_.region(span);
  const bool plain = flags_.empty() && words_.empty();
  for (std::int64_t i = span.index; i < span.index + span.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool quick = region.shadow == nullptr || region.shadow->quick_read(at, by, clocks_);
    if (quick && plain && region.defined(at)) continue;
    std::optional<Conflict> conflict;
    if (!quick) conflict = region.shadow->read(at, by, clocks_);
    if (!conflict) conflict = against_atomics(region, i, by);
    if (!conflict && !region.defined(at))
      conflict = Conflict{Fault::Kind::Unwritten, region.data->written[at]
                                                      ? "where another tensor was written in its place"
                                                      : "which nobody has written"};
    if (conflict) report(conflict->kind, by, "reads", span, i, conflict->what);
  }
  return true;
}

bool Accessor::write(const Span& span, const Thread& by) {
  if (!reachable(span, by) || !writable(span, by)) return false;
  const Region& region = memory_.region(span);
  const bool plain = flags_.empty() && words_.empty();
  for (std::int64_t i = span.index; i < span.index + span.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    region.define(at);
    const bool quick = region.shadow->quick_write(at, by, clocks_, stamp_);
    if (quick && plain) continue;
    std::optional<Conflict> conflict;
    if (!quick) conflict = region.shadow->write(at, by, clocks_, stamp_);
    if (!conflict) conflict = against_atomics(region, i, by);
    if (conflict) report(conflict->kind, by, "writes", span, i, conflict->what);
  }
  return true;
}

bool Accessor::send(const Span& span, const Thread& by, int column, Clock phase) {
  if (!reachable(span, by)) return false;
  const Region& region = memory_.region(span);
  for (std::int64_t i = span.index; i < span.index + span.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (const auto conflict = region.shadow->send(at, by, clocks_, stamp_, column, phase))
      report(conflict->kind, by, "sends to", span, i, conflict->what);
    region.define(at);
  }
  return true;
}

bool Accessor::atomic(const Span& span, const Thread& by) {
  if (!reachable(span, by) || !writable(span, by)) return false;
  const Region& region = memory_.region(span);
  for (std::int64_t i = span.index; i < span.index + span.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    auto conflict = region.shadow->check_read(at, by, clocks_);
    if (!conflict && !region.defined(at)) conflict = Conflict{Fault::Kind::Unwritten, "which nobody has set"};
    if (conflict) report(*conflict, by, "synchronises by", span, i);
  }
  return true;
}

void Accessor::check_operand(const Span& span, const Thread& by, const Publications& publications) {
  if (!reachable(span, by)) return;
  const Region& region = memory_.region(span);
  const auto at = static_cast<std::size_t>(span.index);
  auto conflict = region.shadow->check_read(at, by, clocks_);
  if (!conflict && !region.defined(at))
    conflict = Conflict{Fault::Kind::Unwritten, "which nobody has written"};
  if (const auto last = region.shadow->last_write(at); last && !conflict) {
    const int agent = clocks_.shape().agent(last->by);
    const auto published = publications.after(agent, last->by.lane, last->stamp);
    if (!published || !clocks_.seen(by, agent, last->by.lane, *published))
      conflict = Conflict{Fault::Kind::Race,
                          fmt::format("written by {}, who has not published it to the tensor cores before",
                                      describe(last->by))};
  }
  if (conflict) report(*conflict, by, "multiplies", span, span.index);
}

bool Accessor::read_operand(const Span& span, const Thread& by, std::uint64_t started) {
  if (!read(span, by)) return false;
  const auto last = memory_.region(span).shadow->last_write(static_cast<std::size_t>(span.index));
  if (last && last->stamp > started)
    report(Fault::Kind::Race, by, "multiplies", span, span.index,
           fmt::format("overwritten by {} before the product was waited for", describe(last->by)));
  return true;
}

void Accessor::issue_copy(const Span& to, const Span& from, const Thread& by, CopyQueue& queue) {
  const bool source = read(from, by);
  if (!source || !reachable(to, by)) return;
  Shadow& shadow = *memory_.region(to).shadow;
  for (std::int64_t i = to.index; i < to.index + to.count; ++i)
    if (const auto conflict = shadow.issue(static_cast<std::size_t>(i), by, clocks_))
      report(conflict->kind, by, "copies to", to, i, conflict->what);
  queue.issue(stmt_, to, from, stamp_);
}

void Accessor::land(const PendingCopy& copy, const Thread& by) {
  const Region& to = memory_.region(copy.to);
  const Region& from = memory_.region(copy.from);
  for (int k = 0; k < copy.to.count; ++k) {
    const auto target = static_cast<std::size_t>(copy.to.index + k),
               source = static_cast<std::size_t>(copy.from.index + k);
    if (const auto last = from.shadow != nullptr ? from.shadow->last_write(source) : std::nullopt;
        last && last->stamp > copy.stamp)
      if (log_.is_new(Fault::Kind::Race, copy.stmt))
        log_.report(
            Fault::Kind::Race, copy.stmt,
            fmt::format("{} wrote the source {}[{}] while the copy of {} was in flight", describe(last->by),
                        memory_name(kernel_, copy.from.space, copy.from.id), source, describe(by)));
    to.shadow->land(target, by, clocks_, stamp_);
    to.define(target);
    if (is_integer(to.data->storage))
      to.data->integers[target] = from.data->integers[source];
    else if (!to.data->doubles.empty())
      to.data->doubles[target] = from.data->doubles[source];
    else
      to.data->values[target] = from.data->values[source];
  }
}

}  // namespace rondo::kernel::simulator
