// Self-test vectors of packages: made by the reference, and run on a GPU.
#pragma once

#include <string>

#include "compiler/executable/executable.h"
#include "compiler/schedule/problem/task.h"
#include "compiler/support/result.h"
#include "runtime/cuda/driver_device.h"
#include "runtime/package/writer/self_test.h"

namespace rondo::tuner {

// The vector of a problem: a few batch rows and time steps of its heads, channels, types and pass, whatever
// B and T it has. The same every time. Tensors that rounding alone changes too much are left out. Errors:
// those of the reference; Input where its results are not finite, or none is left.
Result<package::SelfTest> make_self_test(const schedule::Task& task);

// Runs an executable's first image on the GPU of the context: what it got wrong, one line; "" if it passed.
// Errors: what kept it from running (Unsupported, Device).
Result<std::string> run_self_test(const package::SelfTest& test, const executable::Executable& executable,
                                  const runtime::Context& context);

}  // namespace rondo::tuner
