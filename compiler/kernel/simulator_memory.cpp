#include "compiler/kernel/simulator_memory.h"

#include <fmt/format.h>

#include "compiler/kernel/print_expression.h"

namespace rondo::kernel::simulator {

Memory::Memory(const Kernel& kernel, const std::vector<Argument>& arguments,
               std::vector<GlobalBuffer>& buffers)
    : kernel_(kernel), global_(kernel.params.size()), global_shadows_(buffers.size()) {
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
    global_[p] = {&buffers[buffer], global_shadows_[buffer].get(), constant[buffer]};
  }
}

void Memory::start_block() {
  const std::size_t count = kernel_.shared.size();
  shared_data_.resize(count);
  shared_shadows_.resize(count);
  shared_.resize(count);
  for (std::size_t s = 0; s < count; ++s) {
    const SharedArray& array = kernel_.shared[s];
    shared_data_[s] = output_buffer(array.storage, array.elements);
    shared_shadows_[s] = std::make_unique<Shadow>(static_cast<std::size_t>(array.elements));
    shared_[s] = {&shared_data_[s], shared_shadows_[s].get(), false};
  }
}

std::optional<PendingCopy> CopyQueue::next_landed(std::int64_t newest) {
  if (pending_.empty() || pending_.front().group >= groups_ - newest) return std::nullopt;
  const PendingCopy copy = pending_.front();
  pending_.pop_front();
  return copy;
}

void Accessor::report(Fault::Kind kind, const Thread& by, const char* verb, const Span& span,
                      std::int64_t index, const std::string& why) {
  if (!log_.is_new(kind, stmt_)) return;
  log_.report(kind, stmt_,
              fmt::format("{} {} {} {}[{}], {}", describe(by), verb,
                          span.space == Space::Shared ? "shared" : "global",
                          memory_name(kernel_, span.space, span.id), index, why));
}

bool Accessor::reachable(const Span& span, const Thread& by) {
  const std::int64_t elements = memory_.region(span.space, span.id).elements();
  if (span.index < 0 || span.index > elements - span.count) {
    report(Fault::Kind::OutOfRange, by, "accesses", span, span.index,
           span.count == 1 ? fmt::format("which has {} elements", elements)
                           : fmt::format("{} elements at once, of {}", span.count, elements));
    return false;
  }
  // Every region starts on a boundary of the widest access, so the index alone decides.
  if (span.index % span.count != 0) {
    report(Fault::Kind::Misaligned, by, "accesses", span, span.index,
           fmt::format("{} elements at once, which must start at a multiple of {}", span.count, span.count));
    return false;
  }
  return true;
}

bool Accessor::read(const Span& span, const Thread& by) {
  if (!reachable(span, by)) return false;
  const Region& region = memory_.region(span.space, span.id);
  for (std::int64_t i = span.index; i < span.index + span.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    std::optional<Conflict> conflict;
    if (region.shadow != nullptr) conflict = region.shadow->read(at, by, clocks_);
    if (!conflict && !region.data->written[at])
      conflict = Conflict{Fault::Kind::Unwritten, "which nobody has written"};
    if (conflict) report(conflict->kind, by, "reads", span, i, conflict->what);
  }
  return true;
}

bool Accessor::write(const Span& span, const Thread& by) {
  if (!reachable(span, by)) return false;
  const Region& region = memory_.region(span.space, span.id);
  if (region.constant || region.shadow == nullptr) {
    report(Fault::Kind::ReadOnly, by, "writes", span, span.index, "which a read-only param names");
    return false;
  }
  for (std::int64_t i = span.index; i < span.index + span.count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (const auto conflict = region.shadow->write(at, by, clocks_, stamp_))
      report(conflict->kind, by, "writes", span, i, conflict->what);
    region.data->written[at] = true;
  }
  return true;
}

void Accessor::issue_copy(const Span& to, const Span& from, const Thread& by, CopyQueue& queue) {
  const bool source = read(from, by);
  if (!source || !reachable(to, by)) return;
  Shadow& shadow = *memory_.region(to.space, to.id).shadow;
  for (std::int64_t i = to.index; i < to.index + to.count; ++i)
    if (const auto conflict = shadow.issue(static_cast<std::size_t>(i), by, clocks_))
      report(conflict->kind, by, "copies to", to, i, conflict->what);
  queue.issue(stmt_, to, from, stamp_);
}

void Accessor::land(const PendingCopy& copy, const Thread& by) {
  const Region& to = memory_.region(copy.to.space, copy.to.id);
  const Region& from = memory_.region(copy.from.space, copy.from.id);
  for (int k = 0; k < copy.to.count; ++k) {
    const auto target = static_cast<std::size_t>(copy.to.index + k),
               source = static_cast<std::size_t>(copy.from.index + k);
    if (const auto writer =
            from.shadow != nullptr ? from.shadow->written_since(source, copy.stamp) : std::nullopt)
      if (log_.is_new(Fault::Kind::Race, copy.stmt))
        log_.report(
            Fault::Kind::Race, copy.stmt,
            fmt::format("{} wrote the source {}[{}] while the copy of {} was in flight", describe(*writer),
                        memory_name(kernel_, copy.from.space, copy.from.id), source, describe(by)));
    to.shadow->land(target, by, clocks_, stamp_);
    to.data->written[target] = true;
    if (to.data->storage == Storage::I32)
      to.data->integers[target] = from.data->integers[source];
    else
      to.data->values[target] = from.data->values[source];
  }
}

}  // namespace rondo::kernel::simulator
