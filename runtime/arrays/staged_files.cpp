#include "runtime/arrays/staged_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace rondo::runtime {

Status StagedFiles::add(const std::string& path, const std::string& contents) {
  const auto has_path = [&](const auto& entry) { return entry.path() == path; };
  if (std::any_of(files_.begin(), files_.end(), has_path) ||
      std::any_of(in_place_.begin(), in_place_.end(), has_path))
    return Error{ErrorKind::Input, fmt::format("'{}' is named as output twice", path), ""};
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    if (S_ISDIR(info.st_mode))
      return Error{ErrorKind::Input, fmt::format("cannot write '{}': it is a folder", path), ""};
    in_place_.push_back({path, contents});
    return success();
  }
  Result<StagedFile> file = StagedFile::write(path, contents);
  if (!file) return file.error();
  files_.push_back(std::move(file).value());
  return success();
}

Status StagedFiles::commit() {
  for (const InPlace& entry : in_place_)
    if (Status status = write_in_place(entry.name, entry.contents); !status) return status;
  for (StagedFile& file : files_)
    if (Status status = file.commit(); !status) return status;
  files_.clear();
  in_place_.clear();
  return success();
}

Status write_output(const std::string& path, const std::string& contents) {
  if (path == "-") return write_to_descriptor(STDOUT_FILENO, "standard output", contents);
  StagedFiles files;
  if (Status status = files.add(path, contents); !status) return status;
  return files.commit();
}

}  // namespace rondo::runtime
