#include "runtime/arrays/staged_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace rondo::runtime {
namespace {

Error failed(const std::string& path, int error) {
  return {ErrorKind::Input, fmt::format("cannot write '{}': {}", path, std::strerror(error)), ""};
}

// 0, or errno.
int write_all(int file, const std::string& contents) {
  for (std::size_t done = 0; done < contents.size();) {
    const ssize_t count = ::write(file, contents.data() + done, contents.size() - done);
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  return 0;
}

int write_file(const std::string& path, int flags, const std::string& contents, bool sync) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
  if (file < 0) return errno;
  int error = write_all(file, contents);
  if (error == 0 && sync && ::fsync(file) != 0) error = errno;
  if (::close(file) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

StagedFiles::~StagedFiles() {
  for (const Entry& entry : entries_)
    if (!entry.temporary.empty()) ::unlink(entry.temporary.c_str());
}

Status StagedFiles::add(const std::string& path, const std::string& contents) {
  for (const Entry& entry : entries_)
    if (entry.path == path)
      return Error{ErrorKind::Input, fmt::format("'{}' is named as output twice", path), ""};
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    if (S_ISDIR(info.st_mode)) return failed(path, EISDIR);
    entries_.push_back({path, "", contents});
    return success();
  }
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  const int error = write_file(temporary, O_CREAT | O_TRUNC, contents, true);
  if (error != 0) {
    ::unlink(temporary.c_str());
    return failed(path, error);
  }
  entries_.push_back({path, temporary, ""});
  return success();
}

Status StagedFiles::commit() {
  for (Entry& entry : entries_) {
    const int error = entry.temporary.empty() ? write_file(entry.path, 0, entry.contents, false)
                      : std::rename(entry.temporary.c_str(), entry.path.c_str()) == 0 ? 0
                                                                                      : errno;
    if (error != 0) return failed(entry.path, error);
    entry.temporary.clear();
  }
  entries_.clear();
  return success();
}

Status write_output(const std::string& path, const std::string& contents) {
  if (path == "-") {
    const int error = write_all(STDOUT_FILENO, contents);
    return error == 0 ? success() : Status(failed("standard output", error));
  }
  StagedFiles files;
  if (Status status = files.add(path, contents); !status) return status;
  return files.commit();
}

}  // namespace rondo::runtime
