// A package opened for reading: ahead-of-time kernels in one file, or in the memory of the program that
// embeds it. Reading needs neither a compiler nor a file system.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "compiler/executable/executable.h"
#include "compiler/support/result.h"
#include "runtime/package/index.h"

namespace rondo::package {

// Immutable; its members may be called in several threads at once. Copies share the file.
class Package {
 public:
  // Maps the file, which must not be changed while the package is open (Rondo replaces files by renaming and
  // changes none in place). Errors: Missing, Input (not readable, damaged, cut short), Unsupported (a newer
  // format).
  static Result<Package> open(const std::string& path);
  // The bytes belong to the caller and outlive the package. `origin` names them in messages.
  static Result<Package> from_memory(std::string_view bytes, const std::string& origin);

  // Whether it is the package with this hash, which vouches for all of it. Error Input.
  Status expect(const std::string& hash) const;

  const std::string& origin() const { return origin_; }
  const Index& index() const { return index_; }
  const std::string& hash() const { return hash_; }  // of the package, 64 hex digits
  std::uint64_t bytes() const { return bytes_.size(); }

  // The bytes of a part, compared with its hash first. Error Input: it was altered.
  Result<std::string_view> part(std::uint32_t index) const;
  std::string manifest() const;  // JSON, for people; "" where it was altered

  // An entry's kernels with one of its codes, ready to be loaded. Both numbers are in range. Errors: Input
  // (altered), those of executable::from_bytes().
  Result<executable::Executable> executable(std::size_t entry, std::size_t code) const;

  // Checks all that opening left for later: every part and what lies between them. Errors: those of part().
  Status verify() const;

 private:
  Package(std::string_view bytes, std::string origin) : bytes_(bytes), origin_(std::move(origin)) {}
  Status read();
  Status check_places() const;
  Result<executable::Executable> read_executable(std::uint32_t part) const;

  std::shared_ptr<const void> file_;  // the mapping; null for the caller's memory
  std::string_view bytes_;
  std::string origin_;
  std::string hash_;
  Index index_;
};

}  // namespace rondo::package
