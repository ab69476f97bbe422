// Whether other programs had the cores while something was timed.
#pragma once

namespace rondo::engine {

// Seconds that the threads of this process, all together, were ready to run and had no core, since they
// began. 0 where the system does not tell: Linux does (/proc/self/task/*/schedstat).
double waited_for_cores_s();

}  // namespace rondo::engine
