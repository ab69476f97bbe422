// Vectors that a backward pass computes for all steps before its sweep, in the simulator: their products and
// gradients are sums of small integers, so a vector that stands at another step, head or channel shows in
// every type.
#include <tuple>

#include "compiler/schedule/backward/dense_backward.h"
#include "compiler/schedule/gemm/time_threads.h"
#include "compiler/step/forms.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/exact_case.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

using kernel::Storage;

// Two vectors, one of them of a parameter. No product comes back into a state, so that all numbers stay small
// over many steps.
constexpr const char* kTwoVectors = R"(
cell two_vectors(D) {
  input x[3, D]
  param R[2, D, D], p[D]
  state h[D]

  y = R[0] @ (x[2] * h) + R[1] @ ((x[1] + p) * h)
  next h = x[0]
  output h, y
}
)";

// The same with a per-head value.
constexpr const char* kHeadValueCell = R"(
cell of_numbers(D) {
  input x[2, D], m
  param R[2, D, D], p[D]
  state h[D]

  y = R[0] @ (m * h) + R[1] @ ((x[1] + p) * h)
  next h = x[0]
  output h, y
}
)";

int widest(Storage storage, const step::Sizes& sizes) {
  Problem problem;
  problem.storage = storage;
  problem.sizes = sizes;
  return widest_access(problem, 8);
}

void run(const char* text, Storage storage, const step::Sizes& sizes, int vector, int pad) {
  SCOPED_TRACE(std::string(kernel::storage_name(storage)) + " T=" + std::to_string(sizes.time) +
               " H=" + std::to_string(sizes.heads) + " D=" + std::to_string(sizes.dim) +
               " vector=" + std::to_string(vector));
  ExactCell cell{text};
  cell.sizes = sizes;
  cell.pad = pad;
  ExactCase("alternating",
            {{"units", 8}, {"batch_tiles", 1}, {"warps", 2}, {"stages", 2}, {"vector", vector}}, storage, {},
            cell)
      .run();
}

// The longest of these have whole groups of steps, the first and the last ones of a batch row; with 33
// channels several spans.
TEST(TimeVector, AwkwardSizes) {
  int turn = 0;
  for (const Storage storage : {Storage::BF16, Storage::F16, Storage::F32})
    for (const auto& [dim, heads, longest] : {std::tuple{1, 2, 300}, {33, 5, 50}, {72, 2, 30}, {130, 2, 30}})
      for (const int time : {1, 7, longest}) {
        if (!rondo::testing::has_turn(++turn, 5)) continue;
        const step::Sizes sizes{2, time, heads, dim};
        run(kTwoVectors, storage, sizes, widest(storage, sizes), 16);
      }
}

// Gaps that leave no step aligned to more than its elements, or to a pair of them: the simulator finds every
// access that lies across its own width.
TEST(TimeVector, NarrowAccesses) {
  int turn = 0;
  for (const Storage storage : {Storage::BF16, Storage::F16, Storage::F32})
    for (const int vector : {1, 2}) {
      if (!rondo::testing::has_turn(++turn, 2)) continue;
      run(kTwoVectors, storage, {2, 30, 2, 72}, vector, vector);
      run(kHeadValueCell, storage, {2, 9, 2, 40}, vector, vector);
    }
}

TEST(TimeVector, WidestAccess) {
  EXPECT_EQ(widest(Storage::BF16, {2, 30, 2, 72}), 8);
  EXPECT_EQ(widest(Storage::F32, {2, 30, 2, 72}), 4) << "at most 16 bytes";
  EXPECT_EQ(widest(Storage::F32, {2, 30, 2, 130}), 2) << "no access reaches into the next head";
}

// Threads are busy whatever the sizes, and every vector has one.
TEST(TimeVector, FewThreadsAreIdle) {
  for (const std::int64_t dim : {1, 8, 33, 64, 72, 130, 256, 1000})
    for (const std::int64_t heads : {1, 2, 12}) {
      const step::Sizes sizes{16, 1024, heads, dim};
      const int vector = widest(Storage::BF16, sizes);
      const TimeThreads threads(sizes, {vector, true}, 4);
      const std::int64_t vectors = threads.abreast() * heads * dim / vector;
      EXPECT_EQ(threads.span(), 4 * threads.abreast());
      EXPECT_LE(vectors, threads.blocks() * TimeThreads::kThreads);
      EXPECT_GE(static_cast<double>(vectors),
                0.75 * static_cast<double>(threads.blocks() * TimeThreads::kThreads))
          << "H=" << heads << " D=" << dim;
    }
  const TimeThreads lstm({16, 1024, 12, 64}, {8, true}, 4);
  EXPECT_EQ(lstm.abreast(), 4) << "96 vectors a step: 4 of them fill 3 blocks";
  EXPECT_EQ(lstm.blocks(), 3);
}

// Resets make a vector of a state; m * h of a sequence that starts anew at any step, against the reference.
TEST(TimeVector, OfResets) {
  int turn = 0;
  for (const Storage storage : {Storage::BF16, Storage::F16, Storage::F32})
    for (const char* name : {"lstm", "mgu"}) {
      if (!rondo::testing::has_turn(++turn, 2)) continue;
      Case c{find_strategy("alternating"),
             step::with_forms(cell_named(name), {true, false, false}).value(),
             {},
             {},
             {},
             true};
      c.problem.sizes = {1, 24, 2, 72};
      c.problem.storage = storage;
      c.problem.math = default_math(storage);
      c.parameters = {{"units", 8},
                      {"batch_tiles", 1},
                      {"warps", 2},
                      {"stages", 2},
                      {"vector", widest(storage, c.problem.sizes)}};
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << name << " " << kernel::storage_name(storage);
    }
}

// Per-head values of all steps, of heads whose channels a warp, warps of a block and a block that walks over
// them have; the last in one step, for its matrix is large.
TEST(TimeHeadValues, OfHeadsOfAllSizes) {
  const char* text =
      "cell normal(D) {\n input x[D]\n param R[D, D]\n state h[D]\n p = R @ h\n c = p - mean(p)\n"
      " next h = tanh(c * rsqrt(mean(square(c)) + 0.1) + x - 0.1 * max(h))\n output h\n}\n";
  for (const auto& [storage, dim, time] : {std::tuple{Storage::F32, 33, 18},
                                           {Storage::BF16, 128, 18},
                                           {Storage::F32, 136, 18},
                                           {Storage::F32, 2056, 1}}) {
    SCOPED_TRACE(dim);
    if (dim > 1024 && !rondo::testing::has_turn(0)) continue;  // it takes half a minute
    Case c{find_strategy("alternating"), frontend::parse(text, "normal.cell").cells.at(0), {}, {}, {}, true};
    c.problem.sizes = {1, time, 1, dim};
    c.problem.storage = storage;
    c.problem.math = default_math(storage);
    c.parameters = {{"units", 8},
                    {"batch_tiles", 1},
                    {"warps", 2},
                    {"stages", 2},
                    {"vector", widest(storage, c.problem.sizes)}};
    Comparison(std::move(c)).run();
    ASSERT_FALSE(HasFailure());
  }
}

// A vector that reduces over the head: threads take single channels whatever the alignment.
TEST(TimeVector, OfReductions) {
  const char* text =
      "cell normal(D) {\n input x[D]\n param R[D, D], g[D]\n state h[D]\n c = h - mean(h)\n"
      " next h = tanh(R @ (g * c * rsqrt(mean(square(c)) + 0.1)) + x)\n output h\n}\n";
  for (const Storage storage : {Storage::BF16, Storage::F32}) {
    Case c{find_strategy("alternating"), frontend::parse(text, "normal.cell").cells.at(0), {}, {}, {}, true};
    c.problem.sizes = {2, 18, 2, 136};
    c.problem.storage = storage;
    c.problem.math = default_math(storage);
    c.parameters = first_point(*c.strategy, c.cell, c.problem);
    c.problem.pass = Pass::Backward;
    c.backward = first_point(*c.strategy, c.cell, c.problem);
    c.backward["vector"] = widest(storage, c.problem.sizes);
    Comparison(std::move(c)).run();
    ASSERT_FALSE(HasFailure()) << kernel::storage_name(storage);
  }
}

// What the launch costs by the model: a copy of the state, and its start.
TEST(TimeVector, IsPricedAsACopy) {
  const target::Profile& profile = target::board("h200");
  const step::Cell plain = cell_named("lstm");
  const step::Cell resets = step::with_forms(plain, {true, false, false}).value();
  Problem problem;
  problem.sizes = {16, 1024, 12, 64};
  problem.storage = Storage::BF16;
  problem.pass = Pass::Backward;
  for (const bool saved : {false, true}) {
    problem.save_products = saved;
    const double more =
        before_sweep({resets, problem, profile}).seconds - before_sweep({plain, problem, profile}).seconds;
    const double copied = 2.0 * 16 * 1024 * 12 * 64 * 2;
    EXPECT_NEAR(more, profile.speeds.launch_s + copied / profile.speeds.copy_bytes_per_s, 1e-9);
  }
}

}  // namespace
}  // namespace rondo::schedule
