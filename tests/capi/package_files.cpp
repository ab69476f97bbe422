#include "tests/capi/package_files.h"

#include "tests/runtime/package/packages.h"

const void* sample_package(size_t* bytes) {
  using rondo::executable::ImageKind;
  using rondo::schedule::Pass;
  using rondo::testing::image_for;
  static const std::string package =
      rondo::testing::package_of({{.arch = "sm_80"},
                                  {.arch = "sm_90"},
                                  {.arch = "sm_90", .batch = 64, .time = 1024},
                                  {.arch = "sm_90", .batch = 4096, .time = 1, .cooperative = true},
                                  {.arch = "compute_80", .images = {image_for("sm_80", ImageKind::Ptx)}},
                                  {.pass = Pass::Backward, .arch = "sm_90"}});
  *bytes = package.size();
  return package.data();
}
