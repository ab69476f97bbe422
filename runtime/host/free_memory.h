// How much memory the system has left for this process.
#pragma once

#include <cstdint>

namespace rondo::runtime {

// Bytes that can be written without swapping and without the system ending a process: of the machine, or of
// the control group that the process is in, whichever has less (Linux: proc(5), "MemAvailable"; cgroups(7)).
// More than any machine has where that is not known.
std::int64_t free_memory();
// Bytes of memory that the process has written: its resident set.
std::int64_t resident_memory();

}  // namespace rondo::runtime
