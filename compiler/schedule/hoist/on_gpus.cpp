#include "compiler/schedule/hoist/on_gpus.h"

#include <algorithm>
#include <numeric>

#include "compiler/schedule/hoist/transpose.h"
#include "compiler/schedule/plan/signature.h"

namespace rondo::schedule {

namespace {

class OnGpus final : public ProductsBeside {
 public:
  explicit OnGpus(const BesideWhat& what) : what_(what), packed_(what.packed) {}

  std::vector<Launch> products(const std::vector<TimeProduct>& same) override {
    const std::int64_t columns = columns_of(same.front().vector.row.tensor, what_.task);
    const GemmExtents extents{static_cast<std::int64_t>(same.size()) * dim(), columns};
    return {time_product(what_.task, same, what_.scratch_rows,
                         parameters(GemmUse::TimeProduct, extents, columns))};
  }

  // One product: of the matrices, packed by their columns one beside the other, and of all gradients.
  std::vector<Launch> vector_gradient(const std::vector<TimeProduct>& same, RowRef gradients) override {
    const TimeOperand& vector = same.front().vector;
    const std::int64_t columns = columns_of(vector.row.tensor, what_.task);
    const std::int64_t summed = static_cast<std::int64_t>(same.size()) * dim();
    std::vector<Launch> launches;
    for (std::size_t i = 0; i < same.size(); ++i)
      launches.push_back(transpose(
          what_.task, {same[i].matrix, same[i].row, packed_, summed, static_cast<std::int64_t>(i) * dim()}));
    TimeProduct product;
    product.vector = {gradients, false, std::nullopt, 0};
    product.out = {{Role::InputGradient, vector.row.tensor.tensor}, vector.row.row};
    product.packed = packed_;
    product.vector_rows = static_cast<int>(same.size());
    // Its tiles are those of a sum over one matrix's rows, as are all products of heads so large.
    launches.push_back(time_product(what_.task, {product}, what_.scratch_rows,
                                    parameters(GemmUse::TimeProduct, {columns, dim()}, columns)));
    packed_ += what_.task.problem.sizes.heads * columns * summed;
    return launches;
  }

  std::vector<Launch> gradients(const std::vector<MatrixTerm>& terms,
                                const std::vector<step::TensorId>& left_out) override {
    return matrix_gradients(what_.task, terms, what_.scratch_rows, of_gradients(terms), left_out);
  }
  std::int64_t workspace(const std::vector<MatrixTerm>& terms) const override {
    return matrix_gradient_workspace(what_.task, terms, of_gradients(terms));
  }
  std::int64_t packed_end() const override { return packed_; }

 private:
  std::int64_t dim() const { return what_.task.problem.sizes.dim; }
  GemmParameters parameters(GemmUse use, GemmExtents extents, std::int64_t columns) const {
    const Problem& problem = what_.task.problem;
    const int aligned = what_.alignment / kernel::storage_bytes(problem.storage);
    return gemm_parameters(problem, what_.task.profile, use, extents,
                           widest_access(problem.storage, columns, aligned));
  }
  // One for all matrices: those of the least columns tell which tiles are filled, and no access may be wider
  // than the rows of any allow.
  GemmParameters of_gradients(const std::vector<MatrixTerm>& terms) const {
    std::int64_t least = dim(), access = dim();
    for (const MatrixTerm& term : terms) {
      const std::int64_t columns = columns_of(term.right.row.tensor, what_.task);
      least = std::min(least, columns);
      access = std::gcd(access, columns);
    }
    const GemmExtents extents{static_cast<std::int64_t>(terms.size()) * dim(), least};
    return parameters(GemmUse::MatrixGradient, extents, access);
  }

  const BesideWhat what_;
  std::int64_t packed_;
};

}  // namespace

std::shared_ptr<ProductsBeside> products_on_gpus(const BesideWhat& what) {
  return std::make_shared<OnGpus>(what);
}

}  // namespace rondo::schedule
