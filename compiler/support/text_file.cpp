#include "compiler/support/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace rondo {
namespace {

// 0, or errno of the failed call.
int write_and_close(int file, const std::string& text) {
  int error = 0;
  for (std::size_t done = 0; done < text.size() && error == 0;) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count > 0) done += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR) error = errno;
  }
  if (error == 0 && ::fsync(file) != 0) error = errno;
  if (::close(file) != 0 && error == 0) error = errno;
  return error;
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  const auto fail = [&](int error) {
    return Error{error == ENOENT ? ErrorKind::Missing : ErrorKind::Input,
                 fmt::format("cannot read '{}': {}", path, std::strerror(error)), ""};
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return fail(errno);
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(file, buffer, sizeof buffer);
    if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
    if (count == 0) break;
    if (count < 0 && errno != EINTR) {
      const int error = errno;
      ::close(file);
      return fail(error);
    }
  }
  ::close(file);
  return text;
}

Status write_text_file(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  int error = file < 0 ? errno : write_and_close(file, text);
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return success();
  if (file >= 0) ::unlink(temporary.c_str());
  return Error{ErrorKind::Input, fmt::format("cannot write '{}': {}", path, std::strerror(error)), ""};
}

}  // namespace rondo
