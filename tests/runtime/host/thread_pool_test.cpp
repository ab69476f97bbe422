// A pool that cannot have the threads it wants computes with those it gets. A process that fork() made has
// none of them: it computes alone, and it ends.
#include "runtime/host/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "compiler/target/target.h"
#include "tests/support/turns.h"

namespace rondo::runtime {
namespace {

constexpr std::int64_t kBlocks = 64;
constexpr unsigned kPatience = 60;  // seconds, after which a child that hangs is ended

// Ends a child behind the destructors of what was made after this, the shared pool among it, and before a
// leak checker looks for memory that only threads of the parent know.
struct EndsChild {
  int status = -1;  // of a child
  ~EndsChild() {
    if (status >= 0) _exit(status);
  }
} ends_child;

// Whether each block was done once.
bool computes(ThreadPool& pool) {
  std::atomic<std::int64_t> sum{0};
  pool.run(
      kBlocks,
      [](void* context, std::int64_t block, int) {
        static_cast<std::atomic<std::int64_t>*>(context)->fetch_add(block + 1);
      },
      &sum);
  return sum == kBlocks * (kBlocks + 1) / 2;
}

// The status of a child that does `body`: what waitpid() says.
int child(const std::function<void()>& body) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(kPatience);
    body();
    _exit(3);
  }
  int status = -1;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return status;
}

TEST(ThreadPoolAfterFork, TheChildComputesAlone) {
  ThreadPool pool(4);
  for (int turn = 0; turn < 20; ++turn) {
    ASSERT_TRUE(computes(pool));
    ASSERT_EQ(child([&] { _exit(computes(pool) ? 0 : 1); }), 0);
  }
}

// Room for the stacks of a few threads only, so that the system refuses the others.
bool computes_with_few_threads() {
  constexpr int kWanted = 64;
  constexpr rlim_t kRoom = 32 << 20;  // bytes; a stack has 2 MiB at least
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kRoom;
  const rlimit limit{most, most};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return false;
  ThreadPool pool(kWanted);
  return pool.threads() < kWanted && computes(pool);
}

TEST(ThreadPool, ComputesWithTheThreadsThatTheSystemGives) {
  EXPECT_EQ(child([] { _exit(computes_with_few_threads() ? 0 : 1); }), 0);
}

// What a launch did: of each block the last launch that computed it, and how many it computed in all.
struct Launched {
  explicit Launched(std::size_t most) : last(most) {}
  std::vector<std::atomic<std::int64_t>> last;
  std::atomic<std::int64_t> computed{0}, twice{0}, foreign{0};
  std::int64_t launch = 0;
  int threads = 0;  // that may take part
};

void compute(void* context, std::int64_t block, int thread) {
  auto& launched = *static_cast<Launched*>(context);
  const std::int64_t launch = launched.launch;
  // Threads that the system puts off in the middle of a block, and before it.
  if ((block + launch) % 7 == 0) std::this_thread::yield();
  if (launched.last[static_cast<std::size_t>(block)].exchange(launch) >= launch) ++launched.twice;
  if (thread >= launched.threads) ++launched.foreign;
  if ((block + launch) % 11 == 0) std::this_thread::yield();
  ++launched.computed;
}

// More threads than cores, so that in most launches some come late or not at all, and launches that follow
// each other at once: what one leaves running, forgets or does twice meets the next.
TEST(ThreadPool, LaunchesOfFewBlocksOnMoreThreadsThanCores) {
  constexpr std::int64_t kLeast = 2, kMost = 62;
  const int launches = rondo::testing::all_cases() ? 100'000 : 2'000;
  ThreadPool pool(std::min(3 * target::usable_threads() + 1, 40));
  Launched launched(kMost);
  std::mt19937 random(1);
  for (int launch = 1; launch <= launches; ++launch) {
    const auto blocks = kLeast + static_cast<std::int64_t>(random() % (kMost - kLeast + 1));
    const int most = static_cast<int>(random() % static_cast<unsigned>(pool.threads() + 2));
    launched.launch = launch;
    launched.threads = most == 0 ? pool.threads() : std::min(most, pool.threads());
    launched.computed = 0;
    pool.run(blocks, compute, &launched, {most, launch % 2 == 0, launch % 3 == 0});
    ASSERT_EQ(launched.computed, blocks) << launch << ": when it returned";
    for (std::int64_t block = 0; block < blocks; ++block)
      ASSERT_EQ(launched.last[static_cast<std::size_t>(block)], launch)
          << "block " << block << " of " << blocks;
    ASSERT_EQ(launched.twice, 0) << launch;
    ASSERT_EQ(launched.foreign, 0) << launch << ": threads that may not take part";
  }
}

// Launches of two blocks of two threads and of many of all, with next to nothing to do: a thread that wakes
// up for one of them often comes when the next has begun, and takes nothing of that by the counts of its own.
TEST(ThreadPool, WhoComesTooLateTakesNoPartInTheNextLaunch) {
  constexpr int kLaunches = 100'000;
  constexpr std::int64_t kMost = 62;
  const auto compute_at_once = [](void* context, std::int64_t block, int thread) {
    auto& launched = *static_cast<Launched*>(context);
    const std::int64_t launch = launched.launch;
    if (launched.last[static_cast<std::size_t>(block)].exchange(launch) >= launch) ++launched.twice;
    if (thread >= launched.threads) ++launched.foreign;
  };
  for (const int threads : {3, 7}) {
    ThreadPool pool(threads);
    Launched launched(kMost);
    for (int launch = 1; launch <= kLaunches; ++launch) {
      launched.launch = launch;
      launched.threads = launch % 2 == 0 ? threads : 2;
      pool.run(launch % 2 == 0 ? kMost : 2, compute_at_once, &launched, {launched.threads, false, false});
      ASSERT_EQ(launched.twice, 0) << launch << ": blocks that were computed twice";
      ASSERT_EQ(launched.foreign, 0) << launch << ": threads that may not take part";
    }
  }
}

// Callers from several threads take turns, and none sees the blocks of another.
TEST(ThreadPool, CallersTakeTurns) {
  ThreadPool pool(4);
  std::atomic<int> failed{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      for (int launch = 0; launch < 200; ++launch)
        if (!computes(pool)) ++failed;
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(failed, 0);
}

// exit() destroys what is static, the shared pool among it, whose threads the child does not have.
TEST(ThreadPoolAfterFork, TheChildEnds) {
  ASSERT_TRUE(computes(ThreadPool::shared()));
  for (int turn = 0; turn < 20; ++turn)
    ASSERT_EQ(child([] {
                ends_child.status = computes(ThreadPool::shared()) ? 0 : 1;
                std::exit(4);  // NOLINT(concurrency-mt-unsafe)
              }),
              0);
}

}  // namespace
}  // namespace rondo::runtime
