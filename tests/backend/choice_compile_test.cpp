// What is chosen without tuning, and so without a compiler's word, does not spill.
#include <gtest/gtest.h>

#include "compiler/step/forms.h"
#include "compiler/support/text_file.h"
#include "engine/choice/candidates.h"
#include "engine/plan/compile.h"
#include "tests/engine/plan/cells.h"
#include "tests/support/turns.h"

namespace rondo::runtime {
namespace {

void expect_no_spill(const step::Cell& of, const schedule::Problem& problem,
                     const std::string& strategy = "") {
  const auto cell = std::make_shared<const step::Cell>(of);
  const target::Profile& profile = target::board();
  const schedule::Task task{*cell, problem, profile};
  const auto found = engine::best_candidate(task, engine::kFullAlignment, strategy,
                                            [](const engine::Candidate&) { return true; });
  ASSERT_TRUE(found.ok()) << found.error().message;
  const engine::Candidate* const chosen = &found->value();
  EXPECT_FALSE(chosen->estimate.may_spill) << cell->name;
  auto plan = schedule::find_strategy(chosen->strategy)->build({*cell, problem, profile}, chosen->parameters);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const auto compiled = engine::compile_plan(
      std::make_shared<const schedule::Task>(*cell, problem, target::board()), std::move(plan).value());
  ASSERT_TRUE(compiled.ok()) << compiled.error().message << " (tools/setup installs NVRTC)";
  EXPECT_FALSE(compiled->spills()) << cell->name << " " << schedule::print(chosen->parameters);
}

// Odd channels of 16 bits: no copy is asynchronous, and all of a stage are under way in registers.
TEST(ChoicesWithoutTuning, OfOddChannelsDoNotSpill) {
  for (const char* name : {"sru", "paragru"}) {
    schedule::Problem problem =
        rondo::testing::problem_of(schedule::Pass::ForwardSave, 33, kernel::Storage::BF16);
    problem.sizes = {1, 200, 2, 33};
    expect_no_spill(rondo::testing::library_cell(name), problem);
  }
}

// A step of more values than registers hold reads each at its use; sixteen vectors meet one matrix, whose
// gradient has as many terms.
TEST(ChoicesWithoutTuning, OfAStateOfManyRowsDoNotSpill) {
  const step::Cell cell = rondo::testing::cell_from(R"(cell sixteen_rows(D) {
  input q[16], k[16], v[D], f
  param W[D, D]
  state S[16, D]
  next S = f * S + (1 - f) * tanh(W @ S + k * v)
  output y = sum(q * next S, rows)
})");
  const std::pair<kernel::Storage, std::int64_t> cases[] = {{kernel::Storage::BF16, 72},
                                                            {kernel::Storage::F32, 128}};
  for (const auto& [storage, dim] : rondo::testing::with_turns<std::pair<kernel::Storage, std::int64_t>>(
           {std::begin(cases), std::end(cases)}, 2)) {
    schedule::Problem problem = rondo::testing::problem_of(schedule::Pass::Backward, dim, storage);
    problem.sizes = {9, 256, 2, dim};
    expect_no_spill(cell, problem);
  }
}

// Where blocks share time, a warp of each scans all segments: transforms of 4 to 16 words, for 256 to 1024
// threads.
TEST(ChoicesWithoutTuning, OfLongSequencesDoNotSpill) {
  for (const char* name : rondo::testing::with_turns<const char*>({"indrnn", "rwkv4", "lru", "paralstm"}, 2))
    for (const step::Sizes& sizes : {step::Sizes{1, 65536, 1, 1024}, step::Sizes{1, 16384, 1, 256}}) {
      schedule::Problem problem =
          rondo::testing::problem_of(schedule::Pass::ForwardSave, sizes.dim, kernel::Storage::BF16);
      problem.sizes = sizes;
      expect_no_spill(rondo::testing::library_cell(name), problem, "shoot");
    }
}

// Blocks that hold whole heads keep values of many channels over a reduction.
TEST(ChoicesWithoutTuning, OfWholeHeadsDoNotSpill) {
  const auto text = read_text_file(std::string(RONDO_SOURCE_DIR) + "/tests/schedule/stream/cells/heads.cell");
  ASSERT_TRUE(text.ok());
  for (const step::Cell& cell : frontend::parse(*text, "heads.cell").cells)
    for (const schedule::Pass pass : {schedule::Pass::ForwardSave, schedule::Pass::Backward})
      for (const auto& [dim, storage] :
           {std::pair{64, kernel::Storage::BF16}, {1000, kernel::Storage::F32}}) {
        schedule::Problem problem = rondo::testing::problem_of(pass, dim, storage);
        problem.sizes = {16, 1024, 2, dim};
        expect_no_spill(cell, problem);
      }
}

// One large head, which a cluster of blocks holds.
TEST(ChoicesWithoutTuning, OfHeadsInClustersDoNotSpill) {
  const auto text = read_text_file(std::string(RONDO_SOURCE_DIR) + "/tests/schedule/stream/cells/heads.cell");
  ASSERT_TRUE(text.ok());
  int turn = 0;
  for (const step::Cell& cell : frontend::parse(*text, "heads.cell").cells)
    for (const schedule::Pass pass : {schedule::Pass::ForwardSave, schedule::Pass::Backward})
      for (const auto& [dim, storage] :
           {std::pair{4096, kernel::Storage::BF16},
            {5001, kernel::Storage::F32},
            {pass == schedule::Pass::Backward ? 32768 : 65536, kernel::Storage::F16}}) {
        // Of each cell another size and pass.
        if (const int number = turn + turn / 6; ++turn, !rondo::testing::has_turn(number, 4)) continue;
        schedule::Problem problem = rondo::testing::problem_of(pass, dim, storage);
        problem.sizes = {1, 1024, 1, dim};
        expect_no_spill(cell, problem);
      }
}

// Rows of different length in reversed time, and masks, where few channels and many steps want shoot.
TEST(ChoicesWithoutTuning, OfFormsAndMasksDoNotSpill) {
  const frontend::Parsed parsed = frontend::parse(
      "cell masked(D) {\n input x[3, D], m\n param w[2, D]\n state h[D]\n z = sigmoid(x[0] + w[0] * h)\n"
      " c = tanh(x[1] + w[1] * h)\n next h = select(m > 0, (1 - z) * h + z * c + x[2], h)\n output h\n}\n",
      "masked.cell");
  ASSERT_TRUE(parsed.ok());
  int turn = 0;
  for (const step::Cell& plain : {parsed.cells.front(), rondo::testing::library_cell("hgrn")})
    for (const kernel::Storage storage : {kernel::Storage::BF16, kernel::Storage::F32})
      for (const schedule::Pass pass : {schedule::Pass::ForwardSave, schedule::Pass::Backward}) {
        schedule::Problem problem = rondo::testing::problem_of(pass, 64, storage);
        problem.sizes = {1, 65536, 1, 64};
        if (pass == schedule::Pass::ForwardSave && plain.name == "masked") {
          const auto chosen = engine::best_candidate({plain, problem, target::board()});
          ASSERT_TRUE(chosen.ok());
          EXPECT_EQ(chosen->strategy, "shoot");
        }
        if (!rondo::testing::has_turn(turn++)) continue;
        expect_no_spill(step::with_forms(plain, {true, true, true}).value(), problem);
      }
}

}  // namespace
}  // namespace rondo::runtime
