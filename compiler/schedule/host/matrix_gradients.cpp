#include "compiler/schedule/host/matrix_gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/schedule/host/register_tile.h"
#include "compiler/schedule/host/tiles.h"
#include "compiler/schedule/host/time_reader.h"
#include "compiler/support/index.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

constexpr int kTile = 8;                          // rows of a register tile, and
constexpr int kVectors = 2;                       // its vectors
constexpr int kTileUnit = 2 * kernel::kTileRows;  // rows and columns come in so many, by matrix tiles
constexpr int kChunk = 64;                        // steps of which operands are brought at once
constexpr int kLargeDim = 512;  // from which on there are enough blocks of 128 x 128 for many threads

// Equal parts of at most `most`, each a multiple of `unit`, that cover `count`.
int even_part(std::int64_t count, int most, int unit) {
  const std::int64_t parts = ceil_div(count, most);
  return static_cast<int>(round_up(ceil_div(count, parts), unit));
}

// The gradient of one row of a matrix: a block owns `rows` x `columns` of it, which it sums in shared memory,
// `kChunk` steps after `kChunk` steps.
class GradientBuilder {
 public:
  GradientBuilder(const Task& task, const HostParameters& p, const std::vector<int>& scratch,
                  step::TensorId matrix, int row, bool tiles)
      : task_(task),
        p_(p),
        matrix_(matrix),
        row_(row),
        across_(step::columns(task.cell.tensor(matrix), task.problem.sizes)),
        tiles_(tiles),
        rows_(even_part(task.problem.sizes.dim, task.problem.sizes.dim < kLargeDim ? 64 : 128,
                        tiles ? kTileUnit : kTile)),
        columns_(even_part(across_, 128, std::max(kTileUnit, kVectors * p.lanes))),
        b_(fmt::format("{}_host_grad_{}_{}", task.cell.name, task.cell.tensor(matrix).name, row), p.lanes,
           task.problem.math,
           fmt::format("gradient of {}, row {}: outer products of all steps", task.cell.tensor(matrix).name,
                       row)),
        signature_(b_, task) {
    signature_.set_scratch(scratch);
  }

  Launch build(const std::vector<const MatrixTerm*>& terms) {
    const std::int64_t dim = task_.problem.sizes.dim;
    const int row_tiles = static_cast<int>(ceil_div(dim, rows_));
    const int column_tiles = static_cast<int>(ceil_div(across_, columns_));
    KernelTensors tensors(signature_);
    std::vector<Operands> operands;
    for (const MatrixTerm* term : terms) {
      const HostTimeReader right(tensors, task_.problem, term->right);
      operands.push_back({HostTimeReader(tensors, task_.problem, term->left), right, term->chosen});
    }
    std::optional<KernelTensor> lengths;
    const std::optional<step::TensorId> length = task_.cell.first_of_kind(step::TensorKind::Length);
    const auto reads_input = [](const MatrixTerm* term) {
      return term->right.row.tensor.role == Role::Input;
    };
    if (length && std::ranges::any_of(terms, reads_input)) lengths = tensors.reads({Role::Lengths, *length});
    const KernelTensor result = tensors.writes({Role::ParamGradient, matrix_});
    sums_ = b_.shared("sums", kernel::Storage::F32, std::int64_t{rows_} * columns_, "[row][column]");
    const kernel::Storage operand = tiles_ ? kernel::Storage::BF16 : kernel::Storage::F32;
    left_ = b_.shared("left", operand, std::int64_t{kChunk} * left_pitch(), "[step][row]");
    if (tiles_) {
      left_tiles_ = b_.shared("left_tiles", operand, std::int64_t{kChunk} * rows_, "[row][step]");
      right_tiles_ =
          b_.shared("right_tiles", operand, std::int64_t{kChunk} * columns_, "[32 steps][16 columns][tile]");
    }
    const auto is_chosen = [](const MatrixTerm* term) { return term->chosen; };
    if (terms.empty() || !std::ranges::all_of(terms, is_chosen))
      right_ = b_.shared("right", operand, std::int64_t{kChunk} * columns_,
                         tiles_ ? "[step][column]" : "[strip][step][column]");
    if (std::ranges::any_of(terms, is_chosen))
      chosen_ = b_.shared("chosen", kernel::Storage::F32, std::int64_t{kChunk} * left_pitch(), "[step][row]");
    const Value batch = signature_.batch(), time = signature_.time();
    const Value head = b_.let("head", b_.block() / (row_tiles * column_tiles));
    signature_.set_head(head);
    const Value first_row = b_.let("first_row", b_.block() / column_tiles % row_tiles * rows_);
    const Value first_column = b_.let("first_column", b_.block() % column_tiles * columns_);
    b_.for_("i", b_.constant(0), b_.constant(rows_ * columns_), b_.constant(p_.lanes), 1,
            [&](Value i) { b_.store(sums_[i + b_.thread()], b_.real(0)); });
    b_.for_("row", b_.constant(0), batch, b_.constant(1), 1, [&](Value row) {
      const auto [begin, end] = valid_steps(lengths, row, time);
      b_.for_("t", begin, end, b_.constant(kChunk), 1, [&, end = end](Value t) {
        for (const Operands& of : operands) {
          HostTimeReader::Span span;
          span.row = row, span.head = head, span.t = t, span.lanes = p_.lanes;
          span.steps = b_.let("steps", min(end - t, b_.constant(kChunk)));
          b_.barrier();
          if (tiles_) {
            bring_tiles(of, span, first_row, first_column);
            b_.barrier();
            add_tiles(span.steps);
            continue;
          }
          bring(of, span, first_row, first_column);
          b_.barrier();
          add(of.chosen, span.steps, first_column);
        }
      });
    });
    b_.barrier();
    store(result, head, first_row, first_column);
    return {b_.kernel(), signature_.arguments(), task_.problem.sizes.heads * row_tiles * column_tiles, 0};
  }

 private:
  struct Operands {
    HostTimeReader left, right;
    bool chosen;  // right are columns, one for each row
  };

  // Those that may be read: past the end of a row an input may be anything. They come first where time is
  // reversed.
  std::pair<Value, Value> valid_steps(const std::optional<KernelTensor>& lengths, Value row, Value time) {
    if (!lengths) return {b_.constant(0), time};
    const Value length = b_.let("length", min(b_.load("length", lengths->memory[row]), time));
    const auto at = [&](Value forward, Value back) {
      return signature_.by_direction([&] { return forward; }, [&] { return back; });
    };
    return {at(b_.constant(0), time - length), at(length, time)};
  }

  int left_pitch() const { return round_up(rows_, p_.lanes); }

  int strip() const { return kVectors * p_.lanes; }

  void bring(const Operands& of, HostTimeReader::Span span, Value first_row, Value first_column) {
    const std::int64_t dim = task_.problem.sizes.dim;
    span.first = first_row, span.place = b_.constant(0);
    span.width = span.pitch = left_pitch();
    span.whole = dim % rows_ == 0 && left_pitch() == rows_;
    of.left.bring(left_, span);
    if (of.chosen) return of.right.bring(chosen_, span);
    b_.for_("strip", b_.constant(0), b_.constant(columns_ / strip()), b_.constant(1), 1, [&](Value i) {
      span.first = b_.let("first", first_column + i * strip());
      span.place = b_.let("strip_at", i * (kChunk * strip()));
      span.width = span.pitch = strip();
      span.whole = across_ % columns_ == 0;
      of.right.bring(right_, span);
    });
  }

  // Steps of whole tiles: zeros behind the last one that is there.
  void bring_tiles(const Operands& of, HostTimeReader::Span span, Value first_row, Value first_column) {
    const std::int64_t dim = task_.problem.sizes.dim;
    span.place = b_.constant(0), span.pairs = true;
    const auto one = [&](const HostTimeReader& reader, kernel::Memory to, Value first, int width,
                         bool whole) {
      span.first = first, span.width = span.pitch = width, span.whole = whole;
      reader.bring(to, span);
      b_.for_("i", span.steps * width, tile_steps(span.steps) * (kernel::kTileStep * width),
              b_.constant(p_.lanes), 1, [&](Value i) { b_.store(to[i + b_.thread()], b_.real(0)); });
    };
    one(of.left, left_, first_row, rows_, dim % rows_ == 0);
    one(of.right, right_, first_column, columns_, across_ % columns_ == 0);
  }
  Value tile_steps(Value steps) { return b_.let("tile_steps", ceil_div(steps, kernel::kTileStep)); }

  void add_tiles(Value steps) {
    constexpr int kStep = kernel::kTileStep, kAcross = kernel::kTileRows;
    const Value count = tile_steps(steps);
    b_.for_("step", b_.constant(0), count, b_.constant(1), 1, [&](Value step) {
      b_.for_("tile_row", b_.constant(0), b_.constant(rows_), b_.constant(kAcross), 1, [&](Value row) {
        b_.pack_tile({left_tiles_[row * kChunk + step * kStep], kChunk},
                     {left_[step * (kStep * rows_) + row], rows_}, true);
      });
      b_.for_("tile_column", b_.constant(0), b_.constant(columns_), b_.constant(kAcross), 1,
              [&](Value column) {
                const Value from = b_.let("pack_from", step * (kStep * columns_));
                b_.pack_tile({right_tiles_[from + column * kStep], kStep}, {right_[from + column], columns_},
                             false);
              });
    });
    b_.barrier();
    b_.for_("tile_row", b_.constant(0), b_.constant(rows_), b_.constant(kTileUnit), 1, [&](Value row) {
      b_.tile_mma(kTileUnit, columns_, count, true, {sums_[row * columns_], columns_},
                  {left_tiles_[row * kChunk], kChunk}, right_tiles_[b_.constant(0)]);
    });
  }

  void add(bool chosen, Value steps, Value first_column) {
    b_.for_("tile_column", b_.constant(0), b_.constant(columns_), b_.constant(strip()), 1, [&](Value column) {
      const Value strip_at = b_.let("strip_at", column * kChunk + b_.thread());
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
          return b_.load("r", right_[strip_at + k * strip() + v * p_.lanes]);
        };
        std::vector<Value> columns;
        if (chosen) {
          for (int v = 0; v < kVectors; ++v)
            columns.push_back(
                b_.let("own_column", b_.to_real(first_column + column + v * p_.lanes + b_.thread())));
          tile.kind = ProductKind::Scatter;
          tile.chosen = [&](Value k, int r) { return b_.load("c", chosen_[k * left_pitch() + row + r]); };
          tile.right = [&](Value, int v) { return columns[at(v)]; };
        }
        tile.multiply(b_, b_.constant(0), steps);
        for (int i = 0; i < kTile * kVectors; ++i) b_.store(sums_[place(i)], b_.read(acc, b_.constant(i)));
      });
    });
  }

  void store(const KernelTensor& result, Value head, Value first_row, Value first_column) {
    const std::int64_t dim = task_.problem.sizes.dim;
    const int all_rows = task_.cell.tensor(matrix_).rows;
    b_.for_("row", b_.constant(0), b_.constant(rows_), b_.constant(1), 1, [&](Value row) {
      b_.if_(first_row + row < dim, [&] {
        b_.for_("column", b_.constant(0), b_.constant(columns_), b_.constant(p_.lanes), 1, [&](Value column) {
          const Value j = b_.let("j", first_column + column + b_.thread());
          b_.if_(j < across_, [&] {
            const Value place = (b_.wide(head) * all_rows + row_) * (dim * across_) +
                                b_.wide(first_row + row) * across_ + b_.wide(j);
            b_.store(result.memory[place], b_.load("sum", sums_[row * columns_ + column + b_.thread()]));
          });
        });
      });
    });
  }

  const Task& task_;
  const HostParameters& p_;
  step::TensorId matrix_;
  int row_;
  std::int64_t across_;  // columns of the matrix
  bool tiles_;           // by matrix tiles
  int rows_, columns_;
  kernel::Builder b_;
  Signature signature_;
  kernel::Memory sums_, left_, right_, chosen_, left_tiles_, right_tiles_;
};

// Whether matrix tiles add up all terms of a matrix's row: columns past its end are zeros, and come in pairs.
bool by_tiles(const Task& task, const HostParameters& p, const std::vector<const MatrixTerm*>& terms) {
  const auto fits = [&](const MatrixTerm* term) {
    const std::int64_t across = step::columns(task.cell.tensor(term->matrix), task.problem.sizes);
    return !term->chosen && across % 2 == 0 && host_tiles(p, storage_of(term->left.row.tensor, task)) &&
           host_tiles(p, storage_of(term->right.row.tensor, task));
  };
  return !terms.empty() && std::ranges::all_of(terms, fits);
}

}  // namespace

std::vector<Launch> host_matrix_gradients(const Task& task, const HostParameters& p,
                                          const std::vector<int>& scratch,
                                          const std::vector<MatrixTerm>& terms,
                                          const std::vector<step::TensorId>& left_out) {
  std::vector<Launch> launches;
  for (const step::TensorId matrix : task.cell.of_kind(step::TensorKind::Param)) {
    const step::Tensor& tensor = task.cell.tensor(matrix);
    if (tensor.tail != step::Tail::Matrix || std::ranges::find(left_out, matrix) != left_out.end()) continue;
    for (int row = 0; row < tensor.rows; ++row) {
      std::vector<const MatrixTerm*> own;
      for (const MatrixTerm& term : terms)
        if (term.matrix == matrix && term.row == row) own.push_back(&term);
      launches.push_back(GradientBuilder(task, p, scratch, matrix, row, by_tiles(task, p, own)).build(own));
    }
  }
  return launches;
}

}  // namespace rondo::schedule
