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
