// Packages written: kernels collected, each part stored once, and the whole as bytes that depend on nothing
// else.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/executable/executable.h"
#include "compiler/support/result.h"
#include "runtime/package/package.h"
#include "runtime/package/writer/self_test.h"

namespace rondo::package {

// One entry to be. Its numbers of parts are the writer's business.
struct Kernels {
  Entry entry;                        // all but executable, self_test and codes
  executable::Executable executable;  // with its images, one for each code
  std::optional<SelfTest> self_test;
};
// Entry of an executable's identity, for a choice made for `arch`, on any board of it.
Entry entry_of(const executable::Identity& identity, const std::string& arch);

class PackageWriter {
 public:
  // Entries come in the order of their problems, whatever order they are added in. Error Input: there are
  // kernels for this problem and architecture already, and they are others (the same ones again are left
  // out).
  Status add(const Kernels& kernels);
  // All entries of another package. Errors: those of add() and of reading it.
  Status add(const Package& package);

  std::size_t entries() const { return entries_.size(); }
  // The file. The same kernels give the same bytes, in whatever order they were added.
  std::string bytes() const;

 private:
  struct Stored {
    Entry entry;
    std::string executable, self_test;  // hashes in blobs_; self_test: "" where there is none
    std::string maker;                  // who compiled it: producer and build
    std::vector<std::string> codes;
  };
  struct Blob {
    PartKind kind;
    std::string bytes;
  };
  std::string store(PartKind kind, std::string bytes);

  std::map<std::string, Blob> blobs_;  // by kind and hash
  std::vector<Stored> entries_;
};

// What a package holds, as JSON for people: for which problems and architectures, where the choices come
// from, who compiled them, tolerances, hashes and sizes. `tests` are those of the entries, by part, and
// `makers` are in the order of the entries.
std::string manifest_of(const Index& index, const std::map<std::uint32_t, SelfTest>& tests,
                        const std::vector<std::string>& makers);

// The package as a C source that defines `NAME_data` and `NAME_size` for rondo_package_from_memory.
std::string to_c_source(std::string_view package, const std::string& name);
// A C identifier for what is written to the path: "out/my-kernels.c" gives "my_kernels".
std::string c_name_of(const std::string& path);

}  // namespace rondo::package
