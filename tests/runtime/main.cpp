// The tests' own main: compile pools start this program again as their worker.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "runtime/worker/compile_worker.h"

namespace {

// The job's name chooses what the worker does instead of compiling.
rondo::Result<rondo::runtime::CompiledKernel> compile_or_misbehave(const rondo::runtime::CompileJob& job) {
  if (job.name == "abort") std::abort();
  if (job.name == "segfault") std::raise(SIGSEGV);
  if (job.name == "exit") std::_Exit(7);
  if (job.name == "hang")
    while (true) ::pause();
  if (job.name == "echo") return rondo::Error{rondo::ErrorKind::Compile, job.source, job.arch};
  return rondo::runtime::compile_with_nvrtc(job);
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto status = rondo::runtime::maybe_run_worker(argc, argv, &compile_or_misbehave)) return *status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
