#include "tools/rondo/stop_signal.h"

#include <unistd.h>

#include <csignal>

namespace rondo::tools {
namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void ask_to_stop(int) {
  if (stop.exchange(true)) ::_exit(130);
}

}  // namespace

const std::atomic<bool>& stop_flag() {
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  return stop;
}

}  // namespace rondo::tools
