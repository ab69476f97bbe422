#include "compiler/schedule/host/step_product.h"

#include <algorithm>
#include <stdexcept>

#include "compiler/schedule/host/register_tile.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Value;

StepTile host_tile(const Problem& problem, const HostParameters& p) {
  StepTile tile;
  tile.dim = problem.sizes.dim;
  tile.units = p.channels();
  tile.threads = p.lanes;
  tile.batch = p.rows;
  tile.tiles = static_cast<int>((tile.dim + p.channels() - 1) / p.channels());
  tile.padded = static_cast<int>(tile.dim);
  tile.row_a_turn = true;
  return tile;
}

HostStepProduct::HostStepProduct(kernel::Builder& builder, const Problem& problem, const HostParameters& p,
                                 const std::vector<HostPacked>& packed, std::vector<std::size_t> own)
    : builder_(builder), problem_(problem), p_(p), packed_(packed), own_(std::move(own)) {}

void HostStepProduct::declare(Signature& signature, kernel::Memory vectors) {
  vectors_ = vectors;
  matrices_ = signature.reads({Role::Packed, -1});
  if (widens())
    wide_ = builder_.shared("vectors_wide", kernel::Storage::F32,
                            static_cast<std::int64_t>(own_.size()) * p_.rows * problem_.sizes.dim,
                            "[group][batch row][column]");
}

void HostStepProduct::start(const Place& place) {
  auto& b = builder_;
  place_ = place;
  block_ = b.let("packed_block", place.head * packed_.front().tiles + place.tile);
  const StepTile tile = host_tile(problem_, p_);
  for (std::size_t own = 0; own < own_.size(); ++own) {
    rows_.emplace_back();
    for (int row = 0; row < p_.rows; ++row) {
      const Value batch_row = b.let("row", min(place.first_row + row, place.batch - 1));
      rows_.back().push_back(b.let("vector", vector_row(problem_, tile, packed_.size(), batch_row, place.head,
                                                        own_[own], place.parity)));
    }
  }
  if (!widens()) return;
  for (std::size_t own = 0; own < own_.size(); ++own) widen(own);
  b.barrier();
}

void HostStepProduct::widen(std::size_t own) {
  auto& b = builder_;
  const std::int64_t dim = problem_.sizes.dim;
  b.for_("column", b.thread(), b.constant(dim), b.constant(p_.lanes), 1, [&](Value column) {
    for (int row = 0; row < p_.rows; ++row)
      b.store(wide_[column + (static_cast<std::int64_t>(own) * p_.rows + row) * dim],
              b.load("v", vectors_[rows_[own][at(row)] + b.wide(column)]));
  });
}

void HostStepProduct::multiply() {
  for (std::size_t own = 0; own < own_.size(); ++own)
    for (int row = 0; row < p_.rows; row += p_.tile)
      for (int chunk = 0; chunk < packed_[own_[own]].chunks(); ++chunk) multiply(own, chunk, row);
}

void HostStepProduct::multiply(std::size_t own, int chunk, int first_row) {
  auto& b = builder_;
  const HostPacked& packed = packed_[own_[own]];
  const int rows = std::min(p_.tile, p_.rows - first_row), products = packed.chunk_products(chunk);
  const int columns = products * p_.vectors;
  const Part part{own_[own], chunk, first_row, rows, b.array("sums", kernel::Type::F32, rows * columns)};
  for (int i = 0; i < rows * columns; ++i) b.write(part.sums, b.constant(i), b.real(0));
  const Value first = b.let("matrix_at", packed.chunk_at(block_, chunk) + b.wide(b.thread()));
  const std::int64_t dim = problem_.sizes.dim, step = std::int64_t{products} * p_.channels();
  RegisterTile tile;
  tile.acc = part.sums;
  tile.rows = rows;
  tile.vectors = columns;
  tile.left = [&](Value k, int row) {
    const int of_block = first_row + row;
    if (!widens()) return b.load("v", vectors_[rows_[own][at(of_block)] + b.wide(k)]);
    return b.load("v", wide_[k + (static_cast<std::int64_t>(own) * p_.rows + of_block) * dim]);
  };
  tile.right = [&](Value k, int column) {
    return b.load("r", matrices_.memory[first + b.wide(k) * step + std::int64_t{column} * p_.lanes]);
  };
  const Value columns_read = b.constant(dim);
  tile.multiply(b, b.constant(0),
                place_.any.valid() ? b.select(place_.any, columns_read, b.constant(0)) : columns_read);
  parts_.push_back(part);
}

Value HostStepProduct::sum(std::size_t group, std::size_t product, int turn, Value, Value) {
  const int row = turn / p_.vectors, v = turn % p_.vectors;
  const int chunk = static_cast<int>(product) / p_.together,
            in_chunk = static_cast<int>(product) % p_.together;
  for (const Part& part : parts_)
    if (part.group == group && part.chunk == chunk && row >= part.first_row &&
        row < part.first_row + part.rows) {
      const int columns = packed_[group].chunk_products(chunk) * p_.vectors;
      return builder_.read(part.sums,
                           builder_.constant((row - part.first_row) * columns + in_chunk * p_.vectors + v));
    }
  throw std::logic_error("host: a product that this kernel does not make");
}

}  // namespace rondo::schedule
