// Products of a persistent kernel: the head's matrices stay in registers and shared memory for all of time;
// the vectors they multiply go through shared memory, to all blocks of the cluster.
#pragma once

#include <map>
#include <vector>

#include "compiler/schedule/persistent_kernel.h"
#include "compiler/schedule/products.h"

namespace rondo::schedule {

class PersistentProducts {
 public:
  // `groups` must outlive this.
  PersistentProducts(PersistentKernel& kernel, const step::Cell& cell, const Problem& problem,
                     const std::vector<ProductGroup>& groups);

  // Declares matrices and exchange buffers. Before PersistentKernel::place_threads.
  void declare();
  // Loads the matrices; in the computing warps, before the walk.
  void load_matrices();
  // Readies the exchange for the first two steps; in the computing warps, before the first publish().
  void expect_first();
  // Sends the vector of a group, one value a channel of the thread, at the `count`-th step.
  void publish(std::size_t group, kernel::Value count, const std::vector<kernel::Value>& values);
  // Waits until all vectors of a level are there.
  void meet(int level, kernel::Value count);
  // Makes the level ready for its vectors two steps on. Any time between meet() and the next one.
  void rearm(int level, kernel::Value count);
  // Multiplies; afterwards value() gives each product's value in this thread's channels.
  void multiply(int level, kernel::Value count);
  // All that the warps do that only multiply.
  void multiply_role();
  kernel::Value value(std::size_t group, int product, int channel) const;

  // Words a team exchanges through global memory.
  static std::int64_t exchange_words(const PersistentGeometry& geometry, std::size_t groups);
  // Packed registers and bytes of shared memory that hold matrices, a thread and a block.
  static int fragment_registers(const PersistentGeometry& geometry, const std::vector<ProductGroup>& groups);

 private:
  struct Group {
    kernel::Memory exchange;     // [slots, batch tiles, padded, 8]
    kernel::Memory matrix;       // [warps, row tiles, k-tiles not in registers, lanes, 8], if any
    kernel::Array fragments;     // [row tiles, k-tiles in registers, 4 packed pairs]
    kernel::Memory partial;      // [splits - 1, warps, row tiles, batch tiles, lanes, 4]: sums of other warps
    kernel::Array accumulators;  // [row tiles, batch tiles, chains, 4]
    int row_tiles = 0;
  };
  enum class Home { Registers, Shared };

  kernel::Value element(const Product& product, kernel::Value out, kernel::Value in);
  kernel::Value pair(const Product& product, kernel::Value out, kernel::Value in);
  // The four packed pairs of row tile `tile` at k-tile `k`.
  std::vector<kernel::Value> fragment(const ProductGroup& group, int tile, kernel::Value k);
  void expect(int level, kernel::Value slot);  // no slot: both
  void send(std::size_t group, kernel::Value slot, kernel::Value line, kernel::Value packed);
  kernel::Value team_words(std::size_t group, kernel::Value slot);
  void send_to_grid(std::size_t group, kernel::Value slot, int channel, kernel::Value packed);
  int collect_turns() const;
  void collect(std::size_t group, kernel::Value count);
  void clear_sent(int level, kernel::Value count);
  void multiply_group(std::size_t group, kernel::Value count);
  void hand_over(const Group& own);
  void take_over(const Group& own);
  kernel::Value chain_sum(const Group& own, int tile, int element) const;
  void multiply_tiles(std::size_t group, int first, int end, kernel::Value slot, Home home);
  void multiply_tile(const Group& own, kernel::Value k, int half, int chain, Home home);
  std::int64_t exchange_elements() const;
  // Places of the vectors in shared memory: two, so that a block that is ahead does not overwrite what
  // another still reads; one where the block's own threads fetch them.
  int exchange_slots() const { return geometry_.in_grid() ? 1 : 2; }
  int resident() const;

  PersistentKernel& kernel_;
  const step::Cell& cell_;
  const Problem& problem_;
  const PersistentGeometry& geometry_;
  const std::vector<ProductGroup>& groups_;
  std::vector<Group> own_;
  std::map<step::TensorId, KernelTensor> matrices_;
  kernel::Value first_tile();  // of this warp's share of the columns
  kernel::Value matrix_place(const Group& own, int tile, kernel::Value k);
  kernel::Value phase(int level, kernel::Value count) { return count * levels_of(groups_) + level; }
  KernelTensor sent_;  // exchange through global memory: [teams][slots][group][batch tile][padded][4 words]
  kernel::Array collected_;
  kernel::Mbarrier partial_ready_;
  std::vector<kernel::Mbarrier> ready_;  // by level: the vectors have come from all blocks of the cluster
  kernel::Array operand_, loaded_;       // fragments of the vector; of a matrix that lies in shared memory
};

}  // namespace rondo::schedule
