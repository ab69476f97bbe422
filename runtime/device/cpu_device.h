// The CPUs of this machine as a device.
#pragma once

#include "runtime/device/device.h"
#include "runtime/host/thread_pool.h"

namespace rondo::runtime {

// Kernels and copies run on a pool of the process of so many threads (ThreadPool::shared), which starts with
// the first of them. Times are those of a steady clock around the calls.
std::shared_ptr<const Device> cpu_device(int threads = 0);

}  // namespace rondo::runtime
