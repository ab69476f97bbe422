// Products with an all-gather through global memory in which nothing goes through shared memory on its way to
// the tensor cores. What blocks send each other are fragments, the B operands of mma (PTX ISA). A warp loads
// those of its own k-tiles into registers and multiplies all rows of the block by them, so that a block reads
// every word once. Sums of the warps then meet in shared memory, where the computing warps add them up.
//
// Products that the step adds up (product_rows()) are added up in the accumulators of mma. Those of an input
// are made first: its fragments are there a step ahead (InputFragments), and the other vectors' words are
// still under way.
#pragma once

#include <memory>
#include <vector>

#include "compiler/schedule/persistent/exchange.h"
#include "compiler/schedule/persistent/input_fragments.h"
#include "compiler/schedule/persistent/matrix.h"
#include "compiler/schedule/persistent/step_products.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

class FragmentGatherProducts : public StepProducts {
 public:
  FragmentGatherProducts(PersistentKernel& kernel, const Task& task, const step::StepGraph& step,
                         const std::vector<ProductGroup>& groups, const std::vector<ProductSum>& sums,
                         std::int64_t other_words);

  void declare() override;
  void load_matrices() override;
  void expect_first() override {}
  bool reads(std::size_t group) const override { return reads_[group]; }
  void publish(std::size_t group, kernel::Value count, const std::vector<kernel::Value>& values) override;
  void start(int level, kernel::Value) override { multiply_inputs(level); }
  void finish(int level, kernel::Value count) override;
  void rearm(int level, kernel::Value count) override;
  bool rearming_fences() const override { return !groups_.empty(); }
  void multiply_role() override;
  kernel::Value value(std::size_t group, int product, int channel) const override;
  const GridRing& ring() const override { return ring_; }

  // Vectors of 16 bytes that a thread has in registers at once, at most: all of its k-tiles of a group.
  static constexpr int kMostVectors = 8;
  // Places for the sums of a step. A warp may be a step ahead of another one that adds up: it has the words
  // of its own k-tiles, which need not come from that warp's units. It is never two ahead, for all meet once
  // a step.
  static constexpr int kSlots = 2;

 private:
  // Two sums of a unit block, which a lane hands over as 16 bytes; an odd last one, as 8.
  static constexpr int kPair = 2;

  // What the products of a level are added up to.
  struct Level {
    std::vector<ProductSum> rows;
    kernel::Memory partial;  // [slots, unit blocks, batch tiles, pairs of rows, warps, lanes, 4 or 2]
    kernel::Array sums;      // of the thread's units: [unit blocks, batch tiles, rows, 2 batch rows]
  };
  struct Group {
    OnChipMatrix matrix;
    std::vector<int> tiles;           // of the level's tiles of 16 rows, those with a product of this group
    std::vector<int> product_of_row;  // by row of the level; -1: none
    std::unique_ptr<InputFragments> input;  // of a vector that is read
  };

  int rows(int level) const { return static_cast<int>(levels_[at(level)].rows.size()); }
  Group group_of(std::size_t number);
  const Group& first_of(int level) const;        // whose sums those of the level are
  std::int64_t before(std::size_t group) const;  // words of a slot
  int vectors_of_tile() const;                   // of 16 bytes, of a lane: a batch tile of a group
  int block_units() const { return geometry_.units / 8; }
  kernel::Value fragment(std::size_t group, int tile, kernel::Value k, int word);
  void load_own_matrices();
  void place_words();
  void send(std::size_t group, kernel::Value slot, int channel, const std::vector<kernel::Value>& words);
  void clear_sent(int level, kernel::Value count, bool clears);
  bool has_inputs(int level) const;
  void multiply_inputs(int level);
  void multiply_sent(int level, kernel::Value count, int rest);
  std::int64_t slot_sums(int level) const;
  kernel::Value sums_at(int level, kernel::Value slot, kernel::Value unit_block, int batch_tile, int row,
                        kernel::Value warp) const;
  void hand_over(int level, kernel::Value count);
  void take_over(int level, kernel::Value count);

  PersistentKernel& kernel_;
  const Problem& problem_;
  const PersistentGeometry& geometry_;
  const step::StepGraph& step_;
  const std::vector<ProductGroup>& groups_;
  std::vector<bool> reads_;  // by group
  std::vector<Level> levels_;
  MatrixSource source_;
  std::vector<Group> own_;
  GridRing ring_;  // a slot: [group that is sent][warp][batch tile][vector][quarter][batch row][4 words]
  kernel::Array vectors_;
  std::vector<std::vector<kernel::Value>> word_places_;  // of this lane's words in a slot, by unit block
  MatrixScratch scratch_;
};

}  // namespace rondo::schedule
