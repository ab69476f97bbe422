// What `rondo package` prints, as text and as JSON.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/package/package.h"

namespace rondo::tools {

// A line for each entry; a line about all of it; everything.
std::string package_lines(const package::Package& package);
std::string package_summary(const package::Package& package);
std::string package_details(const package::Package& package);

// Of `rondo package verify`.
struct PackageCheck {
  struct Test {
    std::string what;
    std::string differs;  // what is wrong with its results; "" where nothing is
    std::string not_run;  // why the GPU cannot run it; "" where it did
  };
  std::string gpu, no_gpu;  // its name, or why there is none; both "": none was asked for
  std::vector<Test> tests;
  bool passed() const {
    return std::ranges::all_of(tests, [](const Test& test) { return test.differs.empty(); });
  }
};
std::string package_check_text(const package::Package& package, const PackageCheck& check);
std::string package_check_json(const package::Package& package, const PackageCheck& check);

// The files of a part and what they hold, for `rondo package extract`: "manifest.json",
// "3-lstm-fw-sm_90.cubin"; of a bundle of cubins each one, "4-lstm-bw-sm_90.1.cubin" first.
struct PartFile {
  std::string name;
  std::string_view bytes;  // of the part
};
std::vector<PartFile> files_of_part(const package::Index& index, std::uint32_t part, std::string_view bytes);
// The manifest, with the files that a package was written to.
std::string built_json(const package::Package& package, const std::vector<std::string>& written);
std::string files_json(const std::vector<std::string>& files);

}  // namespace rondo::tools
