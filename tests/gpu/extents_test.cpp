// Cells with extents of their own, with transposes, and with states of many rows, on the GPU against the
// reference, by the model's choice: inputs whose products are made for all steps, states and matrices that a
// walk has with D channels, and rows of a state that it has as rows of the batch. In every form of the
// sequence.
#include <map>
#include <string>
#include <tuple>

#include "compiler/step/forms.h"
#include "tests/gpu/each.h"
#include "tests/gpu/gpu.h"

namespace rondo::tuner {
namespace {

using kernel::Storage;
using schedule::Pass;

struct OwnExtentCell {
  const char* name;
  const char* text;
};
constexpr OwnExtentCell kOwnExtentCells[] = {{"layer", R"(
cell layer(D, E = 40) {
  input u[E]
  param W[4, D, E], R[4, D, D], b[4, D]
  state h[D], c[D]
  g = R @ h + W @ u + b
  next c = sigmoid(g[1]) * c + sigmoid(g[0]) * tanh(g[2])
  next h = sigmoid(g[3]) * tanh(next c)
  output h
})"},
                                             {"projected", R"(
cell projected(D, P = 24) {
  input x[4, D]
  param R[4, D, P], W[P, D]
  state r[P], c[D]
  g = R @ r + x
  next c = sigmoid(g[1]) * c + sigmoid(g[0]) * tanh(g[2])
  next r = W @ (sigmoid(g[3]) * tanh(next c))
  output r
})"},
                                             {"singular", R"(
cell singular(D, P = 24, E = 40) {
  input u[E], v[P]
  param R[D, P], W[P, D], V[P, E], b[P]
  state h[P], c[D]
  m = W @ c
  z = log(b * b) + sigmoid(m) * log(v * v)
  next c = tanh(0.2 * (R @ (z * h)))
  next h = 0.5 * h + tanh(m) * log(v * v) + tanh(V @ u)
  output h
  output y = next c
})"},
                                             {"transposed", R"(
cell transposed(D, P = 24) {
  input x[D]
  param R[D, D], W[P, D]
  state h[D], p[P]
  next h = tanh(R @ h - transpose(R) @ h + transpose(W) @ p + x)
  next p = tanh(W @ h)
  output h
})"},
                                             {"memory", R"(
cell memory(D) {
  input q[16], k[16], v[D], f
  param W[D, D]
  state S[16, D]
  next S = f * S + (1 - f) * tanh(W @ S + k * v)
  output y = sum(q * next S, rows)
})"},
                                             {"rows", R"(
cell rows(D, P = 24, E = 40) {
  input u[E], k[8]
  param W[D, E], R[D, P], V[P, D]
  state S[8, P], h[8, D]
  x = W @ u
  next h = tanh(R @ S + k * x)
  next S = 0.5 * S + V @ (h * x)
  output h
  output y = sum(k * h, rows)
})"},
                                             {"diagonal", R"(
cell diagonal(D, P = 24, E = 40) {
  input u[E], v[P]
  param W[D, E], a[D], b[2, P]
  state h[D], p[P]
  next h = tanh(a) * h + W @ u
  next p = sigmoid(b[0]) * p + b[1] * v
  output h
  output p
})"}};

class OwnExtentsOnGpu : public rondo::testing::GpuTest,
                        public ::testing::WithParamInterface<std::tuple<OwnExtentCell, Storage, Pass>> {
 protected:
  void verify(const step::Forms& forms, const std::map<std::string, double>& extents,
              const step::Sizes& sizes) {
    const char* const text = std::get<0>(GetParam()).text;
    const frontend::Parsed parsed = frontend::parse(text, "extents.cell");
    ASSERT_EQ(parsed.cells.size(), 1u);
    const step::Cell cell = step::with_forms(parsed.cells[0], forms).value();
    schedule::Problem p = problem(std::get<2>(GetParam()), sizes, std::get<1>(GetParam()));
    for (const auto& [name, size] : extents)
      for (const step::NamedConstant& constant : cell.constants)
        if (constant.name == name) p.constants[name] = size;
    const std::vector<engine::VerifyCase> cases{{{2, 1, sizes.heads, sizes.dim}, {}, true},
                                                {sizes, {engine::TensorLayout::Order::TimeMajor, 0}, true}};
    // Who tunes or serves passes over a choice that spills; what is right is right with it.
    const auto plan = load_chosen(cell, p, engine::kFullAlignment, true);
    ASSERT_NE(plan, nullptr);
    expect_right(*plan, cell, p, cases, 23, 2);
  }
};

TEST_P(OwnExtentsOnGpu, Plain) { verify({}, {}, {5, 33, 2, 64}); }
TEST_P(OwnExtentsOnGpu, OddExtents) { verify({}, {{"P", 17}, {"E", 71}}, {3, 19, 1, 40}); }
TEST_P(OwnExtentsOnGpu, LengthsAndResets) { verify({true, true}, {{"P", 48}}, {5, 21, 2, 64}); }
TEST_P(OwnExtentsOnGpu, Reversed) { verify({false, true, true}, {}, {4, 21, 2, 48}); }
TEST_P(OwnExtentsOnGpu, BothDirections) { verify({false, false, false, false, true}, {}, {4, 21, 2, 48}); }

INSTANTIATE_TEST_SUITE_P(Cells, OwnExtentsOnGpu,
                         ::testing::Combine(::testing::ValuesIn(kOwnExtentCells),
                                            rondo::testing::kEachStorage, rondo::testing::kBothPasses),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param).name) + "_" +
                                  kernel::storage_name(std::get<1>(test.param)) + "_" +
                                  schedule::pass_name(std::get<2>(test.param));
                         });

}  // namespace
}  // namespace rondo::tuner
