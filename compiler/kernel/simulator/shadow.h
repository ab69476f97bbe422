// What the simulator remembers of each element of a shared array, or of a global buffer that the launch
// writes: who wrote it last, who read it since, and whether an asynchronous copy is on its way to it.
// Accesses of blocks of one group may be ordered; those of other groups never are.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/kernel/simulator/clocks.h"
#include "compiler/kernel/simulator/faults.h"
#include "compiler/kernel/simulator/lanes.h"
#include "compiler/kernel/simulator/simulate.h"

namespace rondo::kernel::simulator {

// Why an access is a fault: "written by thread 3 ... with no barrier between".
struct Conflict {
  Fault::Kind kind;
  std::string what;
};

class Shadow {
 public:
  explicit Shadow(std::size_t elements) : chunks_((elements + kChunk - 1) / kChunk) {}

  // Forgets all: nobody has touched any element.
  void clear();
  // For the many accesses that a glance tells to be in order: records the access and returns true, or does
  // nothing and returns false.
  bool quick_read(std::size_t at, const Thread& by, const Clocks& clocks) {
    Element& e = element(at);
    if (!settled(e, by, clocks)) return false;
    record_read(e, by, clocks);
    return true;
  }
  bool quick_write(std::size_t at, const Thread& by, const Clocks& clocks, std::uint64_t stamp) {
    Element& e = element(at);
    if (!unread(e, by, clocks) || !settled(e, by, clocks)) return false;
    record_write(e, by, clocks, stamp);
    return true;
  }
  // Each records the access if it is in order, and says with what it collides if not. `stamp` grows with
  // every instruction.
  std::optional<Conflict> read(std::size_t at, const Thread& by, const Clocks& clocks);
  std::optional<Conflict> write(std::size_t at, const Thread& by, const Clocks& clocks, std::uint64_t stamp);
  // An asynchronous copy is issued: checked as a write; until it lands nobody may touch the element.
  std::optional<Conflict> issue(std::size_t at, const Thread& by, const Clocks& clocks);
  // It has landed, which counts as a write by its issuer at this moment.
  void land(std::size_t at, const Thread& by, const Clocks& clocks, std::uint64_t stamp);
  // A st.async stores: a write that belongs to phase `phase` of the mbarrier of that column.
  std::optional<Conflict> send(std::size_t at, const Thread& by, const Clocks& clocks, std::uint64_t stamp,
                               int column, Clock phase);
  // The fault a read would be, with nothing recorded.
  std::optional<Conflict> check_read(std::size_t at, const Thread& by, const Clocks& clocks);
  // Who wrote the element last, and when.
  struct Write {
    Thread by;
    std::uint64_t stamp;
  };
  std::optional<Write> last_write(std::size_t at);

 private:
  // The lanes of one warp that read the element since the warp last synchronised; earlier reads are ordered
  // before whatever is ordered after these. All count as made at the clock of the latest.
  struct Readers {
    std::int32_t agent = -1;
    Clock clock = 0;
    Mask lanes = 0;
  };
  // A grid has less than 2^31 blocks. Elements are small, because a launch touches millions of them.
  struct Who {
    std::int32_t block = -1;  // -1: nobody
    std::int16_t warp = -1;
    std::int8_t lane = 0;
    Thread thread() const { return {block, warp, lane}; }
  };
  struct Element {
    Who writer;
    std::uint64_t write_stamp = 0;
    Clock write_clock = 0;
    std::int32_t write_column = -1;      // of the mbarrier that counted the data of a st.async, or -1
    Who copier;                          // issuer of the copy in flight
    std::int32_t read_block = -1;        // a block of the group of `readers` and `others`
    std::int32_t other_read_block = -1;  // a block of another group that read it before
    Readers readers;
    std::int32_t others = -1;  // index into others_: readers of further warps
  };
  // Elements are made, and forgotten, when the first of their chunk is touched: of a large buffer a launch
  // may touch few.
  static constexpr std::size_t kChunk = 64;
  using Elements = std::array<Element, kChunk>;
  struct Chunk {
    std::unique_ptr<Elements> elements;
    std::uint32_t turn = 0;  // in which they were touched last
  };

  Element& element(std::size_t at) {
    Chunk& chunk = chunks_[at / kChunk];
    if (chunk.turn != turn_) start(chunk);
    return (*chunk.elements)[at % kChunk];
  }
  void start(Chunk& chunk);
  // Whether it takes a glance to tell that a read is in order, as it does for most: no copy is on its way to
  // the element, and the reader's whole warp has seen the last write, or the reader has made it.
  static bool settled(const Element& e, const Thread& by, const Clocks& clocks) {
    if (e.copier.block >= 0) return false;
    if (e.writer.block < 0) return true;
    if (e.write_column >= 0 || !clocks.shape().holds(e.writer.block)) return false;
    if (e.writer.block == by.block && e.writer.warp == by.warp && e.writer.lane == by.lane) return true;
    return clocks.seen_all(by, clocks.shape().agent(e.writer.block, e.writer.warp), e.write_clock);
  }
  // The same for a write and the reads before it: there are none, or all lanes of the one warp that read it
  // had done so before whatever the writer knows to be over.
  static bool unread(const Element& e, const Thread& by, const Clocks& clocks) {
    if (e.read_block < 0) return e.other_read_block < 0;
    return e.other_read_block < 0 && e.others < 0 && clocks.shape().holds(e.read_block) &&
           clocks.reached_all(by, e.readers.agent, e.readers.clock);
  }
  static Who who(const Thread& thread) {
    return {static_cast<std::int32_t>(thread.block), static_cast<std::int16_t>(thread.warp),
            static_cast<std::int8_t>(thread.lane)};
  }
  std::optional<Conflict> against_copy(const Element& e, Fault::Kind kind) const;
  std::optional<Conflict> against_writer(const Element& e, const Thread& by, const Clocks& clocks,
                                         bool writes) const;
  // The readers among these that `by` is not ordered after.
  static Mask not_reached(const Readers& r, const Thread& by, const Clocks& clocks);
  std::optional<Conflict> against_readers(const Element& e, const Thread& by, const Clocks& clocks) const;
  std::optional<Conflict> check_write(const Element& e, const Thread& by, const Clocks& clocks) const;
  static void join(Readers& r, int agent, const Thread& by, const Clocks& clocks) {
    if (r.agent != agent || clocks.reached_all(by, agent, r.clock)) r.lanes = 0;
    r = {agent, clocks.now(agent), r.lanes | bit(by.lane)};
  }
  void record_read(Element& e, const Thread& by, const Clocks& clocks) {
    const int agent = clocks.shape().agent(by);
    if (e.readers.agent == agent && e.read_block >= 0 && clocks.shape().holds(e.read_block))
      return join(e.readers, agent, by, clocks);
    record_new_reader(e, agent, by, clocks);
  }
  void record_new_reader(Element& e, int agent, const Thread& by, const Clocks& clocks);
  void forget_readers(Element& e) {
    e.readers = {};
    if (e.others >= 0) others_[static_cast<std::size_t>(e.others)].clear();
  }
  void record_write(Element& e, const Thread& by, const Clocks& clocks, std::uint64_t stamp) {
    e.writer = who(by);
    e.write_stamp = stamp;
    e.write_clock = clocks.now(clocks.shape().agent(by));
    e.write_column = -1;
    forget_readers(e);
    e.read_block = -1;
  }

  std::vector<Chunk> chunks_;
  std::uint32_t turn_ = 1;  // counts the times that all was forgotten
  std::vector<std::vector<Readers>> others_;
};

}  // namespace rondo::kernel::simulator
