// Products with an all-gather: every block holds the rows of its own channels, and the vectors go to all
// blocks of the team.
#pragma once

#include <vector>

#include "compiler/schedule/persistent/exchange.h"
#include "compiler/schedule/persistent/matrix.h"
#include "compiler/schedule/persistent/step_products.h"

namespace rondo::schedule {

class AllGatherProducts : public StepProducts {
 public:
  AllGatherProducts(PersistentKernel& kernel, const Problem& problem, const std::vector<ProductGroup>& groups,
                    std::int64_t other_words);

  void declare() override;
  void load_matrices() override;
  void expect_first() override;
  void publish(std::size_t group, kernel::Value count, const std::vector<kernel::Value>& values) override;
  void start(int, kernel::Value) override {}
  void finish(int level, kernel::Value count) override;
  void rearm(int level, kernel::Value count) override;
  bool rearming_fences() const override { return geometry_.in_grid() && !groups_.empty(); }
  void multiply_role() override;
  kernel::Value value(std::size_t group, int product, int channel) const override;
  const GridRing& ring() const override { return ring_; }

  // Vectors of 16 bytes that a thread collects at once, where blocks meet through global memory. With all 16
  // of an LSTM of 2048 channels the compiler spills; with 4 it is 4 to 6% slower, one of 768 at B = 64 13%
  // (H200).
  static constexpr int kMostCollected = 8;
  // Words of a slot of the ring in global memory.
  static std::int64_t slot_words(const PersistentGeometry& geometry, std::size_t groups);

 private:
  struct Group {
    OnChipMatrix matrix;
    kernel::Memory exchange;  // [slots, batch tiles, padded, 8]
    kernel::Memory partial;   // [slots, splits - 1, warps, row tiles, batch tiles, lanes, 4]: sums of others
    kernel::Value partial_at, both_places;  // of this lane, in this step; that and the other place, added up
  };

  kernel::Value fragment(const ProductGroup& group, int tile, kernel::Value k, int word);
  // Of the computing warps, where tiles take turns: those that only multiply bring the vectors.
  bool others_collect() const { return geometry_.p.tiles_in_turn > 1; }
  int collectors() const { return geometry_.multiplying() - (others_collect() ? 32 * geometry_.warps : 0); }
  void await_vectors(int level, kernel::Value count);
  void bring_vectors(int level, kernel::Value count);
  void sync_roles(int level, kernel::Value count);
  void expect(int level, kernel::Value slot);  // no slot: both
  void send_to_grid(std::size_t group, kernel::Value slot, int channel,
                    const std::vector<kernel::Value>& packed);
  void clear_sent(int level, kernel::Value count, bool clears);
  int collect_turns() const;
  void collect(std::size_t group, kernel::Value count);
  void multiply_group(std::size_t group, kernel::Value count);
  void load_own_matrices();
  void place_sums(kernel::Value part);
  void next_place(const Group& own);
  int lane_sums(const Group& own) const;  // sums of a lane
  void hand_over(const Group& own);
  void take_over(Group& own);
  std::int64_t exchange_elements() const;
  // Copies of the vectors in shared memory. Two, so that a block that is ahead overwrites nothing that
  // another block still reads; one where the block's own threads fetch them.
  int exchange_slots() const { return geometry_.in_grid() ? 1 : 2; }
  // Copies of the other warps' sums. In a block and in a grid all warps meet between reading a step's sums
  // and writing the next, so one copy suffices. In a cluster the vectors that come between by st.async order
  // them; racecheck of compute-sanitizer 13.0 does not follow st.async, so there are two. With two, all warps
  // have met for sums once more before a copy is written again.
  int partial_slots() const { return geometry_.in_cluster() ? 2 : 1; }
  kernel::Value first_tile();  // of this warp's share of the columns

  PersistentKernel& kernel_;
  const Problem& problem_;
  const PersistentGeometry& geometry_;
  const std::vector<ProductGroup>& groups_;
  MatrixSource source_;
  std::vector<Group> own_;
  GridRing ring_;  // a slot: [group][batch tile][padded][row_words()]
  kernel::Array collected_;
  std::vector<kernel::Mbarrier> ready_;  // by level: the vectors have come from all blocks of the cluster
  MatrixScratch scratch_;
};

}  // namespace rondo::schedule
