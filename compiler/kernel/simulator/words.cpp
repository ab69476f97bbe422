#include "compiler/kernel/simulator/words.h"

namespace rondo::kernel::simulator {

namespace {

bool same(const Thread& a, const Thread& b) {
  return a.block == b.block && a.warp == b.warp && a.lane == b.lane;
}

}  // namespace

Words::Word& Words::word(const GlobalBuffer* buffer, std::int64_t index) {
  std::vector<Word>& words = words_[buffer];
  if (words.empty()) words.resize(buffer->written.size());
  return words[static_cast<std::size_t>(index)];
}

bool Words::seen(const Thread& viewer, const Event& event) const {
  return same(viewer, event.by) ||
         clocks_.seen(viewer, clocks_.shape().agent(event.by), event.by.lane, event.clock);
}

bool Words::reached(const Thread& viewer, const Event& event) const {
  return same(viewer, event.by) ||
         clocks_.reached(viewer, clocks_.shape().agent(event.by), event.by.lane, event.clock);
}

// A relaxed store carries what its thread had reached; after a fence, also what the fence has published.
Words::Luggage Words::pack(const Party& party) {
  const Clock clock = clocks_.now(party.agent);
  auto luggage = std::make_shared<Knowledge>(clocks_.nothing());
  clocks_.send(party, *luggage);
  if (const auto fences = fences_.find(party.agent); fences != fences_.end())
    for (const Fence& fence : fences->second)
      if ((fence.lanes & party.lanes) == party.lanes) luggage->fenced.join(fence.published->seen);
  return {std::move(luggage), clock};
}

void Words::fence(const Party& party) {
  auto published = std::make_shared<Knowledge>(clocks_.nothing());
  clocks_.fence(party, *published);
  std::vector<Fence>& fences = fences_[party.agent];
  // An earlier fence of the same lanes has published less.
  std::erase_if(fences, [&](const Fence& fence) { return (fence.lanes & ~party.lanes) == 0; });
  fences.push_back({party.lanes, std::move(published)});
}

std::optional<Conflict> Words::store(const GlobalBuffer* buffer, std::int64_t index, const Thread& by,
                                     std::int32_t value, const Luggage& luggage) {
  Word& w = word(buffer, index);
  std::optional<Conflict> conflict;
  if (value == kEmpty) {
    for (const Event& reader : w.readers)
      if (!reached(by, reader))
        conflict = {Fault::Kind::Race,
                    "cleared although " + describe(reader.by) + " may not have read it yet"};
    if (w.sent.happened() && !reached(by, w.sent))
      conflict = {Fault::Kind::Race,
                  "cleared with nothing ordered between it and " + describe(w.sent.by) + ", who sent it"};
    w.present = false;
    w.cleared = {by, luggage.clock};
    w.readers.clear();
    return conflict;
  }
  if (w.present)
    conflict = {Fault::Kind::Protocol,
                "which holds what " + describe(w.sent.by) + " sent: it was not cleared"};
  else if (w.cleared.happened() && !seen(by, w.cleared))
    conflict = {Fault::Kind::Race,
                "cleared by " + describe(w.cleared.by) + " with no fence of both threads between"};
  w.present = true;
  w.sent = {by, luggage.clock};
  w.luggage = luggage.knowledge;
  return conflict;
}

std::optional<Conflict> Words::load(const GlobalBuffer* buffer, std::int64_t index, const Thread& by,
                                    Carried& carried) {
  Word& w = word(buffer, index);
  std::optional<Conflict> conflict;
  if (w.cleared.happened() && !seen(by, w.cleared))
    conflict = {Fault::Kind::Race, "where it may still find what was there before: cleared by " +
                                       describe(w.cleared.by) + " with no fence of both threads between"};
  if (w.luggage && w.luggage.get() != carried.last) {
    carried.knowledge.join(*w.luggage);
    carried.last = w.luggage.get();
  }
  w.readers.push_back({by, clocks_.now(clocks_.shape().agent(by))});
  return conflict;
}

bool Words::unordered(const GlobalBuffer* buffer, std::int64_t index, const Thread& by) const {
  const auto words = words_.find(buffer);
  if (words == words_.end()) return false;
  const Word& w = words->second[static_cast<std::size_t>(index)];
  return (w.sent.happened() && !seen(by, w.sent)) || (w.cleared.happened() && !seen(by, w.cleared));
}

}  // namespace rondo::kernel::simulator
