// A block's tile of a matrix product: C[m, n] = sum over k of A[m, k] * B[k, n], with both operands staged
// through a ring in shared memory by asynchronous copies. What time_product and matrix_gradient share; they
// say where operands come from and where results go.
//
// Warps stand in a grid of warps_m x warps_n over the tile. With 16-bit storage each loads fragments by
// ldmatrix, adds with mma.m16n8k16, and keeps its part of C in fp32 (PTX ISA, warp-level matrix
// instructions). With fp32 storage, or where the tensor cores do not know the type, a lane has the same
// places of C and adds by multiply-adds (tile_reals.cpp); with `warpgroups` the tensor cores read the
// operands themselves (tile_warpgroups.cpp).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compiler/kernel/builder/builder.h"
#include "compiler/schedule/analysis/product_groups.h"
#include "compiler/schedule/problem/problem.h"
#include "compiler/target/profile.h"

namespace rondo::schedule {

struct GemmParameters {
  int tile_m = 128, tile_n = 128;  // of C, a block: multiples of 16 a warp
  int tile_k = 32;                 // of the sum, a stage: a multiple of 16
  int stages = 4;                  // in the ring
  int warps_m = 2, warps_n = 4;    // tile_m / warps_m x tile_n / warps_n of C a warp
  int vector = 8;   // elements one copy or store moves, at most 16 bytes: 8, 4, 2 or 1, divides all rows
  int split_k = 1;  // parts of a sum over steps, each by blocks of its own (matrix_gradient.h)
  // Products by warpgroups (sm_90; tile_warpgroups.cpp): 16-bit storage, 16 rows of C a warp, all of
  // tile_n columns, tile_k 64, whole copies of 16 bytes, 3 stages or more.
  bool warpgroups = false;
  // Products by multiply-adds (tile_reals.cpp): those of fp32 always are.
  bool multiply_adds = false;
  // What becomes of the terms: a Max, or the Channel that gives it, of products by multiply-adds alone, whose
  // elements of the sum lie side by side.
  ProductKind kind = ProductKind::Sum;

  int threads() const { return 32 * warps_m * warps_n; }
};

// The products these parameters are for; a MaxPlus is a TimeProduct over the semiring of max and plus.
enum class GemmUse { TimeProduct, MaxPlus, MatrixGradient };
// How much a head's product has. Of a TimeProduct `left` are the results, all in one launch, and `right` the
// elements that are added up; of a MatrixGradient the channels of its two factors.
struct GemmExtents {
  std::int64_t left = 1, right = 1;
};
// A good start. `vector`: the widest copies that the tensors allow, by their alignment and their rows.
GemmParameters gemm_parameters(const Problem& problem, const target::Profile& profile, GemmUse use,
                               GemmExtents extents, int vector);
// The same for heads of problem.sizes.dim channels with `rows` rows of matrices (products of one launch, or
// rows with gradients). `vector`: the widest copies that the alignment of the tensors allows.
GemmParameters gemm_parameters(const Problem& problem, const target::Profile& profile, GemmUse use, int rows,
                               int vector = 8);
// Channels that one access moves, in rows of `columns` of a tensor that is aligned to `vector` elements: at
// most 16 bytes, and a divisor of the row.
int widest_access(kernel::Storage storage, std::int64_t columns, int vector);
int widest_access(const Problem& problem, int vector);

class GemmTile {
 public:
  // What lies side by side in an operand's rows, in global memory as in shared: elements of the sum (A as
  // [m][k] and B as [n][k]), or elements of C (A as [k][m] and B as [k][n]).
  enum class Rows { AlongSum, MnMajor };
  enum class Side { A, B };

  // Declares the ring. Throws std::logic_error if the parameters do not fit together or `vector` does not
  // divide D. Whoever has rows of another extent sees to it that it divides these as well.
  GemmTile(kernel::Builder& builder, const Problem& problem, const GemmParameters& parameters, Rows rows);

  int vector() const { return p_.vector; }

  // Declares the sums as zero and works out the thread's places.
  void begin();

  // Adds the products of stages 0, 1, ... count - 1. `stage` copies both sides of a stage, far ahead of its
  // use, in this order. May be called again for further terms of the sum.
  void walk(kernel::Value count, const std::function<void(kernel::Value stage)>& stage);

  // The vectors of a side's tile that this thread stages: one at `row` and `column`, and below it one in
  // every `hop`-th row.
  struct Dealt {
    kernel::Value row, column;
    int hop;
  };
  const Dealt& dealt(Side side) const { return side == Side::A ? dealt_a_ : dealt_b_; }
  // Calls `copy` for each of them: turn 0, 1, ... at row `row`.
  using Copy = std::function<void(kernel::Place to, kernel::Value turn, kernel::Value row)>;
  void stage(Side side, const Copy& copy);
  void copy(kernel::Place to, kernel::Place from);  // one vector, to shared memory
  void clear(kernel::Place to, double value = 0);

  // After the walk: each pair of neighbours in n that the thread holds, by place in the tile; of a Channel
  // the numbers of the channels.
  using Pair = std::function<void(kernel::Value m, kernel::Value n, kernel::Value low, kernel::Value high)>;
  void each_pair(const Pair& pair);
  // After the walk: rounds C to the storage type and deals it out anew, so that each thread has whole vectors
  // along n and neighbouring threads neighbouring ones. `store` puts one where it
  // belongs, by store_vector().
  void each_vector(const std::function<void(kernel::Place from, kernel::Value m, kernel::Value n)>& store);
  void store_vector(kernel::Place to, kernel::Place from);  // one vector, from shared memory

 private:
  // A tile in shared memory. 16 bytes after each row: rows begin 16 bytes times an odd number apart, so the
  // eight rows that a phase of ldmatrix reads lie in different banks.
  struct Tile {
    int rows, columns, padding;
    int pitch() const { return columns + padding; }
    int elements() const { return rows * pitch(); }
  };
  Tile tile(int rows, int columns) const;
  Tile tile(Side side) const;
  static constexpr int kPanel = 64;  // elements a row of an operand of warpgroups (kernel::PanelOperand)
  bool tensor_cores() const { return halves() && !p_.multiply_adds; }
  bool halves() const { return scalar::is_half(problem_.storage); }
  int element_bytes() const { return kernel::storage_bytes(problem_.storage); }
  Dealt deal(const std::string& name, const Tile& tile);
  using Turn = std::function<void(kernel::Value turn, kernel::Value row)>;
  void each_turn(const Dealt& dealt, const Tile& tile, const Turn& body);
  void load_fragments(kernel::Value k);
  void multiply_step(kernel::Value k);
  // The forms for fp32 storage.
  void name_reals();
  void multiply_reals(kernel::Value k);
  void multiply_along_sum(kernel::Value four);
  void multiply_mn_major(kernel::Value k);
  void add_product(kernel::Value i, int half, int j, int side, kernel::Value a, kernel::Value b,
                   std::size_t e);
  kernel::Array results() const { return p_.kind == ProductKind::Channel ? channels_ : sums_; }
  // The forms with `warpgroups`.
  kernel::Value panel_column(const Dealt& dealt, Side side);
  void walk_warpgroups(kernel::Value count, const std::function<void(kernel::Value stage)>& stage);
  void multiply_stage(kernel::Value slot);
  kernel::Value next_slot(kernel::Value slot);
  void check() const;
  void check_warpgroups() const;

  int fragments_m() const { return p_.tile_m / p_.warps_m / 16; }  // m16 blocks of a warp
  int fragments_n() const { return p_.tile_n / p_.warps_n / 8; }   // n8 blocks of a warp
  int stage_elements() const { return tile(Side::A).elements() + tile(Side::B).elements(); }

  kernel::Builder& builder_;
  const Problem& problem_;
  GemmParameters p_;
  Rows rows_;
  kernel::Memory ring_;
  kernel::Array sums_, channels_, a_, b_;
  Dealt dealt_a_, dealt_b_;
  kernel::Value panel_a_, panel_b_;  // with `warpgroups`: where in a row of 64 this thread's copies go
  kernel::Value warp_m_, warp_n_, lane_, a_lane_, b_lane_;
  kernel::Value to_slot_;               // first element of the slot that is being filled
  kernel::Value a_rows_, b_rows_;       // rows this lane names (fp32: reads), in the slot that is multiplied
  kernel::Value first_summed_;          // of a Channel: that slot's first element of the sum
  std::vector<kernel::Value> numbers_;  // and those of the four that are added
};

}  // namespace rondo::schedule
