#include "engine/arrays/staged_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <string_view>

namespace rondo::engine {

namespace {

// The file that a path names, by its own name: two paths of one file are equal, and a link is what it points
// to. Of a path in no folder that exists: itself.
std::string target_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  return error ? path : target.string();
}

// "-", "/dev/stdout", "/dev/fd/3": what is open already. What stands there for a file is a link to that file,
// which must neither be replaced nor written from its beginning on.
std::optional<int> descriptor_of(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (path.rfind(folder, 0) != 0) continue;
    int number = 0;
    const char* const end = path.data() + path.size();
    const auto [rest, error] = std::from_chars(path.data() + folder.size(), end, number);
    if (error == std::errc() && rest == end) return number;
  }
  return std::nullopt;
}

}  // namespace

StagedFiles::StagedFiles(const std::vector<std::string>& inputs) {
  struct stat info {};
  for (const std::string& input : inputs)
    if (::stat(input.c_str(), &info) == 0 && S_ISREG(info.st_mode))
      inputs_.emplace(std::pair<std::uint64_t, std::uint64_t>(info.st_dev, info.st_ino), input);
}

Status StagedFiles::add(const std::string& path, const std::string& contents) {
  const std::optional<int> open = descriptor_of(path);
  const std::string target = open ? fmt::format("descriptor {}", *open) : target_of(path);
  if (!targets_.insert(target).second)
    return Error{ErrorKind::Input, fmt::format("'{}' is named as output twice", path)};
  struct stat info {};
  const bool exists = !open && ::stat(path.c_str(), &info) == 0;
  const auto input = exists ? inputs_.find({info.st_dev, info.st_ino}) : inputs_.end();
  if (input != inputs_.end())
    return Error{ErrorKind::Input,
                 input->second == path
                     ? fmt::format("'{}' is an input of this command, and would be overwritten", path)
                     : fmt::format("'{}' is the same file as the input '{}', which would be overwritten",
                                   path, input->second),
                 "name another file for the output"};
  if (exists && S_ISDIR(info.st_mode))
    return Error{ErrorKind::Input, fmt::format("cannot write '{}': it is a folder", path)};
  if (open || (exists && !S_ISREG(info.st_mode))) {
    in_place_.push_back({path, open, contents});
    return success();
  }
  std::error_code error;
  const bool link = std::filesystem::is_symlink(path, error);
  Result<StagedFile> file = StagedFile::write(link ? target : path, contents);
  if (!file) return file.error();
  files_.push_back(std::move(file).value());
  return success();
}

Status StagedFiles::commit() {
  for (const InPlace& entry : in_place_) {
    const Status status = entry.descriptor
                              ? write_to_descriptor(*entry.descriptor, entry.name, entry.contents)
                              : write_in_place(entry.name, entry.contents);
    if (!status) return status;
  }
  for (StagedFile& file : files_)
    if (Status status = file.commit(); !status) return status;
  files_.clear();
  in_place_.clear();
  targets_.clear();
  return success();
}

Status write_output(const std::string& path, const std::string& contents,
                    const std::vector<std::string>& inputs) {
  StagedFiles files(inputs);
  if (Status status = files.add(path, contents); !status) return status;
  return files.commit();
}

}  // namespace rondo::engine
