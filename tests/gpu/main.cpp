// The tests' own main: compile pools start this program again as their worker.
#include <gtest/gtest.h>

#include "engine/worker/compile_worker.h"
#include "tuner/trial/worker.h"

int main(int argc, char** argv) {
  if (const auto status = rondo::tuner::maybe_run_trial_worker(argc, argv)) return *status;
  if (const auto status = rondo::engine::maybe_run_worker(argc, argv)) return *status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
