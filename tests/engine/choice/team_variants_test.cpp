// What the GPU tests take of the variants of a team, on an H200.
#include "tests/engine/choice/team_variants.h"

#include "compiler/schedule/strategies.h"
#include "tests/engine/plan/cells.h"
#include "tests/support/turns.h"

namespace rondo::testing {
namespace {

using kernel::Storage;
using schedule::Pass;

const target::Profile kProfile = target::find_profile("h200").value();

VariantCandidates candidates_of(const std::string& cell, Storage storage, Pass pass, std::int64_t dim,
                                Variant variant = Variant::Block) {
  const auto found =
      variant_candidates(library_cell(cell), problem_of(pass, dim, storage), kProfile, variant);
  EXPECT_TRUE(found.ok()) << found.error().message;
  return found.ok() ? *found : VariantCandidates{};
}

// Sizes of tests/gpu/dense_test.cpp: with a tail, and odd.
TEST(TeamVariants, OneBlockComputesEveryCellInHeadsThatItHolds) {
  int turn = 0;
  for (const engine::EmbeddedCell& embedded : engine::embedded_cells()) {
    for (const Storage storage : {Storage::BF16, Storage::F32})
      for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward})
        for (const std::int64_t dim : {72, 33}) {
          schedule::Problem problem;
          problem.pass = pass;
          const schedule::Task task(library_cell(embedded.name), problem, {});
          if (!schedule::find_strategy("persistent")->legal(task).legal || !has_turn(turn++, 5)) continue;
          const VariantCandidates found = candidates_of(embedded.name, storage, pass, dim);
          EXPECT_FALSE(found.list.empty()) << embedded.name;
          EXPECT_GE(found.dim, 17) << embedded.name << ": more than one k-tile, so that there is a tail";
          EXPECT_EQ(found.dim % 16, dim % 16) << embedded.name;
          for (const engine::Candidate& candidate : found.list)
            EXPECT_EQ(candidate.parameters.at("blocks"), 1);
        }
  }
}

// The matrices of a layer-normalised LSTM backward leave one block neither the registers nor the shared
// memory.
TEST(TeamVariants, TheLargestHeadThatOneBlockHolds) {
  EXPECT_EQ(candidates_of("lstm", Storage::BF16, Pass::Backward, 72).dim, 72);
  EXPECT_EQ(candidates_of("lnlstm", Storage::BF16, Pass::ForwardSave, 72).dim, 72);
  EXPECT_EQ(candidates_of("lnlstm", Storage::BF16, Pass::Backward, 72).dim, 72);
  EXPECT_EQ(candidates_of("lnlstm", Storage::F32, Pass::Backward, 72).dim, 24);
  EXPECT_EQ(candidates_of("rmslstm", Storage::F32, Pass::Backward, 33).dim, 17);
}

TEST(TeamVariants, OtherVariantsGetNoSmallerHeads) {
  const VariantCandidates pair = candidates_of("lstm", Storage::BF16, Pass::Forward, 4096, Variant::Cluster);
  EXPECT_EQ(pair.dim, 4096);
  EXPECT_TRUE(pair.list.empty());
  EXPECT_FALSE(candidates_of("lnlstm", Storage::BF16, Pass::Backward, 72, Variant::Cluster).list.empty());
}

}  // namespace
}  // namespace rondo::testing
