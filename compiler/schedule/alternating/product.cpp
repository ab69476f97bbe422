#include "compiler/schedule/alternating/product.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/lower/product_terms.h"

namespace rondo::schedule {

using kernel::kFullUnroll;

AlternatingProduct::AlternatingProduct(kernel::Builder& builder, const Problem& problem,
                                       const AlternatingSweep& sweep, const std::vector<std::size_t>& own)
    : builder_(builder),
      problem_(problem),
      sweep_(sweep.sweep),
      geometry_(sweep.geometry),
      groups_(sweep.stages.groups) {
  const std::vector<std::size_t> same = with_same_matrices(groups_);
  std::vector<std::int64_t> packed;  // by group: where its matrices begin
  std::int64_t next = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    packed.push_back(same[g] == g ? next : packed[same[g]]);
    if (same[g] == g) next += geometry_.packed_elements(problem, groups_[g]);
    if (std::ranges::find(own, g) == own.end()) continue;
    const auto before =
        std::ranges::find_if(own_, [&](const Group& other) { return same[other.index] == same[g]; });
    const bool shares = before != own_.end();
    const int matrices = shares ? 0 : geometry_.matrix_pieces(groups_[g]);
    own_.push_back({g,
                    geometry_.row_tiles(groups_[g]),
                    row_tiles_,
                    pieces_,
                    matrices,
                    shares ? before->first_matrix : pieces_,
                    packed[g],
                    chosen_pieces_,
                    {}});
    row_tiles_ += own_.back().row_tiles;
    pieces_ += matrices + batch_tiles();
    if (scatters(own_.back())) chosen_pieces_ += static_cast<int>(groups_[g].products.size()) * batch_tiles();
  }
}

bool AlternatingProduct::any_plain() const {
  return std::ranges::any_of(own_, [&](const Group& group) { return plain(group); });
}

std::int64_t AlternatingProduct::ring_bytes(const AlternatingGeometry& geometry, int pieces) {
  return std::int64_t{geometry.p.stages} * geometry.p.warps * pieces * AlternatingGeometry::kPieceBytes;
}

std::int64_t AlternatingProduct::partial_bytes(const AlternatingGeometry& geometry, int row_tiles) {
  return std::int64_t{geometry.p.warps} * geometry.batch * (16 * row_tiles + kReals) * 4;
}

// Rows lie along a line, so that neighbouring units are neighbours; lines begin 4 banks (mod 16) after each
// other, so that the 4 x 8 sums that lanes write at once lie in different banks.
int AlternatingProduct::pitch() const { return 16 * row_tiles_ + kReals; }

void AlternatingProduct::declare(Signature& signature, kernel::Memory vectors) {
  const AlternatingGeometry& g = geometry_;
  if (!std::ranges::all_of(own_, [&](const Group& group) { return scatters(group); }))
    packed_ = signature.reads({Role::Packed, -1});
  if (chosen_pieces_ > 0) chosen_ = signature.reads({Role::Scratch, kChosen});
  vectors_ = vectors;
  ring_ = builder_.shared("ring", problem_.storage,
                          std::int64_t{g.p.stages} * g.p.warps * pieces_ * g.piece_elements(),
                          fmt::format("[stages {}, warps {}, pieces {}, lanes 32, {}]", g.p.stages, g.p.warps,
                                      pieces_, g.lane_elements));
  if (chosen_pieces_ > 0)
    chosen_ring_ =
        builder_.shared("chosen_ring", kernel::Storage::F32,
                        std::int64_t{g.p.stages} * g.p.warps * chosen_pieces_ * g.chosen_elements(),
                        fmt::format("[stages {}, warps {}, pieces {}, columns {}]", g.p.stages, g.p.warps,
                                    chosen_pieces_, "in fours, 8 batch rows, 4"));
  partial_ =
      builder_.shared("partial", kernel::Storage::F32, std::int64_t{g.p.warps} * g.batch * pitch(),
                      fmt::format("[warps {}, batch {}, rows {} + 4]", g.p.warps, g.batch, 16 * row_tiles_));
}

void AlternatingProduct::start(const Place& place) {
  auto& b = builder_;
  const AlternatingGeometry& g = geometry_;
  b.comment("this warp's chunks of the columns, this lane's 16 bytes of their pieces");
  warp_ = b.let("warp", b.thread() / 32);
  lane_ = b.let("lane", b.thread() % 32);
  group_lane_ = b.let("group", lane_ / 4);
  quarter_ = b.let("quarter", lane_ % 4);
  count_ = b.let("count", (b.constant(g.chunks + g.p.warps - 1) - warp_) / g.p.warps);
  own_ring_ = b.let("own_ring", (warp_ * (pieces_ * 32) + lane_) * g.lane_elements);
  // For plain lanes: [16 bytes][8 rows], so that lanes that read different rows read different banks.
  own_vector_ = !any_plain() ? own_ring_
                             : b.let("own_vector",
                                     (warp_ * (pieces_ * 32) + quarter_ * 8 + group_lane_) * g.lane_elements);
  for (Group& group : own_) {
    if (group.matrix_pieces == 0) continue;
    const std::int64_t chunk = std::int64_t{group.matrix_pieces} * g.piece_elements();
    const Value first = b.wide(place.head * g.tiles + place.tile) * (g.chunks * chunk) + group.first_packed;
    group.packed_at = b.let("packed_at", first + b.wide(lane_ * g.lane_elements));
  }
  for (int j = 0; j < batch_tiles(); ++j) {
    // Rows past the batch are read as its last; nobody looks at their sums.
    const Value row = min(place.first_row + group_lane_ + 8 * j, place.batch - 1);
    vector_at_.push_back(
        b.let("vector_at", vector_row(problem_, g.tile(), groups_.size(), row, place.head, 0, place.parity) +
                               b.wide(quarter_ * g.lane_elements)));
  }
  if (chosen_pieces_ > 0) start_chosen(place);
  for (int turn = 0; turn + 1 < g.p.stages; ++turn) {
    if (g.chunks >= (turn + 1) * g.p.warps)
      copy(b.constant(turn), b.constant(turn));
    else
      b.if_(count_ >= turn + 1, [&] { copy(b.constant(turn), b.constant(turn)); });
    b.commit_copies();
  }
  // What is on its way is not waited for: past the end of all rows the sums stay as they begin.
  if (place.any.valid()) count_ = b.let("count", b.select(place.any, count_, b.constant(0)));
}

// Chunk `turn` of this warp.
void AlternatingProduct::copy(Value turn, Value slot) {
  auto& b = builder_;
  const AlternatingGeometry& g = geometry_;
  const Value chunk = b.let("chunk", turn * g.p.warps + warp_);
  const Value to = slot * (g.p.warps * pieces_ * g.piece_elements());
  for (const Group& group : own_) {
    const int pieces = group.matrix_pieces;
    if (scatters(group)) {
      copy_chosen(group, chunk, slot);
    } else if (pieces > 0) {
      const Value from = b.let("from", group.packed_at + b.wide(chunk) * (pieces * g.piece_elements()));
      b.for_("piece", 0, pieces, kFullUnroll, [&](Value piece) {
        b.copy_async(ring_[to + own_ring_ + (piece + group.first_piece) * g.piece_elements()],
                     packed_.memory[from + piece * g.piece_elements()], g.lane_elements);
      });
    }
    const Value own = plain(group) ? own_vector_ : own_ring_;
    for (int j = 0; j < batch_tiles(); ++j)
      b.copy_async(ring_[to + own + (group.first_piece + pieces + j) * g.piece_elements()],
                   vectors_[vector_at_[static_cast<std::size_t>(j)] +
                            static_cast<std::int64_t>(2 * group.index) * g.padded + b.wide(chunk * g.chunk)],
                   g.lane_elements);
  }
}

// On tensor cores a lane reads only what it has copied itself, so its own wait is enough. A plain lane also
// reads what other lanes have copied, so the warp synchronises. The copies of a turn come after that,
// because they go to the slot that the warp used up in the turn before.
void AlternatingProduct::multiply() {
  auto& b = builder_;
  const AlternatingGeometry& g = geometry_;
  sums_ = b.array("sums", Type::F32, row_tiles_ * batch_tiles() * 4);
  b.for_("i", 0, row_tiles_ * batch_tiles() * 4, kFullUnroll, [&](Value i) { b.write(sums_, i, b.real(0)); });
  for (const Group& group : own_)
    if (const double first = neutral(of(group).kind); first != 0)
      b.for_("i", group.first_tile * batch_tiles() * 4,
             (group.first_tile + group.row_tiles) * batch_tiles() * 4, kFullUnroll,
             [&](Value i) { b.write(sums_, i, b.real(first)); });
  if (!std::ranges::all_of(own_, [&](const Group& group) { return plain(group); })) {
    matrix_ = b.array("matrix_pairs", Type::I32, 4);
    vector_ = b.array("vector_pairs", Type::I32, batch_tiles() * 4);
  }
  const Value slot = b.variable("slot", b.constant(0));
  const Value to_slot = b.variable("to_slot", b.constant(g.p.stages - 1));
  const auto advance = [&](Value which) {
    b.assign(which, b.select(which == g.p.stages - 1, b.constant(0), which + 1));
  };
  b.for_("turn", b.constant(0), count_, b.constant(1), 1, [&](Value turn) {
    b.wait_copies(g.p.stages - 2);
    if (any_plain()) b.warp_sync();
    b.if_(turn + (g.p.stages - 1) < count_, [&] { copy(turn + (g.p.stages - 1), to_slot); });
    b.commit_copies();
    const Value from = b.let("from", slot * (g.p.warps * pieces_ * g.piece_elements()));
    for (const Group& group : own_)
      scatters(group) ? scatter(group, from, slot)
      : plain(group)  ? multiply_plain(group, from)
                      : multiply_pairs(group, from);
    advance(slot);
    advance(to_slot);
  });
  hand_over();
}

// A chunk is 32 columns, two mma. Lane 4g + q brings columns 8q to 8q + 7 of a vector as it lies in memory;
// the matrices are packed so that both fragments name these columns in the same order (pack.cpp).
void AlternatingProduct::multiply_pairs(const Group& group, Value slot) {
  auto& b = builder_;
  const AlternatingGeometry& g = geometry_;
  const Value from = slot + own_ring_;
  const auto piece = [&](Value number) { return ring_[from + number * g.piece_elements()]; };
  b.for_("j", 0, batch_tiles(), kFullUnroll, [&](Value j) {
    const auto pairs = b.load_packed("pair", piece(j + (group.first_piece + group.matrix_pieces)), 4);
    for (int i = 0; i < 4; ++i) b.write(vector_, j * 4 + i, pairs[static_cast<std::size_t>(i)]);
  });
  b.for_("i", 0, group.row_tiles, kFullUnroll, [&](Value i) {
    b.for_("half", 0, 2, kFullUnroll, [&](Value half) {
      const auto pairs = b.load_packed("pair", piece(i * 2 + half + group.first_matrix), 4);
      for (int k = 0; k < 4; ++k) b.write(matrix_, b.constant(k), pairs[static_cast<std::size_t>(k)]);
      b.for_("j", 0, batch_tiles(), kFullUnroll, [&](Value j) {
        b.mma(problem_.storage, sums_, ((i + group.first_tile) * batch_tiles() + j) * 4, matrix_,
              b.constant(0), vector_, j * 4 + half * 2);
      });
    });
  });
}

void AlternatingProduct::hand_over() {
  auto& b = builder_;
  b.comment("the sums of all warps meet in shared memory");
  const Value line = b.let("line", (warp_ * geometry_.batch + quarter_ * 2) * pitch() + group_lane_);
  b.for_("i", 0, row_tiles_, kFullUnroll, [&](Value i) {
    b.for_("j", 0, batch_tiles(), kFullUnroll, [&](Value j) {
      for (int k = 0; k < 4; ++k)
        b.store(partial_[line + (j * (8 * pitch()) + i * 16 + (k % 2 * pitch() + k / 2 * 8))],
                b.read(sums_, (i * batch_tiles() + j) * 4 + k));
    });
  });
  b.barrier();
}

Value AlternatingProduct::sum(std::size_t group, std::size_t product, int, Value unit, Value row) {
  auto& b = builder_;
  const auto own = std::ranges::find_if(own_, [&](const Group& g) { return g.index == group; });
  const std::int64_t first = own->first_tile * 16 + static_cast<std::int64_t>(product) * geometry_.p.units;
  const Value at = b.let("sum_at", row * pitch() + unit + first);
  Value total;
  for (int warp = 0; warp < geometry_.p.warps; ++warp) {
    const Value part = b.load("part", partial_[at + warp * geometry_.batch * pitch()]);
    total = total.valid() ? joined(b, of(*own).kind, total, part) : part;
  }
  return total;
}

}  // namespace rondo::schedule
