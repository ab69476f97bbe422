#include "compiler/schedule/host/step_product.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/schedule/host/register_tile.h"
#include "compiler/schedule/host/tiles.h"
#include "compiler/support/index.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

StepTile host_tile(const Problem& problem, const HostParameters& p) {
  StepTile tile;
  tile.dim = problem.sizes.dim;
  tile.units = p.channels();
  tile.threads = p.lanes;
  tile.batch = p.rows;
  tile.tiles = static_cast<int>(ceil_div(tile.dim, p.channels()));
  tile.padded = static_cast<int>(tile.dim);
  tile.row_by_row = true;
  return tile;
}

HostStepProduct::HostStepProduct(kernel::Builder& builder, const StepwiseSweep& sweep,
                                 const HostParameters& p, const std::vector<HostPacked>& packed,
                                 std::vector<std::size_t> own)
    : builder_(builder),
      sweep_(sweep),
      problem_(sweep.task.problem),
      p_(p),
      packed_(packed),
      own_(std::move(own)) {}

void HostStepProduct::declare(Signature& signature, kernel::Memory vectors) {
  from_ = vectors;
  std::int64_t sums = 0;
  bool scatters_any = false, multiplies_any = false, tiles_any = false, wide_any = false;
  for (std::size_t own = 0; own < own_.size(); ++own) {
    first_sum_.push_back(sums);
    sums += BlockedProduct::sum_elements(p_, static_cast<int>(group(own).products.size()), p_.rows);
    (scatters(own) ? scatters_any : multiplies_any) = true;
    (by_tiles(own) ? tiles_any : wide_any) = true;
  }
  if (multiplies_any) matrices_ = signature.reads({Role::Packed, -1});
  if (scatters_any) chosen_ = signature.reads({Role::Scratch, kChosen});
  const std::int64_t rows = static_cast<std::int64_t>(own_.size()) * p_.rows, dim = problem_.sizes.dim;
  const char* const order = "[group][batch row][column]";
  if (tiles_any)
    pairs_ = builder_.shared("vectors_own", kernel::Storage::BF16, rows * tile_pitch(dim), order);
  if (wide_any)
    vectors_ =
        builder_.shared("vectors_wide", kernel::Storage::F32, rows * vector_pitch(dim, p_.lanes), order);
  sums_ = builder_.shared("sums", kernel::Storage::F32, sums,
                          "[group][chunk of products][batch row][product][channel]");
}

BlockedProduct HostStepProduct::blocked(std::size_t own) const {
  return {p_,      packed_[own_[own]], matrices_.memory, vectors(own), pitch(own), sums_, p_.rows,
          p_.tile, group(own).kind,    place_.any};
}

std::int64_t HostStepProduct::first_vector(std::size_t own) const {
  return static_cast<std::int64_t>(own) * p_.rows * pitch(own);
}

std::int64_t HostStepProduct::pitch(std::size_t own) const {
  const std::int64_t dim = problem_.sizes.dim;
  return by_tiles(own) ? tile_pitch(dim) : vector_pitch(dim, p_.lanes);
}

void HostStepProduct::start(const Place& place) {
  auto& b = builder_;
  place_ = place;
  block_ = b.let("packed_block", place.head * packed_.front().tiles + place.tile);
  for (std::size_t own = 0; own < own_.size(); ++own) bring(own);
  b.barrier();
}

void HostStepProduct::bring(std::size_t own) {
  auto& b = builder_;
  const std::int64_t dim = problem_.sizes.dim;
  const std::int64_t whole = dim / p_.lanes * p_.lanes;
  const StepTile tile = host_tile(problem_, p_);
  b.for_("row", 0, p_.rows, 1, [&](Value row) {
    const Value batch_row = b.let("batch_row", min(place_.first_row + row, place_.batch - 1));
    const Value from = b.let(
        "from", vector_row(problem_, tile, packed_.size(), batch_row, place_.head, own_[own], place_.parity));
    const Value to = b.let("to", row * pitch(own) + first_vector(own));
    if (by_tiles(own)) return copy_pairs(b, pairs_, to, from_, from, dim, p_.lanes);
    const auto copy = [&](Value column) {
      b.store(vectors_[to + column], b.load("v", from_[from + b.wide(column)]));
    };
    b.for_("column", b.constant(0), b.constant(whole), b.constant(p_.lanes), 4,
           [&](Value column) { copy(column + b.thread()); });
    if (whole < dim) b.if_(b.thread() < dim - whole, [&] { copy(b.thread() + whole); });
  });
}

void HostStepProduct::multiply() {
  for (std::size_t own = 0; own < own_.size(); ++own)
    if (scatters(own))
      scatter(own);
    else
      blocked(own).multiply(builder_, block_, first_vector(own), first_sum_[own]);
}

// Which channels were chosen was said before the sweep, for each row by itself.
void HostStepProduct::scatter(std::size_t own) {
  builder_.for_("row", 0, p_.rows, 1, [&](Value row) {
    for (std::size_t product = 0; product < group(own).products.size(); ++product)
      scatter_row(own, product, row);
  });
}

void HostStepProduct::scatter_row(std::size_t own, std::size_t product, Value row) {
  auto& b = builder_;
  const std::int64_t dim = problem_.sizes.dim;
  const RowRef& from = sweep_.sweep.sources.at(group(own).products[product].chosen).row;
  const Value batch_row = b.let("batch_row", min(place_.first_row + row, place_.batch - 1));
  const bool forward = sweep_.sweep.order == TimeOrder::Forward;
  const Value t = b.let("t", forward ? place_.count : place_.time - 1 - place_.count);
  const Value chosen = b.let("chosen_at", chosen_.row_begin(batch_row) + b.wide(t) * chosen_.stride_t +
                                              b.wide(place_.head * (chosen_.rows * dim) + from.row * dim));
  const Value vector = b.let("vector_at", row * vector_pitch(dim, p_.lanes) + first_vector(own));
  std::vector<Value> channels;
  for (int v = 0; v < p_.vectors; ++v)
    channels.push_back(b.let("channel", b.to_real(place_.tile * p_.channels() + v * p_.lanes + b.thread())));
  RegisterTile sums;
  sums.kind = ProductKind::Scatter;
  sums.acc = b.array("acc", kernel::Type::F32, p_.vectors);
  sums.vectors = p_.vectors;
  sums.left = [&](Value k, int) { return b.load("v", vectors_[vector + k]); };
  sums.chosen = [&](Value k, int) { return b.load("chosen", chosen_.memory[chosen + b.wide(k)]); };
  sums.right = [&](Value, int v) { return channels[at(v)]; };
  for (int v = 0; v < p_.vectors; ++v) b.write(sums.acc, b.constant(v), b.real(0));
  const Value all = b.constant(dim);
  sums.multiply(b, b.constant(0), place_.any.valid() ? b.select(place_.any, all, b.constant(0)) : all);
  const Value to = b.let("sums_at", sum_at(own, product, row) + b.thread() + first_sum_[own]);
  for (int v = 0; v < p_.vectors; ++v) b.store(sums_[to + v * p_.lanes], b.read(sums.acc, b.constant(v)));
}

Value HostStepProduct::sum_at(std::size_t own, std::size_t product, Value row) const {
  if (!scatters(own)) return blocked(own).sum_at(static_cast<int>(product), row);
  const auto products = static_cast<std::int64_t>(group(own).products.size());
  return row * (products * p_.channels()) + static_cast<std::int64_t>(product) * p_.channels();
}

Value HostStepProduct::sum(std::size_t group, std::size_t product, int, Value unit, Value row) {
  const auto found = std::ranges::find(own_, group);
  if (found == own_.end()) throw std::logic_error("host: a product that this kernel does not make");
  const auto own = at(found - own_.begin());
  return builder_.load("product", sums_[sum_at(own, product, row) + unit + first_sum_[own]]);
}

}  // namespace rondo::schedule
