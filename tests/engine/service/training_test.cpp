// Of two ways to save, only the plans of the faster one are made, as long as these become what was chosen.
#ifdef RONDO_BUILT_LLVM
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/machine/machine.h"
#include "engine/service/service.h"
#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

class Training : public ::testing::Test {
 protected:
  void SetUp() override {
    // Of the test's own: tests of this suite run side by side.
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    file_ = std::filesystem::path(::testing::TempDir()) / ("training_" + name + ".db");
    std::filesystem::remove(file_);
    auto database = db::Database::open(file_);
    ASSERT_TRUE(database.ok()) << database.error().message;
    database_ = std::make_unique<db::Database>(std::move(database).value());
    auto machine = find_machine("cpu", database_.get());
    ASSERT_TRUE(machine.ok()) << machine.error().message;
    machine_ = std::move(machine).value();
    request_.cell = &cell_;
    request_.problem = rondo::testing::problem_of(schedule::Pass::ForwardSave, 16);
    request_.trust.database = database_.get();
    request_.trust.note = [this](const std::string& text) { notes_.push_back(text); };
  }
  void TearDown() override { std::filesystem::remove(file_); }

  std::size_t compiled() { return database_->cubins().value().size(); }

  // By choices alone.
  Save by_choices() {
    Request outline = request_;
    outline.outline = true;
    const Result<TrainingAnswer> found = answer_training(outline, machine_, Save::Faster);
    EXPECT_TRUE(found.ok());
    return found.ok() ? found->save : Save::Faster;
  }

  std::filesystem::path file_;
  std::unique_ptr<db::Database> database_;
  Machine machine_;
  step::Cell cell_ = rondo::testing::library_cell("lstm");
  Request request_;
  std::vector<std::string> notes_;
};

TEST_F(Training, OnlyTheFasterWayIsCompiled) {
  const Result<TrainingAnswer> found = answer_training(request_, machine_, Save::Faster);
  ASSERT_TRUE(found.ok()) << found.error().message;
  ASSERT_TRUE(found->forward.kernel && found->backward.kernel);
  EXPECT_NE(found->forward.kernel->plan, nullptr) << "it is no outline";
  EXPECT_EQ(found->save, by_choices());
  EXPECT_EQ(compiled(), 2U) << "forward and backward";
}

TEST_F(Training, AWayThatIsNamedIsTaken) {
  for (const Save save : {Save::States, Save::Products}) {
    const Result<TrainingAnswer> found = answer_training(request_, machine_, save);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->save, save);
    EXPECT_EQ(found->forward.problem.save_products, save == Save::Products);
    EXPECT_EQ(found->backward.problem.save_products, save == Save::Products);
  }
  EXPECT_EQ(compiled(), 4U);
}

// What is only said of an outline is not told twice.
TEST_F(Training, RemarksAreThoseOfThePlans) {
  ASSERT_TRUE(answer_training(request_, machine_, Save::Faster).ok());
  const std::vector<std::string> once = notes_;
  notes_.clear();
  ASSERT_TRUE(answer_training(request_, machine_, by_choices()).ok());
  EXPECT_EQ(once, notes_);
}

}  // namespace
}  // namespace rondo::engine
#endif
