#include "compiler/support/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>
#include <utility>

#include "compiler/support/locked_file.h"

namespace rondo {
namespace {

constexpr std::int64_t kChunk = 1 << 20;  // bytes asked for at once
constexpr int kWriterComesMs = 1000;      // for what is started beside Rondo and writes into a pipe

Error cannot_read(const std::string& path, int error) {
  return {error == ENOENT ? ErrorKind::Missing : ErrorKind::Input,
          fmt::format("cannot read '{}': {}", path, std::strerror(error)), ""};
}

// 0, or errno of the failed call.
int write_all(int file, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t count = ::write(file, contents.data(), contents.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) contents.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

// Writes to an open file and closes it.
int finish(int file, std::string_view contents, bool sync) {
  int error = write_all(file, contents);
  if (error == 0 && sync && ::fsync(file) != 0) error = errno;
  if (::close(file) != 0 && error == 0) error = errno;
  return error;
}

// A new file beside `path`, open for writing: -1 with errno. The name cannot be told beforehand and the file
// is this process's alone: what others left under a name, links among it, is never written to.
int create_beside(const std::string& path, std::string& name) {
  std::random_device random;
  constexpr int kTurns = 100;
  for (int turn = 0; turn < kTurns; ++turn) {
    const std::uint64_t number = std::uint64_t{random()} << 32 | random();
    name = fmt::format("{}.{:016x}.tmp", path, number);
    const int file = ::open(name.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
  errno = EEXIST;
  return -1;
}

Status written(const std::string& path, int error) {
  if (error == 0) return success();
  return Error{ErrorKind::Input, fmt::format("cannot write '{}': {}", path, std::strerror(error))};
}

}  // namespace

Result<InputFile> InputFile::open(const std::string& path) {
  if (Status status = may_open(path); !status) return status.error();
  // Not blocking: opening a pipe to which nobody writes would wait for ever.
  InputFile input(path, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about = {};
  if (input.file_ < 0 || ::fstat(input.file_, &about) != 0) return cannot_read(path, errno);
  if (S_ISDIR(about.st_mode)) return cannot_read(path, EISDIR);
  if (S_ISREG(about.st_mode)) input.size_ = about.st_size;
  if (S_ISFIFO(about.st_mode)) {
    pollfd wait = {input.file_, POLLIN, 0};
    (void)::poll(&wait, 1, kWriterComesMs);
  }
  if (::fcntl(input.file_, F_SETFL, O_RDONLY) != 0) return cannot_read(path, errno);
  return input;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)), size_(other.size_) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  std::swap(size_, other.size_);
  return *this;
}

InputFile::~InputFile() {
  if (file_ >= 0) ::close(file_);
}

Result<std::string> InputFile::read(std::int64_t most) {
  std::string text;
  while (most > 0) {
    // Room for what comes, not for what may come.
    const auto chunk = static_cast<std::size_t>(std::min<std::int64_t>(most, kChunk));
    const std::size_t before = text.size();
    text.resize(before + chunk);
    const ssize_t count = ::read(file_, text.data() + before, chunk);
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) break;
    if (count < 0 && errno != EINTR) return cannot_read(path_, errno);
    most -= std::max<ssize_t>(count, 0);
  }
  return text;
}

Result<std::string> read_text_file(const std::string& path, std::int64_t most) {
  Result<InputFile> file = InputFile::open(path);
  if (!file) return file.error();
  const auto too_long = [&](const std::string& bytes) {
    return Error{ErrorKind::Input, fmt::format("'{}' has {} bytes; at most {} are read", path, bytes, most)};
  };
  if (file->size() > most) return too_long(std::to_string(*file->size()));
  Result<std::string> text = file->read(most + 1);
  if (text && static_cast<std::int64_t>(text->size()) > most) return too_long("no end, or too many");
  return text;
}

Result<StagedFile> StagedFile::write(const std::string& path, std::string_view contents) {
  std::string name;
  const int file = create_beside(path, name);
  if (file < 0) return written(path, errno).error();
  StagedFile staged(path, std::move(name));
  struct stat before = {};  // the mode of what it replaces
  const bool replaces = ::stat(path.c_str(), &before) == 0 && S_ISREG(before.st_mode);
  const int refused = replaces && ::fchmod(file, before.st_mode & 07777) != 0 ? errno : 0;
  const int failed = finish(file, contents, true);
  const int error = refused != 0 ? refused : failed;
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
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  return written(path, file < 0 ? errno : finish(file, contents, false));
}

Status write_to_descriptor(int file, const std::string& name, std::string_view contents) {
  return written(name, write_all(file, contents));
}

}  // namespace rondo
