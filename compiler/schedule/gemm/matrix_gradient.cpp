#include "compiler/schedule/gemm/matrix_gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/schedule/gemm/chosen_gradient.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

constexpr int kSumThreads = 256;

const step::Tensor& tensor_of(const step::Cell& cell, TensorId id) { return cell.tensor(id); }

std::vector<TensorId> matrices_of(const step::Cell& cell) {
  std::vector<TensorId> matrices;
  for (const TensorId id : cell.of_kind(step::TensorKind::Param))
    if (tensor_of(cell, id).tail == step::Tail::Matrix) matrices.push_back(id);
  return matrices;
}

// Those that are sums of outer products.
std::vector<MatrixTerm> terms_of(const std::vector<MatrixTerm>& terms, TensorId matrix, int row) {
  std::vector<MatrixTerm> result;
  for (const MatrixTerm& term : terms)
    if (term.matrix == matrix && term.row == row && !term.chosen) result.push_back(term);
  return result;
}

// Elements of one part of a matrix's gradient.
std::int64_t gradient_elements(const Task& task, TensorId matrix) {
  return step::element_count(tensor_of(task.cell, matrix), task.problem.sizes);
}

// Where a matrix's parts begin in the workspace; for the number of tensors, its size.
std::int64_t first_part(const Task& task, const std::vector<MatrixTerm>& terms,
                        const GemmParameters& parameters, TensorId matrix) {
  std::int64_t elements = 0;
  for (const TensorId id : matrices_of(task.cell)) {
    const bool used =
        std::ranges::any_of(terms, [&](const MatrixTerm& t) { return t.matrix == id && !t.chosen; });
    if (id < matrix && used && parameters.split_k > 1)
      elements += parameters.split_k * gradient_elements(task, id);
  }
  return elements;
}

// Neighbouring rows of a gradient whose terms differ only in that the left operands are neighbouring rows,
// too: one outer product with `rows` * D channels on the left. `terms` are those of the first row.
struct Run {
  TensorId matrix;
  int row;
  int rows;
  std::vector<MatrixTerm> terms;
};

bool is_row_after(const TimeOperand& a, const TimeOperand& b, int rows) {
  return a.row.tensor == b.row.tensor && a.row.row + rows == b.row.row && a.shifted == b.shifted &&
         (!a.shifted || (a.first == b.first && a.first_row + rows == b.first_row));
}

bool follows(const Run& run, const std::vector<MatrixTerm>& terms) {
  return std::equal(run.terms.begin(), run.terms.end(), terms.begin(), terms.end(),
                    [&](const MatrixTerm& a, const MatrixTerm& b) {
                      return is_row_after(a.left, b.left, run.rows) && is_row_after(a.right, b.right, 0);
                    });
}

std::vector<Run> runs_of(const step::Cell& cell, const std::vector<MatrixTerm>& terms, TensorId matrix) {
  std::vector<Run> runs;
  for (int row = 0; row < tensor_of(cell, matrix).rows; ++row) {
    std::vector<MatrixTerm> here = terms_of(terms, matrix, row);
    if (here.empty()) continue;
    if (!runs.empty() && runs.back().row + runs.back().rows == row && follows(runs.back(), here))
      ++runs.back().rows;
    else
      runs.push_back({matrix, row, 1, std::move(here)});
  }
  return runs;
}

constexpr std::size_t kTermsOfTwoBlocks = 8;

class GradientKernel {
 public:
  GradientKernel(const Task& task, Run run, std::int64_t workspace, const std::vector<int>& scratch_rows,
                 const GemmParameters& parameters)
      : task_(task),
        p_(parameters),
        run_(std::move(run)),
        workspace_(workspace),
        b_(fmt::format("{}_matrix_gradient_{}_{}", task.cell.name, tensor_of(task.cell, run_.matrix).name,
                       run_.row),
           parameters.threads(), task.problem.math,
           "Gradient of a matrix: the sum over steps of outer products."),
        signature_(b_, task),
        tile_(b_, task.problem, parameters, GemmTile::Rows::MnMajor) {
    signature_.set_scratch(scratch_rows);
    KernelTensors tensors(signature_);
    // Of many tensors the addresses alone take what two blocks on an SM would leave.
    if (run_.terms.size() > kTermsOfTwoBlocks) b_.set_min_blocks(1);
    for (const MatrixTerm& term : run_.terms)
      readers_.push_back({{tensors, task.problem, term.left}, {tensors, task.problem, term.right}});
    const std::optional<TensorId> lengths = task.cell.first_of_kind(step::TensorKind::Length);
    const auto reads_input = [](const MatrixTerm& term) { return term.right.row.tensor.role == Role::Input; };
    if (lengths && std::ranges::any_of(run_.terms, reads_input))
      lengths_ = tensors.reads({Role::Lengths, *lengths});
    const TensorRef result{Role::ParamGradient, run_.matrix}, parts{Role::Workspace, -1};
    result_ = tensors.writes(p_.split_k > 1 ? parts : result);
  }

  Launch build() {
    batch_ = signature_.batch();
    time_ = signature_.time();
    place_block();
    tile_.begin();
    for (Readers& readers : readers_) add_term(readers);
    b_.comment(p_.split_k > 1 ? "this part's sums, fp32" : "the gradient, fp32");
    tile_.each_pair([&](Value m, Value n, Value low, Value high) { store(m, n, low, high); });
    const std::int64_t blocks = tiles_m() * tiles_n() * task_.problem.sizes.heads * p_.split_k;
    return {b_.kernel(), signature_.arguments(), blocks, 0};
  }

 private:
  struct Readers {
    TimeReader left, right;
  };

  std::int64_t left_channels() const { return run_.rows * task_.problem.sizes.dim; }
  std::int64_t tiles_m() const { return ceil_div(left_channels(), p_.tile_m); }
  std::int64_t columns() const { return readers_.front().right.columns(); }
  std::int64_t tiles_n() const { return ceil_div(columns(), p_.tile_n); }

  // A part is a number of neighbouring stages; each stage has up to tile_k steps of one batch row. Blocks of
  // one part are neighbours, since they read the same steps.
  void place_block() {
    b_.comment("this block's channels, head, and part of the steps");
    const std::int64_t across = tiles_m() * tiles_n(), heads = task_.problem.sizes.heads;
    first_n_ = b_.let("first_n", b_.block() % tiles_n() * p_.tile_n);
    first_m_ = b_.let("first_m", b_.block() / tiles_n() % tiles_m() * p_.tile_m);
    head_ = b_.let("head", b_.block() / across % heads);
    signature_.set_head(head_);
    part_ = b_.let("part", b_.block() / (across * heads));
    row_stages_ = b_.let("row_stages", ceil_div(time_, p_.tile_k));
    const Value stages = b_.let("stages", batch_ * row_stages_);
    const Value each = b_.let("each", stages / p_.split_k), left = b_.let("left", stages % p_.split_k);
    first_ = b_.let("first", part_ * each + min(part_, left));
    count_ = b_.let("count", b_.select(part_ < left, each + 1, each));
  }

  void add_term(Readers& readers) {
    const Value row = b_.variable("row", first_ / row_stages_);
    const Value t = b_.variable("t", first_ % row_stages_ * p_.tile_k);
    const Value left_end = left_channels() % p_.tile_m == 0 ? Value{} : b_.constant(left_channels());
    const Value right_end =
        columns() % p_.tile_n == 0 ? Value{} : named_columns(b_, task_.problem, columns());
    readers.left.place(tile_, GemmTile::Side::A, head_, first_m_);
    readers.right.place(tile_, GemmTile::Side::B, head_, first_n_);
    const auto move = [&] {
      readers.left.move_to(row, t);
      readers.right.move_to(row, t);
    };
    move();
    tile_.walk(count_, [&](Value) {
      const auto copy = [&](const std::optional<TimeReader::Guard>& guard) {
        readers.left.stage(tile_, guard, left_end);
        readers.right.stage(tile_, guard, right_end);
      };
      const TimeReader::Guard guard = valid_steps(row, t);
      Value whole =
          readers.left.whole(t, p_.tile_k, guard.time) && readers.right.whole(t, p_.tile_k, guard.time);
      if (guard.begin.valid()) whole = whole && t >= guard.begin;
      b_.if_(
          whole, [&] { copy({}); }, [&] { copy(guard); });
      b_.assign(t, t + p_.tile_k);
      readers.left.next_steps(p_.tile_k);
      readers.right.next_steps(p_.tile_k);
      b_.if_(t >= time_, [&] {
        b_.assign(t, b_.constant(0));
        b_.assign(row, row + 1);
        move();
      });
    });
  }

  // Steps that may be read: past the end of a row an input may be anything, and zero times that is no zero.
  // Those come first where time is reversed.
  TimeReader::Guard valid_steps(Value row, Value t) {
    if (!lengths_) return {row, t, time_};
    const Value length = b_.let("length", min(b_.load("length", lengths_->memory[row]), time_));
    const auto at = [&](Value forward, Value back) {
      return signature_.by_direction([&] { return forward; }, [&] { return back; });
    };
    TimeReader::Guard guard{row, t, at(length, time_)};
    if (task_.cell.direction != step::Direction::Forward) guard.begin = at(b_.constant(0), time_ - length);
    return guard;
  }

  // Pairs only to the workspace, which is aligned to them.
  void store(Value m, Value n, Value low, Value high) {
    const std::int64_t dim = columns(), rows = tensor_of(task_.cell, run_.matrix).rows;
    const std::int64_t part = p_.split_k > 1 ? gradient_elements(task_, run_.matrix) : 0;
    const Value i = first_m_ + m, j = first_n_ + n;
    const Value to = b_.wide(part_) * part +
                     (b_.wide(head_) * rows + run_.row) * (task_.problem.sizes.dim * dim) +
                     (b_.wide(i) * dim + b_.wide(j) + workspace_);
    const bool pairs = p_.split_k > 1 && dim % 2 == 0;
    const auto store_both = [&] {
      if (pairs) return b_.store_vector(result_.memory[to], {low, high});
      b_.store(result_.memory[to], low);
      if (dim % p_.tile_n == 0) return b_.store(result_.memory[to + 1], high);
      b_.if_(j + 1 < b_.constant(dim), [&] { b_.store(result_.memory[to + 1], high); });
    };
    if (left_channels() % p_.tile_m == 0 && dim % p_.tile_n == 0) return store_both();
    b_.if_(i < b_.constant(left_channels()) && j < b_.constant(dim), store_both);
  }

  const Task& task_;
  GemmParameters p_;
  Run run_;
  std::int64_t workspace_;  // where the matrix's parts begin
  kernel::Builder b_;
  Signature signature_;
  GemmTile tile_;
  std::vector<Readers> readers_;
  std::optional<KernelTensor> lengths_;  // where an input is read
  KernelTensor result_;
  Value batch_, time_, first_n_, first_m_, head_, part_, row_stages_, first_, count_;
};

// Adds the parts of a matrix's gradient, an element a thread; rows that `summed` leaves out become zero. With
// one part the others are there already.
Launch sum_parts(const Task& task, TensorId matrix, const std::vector<bool>& summed, std::int64_t first,
                 int split_k) {
  const step::Tensor& tensor = tensor_of(task.cell, matrix);
  kernel::Builder b(
      fmt::format("{}_matrix_gradient_{}_sum", task.cell.name, tensor.name), kSumThreads, task.problem.math,
      fmt::format("gradient of {}: sum of its parts; rows without a term are zero", tensor.name));
  Signature signature(b, task);
  const bool any = split_k > 1 && std::ranges::find(summed, true) != summed.end();
  KernelTensor parts;
  if (any) parts = signature.reads({Role::Workspace, -1});
  const KernelTensor sum = signature.writes({Role::ParamGradient, matrix});
  const std::int64_t square = step::width(tensor, task.problem.sizes);
  const std::int64_t count = gradient_elements(task, matrix);
  const Value i = b.let("i", b.wide(b.block()) * kSumThreads + b.wide(b.thread()));
  b.if_(i < count, [&] {
    const Value row = b.let("row", i / square % tensor.rows);
    for (int r = 0; r < tensor.rows; ++r)
      if (!summed[static_cast<std::size_t>(r)]) b.if_(row == r, [&] { b.store(sum.memory[i], b.real(0)); });
    if (!any) return;
    Value has_terms;
    for (int r = 0; r < tensor.rows; ++r)
      if (summed[static_cast<std::size_t>(r)])
        has_terms = has_terms.valid() ? has_terms || row == r : row == r;
    const auto add = [&] {
      const Value total = b.variable("total", b.real(0));
      b.for_("part", 0, split_k, std::min(8, split_k), [&](Value part) {
        b.assign(total, total + b.load("element", parts.memory[i + first + b.wide(part) * count]));
      });
      b.store(sum.memory[i], total);
    };
    if (std::ranges::find(summed, false) == summed.end()) return add();
    b.if_(has_terms, add);
  });
  return {b.kernel(), signature.arguments(), ceil_div(count, kSumThreads), 0};
}

}  // namespace

std::int64_t matrix_gradient_workspace(const Task& task, const std::vector<MatrixTerm>& terms,
                                       const GemmParameters& parameters) {
  return first_part(task, terms, parameters, static_cast<TensorId>(task.cell.tensors.size()));
}

std::vector<Launch> matrix_gradients(const Task& task, const std::vector<MatrixTerm>& terms,
                                     const std::vector<int>& scratch_rows, const GemmParameters& parameters,
                                     const std::vector<TensorId>& left_out) {
  std::vector<Launch> products, sums, chosen;
  for (const TensorId matrix : matrices_of(task.cell)) {
    if (std::ranges::find(left_out, matrix) != left_out.end()) continue;
    const std::int64_t first = first_part(task, terms, parameters, matrix);
    std::vector<bool> summed(static_cast<std::size_t>(tensor_of(task.cell, matrix).rows), false);
    for (Run& run : runs_of(task.cell, terms, matrix)) {
      std::fill_n(summed.begin() + run.row, run.rows, true);
      products.push_back(GradientKernel(task, std::move(run), first, scratch_rows, parameters).build());
    }
    if (parameters.split_k > 1 || std::ranges::find(summed, false) != summed.end())
      sums.push_back(sum_parts(task, matrix, summed, first, parameters.split_k));
    for (Launch& launch : chosen_gradients(task, terms, scratch_rows, matrix))
      chosen.push_back(std::move(launch));
  }
  for (std::vector<Launch>* more : {&sums, &chosen})
    products.insert(products.end(), std::make_move_iterator(more->begin()),
                    std::make_move_iterator(more->end()));
  return products;
}

}  // namespace rondo::schedule
