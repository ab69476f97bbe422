// Runs the rondo program as a user would, and looks at what it prints and how it ends.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace rondo::test {

struct Outcome {
  int status = -1;  // exit status; 128 + n where signal n ended it
  std::string out, err;
};

// Starts RONDO_PROGRAM with `arguments`. No GPU is visible unless `environment` says otherwise, and the
// database is a file of this process's own folder.
Outcome rondo(const std::vector<std::string>& arguments,
              const std::map<std::string, std::string>& environment = {});
// The same with standard output going to `file` ("/dev/full").
Outcome rondo_into(const std::string& file, const std::vector<std::string>& arguments);
// Any program by its path.
Outcome start(const std::string& program, const std::vector<std::string>& arguments,
              const std::map<std::string, std::string>& environment = {});

// A folder that goes away with the object.
class Folder {
 public:
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();
  std::string path(const std::string& name) const { return root_ + "/" + name; }
  std::vector<std::string> files() const;  // names, sorted

 private:
  std::string root_;
};

// Of what `rondo emit` prints as CUDA text: the comment above it, and the text itself.
std::string heading_of(const std::string& emitted);
std::string body_of(const std::string& emitted);

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& contents);
// A float32 .npy of this shape with small values that differ.
void write_array(const std::string& path, const std::vector<std::int64_t>& shape);

}  // namespace rondo::test
