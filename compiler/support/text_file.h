// Whole files, written so that readers see the old file or the new one.
#pragma once

#include <string>
#include <string_view>

#include "compiler/support/result.h"

namespace rondo {

// Error Missing where there is no such file, Input where it cannot be read.
Result<std::string> read_text_file(const std::string& path);

// A file's new contents, complete on the disk under a temporary name beside it. commit() puts them in the
// file's place; what was not committed is removed when this object goes.
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
