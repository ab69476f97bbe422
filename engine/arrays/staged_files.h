// Several output files that appear together or not at all.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/support/result.h"
#include "compiler/support/text_file.h"

namespace rondo::engine {

// Contents go to temporary files beside their targets; commit() renames them all. What was not committed is
// removed when this object goes. A link stays, and what it points to is replaced; a file that is replaced
// keeps its mode. What exists and is no regular file, such as a pipe, and what is open already, such as
// /dev/stdout or "-", which is the same, is written at commit, in place.
class StagedFiles {
 public:
  // `inputs`: files that the same command reads. They are never written, also by way of links and other
  // names; what is not there or is no regular file does not count.
  explicit StagedFiles(const std::vector<std::string>& inputs = {});
  // Errors (Input): the folder is missing or cannot be written, the disk is full, a path given twice, an
  // input.
  Status add(const std::string& path, const std::string& contents);
  Status commit();

 private:
  struct InPlace {
    std::string name;
    std::optional<int> descriptor;  // of what is open already
    std::string contents;
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> inputs_;  // device and number of the file
  std::set<std::string> targets_;                                          // of all outputs
  std::vector<StagedFile> files_;
  std::vector<InPlace> in_place_;
};

// One file. "-" is the standard output. `inputs`: see StagedFiles.
Status write_output(const std::string& path, const std::string& contents,
                    const std::vector<std::string>& inputs = {});

}  // namespace rondo::engine
