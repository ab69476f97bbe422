#include "compiler/schedule/gemm/time_product.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "compiler/schedule/lower/product_terms.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

using kernel::Place;

namespace {

// Products with neighbouring rows: one product with `rows` * D outputs.
struct ProductRun {
  step::TensorId matrix;
  int row;
  RowRef out;
  int rows;
  KernelTensor weights = {}, results = {};  // as the kernel sees them
};

bool follows(const ProductRun& run, const TimeProduct& product) {
  return product.matrix == run.matrix && product.row == run.row + run.rows &&
         product.out.tensor == run.out.tensor && product.out.row == run.out.row + run.rows;
}

std::vector<ProductRun> runs_of(std::vector<TimeProduct> products) {
  std::ranges::stable_sort(products, [](const TimeProduct& a, const TimeProduct& b) {
    return std::tie(a.matrix, a.row) < std::tie(b.matrix, b.row);
  });
  std::vector<ProductRun> runs;
  for (const TimeProduct& product : products) {
    if (!runs.empty() && follows(runs.back(), product))
      ++runs.back().rows;
    else
      runs.push_back({product.matrix, product.row, product.out, 1});
  }
  return runs;
}

bool is_packed(const TimeProduct& product) { return product.matrix < 0; }

// Unique among the kernels of a plan: no two launches compute the same product.
std::string name_for(const step::Cell& cell, const std::vector<TimeProduct>& products) {
  const TimeProduct& first = products.front();
  if (is_packed(first))
    return fmt::format("{}_{}_{}", cell.name, name_of(first.out.tensor, cell), first.out.row);
  const char* const kind = first.kind == ProductKind::Sum   ? "product"
                           : first.kind == ProductKind::Max ? "max_plus"
                                                            : "chosen";
  return fmt::format("{}_{}_{}_{}_of_{}{}_{}", cell.name, kind, name_of({Role::Param, first.matrix}, cell),
                     first.row, first.vector.shifted ? "previous_" : "",
                     name_of(first.vector.row.tensor, cell), first.vector.row.row);
}

class TimeProductKernel {
 public:
  TimeProductKernel(const Task& task, const std::vector<TimeProduct>& products,
                    const std::vector<int>& scratch_rows, const GemmParameters& parameters)
      : problem_(task.problem),
        p_(parameters),
        packed_(products.front().packed),
        summed_(products.front().vector_rows * columns_of(products.front().vector.row.tensor, task)),
        columns_(columns_of(products.front().out.tensor, task)),
        runs_(runs_of(products)),
        b_(name_for(task.cell, products), parameters.threads(), task.problem.math,
           "Products of all steps: rows of matrices times a vector of each step."),
        signature_(b_, task),
        tile_(b_, task.problem, parameters, GemmTile::Rows::AlongSum) {
    signature_.set_scratch(scratch_rows);
    KernelTensors tensors(signature_);
    vector_.emplace(tensors, task.problem, products.front().vector);
    for (ProductRun& run : runs_) {
      run.weights =
          tensors.reads(run.matrix < 0 ? TensorRef{Role::Packed, -1} : TensorRef{Role::Param, run.matrix});
      run.results = tensors.writes(run.out.tensor);
    }
  }

  Launch build() {
    time_ = signature_.time();
    place_block();
    tile_.begin();
    vector_->place(tile_, GemmTile::Side::A, head_, b_.constant(0));
    vector_->move_to(batch_row_, first_step_);
    place_matrix();
    whole_ = b_.let("whole", vector_->whole(first_step_, p_.tile_m, time_));
    const Value stages = b_.constant(ceil_div(summed_, p_.tile_k));
    tile_.walk(stages, [&](Value) { stage_both(); });
    if (p_.kind == ProductKind::Channel)
      tile_.each_pair([&](Value m, Value n, Value low, Value high) {
        store_channel(m, n, low);
        store_channel(m, n + 1, high);
      });
    else
      tile_.each_vector([&](Place from, Value m, Value n) { store(from, m, n); });
    return {b_.kernel(), signature_.arguments(), 0, tiles_ * problem_.sizes.heads, 1, p_.tile_m};
  }

 private:
  std::int64_t outputs(const ProductRun& run) const { return run.rows * columns_; }
  std::int64_t tiles(const ProductRun& run) const { return ceil_div(outputs(run), p_.tile_n); }
  Value dim() { return b_.named("kDim", problem_.sizes.dim, "channels a head"); }
  Value columns() {
    return columns_ == problem_.sizes.dim ? dim() : b_.named("kColumns", columns_, "channels of the result");
  }
  Value summed() {
    return summed_ == problem_.sizes.dim ? dim() : b_.named("kSummed", summed_, "elements of the vector");
  }

  // Neighbouring blocks take neighbouring outputs of the same steps, so that those steps' vectors are still
  // in L2.
  void place_block() {
    for (const ProductRun& run : runs_) tiles_ += tiles(run);
    const std::int64_t heads = problem_.sizes.heads;
    b_.comment("this block's outputs, head, steps and batch row");
    tile_n_ = b_.let("tile_n", b_.block() % tiles_);
    head_ = b_.let("head", b_.block() / tiles_ % heads);
    const Value spans = b_.let("spans", ceil_div(time_, p_.tile_m));
    const Value rest = b_.let("rest", b_.block() / (tiles_ * heads));
    first_step_ = b_.let("first_step", rest % spans * p_.tile_m);
    batch_row_ = b_.let("row", rest / spans);
    signature_.set_head(head_);
    first_output_ = b_.let("first_output", of_run([&](const ProductRun&, std::int64_t before) {
                             return (tile_n_ - before) * p_.tile_n;
                           }));
    outputs_ = b_.let("outputs",
                      of_run([&](const ProductRun& run, std::int64_t) { return b_.constant(outputs(run)); }));
  }

  // The thread's first vector of the matrix: output and column of the sum.
  void place_matrix() {
    const GemmTile::Dealt& dealt = tile_.dealt(GemmTile::Side::B);
    const std::int64_t matrix = columns_ * summed_;
    const Value row = of_run(
        [&](const ProductRun& run, std::int64_t) { return b_.wide(head_) * run.weights.rows + run.row; });
    output_ = b_.let("output", first_output_ + dealt.row);
    j_ = b_.variable("j", dealt.column);
    matrix_at_ =
        b_.variable("matrix_at", row * matrix + packed_ + b_.wide(output_ * summed() + dealt.column));
  }

  // A value that depends on the run this block works on; `value` is asked for the last run first.
  Value of_run(const std::function<Value(const ProductRun&, std::int64_t before)>& value) {
    std::int64_t before = tiles_ - tiles(runs_.back());
    Value result = value(runs_.back(), before);
    for (std::size_t i = runs_.size() - 1; i-- > 0;) {
      const Value here = tile_n_ < before;
      before -= tiles(runs_[i]);
      result = b_.select(here, value(runs_[i], before), result);
    }
    return result;
  }

  // The body for the run this block works on.
  void in_run(const std::function<void(const ProductRun&)>& body, std::size_t from = 0,
              std::int64_t before = 0) {
    if (from + 1 == runs_.size()) return body(runs_[from]);
    const std::int64_t end = before + tiles(runs_[from]);
    b_.if_(
        tile_n_ < end, [&] { body(runs_[from]); }, [&] { in_run(body, from + 1, end); });
  }

  bool outputs_divide() const {
    return std::ranges::all_of(runs_, [&](const ProductRun& run) { return outputs(run) % p_.tile_n == 0; });
  }
  bool sum_divides() const { return summed_ % p_.tile_k == 0; }
  Value and_inside(Value condition, Value value, Value end, bool always) {
    return always ? condition : condition.valid() ? condition && value < end : value < end;
  }

  void stage_both() {
    const Value end = sum_divides() ? Value{} : summed();
    b_.comment("vectors of the steps");
    b_.if_(
        whole_, [&] { vector_->stage(tile_, {}, end); },
        [&] {
          vector_->stage(tile_, TimeReader::Guard{batch_row_, first_step_, time_}, end);
        });
    b_.comment("rows of the matrices");
    const std::int64_t hop = tile_.dealt(GemmTile::Side::B).hop;
    tile_.stage(GemmTile::Side::B, [&](Place to, Value turn, Value) {
      const Value exists = and_inside(and_inside({}, output_ + turn * hop, outputs_, outputs_divide()), j_,
                                      summed(), sum_divides());
      const auto copy = [&] { copy_matrix(to, matrix_at_ + b_.wide(turn) * (hop * summed_)); };
      if (!exists.valid()) return copy();
      b_.if_(exists, copy, [&] { tile_.clear(to, neutral(p_.kind)); });
    });
    vector_->next_channels(p_.tile_k);
    b_.assign(matrix_at_, matrix_at_ + p_.tile_k);
    b_.assign(j_, j_ + p_.tile_k);
  }

  void copy_matrix(Place to, Value from) {
    in_run([&](const ProductRun& run) { tile_.copy(to, run.weights.memory[from]); });
  }

  // Calls `store` with the place of output n of step m, if there is one.
  void at_result(Value m, Value n, const std::function<void(Place)>& store) {
    const Value t = first_step_ + m, i = first_output_ + n;
    b_.if_(and_inside(t < time_, i, outputs_, outputs_divide()), [&] {
      in_run([&](const ProductRun& run) {
        const KernelTensor& out = run.results;
        const Value to = out.row_begin(batch_row_) + b_.wide(t) * out.stride_t +
                         b_.wide((head_ * out.rows + run.out.row) * columns() + i);
        store(out.memory[to]);
      });
    });
  }
  void store(Place from, Value m, Value n) {
    at_result(m, n, [&](Place to) { tile_.store_vector(to, from); });
  }
  // As fp32, whatever the storage type.
  void store_channel(Value m, Value n, Value number) {
    at_result(m, n, [&](Place to) { b_.store(to, number); });
  }

  const Problem& problem_;
  GemmParameters p_;
  std::int64_t packed_;   // where a packed matrix begins
  std::int64_t summed_;   // elements of the vector
  std::int64_t columns_;  // channels of a result
  std::vector<ProductRun> runs_;
  kernel::Builder b_;
  Signature signature_;
  GemmTile tile_;
  std::optional<TimeReader> vector_;
  std::int64_t tiles_ = 0;  // of all outputs of a head
  Value time_, tile_n_, head_, first_step_, batch_row_, first_output_, outputs_, whole_;
  Value output_, j_, matrix_at_;
};

bool same(const TimeOperand& a, const TimeOperand& b) {
  return a.row.tensor == b.row.tensor && a.row.row == b.row.row && a.shifted == b.shifted &&
         a.first == b.first && a.first_row == b.first_row;
}

}  // namespace

Launch time_product(const Task& task, const std::vector<TimeProduct>& products,
                    const std::vector<int>& scratch_rows, const GemmParameters& parameters) {
  if (products.empty()) throw std::logic_error("no products");
  for (const TimeProduct& product : products)
    if (!same(product.vector, products.front().vector))
      throw std::logic_error("products of different vectors");
  return TimeProductKernel(task, products, scratch_rows, parameters).build();
}

double seconds_of_time_product(const Task& task, int products, std::int64_t summed, ProductKind kind) {
  const target::Speeds& speeds = task.profile.speeds;
  const step::Sizes& sizes = task.problem.sizes;
  const bool multiply_adds = kind != ProductKind::Sum || task.problem.storage == kernel::Storage::F32 ||
                             !has_mma(task.profile.target, task.problem.storage);
  const double of_sm = multiply_adds ? 2 * speeds.alu_per_cycle_sm : speeds.mma_flops_per_cycle_sm;
  const double flops = of_sm * task.profile.limits.sm_count * speeds.clock_hz;
  const std::int64_t elements =
      sizes.batch * sizes.time * sizes.heads * sizes.dim;  // of a result of all steps
  const auto row = static_cast<double>(elements) * kernel::storage_bytes(task.problem.storage);
  const double vector = static_cast<double>(summed) / static_cast<double>(sizes.dim);  // of a result
  const double operations = 2.0 * products * static_cast<double>(elements) * static_cast<double>(summed);
  return speeds.launch_s + std::max(operations / flops, row * (products + vector) / speeds.copy_bytes_per_s);
}

double seconds_of_time_product(const Task& task, int products) {
  return seconds_of_time_product(task, products, task.problem.sizes.dim);
}

}  // namespace rondo::schedule
