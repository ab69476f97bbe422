#include "compiler/backend/ptxas/ptxas.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "compiler/support/environment.h"
#include "compiler/support/find_files.h"
#include "compiler/support/strange_file.h"
#include "compiler/support/text_file.h"

namespace rondo::backend {

namespace {

namespace fs = std::filesystem;

constexpr const char* kHint =
    "install a CUDA toolkit or the Python wheel nvidia-cuda-nvcc, or point RONDO_PTXAS at ptxas";

// A folder for the files of one run, removed with all that is in it.
class Folder {
 public:
  Folder() {
    std::error_code failed;
    std::string pattern = (fs::temp_directory_path(failed) / "rondo-ptxas-XXXXXX").string();
    if (!failed && ::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  bool ok() const { return !path_.empty(); }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Runs a program to its end with all it says in the file `log`: its exit status, or -1 with errno.
int run(std::vector<std::string> arguments, const std::string& log) {
  std::vector<char*> list;
  for (std::string& argument : arguments) list.push_back(argument.data());
  list.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t process = 0;
  const int failed = ::posix_spawn(&process, list[0], &actions, nullptr, list.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  errno = failed;
  if (failed != 0) return -1;
  int status = 0;
  while (::waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string text_of(const std::string& path) {
  Result<std::string> text = read_text_file(path);
  return text ? std::move(text).value() : std::string();
}

void add(std::vector<std::string>& candidates, const std::string& pattern) {
  std::vector<std::string> found = matching_paths(pattern);
  candidates.insert(candidates.end(), found.rbegin(), found.rend());  // the newest version first
}

std::vector<std::string> candidates_of(const std::string& path) {
  if (!path.empty()) return {path};
  std::vector<std::string> candidates;
  const std::string folders = environment("PATH");
  for (std::string_view rest = folders; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    candidates.push_back(std::string(rest.substr(0, end)) + "/ptxas");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const std::string value = environment(variable); !value.empty())
      candidates.push_back(value + "/bin/ptxas");
  for (const char* place :
       {"/usr/local/cuda/bin/ptxas", "/usr/local/cuda-*/bin/ptxas", "/opt/cuda/bin/ptxas"})
    add(candidates, place);
  constexpr int kLevels = 5;
  for (const std::string& folder : own_folders(kLevels)) add(candidates, folder + "/.deps/cuda/bin/ptxas");
  return candidates;
}

// "13.0" of "Cuda compilation tools, release 13.0, V13.0.88".
std::string release_of(const std::string& text) {
  constexpr std::string_view kBefore = "release ";
  const std::size_t at = text.find(kBefore);
  if (at == std::string::npos) return {};
  const std::size_t from = at + kBefore.size();
  return text.substr(from, text.find_first_not_of("0123456789.", from) - from);
}

}  // namespace

Result<Ptxas> Ptxas::find(const std::string& path) {
  if (path == "none")
    return Error{ErrorKind::Missing, "no ptxas: RONDO_PTXAS=none hides it", "unset RONDO_PTXAS"};
  const Folder folder;
  if (!folder.ok()) return Error{ErrorKind::Missing, "no folder for temporary files", "set TMPDIR"};
  for (const std::string& candidate : candidates_of(path)) {
    if (::access(candidate.c_str(), X_OK) != 0) continue;
    if (path.empty() && others_may_change(candidate)) continue;
    const std::string log = folder.file("log");
    if (run({candidate, "--version"}, log) != 0) continue;
    Ptxas found;
    found.path_ = candidate;
    found.version_ = release_of(text_of(log));
    if (!found.version_.empty()) return found;
  }
  return Error{ErrorKind::Missing,
               path.empty() ? "no ptxas on PATH or in a CUDA toolkit" : fmt::format("'{}' is no ptxas", path),
               kHint};
}

Result<const Ptxas*> Ptxas::get() {
  static const auto found = find(environment("RONDO_PTXAS"));
  if (!found) return found.error();
  return &*found;
}

Result<Assembled> Ptxas::assemble(const std::string& ptx, const std::string& arch) const {
  const Folder folder;
  if (!folder.ok()) return Error{ErrorKind::Missing, "no folder for temporary files", "set TMPDIR"};
  const std::string source = folder.file("rondo.ptx"), cubin = folder.file("cubin"), log = folder.file("log");
  if (Status status = write_text_file(source, ptx); !status) return status.error();
  const int status = run({path_, "--verbose", "--gpu-name=" + arch, "--output-file=" + cubin, source}, log);
  if (status < 0)
    return Error{ErrorKind::Missing, fmt::format("cannot start {}: {}", path_, std::strerror(errno)), kHint};
  Assembled result;
  result.log = text_of(log);
  if (status != 0)
    return Error{ErrorKind::Compile, fmt::format("ptxas {} ({}) rejected the PTX for {}:\n{}", version_,
                                                 path_, arch, result.log)};
  Result<std::string> bytes = read_text_file(cubin);
  if (!bytes) return bytes.error();
  result.cubin = std::move(bytes).value();
  return result;
}

}  // namespace rondo::backend
