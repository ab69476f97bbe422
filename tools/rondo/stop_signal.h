// Ctrl-C: the first asks to stop, the second stops.
#pragma once

#include <atomic>

namespace rondo::tools {

// Installs the handler (SIGINT and SIGTERM) and gives the flag that it sets. Call it again at will.
const std::atomic<bool>& stop_flag();

}  // namespace rondo::tools
