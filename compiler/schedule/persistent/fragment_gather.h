// Products with an all-gather through global memory in which nothing goes through shared memory on its way to
// the tensor cores. What blocks send each other are fragments, the B operands of mma (PTX ISA). A warp loads
// those of its own k-tiles into registers and multiplies all rows of the block by them, so that a block reads
// every word once. Sums of the warps then meet in shared memory, where the computing warps add them up.
#pragma once

#include <vector>

#include "compiler/schedule/persistent/exchange.h"
#include "compiler/schedule/persistent/matrix.h"
#include "compiler/schedule/persistent/step_products.h"

namespace rondo::schedule {

class FragmentGatherProducts : public StepProducts {
 public:
  FragmentGatherProducts(PersistentKernel& kernel, const Problem& problem,
                         const std::vector<ProductGroup>& groups, std::int64_t other_words);

  void declare() override;
  void load_matrices() override;
  void expect_first() override {}
  void publish(std::size_t group, kernel::Value count, const std::vector<kernel::Value>& values) override;
  void start(int, kernel::Value) override {}
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
  // Two products of a unit block, whose sums a lane hands over as 16 bytes; an odd last one, as 8.
  static constexpr int kPair = 2;

  struct Group {
    OnChipMatrix matrix;
    kernel::Memory partial;  // [slots, unit blocks, batch tiles, pairs of products, warps, lanes, 4 or 2]
    kernel::Array sums;      // of the thread's units: [unit blocks, batch tiles, products, 2 batch rows]
  };

  int products(std::size_t group) const { return static_cast<int>(groups_[group].products.size()); }
  int vectors_of_tile() const;  // of 16 bytes, of a lane: a batch tile of a group
  int block_units() const { return geometry_.units / 8; }
  kernel::Value fragment(const ProductGroup& group, int tile, kernel::Value k, int word);
  void load_own_matrices();
  void place_words();
  void send(std::size_t group, kernel::Value slot, int channel, const std::vector<kernel::Value>& words);
  void clear_sent(int level, kernel::Value count, bool clears);
  void multiply(int level, kernel::Value count, int rest);
  std::int64_t slot_sums(std::size_t group) const;
  kernel::Value sums_at(std::size_t group, kernel::Value slot, kernel::Value unit_block, int batch_tile,
                        int product, kernel::Value warp) const;
  void hand_over(std::size_t group, kernel::Value count);
  void take_over(std::size_t group, kernel::Value count);

  PersistentKernel& kernel_;
  const Problem& problem_;
  const PersistentGeometry& geometry_;
  const std::vector<ProductGroup>& groups_;
  MatrixSource source_;
  std::vector<Group> own_;
  GridRing ring_;  // a slot: [group][warp][batch tile][vector][quarter][batch row][4 words]
  kernel::Array vectors_;
  std::vector<std::vector<kernel::Value>> word_places_;  // of this lane's words in a slot, by unit block
  MatrixScratch scratch_;
};

}  // namespace rondo::schedule
