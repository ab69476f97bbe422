// Max-plus products on GPUs, in the simulator: small integers to the bit, real numbers against the fp64
// reference. Plain lanes make them whatever the storage type.
#include <gtest/gtest.h>

#include "compiler/schedule/strategies.h"
#include "compiler/step/forms.h"
#include "compiler/step/simplify.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/exact_case.h"
#include "tests/schedule/max_plus_cells.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

constexpr Storage kStorages[] = {Storage::F32, Storage::BF16, Storage::F16};

// Units of half a row tile and more, a batch tile and two, warps with a chunk and without one. `dim` decides
// how wide copies may be.
Parameters parameters_of(int turn, Storage storage, std::int64_t dim) {
  std::int64_t vector = 16 / kernel::storage_bytes(storage);
  while (dim % vector != 0) vector /= 2;
  return {{"units", 8 << turn % 3},
          {"batch_tiles", 1 + turn / 2 % 2},
          {"warps", 2 << turn % 2},
          {"stages", 2 + turn % 3 % 2},
          {"vector", vector}};
}

void run_exact(const ExactCell& cell, int turn, const step::Clip& clip = {}) {
  const Storage storage = kStorages[turn % 3];
  const Parameters parameters = parameters_of(turn / 3, storage, cell.sizes.dim);
  SCOPED_TRACE(std::string(kernel::storage_name(storage)) + " " + print(parameters));
  ExactCase("alternating", parameters, storage, clip, cell, default_math(storage)).run();
}

TEST(AlternatingMaxPlus, IntegersToTheBit) {
  int turn = 0;
  for (const bool saved : {false, true})
    for (const step::Sizes& sizes :
         {step::Sizes{5, 3, 2, 40}, step::Sizes{1, 2, 1, 1}, step::Sizes{9, 2, 1, 64}})
      for (int storage = 0; storage < 3; ++storage, ++turn)
        if (rondo::testing::has_turn(turn / 3 + turn % 3, 6)) run_exact({kTropical, saved, sizes}, turn);
  if (rondo::testing::has_turn(0, 2)) run_exact({kTropical, false, {5, 2, 1, 20}}, 1, {2.0, 1.0});
}

TEST(AlternatingMaxPlus, ManyChannels) {
  for (const int turn : {0, 4})
    if (rondo::testing::has_turn(turn / 4, 2)) run_exact({kLate, false, {2, 2, 1, 300}}, turn);
}

// In fp32: rounding to a 16-bit type chooses another channel now and then, and gradients are other numbers
// then.
Case case_of(const step::Cell& cell, const step::Sizes& sizes, int turn) {
  Case c{find_strategy("alternating"), cell, {}, {}, {}, false};
  c.problem.sizes = sizes;
  c.problem.storage = Storage::F32;
  c.problem.math = default_math(Storage::F32);
  c.problem.save_products = turn % 3 == 1 && !product_tensors(step::simplify(cell)).empty();
  c.parameters = parameters_of(turn, Storage::F32, sizes.dim);
  return c;
}

TEST(AlternatingMaxPlus, CellsAgreeWithTheReference) {
  int turn = 0;
  for (const step::Cell& cell : max_plus_cells())
    for (const std::int64_t dim : {1, 33, 72}) {
      if (!rondo::testing::has_turn(++turn, 2)) continue;
      const step::Sizes sizes{turn / 2 % 2 == 0 ? 3 : 9, turn % 3 == 0 ? 1 : 9, dim == 72 ? 1 : 2, dim};
      Comparison(case_of(cell, sizes, turn)).run();
      ASSERT_FALSE(HasFailure()) << cell.name << " " << dim;
    }
}

TEST(AlternatingMaxPlus, FormsOfTheSequence) {
  int turn = 0;
  for (const step::Cell& plain : max_plus_cells())
    for (const step::Forms forms : {step::Forms{true, true, false}, step::Forms{true, true, true},
                                    step::Forms{true, true, false, false, true}}) {
      if (!rondo::testing::has_turn(++turn, 3)) continue;
      Case c = case_of(step::with_forms(plain, forms).value(), {5, 6, 2, 20}, turn);
      c.reached_states = true;
      Comparison(std::move(c)).run();
      ASSERT_FALSE(HasFailure()) << plain.name;
    }
}

}  // namespace
}  // namespace rondo::schedule
