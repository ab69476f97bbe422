// What the simulator remembers of each element of a shared array, or of a global buffer that the launch
// writes: who wrote it last, who read it since, and whether an asynchronous copy is on its way to it.
// Accesses of blocks of one group may be ordered; those of other groups never are.
#pragma once

#include <cstdint>
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
  explicit Shadow(std::size_t elements) : elements_(elements) {}

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
  std::optional<Conflict> check_read(std::size_t at, const Thread& by, const Clocks& clocks) const;
  // Who wrote the element last, and when.
  struct Write {
    Thread by;
    std::uint64_t stamp;
  };
  std::optional<Write> last_write(std::size_t at) const;

 private:
  // The lanes of one warp that read the element since the warp last synchronised; earlier reads are ordered
  // before whatever is ordered after these. All count as made at the clock of the latest.
  struct Readers {
    std::int32_t agent = -1;
    Clock clock = 0;
    Mask lanes = 0;
  };
  struct Who {
    std::int64_t block = -1;  // -1: nobody
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
    std::int64_t read_block = -1;        // a block of the group of `readers` and `others`
    std::int64_t other_read_block = -1;  // a block of another group that read it before
    Readers readers;
    std::int32_t others = -1;  // index into others_: readers of further warps
  };

  Element& element(std::size_t at) { return elements_[at]; }
  // Whether it takes a glance to tell that a read is in order, as it does for most: no copy is on its way to
  // the element, and the reader's whole warp has seen the last write, or the reader has made it.
  static bool settled(const Element& e, const Thread& by, const Clocks& clocks) {
    if (e.copier.block >= 0) return false;
    if (e.writer.block < 0) return true;
    if (e.write_column >= 0 || !clocks.shape().holds(e.writer.block)) return false;
    if (e.writer.block == by.block && e.writer.warp == by.warp && e.writer.lane == by.lane) return true;
    return clocks.seen_all(by, clocks.shape().agent(e.writer.block, e.writer.warp), e.write_clock);
  }
  static Who who(const Thread& thread);
  std::optional<Conflict> against_copy(const Element& e, Fault::Kind kind) const;
  std::optional<Conflict> against_writer(const Element& e, const Thread& by, const Clocks& clocks,
                                         bool writes) const;
  // The readers among these that `by` is not ordered after.
  static Mask not_reached(const Readers& r, const Thread& by, const Clocks& clocks);
  std::optional<Conflict> against_readers(const Element& e, const Thread& by, const Clocks& clocks) const;
  std::optional<Conflict> check_write(const Element& e, const Thread& by, const Clocks& clocks) const;
  void record_read(Element& e, const Thread& by, const Clocks& clocks);
  void forget_readers(Element& e);
  void record_write(Element& e, const Thread& by, const Clocks& clocks, std::uint64_t stamp);

  std::vector<Element> elements_;
  std::vector<std::vector<Readers>> others_;
};

}  // namespace rondo::kernel::simulator
