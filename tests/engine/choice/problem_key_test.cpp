// The key of a problem in the database: whatever is asked for makes another one.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "engine/choice/choose.h"
#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

struct Asked {
  step::Cell cell;
  schedule::Problem problem;
  target::Profile profile;
};

auto key_of(const Asked& asked) {
  const db::Problem key = database_problem({asked.cell, asked.problem, asked.profile});
  // A name for each member of what is stored, as of what is asked for below.
  const auto& [cell, device, arch, shape, dtype, math, pass] = key;
  const auto& [b, t, h, d] = shape;
  return std::tuple(cell, device, arch, b, t, h, d, dtype, math, pass);
}

TEST(ProblemKey, FollowsEveryMemberOfWhatIsAskedFor) {
  Asked asked{rondo::testing::library_cell("zoneout"),
              rondo::testing::problem_of(schedule::Pass::ForwardSave), target::board()};
  asked.problem.sizes = {4, 64, 2, 32};
  ASSERT_FALSE(asked.cell.constants.empty());
  const std::string constant = asked.cell.constants.front().name;
  // A name for each member: with a new one this does not compile, and it has to be changed below too.
  [[maybe_unused]] const auto& [sizes, storage, pass, math, constants, save_products] = asked.problem;
  [[maybe_unused]] const auto& [batch, time, heads, dim] = sizes;
  [[maybe_unused]] const auto& [kind, level, specific] = asked.profile.target;
  const std::vector<std::pair<const char*, std::function<void(Asked&)>>> changes = {
      {"batch", [](Asked& a) { ++a.problem.sizes.batch; }},
      {"time", [](Asked& a) { ++a.problem.sizes.time; }},
      {"heads", [](Asked& a) { ++a.problem.sizes.heads; }},
      {"dim", [](Asked& a) { ++a.problem.sizes.dim; }},
      {"storage", [](Asked& a) { a.problem.storage = kernel::Storage::F16; }},
      {"math", [](Asked& a) { a.problem.math = kernel::Math::Accurate; }},
      {"forward", [](Asked& a) { a.problem.pass = schedule::Pass::Forward; }},
      {"backward", [](Asked& a) { a.problem.pass = schedule::Pass::Backward; }},
      {"saved products", [](Asked& a) { a.problem.save_products = true; }},
      {"constant", [&](Asked& a) { a.problem.constants[constant] = 0.75; }},
      {"architecture", [](Asked& a) { a.profile.target = target::Target::gpu(100); }},
      {"board", [](Asked& a) { a.profile.key = "another"; }},
      {"the cell", [](Asked& a) { a.cell = rondo::testing::library_cell("lstm"); }},
  };
  std::map<decltype(key_of(asked)), std::string> seen{{key_of(asked), "nothing changed"}};
  for (const auto& [what, change] : changes) {
    Asked other = asked;
    change(other);
    const auto [first, is_new] = seen.emplace(key_of(other), what);
    EXPECT_TRUE(is_new) << what << " is the same as " << first->second;
  }
}

// Each pass, with each choice of what it saves, has a key of its own.
TEST(ProblemKey, OfEachPassIsItsOwn) {
  Asked asked{rondo::testing::library_cell("lstm"), rondo::testing::problem_of(schedule::Pass::Forward),
              target::board()};
  std::set<decltype(key_of(asked))> keys;
  const std::vector<schedule::Problem> all = schedule::in_all_passes(asked.problem);
  for (const schedule::Problem& problem : all) {
    asked.problem = problem;
    keys.insert(key_of(asked));
  }
  EXPECT_EQ(keys.size(), all.size());
  EXPECT_EQ(all.size(), 5u);
}

}  // namespace
}  // namespace rondo::engine
