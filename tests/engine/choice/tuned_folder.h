// A tuning database in a folder of the running test, gone with it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "compiler/step/step_ir.h"
#include "compiler/target/profile.h"
#include "tuning_db/database.h"

namespace rondo::testing {

class TunedFolder {
 public:
  // The database knows the board and the cell.
  TunedFolder(const target::Profile& profile, const step::Cell& cell) {
    const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string(test->test_suite_name()) + "-" + test->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    database_ = std::make_unique<db::Database>(db::Database::open((folder_ / "tuning.db").string()).value());
    db::Device device;
    device.key = profile.key;
    device.name = profile.name;
    EXPECT_TRUE(database_->put_device(device).ok());
    EXPECT_TRUE(database_->put_cell({step::canonical_hash(cell), cell.name, cell.source}).ok());
  }
  TunedFolder(const TunedFolder&) = delete;
  TunedFolder& operator=(const TunedFolder&) = delete;
  ~TunedFolder() {
    database_.reset();
    std::filesystem::remove_all(folder_);
  }

  db::Database* get() const { return database_.get(); }
  db::Database* operator->() const { return database_.get(); }
  db::Database& operator*() const { return *database_; }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<db::Database> database_;
};

}  // namespace rondo::testing
