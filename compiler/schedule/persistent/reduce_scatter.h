// Products with a reduce-scatter: every block holds the columns of its own channels, multiplies its own part
// of the vectors, and sends each block the part of the sums that is that block's. A backward pass that
// multiplies a vector for each gate, and only adds the products up, exchanges far less this way. What goes
// back by chosen channels has no matrix: a block adds up what its own channels have chosen. With
// cluster_k_split some blocks share their columns.
#pragma once

#include <vector>

#include "compiler/schedule/persistent/exchange.h"
#include "compiler/schedule/persistent/matrix.h"
#include "compiler/schedule/persistent/step_products.h"

namespace rondo::schedule {

class ReduceScatterProducts : public StepProducts {
 public:
  ReduceScatterProducts(PersistentKernel& kernel, const Problem& problem,
                        const std::vector<ProductGroup>& groups, const std::vector<ProductSum>& sums,
                        std::int64_t other_words);

  void declare() override;
  void load_matrices() override {}  // the multiplying warps do
  void expect_first() override;
  void publish(std::size_t group, kernel::Value count, const std::vector<kernel::Value>& values) override;
  void publish_chosen(std::size_t group, int product, kernel::Value count,
                      const std::vector<kernel::Value>& channels) override;
  void start(int level, kernel::Value count) override;
  void finish(int level, kernel::Value count) override;
  void rearm(int level, kernel::Value count) override;
  void multiply_role() override;
  kernel::Value value(std::size_t group, int product, int channel) const override;
  const GridRing& ring() const override { return ring_; }

  // Words of a slot of the ring in global memory.
  static std::int64_t slot_words(const PersistentGeometry& geometry, std::size_t sums);
  // Threads that collect the sums of one block, `lines` to a channel and batch tile.
  static int collect_lines(const PersistentGeometry& geometry);

 private:
  struct Sum {
    std::vector<ProductSum::Term> terms;  // those with a matrix first
    int with_matrix = 0;
    OnChipMatrix matrix;    // row tiles of the whole head by the block's channels, for each of these
    kernel::Memory vector;  // [slots, batch tiles, terms, columns, 8]: this block's part of the vectors
    kernel::Memory chosen;  // [slots, batch tiles, terms without one, columns, 8] fp32: channels
    kernel::Memory parts;   // no grid: [2, batch tiles, blocks, units, 8]: what the blocks have sent
    kernel::Memory lines;   // grid: [batch tiles, lines, units, 8] fp32: partly summed
    std::vector<kernel::Value> totals;  // by channel
    std::int64_t elements = 0;          // of a slot of `vector`
    std::int64_t choices = 0;           // of a slot of `chosen`

    int all() const { return static_cast<int>(terms.size()); }
    int without_matrix() const { return all() - with_matrix; }
  };

  Sum sum_of(const ProductSum& sum) const;
  void add_chosen(std::size_t sum, kernel::Value count);
  void load_own_matrices();
  void load_matrix(std::size_t sum);
  void await_vectors(int level, kernel::Value count);
  void await_sums();
  void multiply_and_send(int level, kernel::Value count);
  void clear_sent(int level, kernel::Value count);
  void send_to_cluster(std::size_t sum, kernel::Value slot);
  void send_pieces(std::size_t sum, kernel::Value slot, int first, int count);
  void send_to_grid(std::size_t sum, kernel::Value slot, bool absent);
  void collect(int level, kernel::Value count);
  // `place` of the sum among those of its level.
  void add_lines(std::size_t sum, int tile, int place, int turns);
  void total_of_cluster(std::size_t sum, kernel::Value slot);
  void total_of_grid(std::size_t sum);
  void expect(int level, kernel::Value slot);
  // Copies of the vectors. A grid without cluster_k_split needs one: no other block sends vectors, and all
  // warps meet between reading a step's vectors and writing the next ones (kCollectBarrier). All others have
  // two, so that the next step's vectors may come while warps still read this step's.
  int vector_slots() const { return geometry_.in_grid() && geometry_.p.cluster_k_split == 1 ? 1 : 2; }
  // A piece is what the 8 rows of half a row tile and a tile of the batch give: one pair a lane.
  int pieces() const { return 2 * geometry_.sum_tiles() * geometry_.p.batch_tiles; }
  std::vector<kernel::Value> packed(std::size_t sum, int piece) const;
  kernel::Value row_share() const;           // which share of the head's rows this warp multiplies
  kernel::Value multiplying_thread() const;  // number among the threads that multiply
  std::vector<std::size_t> of_level(int level) const;
  kernel::Value block_of_rows(kernel::Value piece) const;  // number of the 8 rows within the head

  PersistentKernel& kernel_;
  const Problem& problem_;
  const PersistentGeometry& geometry_;
  const std::vector<ProductGroup>& groups_;
  const std::vector<ProductSum>& sums_;
  MatrixSource source_;
  std::vector<Sum> own_;
  GridRing ring_;  // a slot: [block][sum][row_vectors()][batch tile][sender][units][4 words]
  kernel::Array collected_;
  std::vector<kernel::Mbarrier>
      gathered_;                         // by level: the vectors of the blocks that share columns are there
  std::vector<kernel::Mbarrier> ready_;  // by level: the sums have come from all blocks of the cluster
  MatrixScratch scratch_;
};

}  // namespace rondo::schedule
