#include "compiler/support/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace rondo {
namespace {

// 0, or errno of the failed call.
int write_all(int file, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t count = ::write(file, contents.data(), contents.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) contents.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

int write_file(const std::string& path, int flags, std::string_view contents, bool sync) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666);
  if (file < 0) return errno;
  int error = write_all(file, contents);
  if (error == 0 && sync && ::fsync(file) != 0) error = errno;
  if (::close(file) != 0 && error == 0) error = errno;
  return error;
}

Status written(const std::string& path, int error) {
  if (error == 0) return success();
  return Error{ErrorKind::Input, fmt::format("cannot write '{}': {}", path, std::strerror(error)), ""};
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

Result<StagedFile> StagedFile::write(const std::string& path, std::string_view contents) {
  StagedFile staged(path, fmt::format("{}.{}.tmp", path, ::getpid()));
  const int error = write_file(staged.temporary_, O_CREAT | O_TRUNC, contents, true);
  if (Status status = written(path, error); !status) return status.error();
  return staged;
}

StagedFile::StagedFile(StagedFile&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, "")) {}

StagedFile& StagedFile::operator=(StagedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  return *this;
}

StagedFile::~StagedFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Status StagedFile::commit() {
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return written(path_, errno);
  temporary_.clear();
  return success();
}

Status write_text_file(const std::string& path, std::string_view text) {
  Result<StagedFile> staged = StagedFile::write(path, text);
  if (!staged) return staged.error();
  return staged->commit();
}

Status write_in_place(const std::string& path, std::string_view contents) {
  return written(path, write_file(path, 0, contents, false));
}

Status write_to_descriptor(int file, const std::string& name, std::string_view contents) {
  return written(name, write_all(file, contents));
}

}  // namespace rondo
