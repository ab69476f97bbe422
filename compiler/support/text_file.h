// Files read within a stated bound, and written so that readers see the old file or the new one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/support/result.h"

namespace rondo {

// A file that is read from its beginning, never further than asked.
class InputFile {
 public:
  // Error Missing where there is no such file, Input where it is a folder, a database that this process has
  // open, or cannot be opened.
  static Result<InputFile> open(const std::string& path);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  // Bytes of a regular file. None for pipes and devices: what they give may have no end.
  std::optional<std::int64_t> size() const { return size_; }
  // The next bytes: `most` of them, or fewer where the file ends. A pipe is waited for while somebody has it
  // open for writing; one that nobody writes to ends after a second. Error Input with the system's reason.
  Result<std::string> read(std::int64_t most);

 private:
  InputFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
  std::string path_;
  int file_ = -1;
  std::optional<std::int64_t> size_;
};

// More than any text that Rondo reads, and little enough for any machine.
inline constexpr std::int64_t kMostTextBytes = std::int64_t{256} << 20;

// All of a file of at most `most` bytes. Errors: those of InputFile, and Input where it holds more, which is
// told before it is read where its size is known.
Result<std::string> read_text_file(const std::string& path, std::int64_t most = kMostTextBytes);

// A file's new contents, complete on the disk under a temporary name beside it, which is random. commit()
// puts them in the file's place; what was not committed is removed when this object goes.
class StagedFile {
 public:
  // Error Input with the system's reason; nothing is left behind.
  static Result<StagedFile> write(const std::string& path, std::string_view contents);

  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&& other) noexcept;
  ~StagedFile();

  // Renames. An error of kind Input leaves the old file.
  Status commit();
  const std::string& path() const { return path_; }

 private:
  StagedFile(std::string path, std::string temporary)
      : path_(std::move(path)), temporary_(std::move(temporary)) {}
  std::string path_, temporary_;  // temporary_: "" once there is none
};

// Both at once.
Status write_text_file(const std::string& path, std::string_view text);

// Writes into what exists and is no regular file (/dev/stdout, a pipe), where renaming would replace it.
// Error Input.
Status write_in_place(const std::string& path, std::string_view contents);
// The same for an open file, which stays open; `name` is how messages call it.
Status write_to_descriptor(int file, const std::string& name, std::string_view contents);

}  // namespace rondo
