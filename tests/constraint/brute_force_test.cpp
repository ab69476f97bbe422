// The solver against trying every point, on random systems.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "compiler/constraint/budget.h"
#include "compiler/constraint/explain.h"
#include "compiler/constraint/solver.h"
#include "tests/constraint/all_solutions.h"
#include "tests/constraint/random_system.h"

namespace rondo::constraint {
namespace {

using test::random_system;
using test::RandomSystem;

// More on request: RONDO_RANDOM_SYSTEMS=100000.
std::uint64_t how_many() {
  const char* asked = std::getenv("RONDO_RANDOM_SYSTEMS");
  return asked != nullptr ? std::strtoull(asked, nullptr, 10) : 2000;
}

std::string text_of(const System& system) {
  std::string text;
  for (std::size_t v = 0; v < system.domains().size(); ++v) {
    text += system.names().variables[v].name + " in " + system.domains()[v].to_string() + "\n";
  }
  for (const Constraint& rule : system.constraints()) text += to_string(rule.condition) + "\n";
  return text;
}

TEST(BruteForce, SolutionsAreTheSame) {
  std::size_t with_solutions = 0, without = 0;
  for (std::uint64_t seed = 0; seed < how_many(); ++seed) {
    const RandomSystem random = random_system(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text_of(random.system)));
    const std::vector<std::vector<Value>> expected = random.brute_force();
    std::vector<std::vector<Value>> found;
    const All all = find_all(random.system);
    for (const Assignment& solution : all.solutions) found.push_back(solution.values());
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found, expected);
    ASSERT_EQ(all.stats.solutions, expected.size());
    ASSERT_EQ(find_first(random.system).value().solution.has_value(), !expected.empty());
    ++(expected.empty() ? without : with_solutions);
  }
  // The generator must exercise both outcomes to mean anything.
  EXPECT_GT(with_solutions, how_many() / 4);
  EXPECT_GT(without, how_many() / 10);
}

TEST(BruteForce, PropagationKeepsEverySolution) {
  std::size_t narrowed = 0;
  for (std::uint64_t seed = 0; seed < how_many(); ++seed) {
    const RandomSystem random = random_system(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text_of(random.system)));
    const auto left = propagated(random.system);
    const auto expected = random.brute_force();
    if (!left) {
      ASSERT_TRUE(expected.empty());
      ++narrowed;
      continue;
    }
    for (std::size_t v = 0; v < left->size(); ++v) {
      if ((*left)[v].size() < random.system.domains()[v].values().size()) ++narrowed;
      for (const std::vector<Value>& solution : expected) {
        ASSERT_TRUE(std::binary_search((*left)[v].begin(), (*left)[v].end(), solution[v]));
      }
    }
  }
  EXPECT_GT(narrowed, how_many() / 2);
}

TEST(BruteForce, LeastValue) {
  for (std::uint64_t seed = 0; seed < how_many() / 4; ++seed) {
    RandomSystem random = random_system(seed);
    const std::vector<Var> variables = [&] {
      std::vector<Var> list;
      for (std::size_t v = 0; v < random.system.domains().size(); ++v) {
        list.emplace_back(v, random.system.names().variables[v].name);
      }
      return list;
    }();
    const Expr objective = variables[0] * variables[1] - 3 * variables[0];
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text_of(random.system)));
    std::optional<Value> expected;
    for (const std::vector<Value>& point : random.brute_force()) {
      const std::optional<Value> value = evaluate(*objective.node(), point);
      if (value && (!expected || *value < *expected)) expected = value;
    }
    const std::optional<Assignment> found =
        Budget(Limits{}).least_solution(random.system, objective).solution;
    ASSERT_EQ(found.has_value(), expected.has_value());
    if (found) {
      ASSERT_EQ(found->value(objective), expected);
    }
  }
}

// Whether the rules at these indices leave a point, by trying all.
bool solvable(const RandomSystem& random, const std::set<std::size_t>& kept) {
  RandomSystem part{random.system, {}};
  for (const std::size_t rule : kept) part.rules.push_back(random.rules[rule]);
  return !part.brute_force().empty();
}

TEST(BruteForce, ExplainedConflictsAreMinimal) {
  std::size_t explained = 0, of_several = 0;
  for (std::uint64_t seed = 0; seed < how_many(); ++seed) {
    const RandomSystem random = random_system(seed);
    if (!random.brute_force().empty()) continue;
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, text_of(random.system)));
    const Explanation explanation = explain(random.system).value();
    ASSERT_TRUE(explanation.minimal);
    std::set<std::size_t> members;
    for (const ConflictMember& member : explanation.conflict) members.insert(member.constraint);
    ASSERT_FALSE(members.empty());
    ASSERT_FALSE(solvable(random, members));
    for (const ConflictMember& member : explanation.conflict) {
      std::set<std::size_t> rest = members;
      rest.erase(member.constraint);
      ASSERT_TRUE(solvable(random, rest));
      ASSERT_TRUE(member.shortfall.has_value());
      ASSERT_NE(explanation.text.find(member.label), std::string::npos);
    }
    ++explained;
    if (members.size() > 1) ++of_several;
  }
  EXPECT_GT(explained, how_many() / 10);
  EXPECT_GT(of_several, how_many() / 100);
}

}  // namespace
}  // namespace rondo::constraint
