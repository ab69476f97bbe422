// Work shared out over threads, where the system refuses to start them.
#include "compiler/support/parallel_for.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace rondo {
namespace {

// While it lives, once it was asked to, no thread can start: its stack would be larger than any address
// space.
class NoNewThreads {
 public:
  NoNewThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_init(&refused_);
    pthread_attr_setstacksize(&refused_, std::size_t{1} << 60);
  }
  NoNewThreads(const NoNewThreads&) = delete;
  NoNewThreads& operator=(const NoNewThreads&) = delete;
  ~NoNewThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
    pthread_attr_destroy(&refused_);
  }
  void from_now_on() const { EXPECT_EQ(pthread_setattr_default_np(&refused_), 0); }

 private:
  pthread_attr_t before_, refused_;
};

TEST(ParallelFor, GoesOnWithTheThreadsThereAre) {
  constexpr std::int64_t kItems = 50'000;
  constexpr int kThreads = 5'000;
  for (const bool from_the_start : {true, false}) {
    std::vector<std::atomic<int>> done(kItems);
    std::atomic<int> workers{0};
    {
      const NoNewThreads system;
      if (from_the_start) system.from_now_on();
      parallel_for(kItems, kThreads, [&]() -> Worker {
        ++workers;
        system.from_now_on();  // the caller is still starting the others
        return [&](std::int64_t item) { ++done[static_cast<std::size_t>(item)]; };
      });
    }
    for (std::size_t i = 0; i < done.size(); ++i) ASSERT_EQ(done[i], 1) << i;
    if (from_the_start)
      EXPECT_EQ(workers, 1);
    else
      EXPECT_GT(workers, 1);
    EXPECT_LT(workers, kThreads) << "no start was refused";
  }
}

TEST(ParallelFor, AWorkersExceptionComesThroughWithoutThreads) {
  const NoNewThreads system;
  system.from_now_on();
  std::int64_t last = -1;
  EXPECT_THROW(parallel_for(100, 8,
                            [&]() -> Worker {
                              return [&](std::int64_t item) {
                                last = item;
                                if (item == 7) throw std::runtime_error("seven");
                              };
                            }),
               std::runtime_error);
  EXPECT_EQ(last, 7);
}

}  // namespace
}  // namespace rondo
