// Turns on a GPU: one program at a time, each in its turn, and nobody waits for ever.
#include "runtime/device/gpu_turns.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

namespace rondo::runtime {
namespace {

namespace fs = std::filesystem;
using Patience = GpuTurns::Patience;

// Two objects are as two programs: locks of flock(2) belong to an opened file.
class GpuTurnsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::temp_directory_path() / ("rondo_turns_" + std::to_string(::getpid()));
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  GpuTurns program(const std::string& gpu = "GPU-1", Patience patience = Patience(60000)) const {
    return GpuTurns(gpu, directory_.string(), patience);
  }

  fs::path directory_;
};

TEST_F(GpuTurnsTest, OnlyOneProgramHasItsTurn) {
  std::atomic<int> inside{0}, most{0}, turns{0};
  std::vector<std::thread> programs;
  for (int i = 0; i < 8; ++i) {
    programs.emplace_back([&] {
      GpuTurns mine = program();
      for (int k = 0; k < 20; ++k) {
        const auto turn = mine.take();
        ASSERT_NE(turn, nullptr);
        most = std::max(most.load(), ++inside);
        std::this_thread::yield();
        ++turns;
        --inside;
      }
    });
  }
  for (std::thread& one : programs) one.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(turns, 160);
}

TEST_F(GpuTurnsTest, NestedHandlesAreOneTurn) {
  GpuTurns mine = program(), other = program("GPU-1", Patience(0));
  auto outer = mine.take();
  auto inner = mine.take();
  ASSERT_NE(inner, nullptr);
  outer.reset();
  EXPECT_EQ(other.take(), nullptr);
  inner.reset();
  EXPECT_NE(other.take(), nullptr);
}

TEST_F(GpuTurnsTest, OtherGpusHaveTurnsOfTheirOwn) {
  GpuTurns one = program("GPU-1"), two = program("GPU-2", Patience(0));
  const auto held = one.take();
  EXPECT_NE(two.take(), nullptr);
}

// A program that takes turn after turn without a pause lets the others in between.
TEST_F(GpuTurnsTest, WhoWaitsComesBeforeWhoComesAgain) {
  std::atomic<bool> waits{false}, done{false};
  std::atomic<int> turns_meanwhile{0};
  GpuTurns greedy = program();
  auto turn = greedy.take();
  std::thread patient([&] {
    GpuTurns mine = program();
    waits = true;
    EXPECT_NE(mine.take(), nullptr);
    done = true;
  });
  while (!waits) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until it is in the queue
  while (!done) {
    turn.reset();
    turn = greedy.take();
    ++turns_meanwhile;
  }
  patient.join();
  EXPECT_LE(turns_meanwhile, 2);
}

TEST_F(GpuTurnsTest, AProgramThatKeepsItsTurnIsWaitedForOnce) {
  GpuTurns stopped = program(), mine = program("GPU-1", Patience(20));
  auto kept = stopped.take();
  EXPECT_EQ(mine.take(), nullptr);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(mine.take(), nullptr);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));  // 100 times 20 ms otherwise
  kept.reset();
  EXPECT_NE(mine.take(), nullptr);
}

TEST_F(GpuTurnsTest, WithoutFilesThereAreNoTurns) {
  GpuTurns none("GPU-1", (directory_ / "missing").string());
  EXPECT_EQ(none.take(), nullptr);
  fs::create_symlink("/dev/null", directory_ / "rondo-GPU-3.turn");  // another user's link is not followed
  EXPECT_EQ(program("GPU-3").take(), nullptr);
}

TEST_F(GpuTurnsTest, AFileThatIsThereNeedNoWritePermission) {
  { (void)program().take(); }
  for (const auto& file : fs::directory_iterator(directory_)) fs::permissions(file, fs::perms::owner_read);
  EXPECT_NE(program().take(), nullptr);
}

}  // namespace
}  // namespace rondo::runtime
