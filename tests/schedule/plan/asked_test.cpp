// The hash of what was asked: it follows all that a strategy is given.
#include "compiler/schedule/plan/asked.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "compiler/step/clip.h"
#include "tests/schedule/cell_files.h"
#include "tests/target/board.h"

namespace rondo::schedule {
namespace {

struct Asked {
  step::Cell cell;
  Problem problem;
  target::Profile profile;
};

TEST(AskedHash, FollowsEverything) {
  Asked asked{cell_named("hgrn"), Problem{}, target::board()};
  // A name for each member: with a new one this does not compile, and it has to be changed below too.
  [[maybe_unused]] const auto& [sizes, storage, pass, math, constants, save_products] = asked.problem;
  [[maybe_unused]] const auto& [batch, time, heads, dim] = sizes;
  // Of `specific` nothing is asked: it follows from the instructions of each kernel.
  [[maybe_unused]] const auto& [kind, level, specific] = asked.profile.target;
  asked.problem.sizes = {4, 64, 2, 32};
  const std::vector<std::pair<const char*, std::function<void(Asked&)>>> changes = {
      {"batch", [](Asked& a) { a.problem.sizes.batch = 5; }},
      {"time", [](Asked& a) { a.problem.sizes.time = 65; }},
      {"heads", [](Asked& a) { a.problem.sizes.heads = 3; }},
      {"dim", [](Asked& a) { a.problem.sizes.dim = 64; }},
      {"storage", [](Asked& a) { a.problem.storage = kernel::Storage::F16; }},
      {"math", [](Asked& a) { a.problem.math = kernel::Math::Accurate; }},
      {"pass", [](Asked& a) { a.problem.pass = Pass::Backward; }},
      {"saved products", [](Asked& a) { a.problem.save_products = true; }},
      {"constant", [](Asked& a) { a.problem.constants["k"] = 2; }},
      {"architecture", [](Asked& a) { a.profile.target = target::Target::gpu(100); }},
      {"all later GPUs", [](Asked& a) { a.profile.portable = true; }},
      {"the kind of target", [](Asked& a) { a.profile.target.kind = target::Target::Kind::AArch64; }},
      {"a limit", [](Asked& a) { a.profile.limits.sm_count -= 1; }},
      {"a speed", [](Asked& a) { a.profile.speeds.launch_s *= 2; }},
      {"the cell", [](Asked& a) { a.cell = cell_named("mingru"); }},
      {"its name", [](Asked& a) { a.cell.name = "other"; }},
      {"a value's name", [](Asked& a) { a.cell.graph.nodes.back().label = "other"; }},
      {"clipping",
       [](Asked& a) {
         a.cell = step::clipped(a.cell, {std::nullopt, 1.0}).value();
       }},
  };
  std::map<std::string, std::string> seen{
      {asked_hash({asked.cell, asked.problem, asked.profile}), "nothing changed"}};
  for (const auto& [what, change] : changes) {
    Asked other = asked;
    change(other);
    const auto [first, is_new] = seen.emplace(asked_hash({other.cell, other.problem, other.profile}), what);
    EXPECT_TRUE(is_new) << what << " is the same as " << first->second;
  }
}

}  // namespace
}  // namespace rondo::schedule
