// The tests' own main: compile pools start this program again as their worker.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "engine/worker/compile_worker.h"

namespace {

// The request's name chooses what the worker does instead of compiling.
rondo::Result<rondo::backend::Compiled> compile_or_misbehave(const rondo::backend::Request& request) {
  if (request.name == "abort") std::abort();
  if (request.name == "segfault") {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's handler would end it in another way
    std::raise(SIGSEGV);
  }
  if (request.name == "exit") std::_Exit(7);
  if (request.name == "hang")
    while (true) ::pause();
  if (request.name == "echo")
    return rondo::Error{rondo::ErrorKind::Compile, request.text, request.target.name()};
  return rondo::backend::compile(request);
}

}  // namespace

int main(int argc, char** argv) {
  if (const auto status = rondo::engine::maybe_run_worker(argc, argv, &compile_or_misbehave)) return *status;
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
