// The machine that a name stands for, where no GPU is used.
#include "engine/machine/machine.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "engine/machine/device_profile.h"

namespace rondo::engine {
namespace {

class NamedMachine : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove(path_);
    database_.emplace(db::Database::open(path_.string()).value());
  }
  void TearDown() override {
    database_.reset();
    std::filesystem::remove(path_);
  }

  const std::filesystem::path path_ = std::filesystem::path(::testing::TempDir()) / "named_machine.db";
  std::optional<db::Database> database_;
};

// A driver's words for a shipped board give that board's profile: its limits, with the largest cluster, which
// no driver tells, and its speeds.
TEST(MachineOfADriver, IsTheShippedBoard) {
  for (const target::Profile& board : target::shipped_profiles()) {
    runtime::DeviceInfo info;
    info.name = board.name;
    info.cc_major = board.target.major();
    info.cc_minor = board.target.minor();
    info.sm_count = board.limits.sm_count;
    info.shared_per_block_optin = board.limits.shared_per_block;
    info.shared_per_sm = board.limits.shared_per_sm;
    info.registers_per_sm = board.limits.registers_per_sm;
    info.max_threads_per_sm = board.limits.threads_per_sm;
    info.max_threads_per_block = board.limits.threads_per_block;
    info.max_blocks_per_sm = board.limits.blocks_per_sm;
    info.l2_bytes = static_cast<int>(board.limits.l2_bytes);
    info.clusters = board.limits.max_cluster > 1;
    target::Profile found = profile_of(info);
    EXPECT_NE(found.source.find(board.name), std::string::npos) << found.source;
    found.source = board.source;
    EXPECT_EQ(target::to_json(found), target::to_json(board));
  }
}

// A package that is built without the GPU takes the choices that programs on the GPU take: both ask the model
// with one profile, and a choice near the limit of what is trusted would else be taken by one of them only.
TEST_F(NamedMachine, HasWhatWasMeasuredOnIt) {
  target::Profile measured = target::find_profile("h200").value();
  measured.origin = "measured";
  measured.speeds.clock_hz *= 1.25;
  measured.limits.l2_bytes += 1 << 20;  // as the driver reports it
  ASSERT_TRUE(store_profile(measured, "13.0", *database_).ok());
  for (const char* name : {"h200", "NVIDIA H200"}) {
    const Result<Machine> machine = find_machine(name, &*database_, false);
    ASSERT_TRUE(machine.ok()) << name;
    EXPECT_EQ(target::to_json(machine->profile), target::to_json(measured)) << name;
    EXPECT_EQ(machine->device, nullptr);
    EXPECT_FALSE(machine->need_device().ok());
  }
}

TEST_F(NamedMachine, OfAnotherBoardIsThePublicOne) {
  target::Profile measured = target::find_profile("h200").value();
  measured.origin = "measured";
  ASSERT_TRUE(store_profile(measured, "13.0", *database_).ok());
  const Result<Machine> machine = find_machine("sm_80", &*database_, false);
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(target::to_json(machine->profile), target::to_json(target::find_profile("sm_80").value()));
  EXPECT_EQ(target::to_json(find_machine("h200", nullptr, false)->profile),
            target::to_json(target::find_profile("h200").value()));
}

// As a program that shares the GPU may measure it.
TEST_F(NamedMachine, OfAPartOfTheBoardIsNotTaken) {
  target::Profile measured = target::find_profile("h200").value();
  measured.origin = "measured";
  measured.limits.sm_count /= 2;
  ASSERT_TRUE(store_profile(measured, "13.0", *database_).ok());
  const Result<Machine> machine = find_machine("h200", &*database_, false);
  ASSERT_TRUE(machine.ok());
  EXPECT_NE(machine->note.find("with 66 SMs, not of sm_90 with 132"), std::string::npos) << machine->note;
  EXPECT_EQ(target::to_json(machine->profile), target::to_json(target::find_profile("h200").value()));
}

TEST_F(NamedMachine, SaysWhyAStoredProfileIsNotUsed) {
  target::Profile measured = target::find_profile("h200").value();
  measured.origin = "measured";
  ASSERT_TRUE(store_profile(measured, "13.0", *database_).ok());
  db::Device device = database_->get_device("h200").value().value();
  device.profile = "{\"speeds\": 1}";
  ASSERT_TRUE(database_->put_device(device).ok());
  const Result<Machine> machine = find_machine("h200", &*database_, false);
  ASSERT_TRUE(machine.ok());
  EXPECT_NE(machine->note.find("going on with public figures"), std::string::npos) << machine->note;
  EXPECT_EQ(target::to_json(machine->profile), target::to_json(target::find_profile("h200").value()));
}

}  // namespace
}  // namespace rondo::engine
