// The products of a stage in an alternating kernel: matrices, packed, and vectors stream from L2 through a
// ring of chunks that each warp has for itself, and the warps' sums meet in shared memory.
#pragma once

#include <vector>

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/alternating/geometry.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/stepwise/product.h"

namespace rondo::schedule {

class AlternatingProduct final : public StepProduct {
 public:
  // `groups` are all groups of the step, `own` those that are multiplied here.
  AlternatingProduct(kernel::Builder& builder, const Problem& problem, const AlternatingGeometry& geometry,
                     const std::vector<ProductGroup>& groups, const std::vector<std::size_t>& own);

  void declare(Signature& signature, kernel::Memory vectors) override;

  // Starts the first copies.
  void start(const Place& place) override;
  // Multiplies and leaves the sums to all threads of the block.
  void multiply() override;
  // A product's value for unit `unit` and batch row `row` of the block.
  kernel::Value sum(std::size_t group, std::size_t product, int turn, kernel::Value unit,
                    kernel::Value row) override;

  // Bytes of shared memory.
  static std::int64_t ring_bytes(const AlternatingGeometry& geometry, int row_tiles, int groups);
  static std::int64_t partial_bytes(const AlternatingGeometry& geometry, int row_tiles);

 private:
  struct Group {
    std::size_t index;  // among all
    int row_tiles;
    int first_tile;   // of the stage's row tiles
    int first_piece;  // of a chunk: matrices, then vectors
    std::int64_t first_packed;
    kernel::Value packed_at;  // the lane's first 16 bytes
  };

  bool tensor_cores() const { return problem_.storage != kernel::Storage::F32; }
  int batch_tiles() const { return geometry_.p.batch_tiles; }
  int pitch() const;  // of the sums: [warps][batch][row tiles * 16], padded
  void copy(kernel::Value turn, kernel::Value slot);
  void multiply_pairs(const Group& group, kernel::Value slot);
  void multiply_reals(const Group& group, kernel::Value slot);
  void hand_over();

  kernel::Builder& builder_;
  const Problem& problem_;
  const AlternatingGeometry& geometry_;
  const std::vector<ProductGroup>& groups_;
  std::vector<Group> own_;
  int row_tiles_ = 0, pieces_ = 0;
  KernelTensor packed_;
  kernel::Memory vectors_, ring_, partial_;
  kernel::Array sums_, matrix_, vector_;
  kernel::Value warp_, lane_, group_lane_, quarter_, count_;
  kernel::Value own_ring_, own_vector_;   // the lane's first place in the ring
  std::vector<kernel::Value> vector_at_;  // by batch tile: the lane's first 16 bytes of group 0
};

}  // namespace rondo::schedule
