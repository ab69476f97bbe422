#include "engine/measure/core_wait.h"

#include <filesystem>
#include <fstream>

namespace rondo::engine {

double waited_for_cores_s() {
  double nanoseconds = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator threads("/proc/self/task", error), end; !error && threads != end;
       threads.increment(error)) {
    std::ifstream file(threads->path() / "schedstat");
    double ran = 0, waited = 0;  // nanoseconds, as the system counts
    if (file >> ran >> waited) nanoseconds += waited;
  }
  return nanoseconds * 1e-9;
}

}  // namespace rondo::engine
