#include "compiler/schedule/host/products_beside.h"

#include <fmt/format.h>

#include <utility>

#include "compiler/schedule/host/matrix_gradients.h"
#include "compiler/schedule/host/tiles.h"
#include "compiler/schedule/host/time_launches.h"

namespace rondo::schedule {

namespace {

class OnHost final : public ProductsBeside {
 public:
  OnHost(const BesideWhat& what, const HostParameters& p) : what_(what), p_(p), packed_(what.packed) {}

  std::vector<Launch> products(const std::vector<TimeProduct>& same) override {
    return multiply(same, same,
                    HostPacked(task().problem, p_, static_cast<int>(same.size()),
                               host_tiles(p_, storage_of(same.front().vector.row.tensor, task())), dim(),
                               columns(same), packed_));
  }

  // A sum of terms, one for each product.
  std::vector<Launch> vector_gradient(const std::vector<TimeProduct>& same, RowRef gradients) override {
    const TimeOperand& vector = same.front().vector;
    TimeProduct sum;
    sum.vector = {gradients, false, std::nullopt, 0};
    sum.vector_rows = static_cast<int>(same.size());
    sum.out = {{Role::InputGradient, vector.row.tensor.tensor}, vector.row.row};
    const HostPacked each(task().problem, p_, 1, host_tiles(p_, storage_of(gradients.tensor, task())),
                          columns(same), dim(), packed_);
    return multiply({sum}, same, each, true);
  }

  std::vector<Launch> gradients(const std::vector<MatrixTerm>& terms,
                                const std::vector<step::TensorId>& left_out) override {
    return host_matrix_gradients(task(), p_, what_.scratch_rows, terms, left_out);
  }
  std::int64_t workspace(const std::vector<MatrixTerm>&) const override { return 0; }
  std::int64_t packed_end() const override { return packed_; }

 private:
  const Task& task() const { return what_.task; }
  std::int64_t dim() const { return task().problem.sizes.dim; }
  std::int64_t columns(const std::vector<TimeProduct>& same) const {
    return columns_of(same.front().vector.row.tensor, task());
  }

  // `packed`: of all matrices, or, where they are transposed, of each.
  std::vector<Launch> multiply(const std::vector<TimeProduct>& products,
                               const std::vector<TimeProduct>& matrices, const HostPacked& packed,
                               bool transposed = false) {
    std::vector<Launch> launches;
    std::vector<Product> waiting;
    HostPacked to = packed;
    for (const TimeProduct& of : matrices) {
      waiting.push_back({step::kNoNode, of.matrix, of.row, transposed});
      if (static_cast<int>(waiting.size()) < packed.products) continue;
      launches.push_back(host_pack(task(), p_, to, std::exchange(waiting, {}), name("pack")));
      packed_ = to.first += to.elements();
    }
    launches.push_back(host_time_product(task(), p_, what_.scratch_rows, products, packed, name("products")));
    return launches;
  }
  std::string name(const char* of) {
    return fmt::format("{}_host_input_{}_{}", task().cell.name, of, launches_++);
  }

  const BesideWhat what_;
  const HostParameters p_;
  std::int64_t packed_;
  int launches_ = 0;
};

// Of a walk without matrices the vectors of a block say nothing about products.
HostParameters of_products(const BesideWhat& what, HostParameters p) {
  constexpr int kTogether = 4;
  if (what.walk_multiplies) return p;
  p.vectors = 1;
  p.together = kTogether;
  return p;
}

}  // namespace

std::shared_ptr<ProductsBeside> host_products_beside(const BesideWhat& what,
                                                     const HostParameters& parameters) {
  return std::make_shared<OnHost>(what, of_products(what, parameters));
}

}  // namespace rondo::schedule
