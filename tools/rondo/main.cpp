// The `rondo` command.
#include <csignal>
#include <exception>
#include <map>
#include <string>

#include "compiler/backend/backends.h"
#include "engine/worker/compile_worker.h"
#include "tools/rondo/commands.h"
#include "tools/rondo/lost_file.h"
#include "tools/rondo/report.h"
#include "tuner/trial/worker.h"

namespace rondo::tools {
namespace {

Status run_command(const Options& options) {
  static const std::map<std::string, Status (*)(const Options&)> commands = {
      {"check", check},        {"emit", emit},       {"tune", tune},   {"run", run},
      {"data", data},          {"verify", verify},   {"bench", bench}, {"why", why},
      {"report", report_page}, {"package", package}, {"db", database}, {"calibrate", calibrate},
      {"doctor", doctor}};
  if (Status status = backend::prefer_backend(options.backend); !status) return status.error();
  return commands.at(options.command)(options);
}

int main_of(int argc, char** argv) {
  const ParsedOptions parsed = parse_options(argc, argv);
  if (parsed.done) {
    if (parsed.status == 0)
      print(parsed.text);
    else
      report({ErrorKind::Input, parsed.text, parsed.hint}, false);
    return parsed.status;
  }
  Status status = run_command(parsed.options);
  if (status && output_failed())
    status = Error{ErrorKind::Input, "cannot write to standard output", "is the disk full?"};
  if (status) return 0;
  report(status.error(), parsed.options.json);
  return exit_status(status.error().kind);
}

}  // namespace
}  // namespace rondo::tools

int main(int argc, char** argv) {
  // Compile pools and tuning runs start this program again as their workers.
  if (const auto status = rondo::tuner::maybe_run_trial_worker(argc, argv)) return *status;
  if (const auto status = rondo::engine::maybe_run_worker(argc, argv)) return *status;
  // `rondo emit ... | head` closes the pipe early: the write fails, and the work goes on to its end.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that would pass the limit for files is an error of its write
  rondo::tools::explain_lost_files();
  try {
    return rondo::tools::main_of(argc, argv);
  } catch (const std::bad_alloc&) {
    const rondo::Error error{rondo::ErrorKind::Memory, "out of memory", "take a smaller shape"};
    rondo::tools::report(error, false);
    return rondo::tools::exit_status(error.kind);
  } catch (const std::exception& error) {
    rondo::tools::report({rondo::ErrorKind::Internal, error.what()}, false);
  } catch (...) {
    rondo::tools::report({rondo::ErrorKind::Internal, "unknown exception"}, false);
  }
  return 70;
}
