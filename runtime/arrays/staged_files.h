// Several output files that appear together or not at all.
#pragma once

#include <string>
#include <vector>

#include "compiler/support/result.h"

namespace rondo::runtime {

// Contents go to temporary files beside their targets; commit() renames them all. What was not committed is
// removed when this object goes. What exists and is no regular file (/dev/stdout, a pipe) is written at
// commit, in place.
class StagedFiles {
 public:
  StagedFiles() = default;
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;
  ~StagedFiles();

  // Errors (Input): the folder is missing or cannot be written, the disk is full, a path given twice.
  Status add(const std::string& path, const std::string& contents);
  Status commit();

 private:
  struct Entry {
    std::string path, temporary;
    std::string contents;  // only of what is written in place
  };
  std::vector<Entry> entries_;
};

// One file. "-" is the standard output.
Status write_output(const std::string& path, const std::string& contents);

}  // namespace rondo::runtime
