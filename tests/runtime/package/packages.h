// A package to test with: kernels of a cell that needs no GPU to be lowered, with images that are no code.
#pragma once

#include <string>
#include <vector>

#include "compiler/schedule/plan/lower_plan.h"
#include "runtime/package/writer/writer.h"
#include "tests/engine/plan/cells.h"
#include "tests/schedule/point_plan.h"

namespace rondo::testing {

struct PackagedKernels {
  schedule::Pass pass = schedule::Pass::Forward;
  std::string arch = "sm_90";
  std::string board = {};  // with `multiprocessors`, what it was chosen for
  std::int64_t multiprocessors = 0;
  std::int64_t batch = 2, time = 16;
  std::vector<executable::Image> images = {};  // none: a cubin for `arch`
  std::int64_t shared_bytes = 1024;            // of the cubin
  std::string cell_hash = {};                  // "": its own
  std::string variant = {};
  bool cooperative = false;  // blocks wait for each other, so that all of them have to fit on the GPU
};

inline executable::Image image_for(const std::string& target, executable::ImageKind kind,
                                   std::int64_t shared_bytes = 1024) {
  const char* const begin = kind == executable::ImageKind::Ptx ? ".version for " : "\177ELF for ";
  executable::Image image{target, kind, "nvrtc 13.0", begin + target, {}};
  image.bytes.resize(96, ' ');  // the driver is given no less
  image.resources = {{"k", 40, static_cast<int>(shared_bytes), 8, 4, 2, 256}};
  image.seal();
  return image;
}

inline package::SelfTest small_test() {
  package::SelfTest test;
  test.batch = 2;
  test.time = 3;
  test.given = {{{executable::Role::Input, 0}, 1.0, 7, {}}, {{executable::Role::Output, 2}, 0, 0, {1, -2}}};
  test.expected = {{{executable::Role::LastState, 1}, 4, 3.0, 0.1, {{0, 1.5, 0.25}, {3, -2.0, 0.5}}}};
  return test;
}

inline package::Kernels kernels_of(const PackagedKernels& how) {
  const step::Cell cell = library_cell("paragru");
  schedule::Problem problem = problem_of(how.pass);
  problem.sizes.batch = how.batch;
  problem.sizes.time = how.time;
  package::Kernels kernels;
  kernels.executable = schedule::lower_plan({cell, problem, {}}, stream_plan(cell, problem)).value();
  if (!how.cell_hash.empty()) kernels.executable.identity.cell_hash = how.cell_hash;
  kernels.executable.identity.variant = how.variant;
  kernels.entry = package::entry_of(kernels.executable.identity, how.arch);
  kernels.entry.origin = "by model";
  kernels.entry.note = "best by the model of a board";
  kernels.entry.expected_ms = 0.25;
  kernels.entry.board = how.board;
  kernels.entry.multiprocessors = how.multiprocessors;
  kernels.executable.images = how.images;
  if (how.images.empty())
    kernels.executable.images = {image_for(how.arch, executable::ImageKind::Cubin, how.shared_bytes)};
  for (executable::Kernel& kernel : kernels.executable.kernels) kernel.cooperative |= how.cooperative;
  kernels.self_test = small_test();
  return kernels;
}

inline std::string package_of(const std::vector<PackagedKernels>& all) {
  package::PackageWriter writer;
  for (const PackagedKernels& how : all)
    if (const Status status = writer.add(kernels_of(how)); !status)
      throw std::runtime_error(status.error().message);
  return writer.bytes();
}

}  // namespace rondo::testing
