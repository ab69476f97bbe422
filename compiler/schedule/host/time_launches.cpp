#include "compiler/schedule/host/time_launches.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/host/register_tile.h"
#include "compiler/schedule/host/time_reader.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

using kernel::Value;

namespace {

constexpr int kTile = 6;    // rows of a register tile of two vectors
constexpr int kSteps = 24;  // of a block of a product, and
constexpr int kChunk = 64;  // of which a gradient's operands are brought at once

int round_up(std::int64_t value, int to) { return static_cast<int>((value + to - 1) / to * to); }

// Results of `kSteps` steps of a batch row for the channels of a tile.
class ProductBuilder {
 public:
  ProductBuilder(const step::Cell& cell, const Problem& problem, const HostParameters& p,
                 const std::vector<int>& scratch, const std::vector<TimeProduct>& products, std::size_t group)
      : problem_(problem),
        p_(p),
        products_(products),
        packed_(problem, p, static_cast<int>(products.size())),
        b_(fmt::format("{}_host_products_{}", cell.name, group), p.lanes, problem.math,
           fmt::format("{}: products of all steps", cell.name)),
        signature_(b_, cell, problem) {
    signature_.set_scratch(scratch);
  }

  Launch build() {
    KernelTensors tensors(signature_);
    const HostTimeReader reader(tensors, problem_, products_.front().vector);
    matrices_ = tensors.reads({Role::Packed, -1});
    for (const TimeProduct& product : products_) outputs_.push_back(tensors.writes(product.out.tensor));
    const std::int64_t dim = problem_.sizes.dim;
    const int pitch = round_up(dim, p_.lanes);
    vectors_ = b_.shared("vectors", kernel::Storage::F32, std::int64_t{kSteps} * pitch, "[step][column]");
    const Value batch = signature_.batch(), time = signature_.time();
    const Value spans = b_.let("spans", (time + (kSteps - 1)) / kSteps);
    const Value together = b_.let("blocks_of_a_tile", spans * batch);
    const Value tile = b_.let("tile", b_.block() / together), rest = b_.let("rest", b_.block() % together);
    HostTimeReader::Span span;
    span.row = b_.let("row", rest / spans);
    span.head = b_.let("head", tile / packed_.tiles);
    span.t = b_.let("first_step", rest % spans * kSteps);
    span.time = time;
    span.first = b_.constant(0);
    span.steps = kSteps, span.width = pitch, span.pitch = pitch, span.lanes = p_.lanes;
    reader.bring(vectors_, span);
    b_.barrier();
    for (int chunk = 0; chunk < packed_.chunks(); ++chunk)
      b_.for_("first_row", b_.constant(0), b_.constant(kSteps), b_.constant(p_.tile), 1,
              [&](Value row) { multiply(chunk, row, tile, span); });
    Launch launch{b_.finish(), signature_.arguments(), 0, packed_.heads * packed_.tiles};
    launch.time_tile = kSteps;
    return launch;
  }

 private:
  void multiply(int chunk, Value row, Value tile, const HostTimeReader::Span& span) {
    const int products = packed_.chunk_products(chunk), columns = products * p_.vectors;
    const kernel::Array sums = b_.array("sums", kernel::Type::F32, p_.tile * columns);
    for (int i = 0; i < p_.tile * columns; ++i) b_.write(sums, b_.constant(i), b_.real(0));
    const Value first = b_.let("matrix_at", packed_.chunk_at(tile, chunk) + b_.wide(b_.thread()));
    RegisterTile registers;
    registers.acc = sums;
    registers.rows = p_.tile, registers.vectors = columns;
    registers.left = [&](Value k, int r) { return b_.load("v", vectors_[(row + r) * span.pitch + k]); };
    registers.right = [&](Value k, int column) {
      return b_.load("r", matrices_.memory[first + b_.wide(k) * (std::int64_t{products} * p_.channels()) +
                                           std::int64_t{column} * p_.lanes]);
    };
    registers.multiply(b_, b_.constant(0), b_.constant(problem_.sizes.dim));
    for (int r = 0; r < p_.tile; ++r) {
      const Value t = b_.let("t", span.t + row + r);
      b_.if_(row + r < kSteps && t < span.time, [&] { store(chunk, r, t, tile, sums, span); });
    }
  }

  void store(int chunk, int r, Value t, Value tile, kernel::Array sums, const HostTimeReader::Span& span) {
    const std::int64_t dim = problem_.sizes.dim;
    const int products = packed_.chunk_products(chunk);
    for (int i = 0; i < products; ++i)
      for (int v = 0; v < p_.vectors; ++v) {
        const auto product = static_cast<std::size_t>(chunk * packed_.together + i);
        const KernelTensor& out = outputs_[product];
        const Value channel =
            b_.let("channel", tile % packed_.tiles * p_.channels() + v * p_.lanes + b_.thread());
        const Value place =
            b_.wide(span.row) * out.stride_b + b_.wide(t) * out.stride_t +
            b_.wide(span.head * (out.rows * dim) + products_[product].out.row * dim + channel);
        const Value sum = b_.read(sums, b_.constant((r * products + i) * p_.vectors + v));
        const auto put = [&] { b_.store(out.memory[place], sum); };
        if (dim % p_.channels() == 0)
          put();
        else
          b_.if_(channel < dim, put);
      }
  }

  const Problem& problem_;
  const HostParameters& p_;
  const std::vector<TimeProduct>& products_;
  const HostPacked packed_;
  kernel::Builder b_;
  Signature signature_;
  KernelTensor matrices_;
  std::vector<KernelTensor> outputs_;
  kernel::Memory vectors_;
};

// The gradient of one row of a matrix: a block owns `rows` x `columns` of it, which it sums in shared memory,
// `kChunk` steps after `kChunk` steps.
class GradientBuilder {
 public:
  GradientBuilder(const step::Cell& cell, const Problem& problem, const HostParameters& p,
                  const std::vector<int>& scratch, step::TensorId matrix, int row)
      : cell_(cell),
        problem_(problem),
        p_(p),
        matrix_(matrix),
        row_(row),
        rows_(std::min(60, round_up(problem.sizes.dim, kTile))),
        columns_(std::min(128, round_up(problem.sizes.dim, 2 * p.lanes))),
        b_(fmt::format("{}_host_grad_{}_{}", cell.name, cell.tensors[at(matrix)].name, row), p.lanes,
           problem.math,
           fmt::format("gradient of {}, row {}: outer products of all steps", cell.tensors[at(matrix)].name,
                       row)),
        signature_(b_, cell, problem) {
    signature_.set_scratch(scratch);
  }

  Launch build(const std::vector<const MatrixTerm*>& terms) {
    const std::int64_t dim = problem_.sizes.dim;
    const int row_tiles = static_cast<int>((dim + rows_ - 1) / rows_);
    const int column_tiles = static_cast<int>((dim + columns_ - 1) / columns_);
    KernelTensors tensors(signature_);
    std::vector<std::pair<HostTimeReader, HostTimeReader>> operands;
    for (const MatrixTerm* term : terms)
      operands.emplace_back(HostTimeReader(tensors, problem_, term->left),
                            HostTimeReader(tensors, problem_, term->right));
    const KernelTensor result = tensors.writes({Role::ParamGradient, matrix_});
    sums_ = b_.shared("sums", kernel::Storage::F32, std::int64_t{rows_} * columns_, "[row][column]");
    left_ = b_.shared("left", kernel::Storage::F32, std::int64_t{kChunk} * left_pitch(), "[step][row]");
    right_ = b_.shared("right", kernel::Storage::F32, std::int64_t{kChunk} * columns_, "[step][column]");
    const Value batch = signature_.batch(), time = signature_.time();
    const Value head = b_.let("head", b_.block() / (row_tiles * column_tiles));
    const Value first_row = b_.let("first_row", b_.block() / column_tiles % row_tiles * rows_);
    const Value first_column = b_.let("first_column", b_.block() % column_tiles * columns_);
    b_.for_("i", b_.constant(0), b_.constant(rows_ * columns_), b_.constant(p_.lanes), 1,
            [&](Value i) { b_.store(sums_[i + b_.thread()], b_.real(0)); });
    b_.for_("row", b_.constant(0), batch, b_.constant(1), 1, [&](Value row) {
      b_.for_("t", b_.constant(0), time, b_.constant(kChunk), 1, [&](Value t) {
        for (const auto& [left, right] : operands) {
          b_.barrier();
          HostTimeReader::Span span{row,          head,         t,       time, first_row, kChunk,
                                    left_pitch(), left_pitch(), p_.lanes};
          left.bring(left_, span);
          span.first = first_column, span.width = columns_, span.pitch = columns_;
          right.bring(right_, span);
          b_.barrier();
          add();
        }
      });
    });
    b_.barrier();
    store(result, head, first_row, first_column);
    return {b_.finish(), signature_.arguments(), problem_.sizes.heads * row_tiles * column_tiles, 0};
  }

 private:
  int left_pitch() const { return round_up(rows_, p_.lanes); }

  void add() {
    constexpr int kVectors = 2;
    b_.for_("tile_column", b_.constant(0), b_.constant(columns_), b_.constant(kVectors * p_.lanes), 1,
            [&](Value column) {
              b_.for_("tile_row", b_.constant(0), b_.constant(rows_), b_.constant(kTile), 1, [&](Value row) {
                const kernel::Array acc = b_.array("acc", kernel::Type::F32, kTile * kVectors);
                const auto place = [&](int i) {
                  return (row + i / kVectors) * columns_ + column + i % kVectors * p_.lanes + b_.thread();
                };
                for (int i = 0; i < kTile * kVectors; ++i)
                  b_.write(acc, b_.constant(i), b_.load("sum", sums_[place(i)]));
                RegisterTile tile;
                tile.acc = acc;
                tile.rows = kTile, tile.vectors = kVectors;
                tile.left = [&](Value k, int r) { return b_.load("l", left_[k * left_pitch() + row + r]); };
                tile.right = [&](Value k, int v) {
                  return b_.load("r", right_[k * columns_ + column + v * p_.lanes + b_.thread()]);
                };
                tile.multiply(b_, b_.constant(0), b_.constant(kChunk));
                for (int i = 0; i < kTile * kVectors; ++i)
                  b_.store(sums_[place(i)], b_.read(acc, b_.constant(i)));
              });
            });
  }

  void store(const KernelTensor& result, Value head, Value first_row, Value first_column) {
    const std::int64_t dim = problem_.sizes.dim;
    const int all_rows = cell_.tensors[at(matrix_)].rows;
    b_.for_("row", b_.constant(0), b_.constant(rows_), b_.constant(1), 1, [&](Value row) {
      b_.if_(first_row + row < dim, [&] {
        b_.for_("column", b_.constant(0), b_.constant(columns_), b_.constant(p_.lanes), 1, [&](Value column) {
          const Value j = b_.let("j", first_column + column + b_.thread());
          b_.if_(j < dim, [&] {
            const Value place =
                (b_.wide(head) * all_rows + row_) * (dim * dim) + b_.wide(first_row + row) * dim + b_.wide(j);
            b_.store(result.memory[place], b_.load("sum", sums_[row * columns_ + column + b_.thread()]));
          });
        });
      });
    });
  }

  const step::Cell& cell_;
  const Problem& problem_;
  const HostParameters& p_;
  step::TensorId matrix_;
  int row_, rows_, columns_;
  kernel::Builder b_;
  Signature signature_;
  kernel::Memory sums_, left_, right_;
};

std::vector<Launch> gradients(const step::Cell& cell, const Problem& problem, const HostParameters& p,
                              const std::vector<int>& scratch, const std::vector<MatrixTerm>& terms) {
  std::vector<Launch> launches;
  for (const step::TensorId matrix : cell.of_kind(step::TensorKind::Param)) {
    const step::Tensor& tensor = cell.tensors[at(matrix)];
    if (tensor.tail != step::Tail::Matrix) continue;
    for (int row = 0; row < tensor.rows; ++row) {
      std::vector<const MatrixTerm*> own;
      for (const MatrixTerm& term : terms)
        if (term.matrix == matrix && term.row == row) own.push_back(&term);
      launches.push_back(GradientBuilder(cell, problem, p, scratch, matrix, row).build(own));
    }
  }
  return launches;
}

}  // namespace

std::int64_t host_time_packed(const Problem& problem, const HostParameters& parameters, int products) {
  return HostPacked(problem, parameters, products).elements();
}

TimeLaunches host_time_launches(const step::Cell& cell, const Problem& problem, const HostParameters& p,
                                const std::vector<int>& scratch) {
  return {[&](const std::vector<TimeProduct>& products, std::size_t group) {
            std::vector<Product> matrices;
            for (const TimeProduct& product : products)
              matrices.push_back({step::kNoNode, product.matrix, product.row, false});
            const HostPacked packed(problem, p, static_cast<int>(products.size()));
            std::vector<Launch> launches;
            launches.push_back(host_pack(cell, problem, p, packed, matrices,
                                         fmt::format("{}_host_products_pack_{}", cell.name, group)));
            launches.push_back(ProductBuilder(cell, problem, p, scratch, products, group).build());
            return launches;
          },
          [&](const std::vector<MatrixTerm>& terms) { return gradients(cell, problem, p, scratch, terms); },
          [](const std::vector<MatrixTerm>&) { return std::int64_t{0}; }};
}

}  // namespace rondo::schedule
