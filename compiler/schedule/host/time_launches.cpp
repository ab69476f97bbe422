#include "compiler/schedule/host/time_launches.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/schedule/host/blocked_product.h"
#include "compiler/schedule/host/matrix_gradients.h"
#include "compiler/schedule/host/tiles.h"
#include "compiler/schedule/host/time_reader.h"
#include "compiler/support/index.h"
#include "compiler/support/integers.h"

namespace rondo::schedule {

namespace {

constexpr int kLeastSteps = 32;
constexpr int kMostSums = 24;  // vectors that fit in registers

// Sums of a tile: with a channel beside each, half as many.
int most_sums(ProductKind kind) { return kind == ProductKind::Channel ? kMostSums / 2 : kMostSums; }

// Results of some steps of a batch row for the channels of a tile. Of several terms each has a vector, which
// are neighbouring rows, and matrices, which lie one behind the other: the results are their sums.
class ProductBuilder {
 public:
  ProductBuilder(const Task& task, const HostParameters& p, const std::vector<int>& scratch,
                 const std::vector<TimeProduct>& products, const HostPacked& packed, const std::string& name)
      : problem_(task.problem),
        p_(p),
        products_(products),
        packed_(packed),
        kind_(products.front().kind),
        tile_(std::clamp(most_sums(kind_) / (p.vectors * std::min(p.together, packed_.products)), 1, 12)),
        steps_(packed.in_tiles ? 2 * kernel::kTileRows : round_up(kLeastSteps, tile_)),
        b_(name, p.lanes, task.problem.math, fmt::format("{}: products of all steps", task.cell.name)),
        signature_(b_, task) {
    signature_.set_scratch(scratch);
  }

  Launch build() {
    KernelTensors tensors(signature_);
    const HostTimeReader reader(tensors, problem_, products_.front().vector);
    const KernelTensor matrices = tensors.reads({Role::Packed, -1});
    for (const TimeProduct& product : products_) outputs_.push_back(tensors.writes(product.out.tensor));
    const std::int64_t dim = packed_.dim,
                       pitch = packed_.in_tiles ? tile_pitch(dim) : vector_pitch(dim, p_.lanes);
    const int terms = products_.front().vector_rows;
    const kernel::Memory vectors =
        b_.shared("vectors", packed_.in_tiles ? kernel::Storage::BF16 : kernel::Storage::F32, steps_ * pitch,
                  "[step][column]");
    sums_ = b_.shared("sums", kernel::Storage::F32,
                      BlockedProduct::sum_elements(p_, packed_.products, steps_, kind_),
                      "[chunk of products][step][product][channel]");
    const Value batch = signature_.batch(), time = signature_.time();
    const Value spans = b_.let("spans", ceil_div(time, steps_));
    const Value together = b_.let("blocks_of_a_tile", spans * batch);
    const Value tile = b_.let("tile", b_.block() / together), rest = b_.let("rest", b_.block() % together);
    HostTimeReader::Span span;
    span.row = b_.let("row", rest / spans);
    span.head = b_.let("head", tile / packed_.tiles);
    signature_.set_head(span.head);
    span.t = b_.let("first_step", rest % spans * steps_);
    span.steps = b_.let("steps", min(time - span.t, b_.constant(steps_)));
    span.first = span.place = b_.constant(0);
    span.width = static_cast<int>(round_up(dim, p_.lanes)), span.pitch = static_cast<int>(pitch),
    span.lanes = p_.lanes;
    span.whole = dim % p_.lanes == 0, span.pairs = packed_.in_tiles;
    // Tiles are whole: rows past the last step are multiplied, and their sums left where they are.
    b_.for_("i", b_.constant(0), b_.constant(steps_ * pitch), b_.constant(p_.lanes), 1,
            [&](Value i) { b_.store(vectors[i + b_.thread()], b_.real(0)); });
    if (packed_.in_tiles) b_.barrier();  // other lanes bring the vectors
    BlockedProduct product{p_, packed_, matrices.memory, vectors, pitch, sums_, steps_, tile_, kind_};
    if (terms == 1) {
      reader.bring(vectors, span);
      b_.barrier();
      product.multiply(b_, tile, 0, 0, span.steps);
    } else {
      add_terms(reader, span, product, tile, terms);
    }
    b_.for_("step", b_.constant(0), span.steps, b_.constant(1), 1,
            [&](Value step) { store(product, step, b_.let("t", span.t + step), tile, span); });
    Launch launch{b_.kernel(), signature_.arguments(), 0, packed_.heads * packed_.tiles};
    launch.time_tile = steps_;
    return launch;
  }

 private:
  void add_terms(const HostTimeReader& reader, HostTimeReader::Span span, BlockedProduct& product, Value tile,
                 int terms) {
    const std::int64_t sums = BlockedProduct::sum_elements(p_, packed_.products, steps_, kind_);
    b_.for_("i", b_.constant(0), b_.constant(sums), b_.constant(p_.lanes), 1,
            [&](Value i) { b_.store(sums_[i + b_.thread()], b_.real(0)); });
    product.adds = true;
    b_.for_("term", b_.constant(0), b_.constant(terms), b_.constant(1), 1, [&](Value term) {
      b_.barrier();
      span.below = term;
      reader.bring(product.vectors, span);
      b_.barrier();
      product.from = b_.wide(term) * packed_.elements();
      product.multiply(b_, tile, 0, 0, span.steps);
    });
  }

  void store(const BlockedProduct& product, Value step, Value t, Value tile,
             const HostTimeReader::Span& span) {
    const std::int64_t dim = packed_.rows;
    for (int i = 0; i < packed_.products; ++i)
      for (int v = 0; v < p_.vectors; ++v) {
        const KernelTensor& out = outputs_[at(i)];
        const Value unit = b_.let("unit", b_.thread() + v * p_.lanes);
        const Value channel = b_.let("channel", tile % packed_.tiles * p_.channels() + unit);
        const Value place = out.row_begin(span.row) + b_.wide(t) * out.stride_t +
                            b_.wide(span.head * (out.rows * dim) + products_[at(i)].out.row * dim + channel);
        const auto put = [&] {
          b_.store(out.memory[place], b_.load("sum", sums_[product.sum_at(i, step) + unit]));
        };
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
  const ProductKind kind_;
  const int tile_, steps_;  // batch rows of a register tile; steps of a block
  kernel::Builder b_;
  Signature signature_;
  std::vector<KernelTensor> outputs_;
  kernel::Memory sums_;
};

}  // namespace

Launch host_time_product(const Task& task, const HostParameters& p, const std::vector<int>& scratch,
                         const std::vector<TimeProduct>& products, const HostPacked& packed,
                         const std::string& name) {
  return ProductBuilder(task, p, scratch, products, packed, name).build();
}

std::int64_t host_time_packed(const Problem& problem, const HostParameters& parameters, int products) {
  return HostPacked(problem, parameters, products, false).elements();
}

TimeLaunches host_time_launches(const Task& task, const HostParameters& p, const std::vector<int>& scratch) {
  return {[&](const std::vector<TimeProduct>& products, std::size_t group) {
            std::vector<Product> matrices;
            for (const TimeProduct& product : products)
              matrices.push_back({step::kNoNode, product.matrix, product.row, false});
            const bool tiles = host_tiles(p, storage_of(products.front().vector.row.tensor, task));
            const HostPacked packed(task.problem, p, static_cast<int>(products.size()), tiles);
            std::vector<Launch> launches;
            launches.push_back(host_pack(task, p, packed, matrices,
                                         fmt::format("{}_host_products_pack_{}", task.cell.name, group)));
            launches.push_back(host_time_product(task, p, scratch, products, packed,
                                                 fmt::format("{}_host_products_{}", task.cell.name, group)));
            return launches;
          },
          [&](const std::vector<MatrixTerm>& terms) {
            return host_matrix_gradients(task, p, scratch, terms, {});
          },
          [](const std::vector<MatrixTerm>&) { return std::int64_t{0}; }};
}

}  // namespace rondo::schedule
