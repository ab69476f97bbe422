// The products of a stage in an alternating kernel: matrices, packed, and vectors stream from L2 through a
// ring of chunks that each warp has for itself, and the warps' results meet in shared memory. On tensor cores
// (product.cpp), or by plain lanes (plain_product.cpp): products of fp32, and those over max and plus.
#pragma once

#include <vector>

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/alternating/kernels.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/stepwise/product.h"

namespace rondo::schedule {

class AlternatingProduct final : public StepProduct {
 public:
  // `own`: the groups of the step that are multiplied here. The sweep outlives it.
  AlternatingProduct(kernel::Builder& builder, const Problem& problem, const AlternatingSweep& sweep,
                     const std::vector<std::size_t>& own);

  void declare(Signature& signature, kernel::Memory vectors) override;

  // Starts the first copies.
  void start(const Place& place) override;
  // Multiplies and leaves the sums to all threads of the block.
  void multiply() override;
  // A product's value for unit `unit` and batch row `row` of the block.
  kernel::Value sum(std::size_t group, std::size_t product, int turn, kernel::Value unit,
                    kernel::Value row) override;

  // Bytes of shared memory.
  static std::int64_t ring_bytes(const AlternatingGeometry& geometry, int pieces);
  static std::int64_t partial_bytes(const AlternatingGeometry& geometry, int row_tiles);

 private:
  static constexpr int kReals = 4;  // fp32 numbers in 16 bytes
  struct Group {
    std::size_t index;  // among all
    int row_tiles;
    int first_tile;     // of the stage's row tiles
    int first_piece;    // of a chunk: matrices, then vectors
    int matrix_pieces;  // 0 where a group before has the same matrices
    int first_matrix;   // piece of these
    std::int64_t first_packed;
    int first_chosen;         // of the chosen channels' pieces, [product][batch tile]
    kernel::Value packed_at;  // the lane's first 16 bytes
  };

  const ProductGroup& of(const Group& group) const { return groups_[group.index]; }
  bool plain(const Group& group) const { return is_plain(problem_, of(group)); }
  bool scatters(const Group& group) const { return of(group).kind == ProductKind::Scatter; }
  bool any_plain() const;
  int batch_tiles() const { return geometry_.p.batch_tiles; }
  int pitch() const;  // of the sums: [warps][batch][row tiles * 16], padded
  void copy(kernel::Value turn, kernel::Value slot);
  void multiply_pairs(const Group& group, kernel::Value slot);
  void hand_over();
  // By plain lanes.
  using Columns = std::vector<std::vector<kernel::Value>>;  // by batch row: 16 bytes of a vector
  std::vector<kernel::Value> load_reals(const std::string& name, kernel::Place from);
  Columns load_columns(const Group& group, kernel::Value slot, kernel::Value part);
  void multiply_plain(const Group& group, kernel::Value slot);
  void start_chosen(const Place& place);
  void copy_chosen(const Group& group, kernel::Value chunk, kernel::Value slot);
  void scatter(const Group& group, kernel::Value slot, kernel::Value chosen_slot);
  void add_chosen(const Group& group, int product, const std::vector<kernel::Value>& chosen, int batch_row,
                  const std::vector<kernel::Value>& values);

  kernel::Builder& builder_;
  const Problem& problem_;
  const Sweep& sweep_;
  const AlternatingGeometry& geometry_;
  const std::vector<ProductGroup>& groups_;
  std::vector<Group> own_;
  int row_tiles_ = 0, pieces_ = 0, chosen_pieces_ = 0;
  KernelTensor packed_, chosen_;
  kernel::Memory vectors_, ring_, chosen_ring_, partial_;
  kernel::Array sums_, matrix_, vector_;
  kernel::Value warp_, lane_, group_lane_, quarter_, count_;
  kernel::Value own_ring_, own_vector_;   // the lane's first place in the ring
  std::vector<kernel::Value> vector_at_;  // by batch tile: the lane's first 16 bytes of group 0
  std::vector<kernel::Value>
      chosen_at_;  // by batch tile: the head's row 0 of the lane's batch row, at the step
  std::vector<kernel::Value> own_units_;  // by 8 units of the block: the lane's channel, as a number
};

}  // namespace rondo::schedule
