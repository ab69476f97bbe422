// What fits where, for cells whose answer is known.
#include "engine/choice/fits.h"

#include <algorithm>
#include <set>

#include "compiler/schedule/strategies_for.h"
#include "engine/choice/candidates.h"
#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

using schedule::Pass;

std::vector<target::Profile> boards(const std::vector<std::string>& keys) {
  std::vector<target::Profile> result;
  for (const std::string& key : keys) result.push_back(target::find_profile(key).value());
  return result;
}

schedule::Problem problem_with(std::int64_t dim) {
  schedule::Problem problem = testing::problem_of(Pass::Forward, dim);
  problem.sizes = {16, 64, 1, dim};
  return problem;
}

FitTable table_of(const std::string& cell, std::int64_t dim, const std::vector<std::string>& keys) {
  return fit_table({testing::library_cell(cell), problem_with(dim), {}}, boards(keys));
}

const FitRow& row_of(const FitTable& table, const std::string& variant, Pass pass) {
  const auto found = std::find_if(table.rows.begin(), table.rows.end(), [&](const FitRow& row) {
    return row.strategy == "persistent" && row.variant == variant && row.pass == pass;
  });
  if (found == table.rows.end()) throw std::runtime_error("no row " + variant);
  return *found;
}

bool fits(const Fit& fit) { return fit.kind == Fit::Kind::Fits; }

TEST(Fits, ASmallLstmFitsOneBlockEverywhere) {
  const FitTable table = table_of("lstm", 64, {"a100", "h100", "h200", "l4", "rtx4090", "b200"});
  for (const Pass pass : {Pass::Forward, Pass::Backward}) {
    for (const Fit& fit : row_of(table, "one block", pass).fits) EXPECT_TRUE(fits(fit)) << fit.detail;
    const std::vector<Fit>& pair = row_of(table, "cluster of 2", pass).fits;
    for (const std::size_t without : {0u, 3u, 4u}) {  // A100, L4, RTX 4090
      EXPECT_FALSE(fits(pair[without]));
      EXPECT_EQ(pair[without].missed, "cluster size");
      EXPECT_NE(pair[without].detail.find("has none"), std::string::npos) << pair[without].detail;
    }
    for (const std::size_t with : {1u, 2u, 5u}) EXPECT_TRUE(fits(pair[with])) << pair[with].detail;
    EXPECT_FALSE(fits(row_of(table, "cluster of 16", pass).fits[2]))
        << "64 channels for 16 blocks of at least 8";
  }
}

TEST(Fits, ALargeLstmNeedsTheGrid) {
  const FitTable table = table_of("lstm", 768, {"a100", "h200", "l4", "rtx5090"});
  for (const Pass pass : {Pass::Forward, Pass::Backward}) {
    for (const Fit& fit : row_of(table, "one block", pass).fits) {
      EXPECT_EQ(fit.missed, "shared memory");
      EXPECT_NE(fit.detail.find("the limit is"), std::string::npos) << fit.detail;
    }
    EXPECT_EQ(row_of(table, "cluster of 8", pass).fits[1].missed,
              pass == Pass::Forward
                  ? "threads a block, registers of an SM, registers that an SM has for a thread, "
                    "registers a thread, shared memory"
                  : "threads a block, registers of an SM, registers a thread, shared memory");
    EXPECT_EQ(row_of(table, "cluster of 16", pass).fits[3].missed, "cluster size") << "it has 8 at most";
    EXPECT_TRUE(fits(row_of(table, "grid", pass).fits[0]));
    EXPECT_TRUE(fits(row_of(table, "grid", pass).fits[1]));
  }
}

TEST(Fits, WhatIsNotLegalSaysWhy) {
  const FitTable table = table_of("mingru", 64, {"h200"});
  std::set<std::string> seen;
  for (const FitRow& row : table.rows) {
    seen.insert(row.strategy);
    const bool alone = row.strategy == "stream" || (row.strategy == "shoot" && row.pass == Pass::Forward);
    EXPECT_EQ(row.fits[0].kind, alone ? Fit::Kind::Fits : Fit::Kind::NotLegal) << row.strategy;
    EXPECT_EQ(row.fits[0].detail.empty(), alone);
  }
  EXPECT_EQ(seen.size(), schedule::strategies_for(target::board()).size())
      << "every strategy of GPUs has a row";
}

// The table says of every variant what the list of all candidates says.
TEST(Fits, AgreesWithTheCandidates) {
  for (const char* board : {"a100", "h200"})
    for (const Pass pass : {Pass::Forward, Pass::Backward}) {
      const step::Cell cell = testing::library_cell("gru");
      schedule::Problem problem = problem_with(200);
      const FitTable table = fit_table({cell, problem, {}}, boards({board}));
      problem.pass = pass;
      const auto candidates = ranked_candidates({cell, problem, boards({board})[0]});
      ASSERT_TRUE(candidates.ok()) << candidates.error().message;
      for (const schedule::Variant& variant : schedule::find_strategy("persistent")->variants()) {
        const bool listed =
            std::any_of(candidates->begin(), candidates->end(), [&](const Candidate& candidate) {
              return candidate.strategy == "persistent" &&
                     std::all_of(variant.fixed.begin(), variant.fixed.end(), [&](const auto& wanted) {
                       return candidate.parameters.at(wanted.first) == wanted.second;
                     });
            });
        EXPECT_EQ(fits(row_of(table, variant.name, pass).fits[0]), listed) << board << " " << variant.name;
      }
    }
}

// Three products after each other: no variant but the smallest fits, and every reason is found within the
// work that is allowed, in numbers.
TEST(Fits, ReasonsOfSeveralProductsAreFoundWithinTheirLimit) {
  const step::Cell cell = testing::cell_from(R"(cell three(D) {
  input x[D]
  param Q[D, D], S[D, D], W[4, D, D], R[4, D, D], b[4, D]
  state h[D], c[D]
  x1 = 2 * sigmoid(Q @ h) * x
  h1 = 2 * sigmoid(S @ x1) * h
  g = W @ x1 + R @ h1 + b
  next c = sigmoid(g[1]) * c + sigmoid(g[0]) * tanh(g[2])
  next h = sigmoid(g[3]) * tanh(next c)
  output h
}
)");
  std::size_t told = 0;
  for (const FitRow& row : fit_table({cell, problem_with(1536), {}}, boards({"h200"})).rows) {
    const Fit& fit = row.fits[0];
    if (fit.kind != Fit::Kind::Short) continue;
    EXPECT_NE(fit.missed, "unknown") << row.variant << ": " << fit.detail;
    EXPECT_NE(fit.told.find(": at least "), std::string::npos) << row.variant << ": " << fit.told;
    EXPECT_EQ(std::count(fit.told.begin(), fit.told.end(), ':'),
              1 + std::count(fit.missed.begin(), fit.missed.end(), ','))
        << "a number for each: " << fit.told;
    ++told;
  }
  EXPECT_GE(told, 10u);
}

TEST(Fits, PrintsNumbersForOneGpu) {
  FitTable table{{"h200"}, {}};
  const Fit no{Fit::Kind::Short, "shared memory", "... (blocks = 1)",
               "shared memory: at least 3, the limit is 2"};
  table.rows = {{"persistent", "one block", Pass::Forward, {no}}};
  EXPECT_EQ(print(table),
            "  forward                h200\n"
            "  persistent, one block  shared memory: at least 3, the limit is 2\n");
}

TEST(Fits, PrintsATable) {
  FitTable table;
  table.profiles = {"a100", "h200"};
  const Fit yes, no{Fit::Kind::Short, "shared memory", "..."}, never{Fit::Kind::NotLegal, "not legal", "..."};
  table.rows = {{"persistent", "one block", Pass::Forward, {yes, no}},
                {"stream", "", Pass::Forward, {never, yes}},
                {"stream", "", Pass::Backward, {no, yes}}};
  EXPECT_EQ(print(table),
            "  forward                a100           h200\n"
            "  persistent, one block  fits           shared memory\n"
            "  stream                 -              fits\n"
            "  backward               a100           h200\n"
            "  stream                 shared memory  fits\n");
}

}  // namespace
}  // namespace rondo::engine
