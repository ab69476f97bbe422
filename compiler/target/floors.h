// The least times of what a step of a recurrence waits for on a GPU, as `rondo calibrate` measures them:
// small kernels do one thing again and again, each time waiting for the time before.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace rondo::target {

struct MeasuredFloor {
  enum class Of {
    GridExchange,     // all blocks of a team to all, as words in global memory that readers poll
    ClusterExchange,  // the same in a cluster, by st.async into shared memory and an mbarrier
    BlockExchange,    // a word of each warp through shared memory: store, named barrier, load
    Barrier,          // __syncthreads of 256 threads
    NamedBarrier,     // bar.sync of 256 threads
    LaneSum,          // a shuffle and an addition
    SharedLoad,       // a word of shared memory whose address is the word before
    Product,          // one instruction of the tensor cores that adds to the sums of the one before
    Function          // of fp32, or one multiply-add
  } of = Of::Barrier;
  // Product: the instruction, "mma.m16n8k16.bf16", "wgmma.m64n128k16.bf16". Function: its name in cells, with
  // the kind of math, "tanh fast"; "fma". "" of others.
  std::string by;
  int blocks = 1;           // of an exchange
  int bytes = 0;            // that each block of an exchange receives, its own part among them
  double seconds = 0;       // from one to the next
  double per_cycle_sm = 0;  // Product: operations a cycle and SM, of many that wait for none; else 0
};

const char* floor_name(MeasuredFloor::Of of);  // "grid exchange", as the JSON form has it
std::optional<MeasuredFloor::Of> floor_of_name(const std::string& name);

// What a profile has of them, with look-ups. Those give none where nothing of the kind was measured.
struct Floors {
  std::vector<MeasuredFloor> all;

  bool empty() const { return all.empty(); }
  // Of an exchange: straight lines between the bytes and the numbers of blocks that were measured, and past
  // the last bytes on. Fewer bytes take no longer than more: of 768 bytes among 48 blocks of an H200, which
  // all read the same lines, 1.17 us was measured, of 12288 bytes 0.73 us. A team beyond those measured
  // counts as the nearest.
  std::optional<double> exchange(MeasuredFloor::Of of, int blocks, double bytes) const;
  // Of what is measured once, or by name.
  std::optional<double> seconds(MeasuredFloor::Of of, const std::string& by = "") const;
  std::optional<double> per_cycle_sm(const std::string& product) const;

 private:
  const MeasuredFloor* find(MeasuredFloor::Of of, const std::string& by) const;
};

}  // namespace rondo::target
