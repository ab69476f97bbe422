#include "compiler/support/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "compiler/support/locked_file.h"

namespace rondo {
namespace {

Error cannot_map(const std::string& path, int error) {
  return {error == ENOENT ? ErrorKind::Missing : ErrorKind::Input,
          fmt::format("cannot read '{}': {}", path, std::strerror(error)), ""};
}

// Of an open file. Null with errno.
std::shared_ptr<const void> mapped(int file, std::size_t size) {
  void* const address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (address == MAP_FAILED) return nullptr;
  return {address, [size](void* at) { ::munmap(at, size); }};
}

std::shared_ptr<const void> copied(int file, std::size_t size) {
  std::shared_ptr<char[]> bytes(new char[size]);
  for (std::size_t done = 0; done < size;) {
    const ssize_t count = ::pread(file, bytes.get() + done, size - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = EIO;  // it became shorter
    if (count <= 0) return nullptr;
    done += static_cast<std::size_t>(count);
  }
  return {bytes, bytes.get()};
}

}  // namespace

Result<MappedFile> map_file(const std::string& path) {
  if (Status status = may_open(path); !status) return status.error();
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat about = {};
  if (file < 0) return cannot_map(path, errno);
  const int failed = ::fstat(file, &about) == 0 ? 0 : errno;
  const auto size = static_cast<std::size_t>(about.st_size);
  std::shared_ptr<const void> owner;
  int error = failed != 0 ? failed : S_ISDIR(about.st_mode) ? EISDIR : 0;
  if (error == 0 && S_ISREG(about.st_mode) && size > 0) {
    owner = mapped(file, size);
    if (owner == nullptr) owner = copied(file, size);
    if (owner == nullptr) error = errno;
  }
  ::close(file);
  if (error != 0) return cannot_map(path, error);
  if (!S_ISREG(about.st_mode))
    return Error{ErrorKind::Input, fmt::format("'{}' is no regular file", path), "write it to a file first"};
  const std::string_view bytes(static_cast<const char*>(owner.get()), size);
  return MappedFile{std::move(owner), bytes};
}

}  // namespace rondo
