#include "compiler/schedule/host/step_product.h"

#include <algorithm>
#include <stdexcept>

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

HostStepProduct::HostStepProduct(kernel::Builder& builder, const Problem& problem, const HostParameters& p,
                                 const std::vector<HostPacked>& packed, std::vector<std::size_t> own)
    : builder_(builder), problem_(problem), p_(p), packed_(packed), own_(std::move(own)) {}

void HostStepProduct::declare(Signature& signature, kernel::Memory vectors) {
  from_ = vectors;
  matrices_ = signature.reads({Role::Packed, -1});
  std::int64_t sums = 0;
  for (const std::size_t group : own_) {
    first_sum_.push_back(sums);
    sums += BlockedProduct::sum_elements(p_, packed_[group].products, p_.rows);
  }
  const std::int64_t rows = static_cast<std::int64_t>(own_.size()) * p_.rows;
  vectors_ = builder_.shared("vectors_wide", kernel::Storage::F32,
                             rows * vector_pitch(problem_.sizes.dim, p_.lanes), "[group][batch row][column]");
  sums_ = builder_.shared("sums", kernel::Storage::F32, sums,
                          "[group][chunk of products][batch row][product][channel]");
}

BlockedProduct HostStepProduct::blocked(std::size_t own) const {
  return {p_,
          packed_[own_[own]],
          matrices_.memory,
          vectors_,
          vector_pitch(problem_.sizes.dim, p_.lanes),
          sums_,
          p_.rows,
          p_.tile,
          place_.any};
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
  const std::int64_t dim = problem_.sizes.dim, pitch = vector_pitch(dim, p_.lanes);
  const std::int64_t whole = dim / p_.lanes * p_.lanes;
  const StepTile tile = host_tile(problem_, p_);
  b.for_("row", 0, p_.rows, 1, [&](Value row) {
    const Value batch_row = b.let("batch_row", min(place_.first_row + row, place_.batch - 1));
    const Value from = b.let(
        "from", vector_row(problem_, tile, packed_.size(), batch_row, place_.head, own_[own], place_.parity));
    const Value to = b.let("to", row * pitch + static_cast<std::int64_t>(own) * p_.rows * pitch);
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
    blocked(own).multiply(
        builder_, block_,
        static_cast<std::int64_t>(own) * p_.rows * vector_pitch(problem_.sizes.dim, p_.lanes),
        first_sum_[own]);
}

Value HostStepProduct::sum(std::size_t group, std::size_t product, int, Value unit, Value row) {
  const auto found = std::ranges::find(own_, group);
  if (found == own_.end()) throw std::logic_error("host: a product that this kernel does not make");
  const auto own = at(found - own_.begin());
  const Value at_row = blocked(own).sum_at(static_cast<int>(product), row);
  return builder_.load("product", sums_[at_row + unit + first_sum_[own]]);
}

}  // namespace rondo::schedule
