#include "tools/rondo/lost_file.h"

#include <unistd.h>

#include <csignal>
#include <string_view>

#include "tools/rondo/report.h"

namespace rondo::tools {
namespace {

// Only calls that a handler of a signal may make.
extern "C" void say_that_it_is_lost(int signal, siginfo_t* about, void*) {
  if (about->si_code != BUS_ADRERR) {
    ::signal(signal, SIG_DFL);  // the read happens again, and ends the process
    return;
  }
  constexpr std::string_view kText =
      "rondo: error: a file that was being read became shorter, or its disk failed\n"
      "  hint: run the command again when nobody writes to its input files\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText.data(), kText.size());
  ::_exit(exit_status(ErrorKind::Input));
}

}  // namespace

void explain_lost_files() {
  struct sigaction action {};
  action.sa_sigaction = say_that_it_is_lost;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace rondo::tools
