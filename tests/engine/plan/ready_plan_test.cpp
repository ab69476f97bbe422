// The code of a tuned choice: as it is stored where this build of the program stored it, else by way of its
// plan.
#include "engine/plan/ready_plan.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "compiler/executable/producer.h"
#include "compiler/executable/serialise.h"
#include "compiler/schedule/plan/asked.h"
#include "tests/engine/plan/borrowed_strategy.h"
#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

using schedule::Pass;

class ReadyCode : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ =
        (std::filesystem::path(::testing::TempDir()) /
         ("ready-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".db"))
            .string();
    remove_files();
    database_ = std::make_unique<db::Database>(db::Database::open(path_).value());
    choice_.strategy = "stream";
    choice_.parameters = rondo::testing::stream_parameters(cell_, problem_);
    store();
  }
  void TearDown() override {
    database_.reset();
    remove_files();
  }
  void remove_files() const {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }

  // What a tuner leaves of the choice, with code that no compiler made.
  void store() {
    const schedule::Strategy* strategy = schedule::find_strategy(choice_.strategy);
    CompiledPlan plan =
        uncompiled_plan(std::make_shared<const schedule::Task>(cell_, problem_, target::board()),
                        strategy->build_legal({cell_, problem_, profile_}, choice_.parameters).value(),
                        backend::preferred_backend(), "13.0")
            .value();
    backend::Compiled code;
    code.image.target = plan.key.arch;
    code.image.bytes = "made-up code";
    for (const executable::Kernel& kernel : plan.executable.kernels) {
      code.image.resources.emplace_back();
      code.image.resources.back().name = kernel.name;
    }
    ASSERT_TRUE(attach_code(plan, std::move(code)).ok());
    plan.executable.identity.asked = schedule::asked_hash({cell_, problem_, profile_});
    stored_ = plan;
    choice_.cubin_key = plan.code;
    put();
  }
  void put() { store_cubin(stored_, *database_); }
  Result<CompiledCode> code() {
    return code_of_choice({cell_, problem_, profile_}, choice_, database_.get());
  }
  // Taken from the database: as it is, or compared with a plan.
  void expect(bool as_stored, const std::string& why) {
    const Result<CompiledCode> made = code();
    ASSERT_TRUE(made.ok()) << why << ": " << made.error().message;
    EXPECT_TRUE(made->from_cache) << why;
    EXPECT_EQ(made->as_stored, as_stored) << why;
    EXPECT_EQ(made->code, choice_.cubin_key) << why;
    EXPECT_EQ(made->executable.images, stored_.executable.images) << why;
  }

  step::Cell cell_ = rondo::testing::library_cell("paragru");
  schedule::Problem problem_ = rondo::testing::problem_of(Pass::Backward);
  target::Profile profile_ = target::find_profile("h200").value();
  Choice choice_;
  CompiledCode stored_;
  std::string path_;
  std::unique_ptr<db::Database> database_;
};

TEST_F(ReadyCode, WhatThisBuildStoredIsTakenAsItIs) {
  expect(true, "the same problem");
  EXPECT_EQ(code()->executable, stored_.executable);
  EXPECT_EQ(code()->key, stored_.key);
}

// Parameters of which no plan can be built: what is stored under them can only have been taken without one.
TEST_F(ReadyCode, NoPlanIsBuiltForIt) {
  choice_.parameters = {{"channels", -1}};
  EXPECT_FALSE(code().ok());
  stored_.executable.identity.parameters = schedule::print(choice_.parameters);
  put();
  expect(true, "taken as it is");
}

TEST_F(ReadyCode, AnotherBuildsIsComparedWithThePlanAndThenKeptAsThisOnes) {
  for (std::string executable::Identity::*maker :
       {&executable::Identity::producer, &executable::Identity::build, &executable::Identity::asked}) {
    const std::string own = stored_.executable.identity.*maker;
    stored_.executable.identity.*maker = "another";
    put();
    {
      db::Database reader = db::Database::open(path_, {db::Access::ReadOnly}).value();
      for (int turn = 0; turn < 2; ++turn) {
        const auto made = code_of_choice({cell_, problem_, profile_}, choice_, &reader);
        ASSERT_TRUE(made.ok()) << made.error().message;
        EXPECT_TRUE(made->from_cache);
        EXPECT_FALSE(made->as_stored) << "a reader keeps nothing";
      }
    }
    expect(false, "its text is equal");
    expect(true, "the second time");
    stored_.executable.identity.*maker = own;
  }
}

TEST_F(ReadyCode, AnythingElseThatIsAskedGoesTheOldWay) {
  profile_.speeds.clock_hz *= 1.5;  // nothing in this plan follows it
  expect(false, "a profile that was measured again");
  expect(true, "the second time");
  problem_.sizes.time *= 2;
  expect(false, "another length");
  problem_.sizes.batch += 1;
  expect(false, "another batch");
  cell_.graph.nodes.front().label = "named";
  const Result<CompiledCode> renamed = code();
  EXPECT_TRUE(!renamed.ok() || !renamed->as_stored) << "a name in the text";
}

TEST_F(ReadyCode, AStrategyThatTheProgramBringsIsAlwaysBuilt) {
  const testing::Borrowed borrowed;
  const Registration<const schedule::Strategy*> mine(schedule::strategy_registry(), &borrowed);
  choice_.strategy = "borrowed";
  store();
  for (int turn = 0; turn < 2; ++turn) expect(false, "an outside strategy");
}

}  // namespace
}  // namespace rondo::engine
